"""The documents of a collection page by page, by any id; and the files of a build that were
refused."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.core.domain import MARKER
from atlas_search.core.settings import Settings
from atlas_search.services import open_services
from tests.hash_embedder import HashEmbedder
from tests.servers import app_of
from tests.source_builds import ODD_IDS, build_from, chroma_sources
from tests.source_files import write_chroma
from tests.tiny import build_tiny, write_sources

LOGS = {
    "north/zebra.md": "---\ntitle: zebra\ndate: 1902-05\nharbour: Ems\n---\nRain all day.\n",
    "north/Apple.md": "---\ntitle: Apple\ndate: 1899\nharbour: Ems\n---\nNo wind.\n",
    "north/mango.md": "---\ntitle: mango\n---\nUndated, and calm.\n",
    "south/apple.md": "---\ntitle: apple\ndate: 1902-07-01\nharbour: Oslo\n---\nSnow and fog.\n",
    "south/empty.txt": " \n",
    "south/hollow.txt": "",
    "south/odd.md": "---\ntitle: [unclosed\n---\nRain.\n",
}
NORTH = ["north.Apple", "north.mango", "north.zebra"]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    folder = tmp_path_factory.mktemp("logs")
    build_tiny(write_sources(folder / "source", LOGS), folder / "stores" / "logs", HashEmbedder())
    with Atlas.open(folder / "stores" / "logs", embedder=HashEmbedder()) as opened:
        yield app_of(opened).test_client()


def listed(client: FlaskClient, query: Mapping[str, Any]) -> list[str]:
    if "filters" in query:
        query = {**query, "filters": json.dumps(query["filters"])}
    response = client.get("/api/documents", query_string=query)
    assert response.status_code == 200, response.data
    return [document["document_id"] for document in response.get_json()["documents"]]


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
        ({"title": "APPL"}, ["north.Apple", "south.apple"]),
        ({"title": "appl", "corpus": "south"}, ["south.apple"]),
        ({"title": "apple zebra"}, []),
    ],
)
def test_documents_are_listed_as_asked(
    client: FlaskClient, query: dict[str, Any], expected: list[str]
) -> None:
    assert listed(client, query) == expected


def test_pages_hold_every_document_once(client: FlaskClient) -> None:
    seen, offset = [], 0
    while offset is not None:
        query = {"sort": "title", "limit": 1, "offset": offset}
        page = client.get("/api/documents", query_string=query).get_json()
        assert page["total"] == 4
        seen += [document["document_id"] for document in page["documents"]]
        offset = page["next_offset"]
    assert sorted(seen) == sorted(listed(client, {}))
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("query", "reason"),
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
        ({"title": "x" * 201}, "title"),
    ],
)
def test_a_list_that_cannot_be_is_refused(
    client: FlaskClient, query: dict[str, Any], reason: str
) -> None:
    response = client.get("/api/documents", query_string=query)
    assert response.status_code == 400
    assert reason in response.get_json(force=True)["detail"]


def test_refused_files_come_first_with_the_reasons(client: FlaskClient) -> None:
    page = client.get("/api/sources").get_json()
    assert (page["files"], page["refused"]) == (7, 3)
    refused = [each for each in page["sources"] if each["refused"]]
    assert page["sources"][:3] == refused
    assert [each["source"] for each in refused] == [
        "south/empty.txt",
        "south/hollow.txt",
        "south/odd.md",
    ]
    assert all(each["documents"] == 0 and each["remarks"] for each in refused)
    assert page["total"] == len(page["sources"])
    first, rest = (
        client.get(f"/api/sources?{query}").get_json() for query in ("limit=1", "offset=1")
    )
    assert (len(first["sources"]), first["next_offset"]) == (1, 1)
    assert (len(rest["sources"]), rest["next_offset"]) == (first["total"] - 1, None)
    assert client.get("/api/sources?limit=1000").status_code == 400


def test_a_collection_in_numbers(client: FlaskClient) -> None:
    stats = client.get("/api/stats").get_json()
    counts = stats["all"]
    assert [counts[name] for name in ("documents", "passages", "words")] == [4, 4, 11]
    assert counts["characters"] == sum(corpus["characters"] for corpus in stats["corpora"])
    dates = counts["dates"]
    assert (dates["first"], dates["last"], dates["undated"]) == ("1899-01-01", "1902-07-01", 1)
    assert [(y["year"], y["corpus"], y["documents"]) for y in stats["years"]] == [
        ("1899", "north", 1),
        ("1902", "north", 1),
        ("1902", "south", 1),
    ]
    before = stats["server"]
    for _ in range(2):
        client.post("/api/ask", json={"question": "Was there snow?"})
    after = client.get("/api/stats").get_json()["server"]
    assert (after["answers_begun"] - before["answers_begun"], after["answers_running"]) == (2, 0)
    assert [after["cache"][name] for name in ("hits", "misses", "kept")] == [1, 1, 1]


ERAS = {
    "old/caesar.md": "---\ntitle: Caesar\ndate: 15 March 44 BC\n---\nThe senate met.\n",
    "old/peace.md": "---\ntitle: Peace\ndate: 27 BC\n---\nThe senate met.\n",
    "old/temple.md": "---\ntitle: Temple\ndate: 5th century BC\n---\nThe senate met.\n",
    "old/pliny.md": "---\ntitle: Pliny\ndate: AD 79\n---\nThe senate met.\n",
    "old/rome.md": "---\ntitle: Rome\ndate: 476\n---\nThe senate met.\n",
    "old/late.md": "---\ntitle: Late\ndate: 12. Mai 1954\n---\nThe senate met.\n",
    "old/early.md": "---\ntitle: Early\ndate: before 300 BC\n---\nThe senate met.\n",
}


@pytest.fixture(scope="module")
def eras(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    folder = tmp_path_factory.mktemp("eras")
    build_tiny(write_sources(folder / "source", ERAS), folder / "stores" / "eras", HashEmbedder())
    with Atlas.open(folder / "stores" / "eras", embedder=HashEmbedder()) as opened:
        yield app_of(opened).test_client()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"sort": "date"}, "early temple caesar peace pliny late rome"),
        ({"sort": "-date"}, "late pliny peace caesar early temple rome"),
        ({"filters": {"date": {"from": "-0044", "to": "-0020"}}}, "caesar peace"),
        ({"filters": {"date": {"from": -44, "to": 100}}}, "caesar peace pliny"),
        ({"filters": {"date": {"to": "400 BC"}}}, "early temple"),
        ({"filters": {"date": "44 BC"}}, "caesar"),
        ({"filters": {"date": {"from": "1954-05", "to": "1954-05"}}}, "late"),
    ],
)
def test_years_before_1000_and_before_our_era_are_in_order(
    eras: FlaskClient, query: dict[str, Any], expected: str
) -> None:
    ids = [f"old.{name}" for name in expected.split()]
    assert listed(eras, query) == (ids if "sort" in query else sorted(ids))


def test_years_before_our_era_are_counted_in_order(eras: FlaskClient) -> None:
    documents = eras.get("/api/documents", query_string={"sort": "date"}).get_json()["documents"]
    days = {each["title"]: (each["first_day"], each["last_day"]) for each in documents}
    assert days["Caesar"] == ("-0043-03-15", "-0043-03-15")
    assert days["Temple"] == ("-0499-01-01", "-0400-12-31")
    years = [each["year"] for each in eras.get("/api/stats").get_json()["years"]]
    assert years == ["-0043", "-0026", "0079", "1954"]
    facets = eras.post("/api/facets", json={}).get_json()["dates"]
    assert [each["year"] for each in facets["years"]] == [-43, -26, 79, 1954]
    trends = eras.post("/api/trends", json={"query": "senate", "by": "decade"}).get_json()
    hit = [cell["value"] for cell in trends["cells"] if cell["hits"]]
    assert hit == ["50–41 BC", "30–21 BC", "0070s", "1950s", None]
    found = eras.post(
        "/api/search", json={"question": "senate", "filters": trends["cells"][0]["filters"]}
    ).get_json()
    assert [passage["title"] for passage in found["passages"]] == ["Caesar"]
    extent = eras.post("/api/search", json={"question": "senate"}).get_json()["scope"]
    assert "-0499-01-01 or earlier to 1954-05-12 (1 undated)" in extent["sentence"]


def test_a_query_that_cannot_be_read_names_its_character(client: FlaskClient) -> None:
    refusal = client.post("/api/concordance", json={"query": "calm NEAR wind"})
    assert refusal.status_code == 400
    assert refusal.get_json(force=True)["character"] == 6


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """The API over passages with ids of any characters."""
    root = tmp_path_factory.mktemp("odd")
    write_chroma(root / "old", {id_: f"Letter {id_!r}." for id_ in ODD_IDS})
    build_from("chroma", root / "c", chroma_sources(root, "old"))
    settings = Settings(chroma_persist_directory=root, chroma_collection_name="c")
    services = open_services(settings, HashEmbedder())
    yield app_of(Atlas(services)).test_client()
    services.close()


@pytest.mark.parametrize("id_", ODD_IDS)
def test_any_id_is_found_and_can_be_cited(odd: FlaskClient, id_: str) -> None:
    passage = odd.get(f"/api/passages/{quote(id_, safe='')}")
    assert passage.status_code == 200
    assert passage.get_json()["passage_id"] == id_
    assert MARKER.fullmatch(passage.get_json()["marker"])
    document = odd.get(f"/api/documents/{quote(passage.get_json()['document_id'], safe='')}")
    assert document.status_code == 200
    assert document.get_json()["passages"][0]["passage_id"] == id_
