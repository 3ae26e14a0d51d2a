"""Quotes that come closest and words of confidence: given, kept, compared, printed and shown."""

import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from atlas_search.answer.answer import Answer
from atlas_search.answer.quotes.scores import LIKELY, POSSIBLE
from atlas_search.answer.wire import read_answer
from atlas_search.atlas import Atlas
from atlas_search.core.ids import CLOSEST, CONFIDENCE
from atlas_search.providers.embedding_local import LocalEmbedder
from tests.answer.models import Both, printed
from tests.answering import asked
from tests.chat_server import Reply
from tests.exporting import text
from tests.lighthouses import LIT, NOT_HELD, WHEN, WHEN_FROM_DUNEDIN, lighthouses
from tests.places import ROOT


@pytest.fixture(scope="module")
def coast(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Iterator[Atlas]:
    with lighthouses(tmp_path_factory.mktemp("closest"), embedder) as opened:
        yield opened


def lines(answer: Answer) -> list[str]:
    """The lines of the terminal."""
    return printed(answer).splitlines()


# what an answer holds


def test_a_question_that_is_declined_has_up_to_three_quotes_and_cites_none(coast: Atlas) -> None:
    answer = coast.ask(NOT_HELD)
    assert answer.outcome.code == "not_held"
    assert 1 <= len(answer.closest) <= 3
    for quote in answer.closest:
        document = coast.document(quote.passage.document_id)
        assert document.text[quote.start : quote.end] == quote.quote
    assert (answer.citations, answer.confidence) == ((), None)


def test_an_answer_has_a_word_and_nothing_closest(coast: Atlas) -> None:
    answer = coast.ask(WHEN)
    assert answer.confidence
    assert answer.confidence.word == "likely"
    assert answer.closest == ()


@pytest.mark.parametrize("question", [WHEN, NOT_HELD])
def test_a_kept_answer_keeps_both(coast: Atlas, question: str) -> None:
    first, again = (coast.ask(f" {question}").to_dict() for _ in range(2))
    assert again["cache_hit"]
    assert again["closest"] == first["closest"]
    assert again["confidence"] == first["confidence"]


def test_a_comparison_has_closest_quotes_only_if_no_corpus_answers(coast: Atlas) -> None:
    answer = coast.compare(WHEN)
    north, south = answer.to_dict()["comparison"]["answers"]
    assert (north["decision"], north["confidence"]["word"]) == ("ANSWER", "likely")
    assert (south["decision"], south["confidence"]) == ("ABSTAIN", None)
    assert south["reason"]["message"]
    assert (answer.closest, answer.confidence) == ((), None)
    declined = coast.compare(WHEN, target="strict")
    assert declined.outcome.code == "no_corpus_answers"
    assert declined.closest[0].quote == LIT


def test_what_quotes_of_a_corpus_leave_open_is_said_of_that_corpus(coast: Atlas) -> None:
    warnings = coast.compare(WHEN_FROM_DUNEDIN).verification.warnings
    assert warnings == ("north: No passage found has “Dunedin”.",)


def test_documents_of_earlier_versions_still_open(coast: Atlas) -> None:
    sent = coast.compare(WHEN).to_dict()
    del sent["closest"], sent["confidence"]
    for part in sent["comparison"]["answers"]:
        del part["confidence"]
    old = read_answer(sent, 1)
    assert (old.closest, old.confidence) == ([], None)
    assert CLOSEST not in text("markdown", sent)


# the terminal, notebooks, and the page


def test_the_terminal_prints_closest_quotes_below_the_reason(coast: Atlas) -> None:
    assert lines(coast.ask(WHEN, target="strict"))[:4] == [
        f"No answer: No passage clearly answers this. The nearest says: “{LIT}”",
        f"{CLOSEST}:",
        "  [north.skerry p1]  The Skerry lighthouse  1891-05-02",
        f"    “{LIT}”",
    ]


def test_the_terminal_prints_the_word_below_the_quotes(coast: Atlas) -> None:
    shown = lines(coast.ask(WHEN))
    assert shown[0].startswith(LIT)
    assert shown[1] == "  Likely an answer"
    compared = lines(coast.compare(WHEN))
    assert compared[0].startswith(f"north: {LIT}")
    assert compared[1] == "  Likely an answer"
    assert compared[2].startswith("south: ")


def test_sentences_that_stand_in_for_a_model_and_do_not_answer_are_named_so(both: Both) -> None:
    services, server = both
    server.then(*[Reply(500)] * 9)
    question, fallback = "Who dissented in Plessy v. Ferguson?", "extractive"
    declined, _ = asked(services, question, answer_likelihood=1.0, llm_fallback=fallback)
    assert (declined.outcome.code, len(declined.closest) > 0) == ("not_held", True)
    (note,) = [line for line in lines(declined) if "own sentences" in line]
    assert note.startswith("  Note: Neither a language model nor the sources' own sentences answer")


def test_a_notebook_shows_closest_quotes_the_word_and_what_was_searched(coast: Atlas) -> None:
    declined = coast.ask(WHEN, target="strict")
    shown = declined._repr_html_()
    assert re.search(rf"<h4>{CLOSEST}</h4><ul><li>The Skerry lighthouse<blockquote>{LIT}", shown)
    assert f"<small>{declined.scope.sentence}</small>" in shown
    assert "<small>Likely an answer</small>" in coast.ask(WHEN)._repr_html_()


def test_the_page_and_the_description_of_the_api_use_the_same_words(client: FlaskClient) -> None:
    schemas = client.get("/api/openapi.json").get_json()["components"]["schemas"]
    words = schemas["Confidence"]["properties"]["word"]["enum"]
    assert words == list(CONFIDENCE)
    assert [name for name in schemas if name.startswith("atlas_search")] == []
    page = (ROOT / "frontend" / "strings" / "en.js").read_text(encoding="utf-8")
    assert f'closest: "{CLOSEST}"' in page
    for word, label in CONFIDENCE.items():
        assert f'{word}: "{label}"' in page


def test_the_page_says_of_each_word_what_the_documentation_says() -> None:
    script = (ROOT / "frontend" / "strings" / "en.js").read_text(encoding="utf-8")
    documented = (ROOT / "docs" / "answers.md").read_text(encoding="utf-8")
    meanings = re.findall(r'(\w+)Means: "(Of answers .*)"', script)
    assert [word for word, _ in meanings] == list(CONFIDENCE)
    for word, meaning in meanings:
        since = f"from {LIKELY if word == 'likely' else POSSIBLE} on"
        assert f"| `{word}` | {since} | {meaning} |" in documented
