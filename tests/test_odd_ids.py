"""Ids with any characters, in the API and in citations."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from atlas_search.atlas import Atlas
from atlas_search.core.domain import MARKER
from atlas_search.core.settings import Settings
from atlas_search.server.app import create_app
from atlas_search.services import open_services
from tests.hash_embedder import HashEmbedder
from tests.source_builds import ODD_IDS, build_from, chroma_sources, sources_of, stored
from tests.source_files import lines_of, table, write_chroma, write_files


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """The API over passages with odd ids."""
    root = tmp_path_factory.mktemp("odd")
    write_chroma(root / "old", {id_: f"Letter {id_!r}." for id_ in ODD_IDS})
    build_from("chroma", root / "c", chroma_sources(root, "old"))
    settings = Settings(chroma_persist_directory=root, chroma_collection_name="c")
    services = open_services(settings, HashEmbedder())
    yield create_app(lambda: Atlas(services)).test_client()
    services.close()


@pytest.mark.parametrize("id_", ODD_IDS)
def test_odd_ids_survive_the_api(client: FlaskClient, id_: str) -> None:
    passage = client.get(f"/api/passages/{quote(id_, safe='')}")
    assert passage.status_code == 200
    assert passage.json["passage_id"] == id_
    assert MARKER.fullmatch(passage.json["marker"])
    document = client.get(f"/api/documents/{quote(passage.json['document_id'], safe='')}")
    assert document.status_code == 200
    assert document.json["passages"][0]["passage_id"] == id_


@pytest.mark.parametrize("kind", ["csv", "jsonl", "beir"])
def test_odd_ids_of_records_make_markers_that_can_be_cited(kind: str, tmp_path: Path) -> None:
    records = [{"id": id_, "text": f"Letter {n}."} for n, id_ in enumerate(ODD_IDS)]
    content = table(records) if kind == "csv" else lines_of(*records)
    name = "corpus.jsonl" if kind == "beir" else f"letters.{kind}"
    write_files(tmp_path / "sources", {f"town/{name}": content})
    build_from(kind, tmp_path / "c", sources_of(kind, tmp_path / "sources"))
    passages = stored(tmp_path / "c")
    assert len({passage.document_id for passage in passages}) == len(ODD_IDS)
    assert all(MARKER.fullmatch(passage.marker) for passage in passages)
