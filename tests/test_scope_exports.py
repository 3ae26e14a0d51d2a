"""What was searched goes with every answer: documents, exports, bundles, notebooks."""

import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.atlas import Atlas
from atlas_search.documents.bundle import RunBundle, bundle_of, replay
from atlas_search.documents.export import FORMATS, export
from atlas_search.services import Services
from tests.exporting import BASE, answer, citation, text

QUESTION = "Can a local authority sue a newspaper for libel?"
SENTENCE = "Searched 1 of 3 corpora (Legal [UK]): 2 of 5 documents, 3 of 9 passages, 1991."
SCOPE = {
    "sentence": SENTENCE,
    "narrowed": True,
    "corpora": [
        {
            "id": "legal_uk",
            "label": "Legal [UK]",
            "documents": 2,
            "passages": 3,
            "all_documents": 5,
            "all_passages": 9,
        }
    ],
    "all_corpora": 3,
    "documents": 2,
    "passages": 3,
    "all_documents": 5,
    "all_passages": 9,
    "dates": {
        "first": "1991-01-01",
        "last": "1991-12-31",
        "or_earlier": False,
        "or_later": False,
        "undated": 0,
    },
    "filters": {"court": ["House of Lords"]},
    "required": [],
    "unmet": [],
    "excluded": [],
    "unknown_words": [],
    "short_legs": [],
}


@pytest.fixture
def asked(client: FlaskClient) -> dict[str, Any]:
    body = {"question": QUESTION, "corpus_filter": "legal_uk", "filters": {"date": {"to": 1999}}}
    found: dict[str, Any] = client.post("/api/ask", json=body).get_json()
    return found


def test_markdown_says_what_was_searched_below_the_answer() -> None:
    written = text("markdown", answer(citation(), scope=SCOPE))
    assert (
        "He can. [1]\n\nSearched 1 of 3 corpora (Legal \\[UK\\]): 2 of 5 documents, "
        "3 of 9 passages, 1991.\n\n## Sources"
    ) in written


@pytest.mark.parametrize("format", FORMATS)
def test_an_answer_of_an_earlier_version_is_exported_as_it_is(format: str) -> None:
    old = answer(citation())
    assert "scope" not in old
    assert "Searched" not in text(format, old)  # type: ignore[arg-type]


def test_reference_managers_and_tables_get_the_sources_alone() -> None:
    for format in ("csv", "bibtex", "ris", "csl-json"):
        assert text(format, answer(citation(), scope=SCOPE)) == text(format, answer(citation()))  # type: ignore[arg-type]


def test_an_answer_and_its_exports_say_what_was_searched(
    client: FlaskClient, asked: dict[str, Any], services: Services
) -> None:
    scope = asked["scope"]
    assert scope["sentence"].startswith("Searched 1 of 3 corpora (Legal UK): ")
    assert scope["filters"] == {"date": {"to": "1999"}}
    assert scope["dates"]["last"] <= "1999-12-31"
    assert 0 < scope["documents"] < scope["all_documents"]
    held = {corpus.id: corpus for corpus in services.store.corpora}["legal_uk"]
    assert scope["all_documents"] == held.documents
    exported = json.loads(export([asked], "json", BASE).text)
    assert exported["answers"][0]["scope"] == scope
    assert scope["sentence"].partition(";")[0] in export([asked], "markdown", BASE).text


def test_the_stream_and_a_search_say_the_same(client: FlaskClient) -> None:
    body = {"question": QUESTION, "corpus_filter": "legal_uk"}
    streamed = client.post("/api/ask/stream", json=body).get_data(as_text=True)
    last = [line for line in streamed.splitlines() if line.startswith("data: ")][-1]
    found = client.post("/api/search", json=body).get_json()
    assert json.loads(last.removeprefix("data: "))["scope"] == found["scope"]
    assert not found["scope"]["filters"]
    assert found["scope"]["narrowed"]


def test_a_bundle_keeps_what_was_searched_and_old_ones_replay(services: Services) -> None:
    given = Atlas(services).ask(QUESTION, corpora="legal_uk")
    bundle = bundle_of(given, services.store.manifest)
    content = json.loads(bundle.to_json())
    assert content["scope"] == given.scope.to_dict()
    assert RunBundle.from_json(bundle.to_json(), "x") == bundle
    del content["scope"]
    old = RunBundle.from_json(json.dumps(content), "an earlier run")
    assert old.scope is None
    assert replay(services.searcher, old).identical


def test_notebooks_show_what_was_searched(services: Services) -> None:
    atlas = Atlas(services)
    for shown in (atlas.search(QUESTION, corpora="legal_uk"), atlas.ask("How do I cook rice?")):
        assert f"<small>{shown.scope.sentence}</small>" in shown._repr_html_()


def test_the_description_of_the_api_has_the_scope(client: FlaskClient) -> None:
    schemas = client.get("/api/openapi.json").get_json()["components"]["schemas"]
    for name in ("AnswerOut", "SearchOut"):
        assert "scope" in schemas[name]["required"]
    assert set(schemas["ScopeOut"]["properties"]) == SCOPE.keys()
    assert set(schemas["ScopeOut"]["required"]) == SCOPE.keys()
