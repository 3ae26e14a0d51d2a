"""The documents of a collection page by page, and a collection in numbers."""

import json
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import settings_for
from tests.tiny import build_tiny, write_sources

LOGS = {
    "north/zebra.md": "---\ntitle: zebra\ndate: 1902-05\nharbour: Ems\n---\nRain all day.\n",
    "north/Apple.md": "---\ntitle: Apple\ndate: 1899\nharbour: Ems\n---\nNo wind.\n",
    "north/mango.md": "---\ntitle: mango\n---\nUndated, and calm.\n",
    "south/apple.md": "---\ntitle: apple\ndate: 1902-07-01\nharbour: Oslo\n---\nSnow and fog.\n",
}


@pytest.fixture
def client(tmp_path: Path) -> FlaskClient:
    build_tiny(
        write_sources(tmp_path / "source", LOGS), tmp_path / "stores" / "farm", HashEmbedder()
    )
    served = ServedCollections(settings_for(tmp_path), HashEmbedder())
    yield create_app(served).test_client()
    served.close()


def listed(client: FlaskClient, **query: Any) -> list[str]:
    response = client.get("/api/documents", query_string=query)
    assert response.status_code == 200, response.data
    return [document["document_id"] for document in response.json["documents"]]


NORTH = ["north.Apple", "north.mango", "north.zebra"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, [*NORTH, "south.apple"]),
        ({"sort": "title"}, ["north.Apple", "south.apple", "north.mango", "north.zebra"]),
        ({"sort": "date"}, ["north.Apple", "north.zebra", "south.apple", "north.mango"]),
        ({"sort": "-date"}, ["south.apple", "north.zebra", "north.Apple", "north.mango"]),
        ({"corpus": "north"}, NORTH),
        ({"corpus": ["south", "north"]}, [*NORTH, "south.apple"]),
        ({"filters": {"harbour": "Ems"}}, ["north.Apple", "north.zebra"]),
        ({"filters": {"date": {"from": "1902"}}, "sort": "-date"}, ["south.apple", "north.zebra"]),
        ({"filters": {"harbour": ["Ems", "Oslo"]}, "corpus": "south"}, ["south.apple"]),
        ({"filters": {"document_id": "north.mango"}}, ["north.mango"]),
        ({"filters": {"harbour": "Riga"}}, []),
        ({"limit": 2}, NORTH[:2]),
        ({"limit": 2, "offset": 2}, ["north.zebra", "south.apple"]),
        ({"offset": 4}, []),
    ],
)
def test_documents_are_listed_as_asked(
    client: FlaskClient, query: dict[str, Any], expected: list[str]
) -> None:
    if "filters" in query:
        query = query | {"filters": json.dumps(query["filters"])}
    assert listed(client, **query) == expected


def test_pages_hold_every_document_once(client: FlaskClient) -> None:
    seen, offset = [], 0
    while offset is not None:
        query = {"sort": "title", "limit": 1, "offset": offset}
        page = client.get("/api/documents", query_string=query).json
        assert page["total"] == 4
        seen += [document["document_id"] for document in page["documents"]]
        offset = page["next_offset"]
    assert sorted(seen) == sorted(listed(client))
    assert len(seen) == 4


def test_a_listed_document_is_described(client: FlaskClient) -> None:
    page = client.get("/api/documents", query_string={"corpus": "south"}).json
    (document,) = page["documents"]
    assert document == {
        "document_id": "south.apple",
        "corpus": "south",
        "title": "apple",
        "source": "south/apple.md",
        "kind": "txt",
        "characters": 13,
        "passages": 1,
        "first_day": "1902-07-01",
        "last_day": "1902-07-01",
        "metadata": document["metadata"],
    }
    assert document["metadata"]["harbour"] == "Oslo"
    assert page["version"] == client.get("/api/config").json["collection_version"]


def test_documents_are_found_by_words_of_their_title(client: FlaskClient) -> None:
    assert listed(client, title="APPL") == ["north.Apple", "south.apple"]
    assert listed(client, title="appl", corpus="south") == ["south.apple"]
    assert listed(client, title="apple zebra") == []
    assert client.get("/api/documents", query_string={"title": "x" * 201}).status_code == 400


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"corpus": "east"}, "Unknown corpus 'east'"),
        ({"filters": '{"colour": "red"}'}, "Unknown field 'colour'"),
        ({"filters": "{"}, "filters"),
        ({"filters": '["harbour"]'}, "filters"),
        ({"sort": "size"}, "sort"),
        ({"limit": 0}, "limit"),
        ({"limit": 1000}, "limit"),
        ({"offset": -1}, "offset"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_cannot_be_listed_is_said(
    client: FlaskClient, query: dict[str, Any], says: str
) -> None:
    response = client.get("/api/documents", query_string=query)
    assert response.status_code == 400
    assert says in response.get_json(force=True)["detail"]


def test_a_collection_in_numbers(client: FlaskClient) -> None:
    stats = client.get("/api/stats").json
    assert (stats["all"]["documents"], stats["all"]["passages"], stats["all"]["words"]) == (
        4,
        4,
        11,
    )
    assert {c["id"]: c["documents"] for c in stats["corpora"]} == {"north": 3, "south": 1}
    assert stats["all"]["characters"] == sum(c["characters"] for c in stats["corpora"])
    assert (stats["all"]["dates"]["first"], stats["all"]["dates"]["last"]) == (
        "1899-01-01",
        "1902-07-01",
    )
    assert stats["all"]["dates"]["undated"] == 1
    assert stats["corpora"][1]["dates"]["first"] == "1902-07-01"
    assert set(stats["disk"]) == {
        *("records.sqlite", "ids", "tokens", "words", "embeddings", "keywords", "chroma")
    }
    assert stats["embedding"]["name"] == "hash"
    assert [(y["year"], y["corpus"], y["documents"]) for y in stats["years"]] == [
        ("1899", "north", 1),
        ("1902", "north", 1),
        ("1902", "south", 1),
    ]
    assert stats["content_digest"]
    assert all(corpus["digest"] for corpus in stats["corpora"])
    assert stats["kinds"]["txt"]["documents"] == 4


def test_what_the_server_did_is_counted(client: FlaskClient) -> None:
    for _ in range(2):
        client.post("/api/ask", json={"question": "Was there snow?"})
    server = client.get("/api/stats").json["server"]
    assert (server["answers_begun"], server["answers_running"]) == (2, 0)
    assert (server["cache"]["hits"], server["cache"]["misses"], server["cache"]["kept"]) == (
        1,
        1,
        1,
    )
