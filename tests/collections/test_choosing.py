"""One server, several collections: every request may choose one of those that are served."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from tests.collections.conftest import SEA
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, write_sources

OIL = {"question": "Who gives oil?"}
IN_SEA = OIL | {"collection": "sea"}


def found(response: object) -> set[str]:
    assert response.status_code == 200, response.data
    return {passage["document_id"] for passage in response.json["passages"]}


def test_a_body_chooses(client: FlaskClient) -> None:
    assert found(client.post("/api/search", json=OIL)) <= {"farm.sheep", "farm.cows", "town.trade"}
    assert found(client.post("/api/search", json=IN_SEA)) == {"sea.fish", "sea.ships"}
    answer = client.post("/api/ask", json=IN_SEA | {"include_context": True}).json
    assert {passage["document_id"] for passage in answer["passages"]} == {"sea.fish", "sea.ships"}
    assert answer["collection"] == "sea"
    assert answer["composite_target"].endswith("_sea")
    stream = client.post("/api/ask/stream", json=IN_SEA).get_data(as_text=True)
    assert "sea.fish" in stream
    cited = {"answer": "Fish give oil. [sea.fish p1]"}
    assert not client.post("/api/validate", json=cited).json["citation_valid"]
    chosen = client.post("/api/validate", json=cited | {"collection": "sea"}).json
    assert chosen["citation_valid"]


@pytest.mark.parametrize("way", ["query", "header"])
def test_a_request_without_a_body_chooses_too(client: FlaskClient, way: str) -> None:
    how = (
        {"query_string": {"collection": "sea"}}
        if way == "query"
        else {"headers": {"Atlas-Collection": "sea"}}
    )
    assert client.get("/api/documents/sea.fish", **how).json["text"] == "Fish give oil."
    assert client.get("/api/passages/sea.fish:0-14", **how).status_code == 200
    assert [c["id"] for c in client.get("/api/corpora", **how).json["corpora"]] == ["sea"]
    assert client.get("/api/config", **how).json["collection"] == "sea"
    assert client.get("/api/health", **how).json["documents"] == 2
    targets = client.get("/api/targets", **how).json["targets"]
    assert all(target["composite_target"].endswith("_sea") for target in targets)
    assert client.get("/api/documents/sea.fish").status_code == 404


@pytest.mark.parametrize("body", ["[" * 50_000 + "]" * 50_000, '{"a":' * 20_000, "{", "[]"])
def test_a_body_that_is_no_object_chooses_nothing_and_is_refused(
    client: FlaskClient, body: str
) -> None:
    for path in ("/api/search", "/api/ingest", "/api/cache/clear"):
        response = client.post(path, data=body, content_type="application/json")
        assert response.status_code == 400, path
        assert "JSON" in response.json["detail"]


@pytest.mark.parametrize("name", ["wood", "x", "../stores/sea", "Sea", "sea/", ".", "*", "\x00"])
def test_what_is_not_served_is_refused_with_what_is(client: FlaskClient, name: str) -> None:
    for response in (
        client.post("/api/search", json=OIL | {"collection": name}),
        client.get("/api/corpora", query_string={"collection": name}),
        client.post(f"/api/collections/{name.replace('/', '')}x/rollback", json={}),
    ):
        assert response.status_code == 400
        assert "Served are: farm, sea." in response.get_json(force=True)["detail"]


def test_a_star_serves_all_that_is_built(settings: Settings, tmp_path: Path) -> None:
    every = settings.model_copy(update={"collections": "*"})
    (every.chroma_persist_directory / "empty").mkdir()
    served = ServedCollections(every, HashEmbedder())
    client = create_app(served).test_client()
    listed = client.get("/api/collections").json
    assert [each["name"] for each in listed["collections"]] == ["farm", "sea", "wood"]
    assert found(client.post("/api/search", json=OIL | {"collection": "wood"})) == {"wood.trees"}
    source = write_sources(tmp_path / "sources" / "hill", {"hill/goats.txt": "Goats climb.\n"})
    build_tiny(source, every.chroma_persist_directory / "hill", HashEmbedder())
    assert found(client.post("/api/search", json=OIL | {"collection": "hill"})) == {"hill.goats"}
    served.close()


def test_alone_a_server_serves_its_own(settings: Settings) -> None:
    served = ServedCollections(settings.model_copy(update={"collections": ""}), HashEmbedder())
    client = create_app(served).test_client()
    assert [c["name"] for c in client.get("/api/collections").json["collections"]] == ["farm"]
    assert client.post("/api/search", json=IN_SEA).status_code == 400
    served.close()


def test_kept_answers_belong_to_their_collection(client: FlaskClient, tmp_path: Path) -> None:
    first = client.post("/api/ask", json=OIL).json
    other = client.post("/api/ask", json=IN_SEA).json
    assert not other["cache_hit"]
    assert (first["collection"], other["collection"]) == ("farm", "sea")
    again = client.post("/api/ask", json=IN_SEA).json
    assert again["cache_hit"]
    assert again["collection"] == "sea"


CLOSEST = {
    "marker": "[sea.fish p1]",
    "passage_id": "sea.fish:0-14",
    "document_id": "sea.fish",
    "corpus": "sea",
    "title": "fish",
    "page": 1,
    "start": 0,
    "end": 14,
    "quote": "Fish give oil.",
}


@pytest.mark.parametrize("format", ["markdown", "csv", "ris"])
def test_permalinks_lead_to_the_collection(client: FlaskClient, format: str) -> None:
    sentence = {"text": "Fish give oil.", "citations": [0], "grounded": True, "caveat": False}
    answer = client.post("/api/ask", json=IN_SEA).json | {
        "citations": [CLOSEST],
        "sentences": [sentence],
    }
    own = answer | {"collection": "farm", "qa_id": "own", "created": "2025-01-01T00:00:00Z"}
    body = {"format": format, "answers": [answer, own]}
    text = client.post("/api/export", json=body).get_data(as_text=True)
    assert text.count("/?collection=sea&passage=sea.fish") == 1
    assert text.count("/?passage=sea.fish") == 1
    if format == "ris":  # two documents, though their ids are the same
        assert text.count("TY  - ") == 2


def test_each_is_opened_once_and_follows_its_versions(
    client: FlaskClient, served: ServedCollections, settings: Settings, tmp_path: Path
) -> None:
    assert not served.is_open("sea")
    with ThreadPoolExecutor(8) as executor:
        opened = list(executor.map(lambda _: served("sea"), range(16)))
    assert len({id(atlas) for atlas in opened}) == 1
    assert opened[0].services.searcher.embedder is served().services.searcher.embedder
    assert opened[0].services.tracer is served().services.tracer
    source = write_sources(tmp_path / "sources" / "sea", SEA | {"sea/gulls.txt": "Gulls fly."})
    build_tiny(source, settings.chroma_persist_directory / "sea", HashEmbedder())
    served.refresh("sea")
    assert client.get("/api/health?collection=sea").json["documents"] == 3


def test_the_one_that_was_idle_longest_is_closed(settings: Settings) -> None:
    few = settings.model_copy(update={"collections": "*", "collections_open": 1})
    served = ServedCollections(few, HashEmbedder())
    sea = weakref.ref(served("sea").services.store)
    held = served("sea")
    served("wood")
    assert (served.is_open("sea"), served.is_open("wood")) == (False, True)
    # a request goes on with what it began with
    assert held.document("sea.fish").text == "Fish give oil."
    del held
    gc.collect()
    assert sea() is None
    assert served("sea").document("sea.fish").text == "Fish give oil."
    assert served().document("farm.cows").text == "Cows give milk."
    served.close()


def test_one_that_is_damaged_leaves_the_others(client: FlaskClient, settings: Settings) -> None:
    (settings.chroma_persist_directory / "sea" / "manifest.json").write_text("{")
    assert client.post("/api/search", json=IN_SEA).status_code == 503
    assert client.post("/api/search", json=OIL).status_code == 200
    listed = client.get("/api/collections").json["collections"]
    assert [bool(each["problem"]) for each in listed] == [False, True]


def test_labels_of_corpora_belong_to_the_configured_one(settings: Settings) -> None:
    own = settings.model_copy(update={"multi_corpus_metadata": "farm"})
    served = ServedCollections(own, HashEmbedder())
    client = create_app(served).test_client()
    assert client.get("/api/corpora").json["all"] == ["farm"]
    assert client.get("/api/corpora?collection=sea").json["all"] == ["sea"]
    served.close()


def test_one_that_is_not_built_tells_nothing_of_the_others(settings: Settings) -> None:
    served = ServedCollections(
        settings.model_copy(update={"collections": "farm, hills"}), HashEmbedder()
    )
    answer = (
        create_app(served).test_client().post("/api/search", json=OIL | {"collection": "hills"})
    )
    assert answer.status_code == 503
    assert answer.json["detail"] == "The collection hills is served, but not built."
    served.close()
