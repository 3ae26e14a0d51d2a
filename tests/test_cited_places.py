"""From a source that cites itself to the answer, its export, its stream and its verification."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.atlas import Atlas
from atlas_search.documents.export import FORMATS, Format
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.server.app import create_app
from atlas_search.services import Services
from tests.cited_places import DUES, EXEMPT, LEVY, PREFACE, SPEECH, open_places
from tests.exporting import bibtex_entries, csl_items, ris_entries, rows, text

ACT = "acts.harbour-dues-act"
SUBSECTION = f"[{ACT} s10(2)]"
EXEMPTION = "Are harbour dues payable by a lifeboat?"


@pytest.fixture(scope="module")
def services(
    tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder
) -> Iterator[Services]:
    opened = open_places(tmp_path_factory.mktemp("places"), embedder, splitter="structural")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def client(services: Services) -> FlaskClient:
    return create_app(lambda: Atlas(services)).test_client()


def ask(client: FlaskClient, question: str = EXEMPTION) -> dict[str, Any]:
    response = client.post("/api/ask", json={"question": question})
    found: dict[str, Any] = response.get_json()
    assert found["decision"] == "ANSWER", found
    return found


def cited(client: FlaskClient, question: str, quote: str) -> dict[str, Any]:
    (citation,) = [c for c in ask(client, question)["citations"] if c["quote"] == quote]
    named = ("marker", "locator", "page", "printed_page", "line", "section", "speaker")
    return {name: citation[name] for name in named}


def test_a_quote_of_an_act_is_cited_by_its_subsection(client: FlaskClient) -> None:
    assert cited(client, EXEMPTION, EXEMPT) == {
        "marker": SUBSECTION,
        "locator": "s 10(2)",
        "page": 1,
        "printed_page": None,
        "line": 3,
        "section": LEVY,
        "speaker": None,
    }


def test_a_quote_of_a_book_has_the_printed_page_beside_the_one_of_the_file(
    client: FlaskClient,
) -> None:
    found = cited(client, "Was the lighthouse of Kestrel Point rebuilt?", PREFACE)
    assert found["marker"] == "[books.kestrel-point p1]"
    assert (found["locator"], found["page"], found["printed_page"]) == (None, 1, "xii")


def test_a_quote_of_a_debate_has_its_speaker(client: FlaskClient) -> None:
    question = "Should the pilot service be extended to the northern fairway?"
    found = cited(client, question, SPEECH)
    assert (found["speaker"], found["section"]) == ("Ms Marlowe", "Pilots Bill")


def test_a_quote_of_a_passage_of_several_subsections_is_placed_in_its_own(
    tmp_path: Path, embedder: LocalEmbedder
) -> None:
    opened = open_places(tmp_path, embedder)
    try:
        whole = create_app(lambda: Atlas(opened)).test_client()
        found = cited(whole, EXEMPTION, EXEMPT)
    finally:
        opened.close()
    assert (found["marker"], found["locator"], found["line"]) == (f"[{ACT} s10]", "s 10(2)", 3)


def test_every_export_names_the_subsection(client: FlaskClient) -> None:
    answer = ask(client)
    written: dict[Format, str] = {format: text(format, answer) for format in FORMATS}
    place = f"s 10(2), {LEVY}: “{EXEMPT}”"
    assert "] Harbour Dues Act, s 10(2), Part 2 \\> Levy of dues" in written["markdown"]
    (row,) = [row for row in rows(written["csv"]) if row["marker"] == SUBSECTION]
    assert (row["locator"], row["page"], row["printed_page"], row["line"]) == (
        *("s 10(2)", "1", "", "3"),
    )
    assert json.loads(written["json"])["answers"] == [answer]
    (item,) = csl_items(written["csl-json"])
    (entry,) = ris_entries(written["ris"])
    (bib,) = bibtex_entries(written["bibtex"])
    assert place in item["note"]
    assert any(place in note for note in entry["notes"])
    assert place in bib["annote"]


def test_an_export_names_the_printed_page(client: FlaskClient) -> None:
    answer = ask(client, "Was the lighthouse of Kestrel Point rebuilt?")
    assert "Kestrel Point, p. xii (page 1 of the file)\n" in text("markdown", answer)


def test_an_answer_of_an_earlier_version_can_be_exported(client: FlaskClient) -> None:
    answer = ask(client)
    for citation in answer["citations"]:
        for name in ("locator", "printed_page", "line"):
            del citation[name]
    assert "Harbour Dues Act, p. 1, Part 2" in text("markdown", answer)


def test_an_answer_is_found_valid_by_its_own_tokens(client: FlaskClient) -> None:
    answer = ask(client)["answer"]
    found = client.post("/api/validate", json={"answer": answer}).get_json()
    assert (found["citation_valid"], found["warnings"]) == (True, [])
    places = [c["locator"] for s in found["sentences"] for c in s["citations"]]
    assert "s 10(2)" in places


@pytest.mark.parametrize("place", ["s11", "s10(3)", "s10", "p1", "s10(2)(a)"])
def test_a_token_of_another_place_is_refused(client: FlaskClient, place: str) -> None:
    (passage,) = [
        found
        for found in client.get(f"/api/documents/{ACT}").get_json()["passages"]
        if found["marker"] == SUBSECTION
    ]
    body = {"answer": f"{EXEMPT} [{ACT} {place}]", "passages": [passage["passage_id"]]}
    found = client.post("/api/validate", json=body).get_json()
    assert found["errors"] == [f"Sentence 1 cites [{ACT} {place}], which was not retrieved."]


def test_passages_that_are_sent_may_say_how_they_are_cited(client: FlaskClient) -> None:
    sent = {"document_id": "dues", "page": 1, "text": DUES, "locator": "s 10(1)"}
    body = {"answer": f"{DUES} ([dues s10(1)])", "passages": [sent]}
    found = client.post("/api/validate", json=body).get_json()
    assert found["citation_valid"], found
    ((citation,),) = [sentence["citations"] for sentence in found["sentences"]]
    assert (citation["marker"], citation["locator"]) == ("[dues s10(1)]", "s 10(1)")


@pytest.mark.parametrize("locator", ["Section ten", "s 10[A]", "p 3"])
def test_a_locator_that_is_none_is_refused(client: FlaskClient, locator: str) -> None:
    sent = {"document_id": "dues", "page": 1, "text": DUES, "locator": locator}
    response = client.post("/api/validate", json={"answer": DUES, "passages": [sent]})
    assert response.status_code == 400


def test_the_number_of_a_cited_section_is_no_unknown_number(client: FlaskClient) -> None:
    sent = {"document_id": "dues", "page": 1, "text": DUES, "locator": "s 10(1)"}
    body = {"answer": f"Section 10 says: {DUES} [dues s10(1)]", "passages": [sent]}
    assert client.post("/api/validate", json=body).get_json()["warnings"] == []
