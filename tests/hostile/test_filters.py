"""Filters with many values: all of them count, and too many are refused with how many are taken."""

import json
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.server.app import create_app
from tests.hash_embedder import HashEmbedder
from tests.tiny import write_sources

QUESTION = "Who keeps the light?"
DOCUMENTS = {
    "a/one.md": "---\ntitle: One\ndate: 1901-05\nkeeper: Ada\n---\nThe light is kept by one.\n",
    "a/two.md": "---\ntitle: Two\ndate: 1902\nkeeper: Bea\n---\nThe light is kept by two.\n",
    "a/both.md": "---\ntitle: Both\ndate: 1901-12/1902-01\nkeeper: 100%\n---\nThey keep light.\n",
}
RECORDS = [
    {
        "id": "talk",
        "text": "I keep the light.",
        "speaker": "Mr Roe; Mrs Doe",
        "section": "Works > Oil",
    },
    {"id": "other", "text": "Who keeps the light?", "speaker": "Mr Roebuck", "section": "Rates"},
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    root, embedder = tmp_path_factory.mktemp("lights"), HashEmbedder()
    said = "".join(json.dumps(record) + "\n" for record in RECORDS)
    sources = write_sources(root / "source", {**DOCUMENTS, "b/said.jsonl": said})
    Atlas.build(sources, root / "stores" / "c", embedder=embedder)
    with Atlas.open(root / "stores" / "c", embedder=embedder) as opened:
        yield create_app(lambda: opened).test_client()


def titles(client: FlaskClient, **filters: object) -> set[str]:
    body = {"question": QUESTION, "filters": filters, "exact": True, "k": 100}
    response = client.post("/api/search", json=body)
    assert response.status_code == 200, response.text
    return {found["title"] for found in response.get_json()["passages"]}


def refusal(client: FlaskClient, **filters: object) -> str:
    response = client.post("/api/search", json={"question": QUESTION, "filters": filters})
    assert response.status_code == 400, response.text[:200]
    return response.get_json(force=True)["detail"]


MANY = [f"none {number}" for number in range(990)]


def test_one_of_a_thousand_values_is_enough(client: FlaskClient) -> None:
    assert titles(client, keeper=[*MANY, "ada"]) == {"One"}
    assert titles(client, title=[*MANY, "two", "ONE"]) == {"One", "Two"}
    assert titles(client, keeper=MANY) == set()


def test_one_of_many_documents_is_enough(client: FlaskClient) -> None:
    found = client.post("/api/search", json={"question": QUESTION, "exact": True}).get_json()
    ids = {each["title"]: each["document_id"] for each in found["passages"]}
    assert titles(client, document_id=[*MANY, ids["Two"]]) == {"Two"}


def test_one_of_many_dates_is_enough(client: FlaskClient) -> None:
    years = [str(year) for year in range(1000, 1900)]
    assert titles(client, date=[*years, "1902"]) == {"Two"}
    assert titles(client, date=[*years, "1901-05"]) == {"One"}
    # what lies in two of the years lies in none of them
    assert titles(client, date=[*years, "1901", "1902"]) == {"One", "Two"}
    assert titles(client, date=[*years, "1901-11/1902-02", "1901-12"]) == {"Both"}


def test_one_of_many_speakers_is_enough(client: FlaskClient) -> None:
    spoken = titles(client, speaker=[*MANY, "mrs doe"])
    assert len(spoken) == 1
    assert titles(client, speaker="Mr Roe") == spoken
    assert titles(client, speaker=["Roe", "%", "_r Roe"]) == set()
    assert titles(client, speaker="Mr Roebuck").isdisjoint(spoken)


def test_one_of_many_sections_is_enough(client: FlaskClient) -> None:
    assert len(titles(client, section=[*MANY, "oil"])) == 1
    assert titles(client, section=["O%l", "O_l"]) == set()


def test_too_many_values_are_refused_with_how_many_are_taken(client: FlaskClient) -> None:
    assert refusal(client, keeper=["a"] * 600, title=["b"] * 401) == (
        "filters: the lists of filters 'keeper', 'title' hold 1,001 values; at most 1,000 are "
        "taken. Narrow by another field, or search several times."
    )


def test_too_many_fields_are_refused(client: FlaskClient) -> None:
    found = refusal(client, **{f"f{number}": "a" for number in range(101)})
    assert found == "filters: 101 fields are given; at most 100 are taken."


@pytest.mark.parametrize("field", ["keeper", "speaker", "section", "document_id", "date"])
def test_a_long_value_is_refused(client: FlaskClient, field: str) -> None:
    assert refusal(client, **{field: ["a", "x" * 50_000]}) == (
        f"filters.{field}: a value has 50,000 characters; at most 1,000 are compared."
    )


@pytest.mark.parametrize("end", ["nan", "inf", "-1e400"])
def test_an_end_that_is_no_number_is_refused(client: FlaskClient, end: str) -> None:
    assert "is neither a number nor a date" in refusal(client, date={"from": end})


def test_a_nul_character_is_refused(client: FlaskClient) -> None:
    assert refusal(client, section="\0") == "filters.section: '\\x00' holds a NUL character."


@pytest.mark.parametrize("name", ["require", "exclude"])
def test_a_long_phrase_is_refused(client: FlaskClient, name: str) -> None:
    body = {"question": QUESTION, name: ["wool", "wool " * 201]}
    response = client.post("/api/search", json=body)
    assert response.status_code == 400
    assert response.get_json(force=True)["detail"] == (
        f"{name}: a phrase has 1,005 characters; at most 1,000 are looked for. Shorten it."
    )
