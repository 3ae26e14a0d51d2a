"""GET /api/sources: what was refused of the files of a build, and why."""

import pytest
from flask.testing import FlaskClient

from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import settings_for
from tests.tiny import build_tiny, write_sources

FILES = {
    "north/empty.txt": " \n",
    "north/hollow.txt": "",
    "north/calm.md": "---\ntitle: calm\n---\nNo wind.\n",
    "north/odd.md": "---\ntitle: [unclosed\n---\nRain.\n",
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> FlaskClient:
    folder = tmp_path_factory.mktemp("reported")
    build_tiny(write_sources(folder / "source", FILES), folder / "stores" / "farm", HashEmbedder())
    served = ServedCollections(settings_for(folder), HashEmbedder())
    yield create_app(served).test_client()
    served.close()


def test_refused_files_come_first_with_the_reasons(client: FlaskClient) -> None:
    found = client.get("/api/sources").json
    assert (found["files"], found["refused"]) == (4, 3)
    refused = [each for each in found["sources"] if each["refused"]]
    assert found["sources"][:3] == refused
    assert [each["source"] for each in refused] == [
        "north/empty.txt",
        "north/hollow.txt",
        "north/odd.md",
    ]
    assert all(each["documents"] == 0 and each["remarks"] for each in refused)
    assert found["total"] == len(found["sources"])


def test_pages_follow_each_other(client: FlaskClient) -> None:
    first = client.get("/api/sources?limit=1").json
    assert (len(first["sources"]), first["next_offset"]) == (1, 1)
    rest = client.get("/api/sources?offset=1").json
    assert rest["next_offset"] is None
    assert len(rest["sources"]) == first["total"] - 1
    assert client.get("/api/sources?limit=1000").status_code == 400


def test_a_query_that_cannot_be_read_names_its_character(client: FlaskClient) -> None:
    refused = client.post("/api/concordance", json={"query": "calm NEAR wind"})
    assert refused.status_code == 400
    assert refused.get_json(force=True)["character"] == 6
