"""Places: how a passage is cited, from a source that cites itself to the answer and its exports."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import example, given
from hypothesis import strategies as st

from atlas_search import Atlas
from atlas_search.answer.check.markers import read_marked
from atlas_search.core.domain import MARKER, Located, Passage
from atlas_search.core.locator import PAGED, TOKEN_PLACE, is_locator, place_in_words
from atlas_search.documents.export import FORMATS
from atlas_search.providers.embedding_local import LocalEmbedder
from tests.cited_places import DUES, EXEMPT, LEVY, PREFACE, SPEECH, open_places
from tests.citing import passage
from tests.exporting import bibtex_entries, csl_items, ris_entries, rows, text
from tests.hash_embedder import HashEmbedder
from tests.places import ROOT
from tests.servers import app_of
from tests.tiny import build_tiny, write_sources

ACT = "acts.harbour-dues-act"
SUBSECTION = f"[{ACT} s10(2)]"
EXEMPTION = "Are harbour dues payable by a lifeboat?"
REBUILT = "Was the lighthouse of Kestrel Point rebuilt?"
PILOTS = "Should the pilot service be extended to the northern fairway?"


@pytest.fixture(scope="module")
def client(
    tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder
) -> Iterator[FlaskClient]:
    services = open_places(tmp_path_factory.mktemp("places"), embedder, splitter="structural")
    yield app_of(Atlas(services)).test_client()
    services.close()


def ask(client: FlaskClient, question: str = EXEMPTION) -> dict[str, Any]:
    answer: dict[str, Any] = client.post("/api/ask", json={"question": question}).get_json()
    assert answer["decision"] == "ANSWER", answer
    return answer


# answers


@pytest.mark.parametrize(
    ("question", "quote", "place"),
    [
        (
            EXEMPTION,
            EXEMPT,
            {
                "marker": SUBSECTION,
                "locator": "s 10(2)",
                "page": 1,
                "printed_page": None,
                "line": 3,
                "section": LEVY,
                "speaker": None,
            },
        ),
        (
            REBUILT,
            PREFACE,
            {
                "marker": "[books.kestrel-point p1]",
                "locator": None,
                "page": 1,
                "printed_page": "xii",
            },
        ),
        (PILOTS, SPEECH, {"speaker": "Ms Marlowe", "section": "Pilots Bill"}),
    ],
)
def test_a_quote_is_cited_by_the_place_its_source_names(
    client: FlaskClient, question: str, quote: str, place: dict[str, object]
) -> None:
    (citation,) = [c for c in ask(client, question)["citations"] if c["quote"] == quote]
    assert place.items() <= citation.items()


TREATY = """# Treaty on collective passports

Preamble.

## Article 3

Young persons shall be eligible for a collective passport.

## Article 4

A leader of at least 21 years of age shall remain in company with the party.

## Article 5

The number of persons on a collective passport shall be not less than five.
"""


@pytest.mark.parametrize(
    ("question", "line", "article"),
    [
        ("How old must the leader of the party be?", 11, "Article 4"),
        ("How many persons shall a collective passport have?", 15, "Article 5"),
    ],
)
def test_of_a_passage_of_several_articles_a_quote_is_cited_by_its_own(
    tmp_path: Path, question: str, line: int, article: str
) -> None:
    (tmp_path / "targets").mkdir()
    (tmp_path / "targets" / "any.txt").write_text("ANSWER_LIKELIHOOD=0\n")
    sources = write_sources(tmp_path / "sources", {"treaties/a.md": TREATY})
    build_tiny(sources, tmp_path / "treaty", HashEmbedder())
    with Atlas.open(
        tmp_path / "treaty",
        embedder=HashEmbedder(),
        targets_directory=tmp_path / "targets",
        test_target="any",
    ) as atlas:
        quote = TREATY.splitlines()[line - 1]
        (citation,) = [c for c in atlas.ask(question).citations if c.quote == quote]
        assert citation.passage.section == "Treaty on collective passports"
        sent = citation.form()
        assert (sent.section, sent.line) == (f"Treaty on collective passports > {article}", line)
        hits = [hit.section.rpartition(" > ")[2] for hit in atlas.concordance("persons").lines]
        assert hits == ["Article 3", "Article 5"]


def test_of_a_passage_of_several_subsections_a_quote_has_its_own(tmp_path: Path) -> None:
    services = open_places(tmp_path, HashEmbedder())
    try:
        answer = Atlas(services).ask(EXEMPTION).to_dict()
    finally:
        services.close()
    quotes = answer["citations"] or answer["closest"]
    (quote,) = [quote for quote in quotes if quote["quote"] == EXEMPT]
    assert (quote["marker"], quote["locator"], quote["line"]) == (f"[{ACT} s10]", "s 10(2)", 3)


# exports


def test_every_export_names_the_subsection(client: FlaskClient) -> None:
    answer = ask(client)
    written = {format: text(format, answer) for format in FORMATS}
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
    exported = text("markdown", ask(client, REBUILT))
    assert "Kestrel Point, p. xii (page 1 of the file)\n" in exported


def test_an_answer_of_an_earlier_version_has_its_pages(client: FlaskClient) -> None:
    answer = ask(client)
    for citation in answer["citations"]:
        for name in ("locator", "printed_page", "line"):
            del citation[name]
        citation["page"] = 3
    assert "Harbour Dues Act, p. 3, Part 2" in text("markdown", answer)


# the check


def validate(client: FlaskClient, answer: str, *passages: object) -> dict[str, Any]:
    body = {"answer": answer} | ({"passages": passages} if passages else {})
    result: dict[str, Any] = client.post("/api/validate", json=body).get_json()
    return result


def test_an_answer_is_found_valid_by_its_own_tokens(client: FlaskClient) -> None:
    result = validate(client, ask(client)["answer"])
    assert (result["citation_valid"], result["warnings"]) == (True, [])
    places = [c["locator"] for s in result["sentences"] for c in s["citations"]]
    assert "s 10(2)" in places


@pytest.mark.parametrize("place", ["s11", "s10(3)", "s10", "p1", "s10(2)(a)"])
def test_a_token_of_another_place_is_refused(client: FlaskClient, place: str) -> None:
    passages = client.get(f"/api/documents/{ACT}").get_json()["passages"]
    (id_,) = [each["passage_id"] for each in passages if each["marker"] == SUBSECTION]
    result = validate(client, f"{EXEMPT} [{ACT} {place}]", id_)
    assert result["errors"] == [f"Sentence 1 cites [{ACT} {place}], which was not retrieved."]


def test_passages_that_are_sent_may_say_how_they_are_cited(client: FlaskClient) -> None:
    sent = {"document_id": "dues", "page": 1, "text": DUES, "locator": "s 10(1)"}
    # the number of a cited section is no unknown number
    result = validate(client, f"Section 10 says: {DUES} ([dues s10(1)])", sent)
    assert (result["citation_valid"], result["warnings"]) == (True, [])
    ((citation,),) = [sentence["citations"] for sentence in result["sentences"]]
    assert (citation["marker"], citation["locator"]) == ("[dues s10(1)]", "s 10(1)")


@pytest.mark.parametrize("locator", ["Section ten", "s 10[A]", "p 3"])
def test_a_locator_that_is_none_is_refused(client: FlaskClient, locator: str) -> None:
    sent = {"document_id": "dues", "page": 1, "text": DUES, "locator": locator}
    response = client.post("/api/validate", json={"answer": DUES, "passages": [sent]})
    assert response.status_code == 400


# the grammar of tokens, in texts and in the page

LOCATORS = st.builds(
    lambda kind, number, rest, levels: f"{kind}{number}{rest}{''.join(f'({x})' for x in levels)}",
    st.sampled_from(
        ["s ", "r ", "reg ", "art ", "cl ", "para ", "sch ", "o ", "§ ", "§", "s\u00a0"]
    ),
    st.sampled_from(["1", "10A", "59", "B", "1 para 3", "5.2"]),
    st.text(st.characters(exclude_characters="()[]\n"), max_size=4),
    st.lists(st.text(st.characters(exclude_characters="()[]\n"), max_size=4), max_size=3),
)
DOCUMENTS = st.from_regex(r"[^\[\]\s]+", fullmatch=True) | st.sampled_from(
    ["uk.act", "a(b)", "p1", "s10"]
)


def located(document: str, locator: str, page: int) -> Passage:
    bare = passage("The sky is blue.", 0, 16, document=document, page=page)
    return replace(bare, locators=(Located(0, locator),) if locator else ())


@given(st.builds(located, DOCUMENTS, LOCATORS | st.just(""), st.integers(0, 10**6)))
@example(located("acts.dues", "s 10(1)", 1))
@example(located("acts.dues", "Preamble", 4))
@example(located("acts.dues", "s 10[A]", 4))
def test_every_token_is_one_wherever_it_stands(source: Passage) -> None:
    marker = source.marker
    assert MARKER.fullmatch(marker)
    assert MARKER.findall(f"It is so {marker}. {marker}{marker}, or not.") == [marker] * 3
    for written in (f"({marker}, [uk.case p3])", f"([uk.case p3]; {marker})", f"({marker})"):
        assert marker in MARKER.findall(written)
        (sentence,) = read_marked(f"It is so {written}.")
        assert sentence.text == "It is so."
        assert marker in sentence.markers


def test_the_page_reads_the_same_tokens() -> None:
    script = (ROOT / "frontend" / "answer" / "sentences.js").read_text(encoding="utf-8")
    assert f"const PLACE = String.raw`{TOKEN_PLACE}`;" in script


@pytest.mark.parametrize("locator", ["Preamble", "s 10[A]", "(1)", "page 3"])
def test_a_place_that_no_token_can_hold_is_cited_by_its_page(locator: str) -> None:
    assert not is_locator(locator)
    assert located("acts.dues", locator, 4).marker == "[acts.dues p4]"


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("s 10(1)", 3, "3", {}), "s 10(1)"),
        (("", 12, "xii", {}), "p. xii (page 12 of the file)"),
        (("", 12, "12", {}), "p. 12"),
        ((None, 12, None, {}), "p. 12"),
        ((None, 345, None, {"pages_are": "columns of print"}), "col. 345"),
        ((None, 1, None, {"content_type": "pdf"}), "p. 1"),
        ((None, 1, None, {"content_type": "txt"}), ""),
        ((None, 1, "i", {"content_type": "xml"}), "p. i (page 1 of the file)"),
        ((None, 2, None, {"content_type": "txt"}), "p. 2"),  # behind a form feed
    ],
)
def test_a_place_is_named_as_the_source_names_it(
    place: tuple[str | None, int, str | None, dict[str, object]], words: str
) -> None:
    assert place_in_words(*place) == words


def test_the_page_knows_the_same_texts_without_pages() -> None:
    script = (ROOT / "frontend" / "text.js").read_text(encoding="utf-8")
    kinds = ", ".join(f'"{kind}"' for kind in sorted(PAGED))
    assert f"const PAGED = new Set([{kinds}]);" in script
