"""Quotes that come closest and words of confidence: kept, compared, exported and printed."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from rich.console import Console

from atlas_search.answer.answer import Answer
from atlas_search.answer.quotes.scores import LIKELY, POSSIBLE
from atlas_search.atlas import Atlas
from atlas_search.cli.ask import print_answer
from atlas_search.core.ids import CLOSEST, CONFIDENCE
from atlas_search.documents.answer import read_answer
from atlas_search.documents.bundle import RunBundle, bundle_of, replay
from atlas_search.documents.export import FORMATS, Format
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.chat_server import Reply
from tests.exporting import LINK, answer, bibtex_entries, citation, csl_items, refused, rows, text
from tests.harbours import FEE, harbours
from tests.lighthouses import LIT, NOT_HELD, WHEN, WHEN_FROM_DUNEDIN, lighthouses
from tests.places import ROOT

UNSURE = {"word": "possible", "likelihood": 0.5}


@pytest.fixture(scope="module")
def coast(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Iterator[Atlas]:
    with lighthouses(tmp_path_factory.mktemp("closest"), embedder) as opened:
        yield opened


def printed(given: Answer) -> list[str]:
    """The lines of the terminal."""
    out = io.StringIO()
    print_answer(Console(file=out, highlight=False, width=400), given.to_dict())
    return out.getvalue().splitlines()


# what an answer holds


def test_a_question_that_is_declined_has_up_to_three_quotes_and_cites_none(coast: Atlas) -> None:
    given = coast.ask(NOT_HELD)
    assert given.outcome.code == "not_held"
    assert 1 <= len(given.closest) <= 3
    for quote in given.closest:
        document = coast.document(quote.passage.document_id)
        assert document.text[quote.start : quote.end] == quote.quote
    assert (given.citations, given.confidence) == ((), None)


def test_an_answer_has_a_word_and_nothing_closest(coast: Atlas) -> None:
    given = coast.ask(WHEN)
    assert given.confidence
    assert given.confidence.word == "likely"
    assert given.closest == ()


@pytest.mark.parametrize("question", [WHEN, NOT_HELD])
def test_a_kept_answer_keeps_both(coast: Atlas, question: str) -> None:
    first, again = (coast.ask(f" {question}").to_dict() for _ in range(2))
    assert again["cache_hit"]
    assert again["closest"] == first["closest"]
    assert again["confidence"] == first["confidence"]


def test_readings_to_choose_from_are_told_once(tmp_path: Path, embedder: LocalEmbedder) -> None:
    with harbours(tmp_path, embedder) as atlas:
        given = atlas.ask(FEE, target="one")
    assert given.outcome.code == "clarify"
    assert len(given.choices) == 2
    assert given.closest == ()


def test_a_comparison_has_closest_quotes_only_if_no_corpus_answers(coast: Atlas) -> None:
    given = coast.compare(WHEN)
    north, south = given.to_dict()["comparison"]["answers"]
    assert (north["decision"], north["confidence"]["word"]) == ("ANSWER", "likely")
    assert (south["decision"], south["confidence"]) == ("ABSTAIN", None)
    assert south["reason"]["message"]
    assert (given.closest, given.confidence) == ((), None)
    declined = coast.compare(WHEN, target="strict")
    assert declined.outcome.code == "no_corpus_answers"
    assert declined.closest[0].quote == LIT


def test_what_quotes_of_a_corpus_leave_open_is_said_of_that_corpus(coast: Atlas) -> None:
    warnings = coast.compare(WHEN_FROM_DUNEDIN).verification.warnings
    assert warnings == ("north: No passage found has “Dunedin”.",)


# documents, bundles and exports


def test_documents_of_earlier_versions_still_open(coast: Atlas) -> None:
    sent = coast.compare(WHEN).to_dict()
    del sent["closest"], sent["confidence"]
    for part in sent["comparison"]["answers"]:
        del part["confidence"]
    old = read_answer(sent, 1)
    assert (old.closest, old.confidence) == ([], None)
    assert CLOSEST not in text("markdown", sent)


def test_a_declined_question_is_bundled_and_replayed(coast: Atlas) -> None:
    services = coast.services
    for question in (WHEN, NOT_HELD):
        bundle = bundle_of(coast.ask(question), services.store.manifest)
        read = RunBundle.from_json(bundle.to_json(), "a run")
        assert replay(services.searcher, read).identical


def test_markdown_shows_closest_quotes_below_a_heading_with_place_and_link() -> None:
    written = text("markdown", refused(closest=[citation(quote="A *husband* can.", url=None)]))
    assert (
        "(`no_evidence`)\n\n"
        "## Closest passages, not an answer\n\n"
        "R v R, 1991-10-23, p. 1, DECISION\n\n"
        "> A \\*husband\\* can.\n\n"
        f"[passage]({LINK})\n\n"
        "- Collection"
    ) in written
    assert "## Sources" not in written


def test_markdown_says_how_surely_quotes_answer_and_what_they_leave_open() -> None:
    warned = {"warnings": ["No passage quoted speaks of [Dunedin]."]}
    written = text("markdown", answer(citation(), confidence=UNSURE, validation=warned))
    assert (
        "(`answered`)\n\nPossibly an answer.\n\n"
        "Note: No passage quoted speaks of \\[Dunedin\\].\n\nHe can. [1]\n\n"
    ) in written


def test_what_does_not_answer_is_in_no_bibliography_and_no_table() -> None:
    declined = refused(closest=[citation()])
    assert bibtex_entries(text("bibtex", declined)) == []
    assert csl_items(text("csl-json", declined)) == []
    assert text("ris", declined).strip() == ""
    (row,) = rows(text("csv", declined))
    assert (row["quote"], row["document_id"], row["reason"]) == ("", "", "no_evidence")


@pytest.mark.parametrize("format", FORMATS)
def test_what_was_declined_can_be_exported(coast: Atlas, format: Format) -> None:
    sent = coast.ask(NOT_HELD).to_dict()
    written = text(format, sent)
    assert (sent["closest"][0]["title"] in written) == (format in ("markdown", "json"))


# the terminal, notebooks, and the page


def test_the_terminal_prints_closest_quotes_below_the_reason(coast: Atlas) -> None:
    lines = printed(coast.ask(WHEN, target="strict"))
    assert lines[:4] == [
        f"No answer: No passage clearly answers this. The nearest says: “{LIT}”",
        f"{CLOSEST}:",
        "  [north.skerry p1]  The Skerry lighthouse  1891-05-02",
        f"    “{LIT}”",
    ]


def test_the_terminal_prints_the_word_below_the_quotes(coast: Atlas) -> None:
    lines = printed(coast.ask(WHEN))
    assert lines[0].startswith(LIT)
    assert lines[1] == "  Likely an answer"
    compared = printed(coast.compare(WHEN))
    assert compared[0].startswith(f"north: {LIT}")
    assert compared[1] == "  Likely an answer"
    assert compared[2].startswith("south: ")


def test_sentences_that_stand_in_for_a_model_and_do_not_answer_are_not_said_to(
    services: Services,
) -> None:
    with answered_by("openai", services) as (own, server):
        server.then(*[Reply(500)] * 9)
        question, fallback = "Who dissented in Plessy v. Ferguson?", "extractive"
        declined, _ = asked(own, question, answer_likelihood=1.0, llm_fallback=fallback)
    assert (declined.outcome.code, len(declined.closest) > 0) == ("not_held", True)
    (note,) = [line for line in printed(declined) if "own sentences" in line]
    assert note.startswith("  Note: Neither a language model nor the sources' own sentences answer")


def test_a_notebook_shows_closest_quotes_as_such_and_the_word(coast: Atlas) -> None:
    shown = coast.ask(WHEN, target="strict")._repr_html_()
    assert re.search(rf"<h4>{CLOSEST}</h4><ul><li>The Skerry lighthouse<blockquote>{LIT}", shown)
    assert "<small>Likely an answer</small>" in coast.ask(WHEN)._repr_html_()


def test_the_page_and_the_description_of_the_api_use_the_same_words(client: FlaskClient) -> None:
    schemas = client.get("/api/openapi.json").get_json()["components"]["schemas"]
    told = schemas["AnswerConfidenceOut"]["properties"]["word"]["enum"]
    assert told == list(CONFIDENCE)
    assert [name for name in schemas if name.startswith("atlas_search")] == []
    page = (ROOT / "frontend" / "strings" / "en.js").read_text(encoding="utf-8")
    assert f'closest: "{CLOSEST}"' in page
    for word, said in CONFIDENCE.items():
        assert f'{word}: "{said}"' in page


def test_the_page_says_of_each_word_what_the_documentation_says() -> None:
    script = (ROOT / "frontend" / "strings" / "en.js").read_text(encoding="utf-8")
    documented = (ROOT / "docs" / "answers.md").read_text(encoding="utf-8")
    meanings = re.findall(r'(\w+)Means: "(Of answers .*)"', script)
    assert [word for word, _ in meanings] == list(CONFIDENCE)
    for word, meaning in meanings:
        since = f"from {LIKELY if word == 'likely' else POSSIBLE} on"
        assert f"| `{word}` | {since} | {meaning} |" in documented
