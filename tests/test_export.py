"""Exports of answers as Markdown, CSV and JSON, and what every format takes and refuses."""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import pytest
from flask.testing import FlaskClient
from hypothesis import assume, example, given
from markdown_it import MarkdownIt

from atlas_search.core.addresses import is_link
from atlas_search.core.errors import RequestError
from atlas_search.documents.export import (
    COLUMNS,
    FORMATS,
    Format,
    escape_line,
    export,
    inert,
    known_format,
)
from atlas_search.documents.references import one_line
from tests.exporting import (
    BASE,
    LINK,
    NASTY,
    TEXTS,
    answer,
    citation,
    refused,
    rows,
    text,
)


def test_markdown_numbers_sources_in_reading_order_and_shows_each_quote() -> None:
    second = citation(
        marker="[b p7]",
        passage_id="b:0-4",
        document_id="b",
        title="A <b>bold</b> Act",
        page=7,
        section=None,
        date=None,
        url=None,
        quote="1. *Not* a list",
    )
    sentences = [
        {"text": "He can.", "citations": [1], "grounded": True},
        {"text": "So it was held.", "citations": [0, 1], "grounded": True},
    ]
    assert text("markdown", answer(citation(), second, sentences=sentences)) == (
        "# Can a husband be guilty?\n\n"
        "**ANSWER**: The passages support an answer. (`answered`)\n\n"
        "He can. [1] So it was held. [2][1]\n\n"
        "## Sources\n\n"
        "[1] A \\<b\\>bold\\</b\\> Act, p. 7\n\n"
        "> 1\\. \\*Not\\* a list\n\n"
        f"[passage]({BASE}/?passage=b%3A0-4)\n\n"
        "[2] R v R, 1991-10-23, p. 1, DECISION\n\n"
        "> A husband can be guilty of rape.\n\n"
        f"[passage]({LINK}) · [original](https://www.bailii.org/uk/cases/UKHL/1991/12.html)\n\n"
        "- Collection: atlas\\_demo, version v1\n"
        "- Target: default\n"
        "- Written by: extractive\n"
        "- Date: 2026-01-02T03:04:05+00:00\n"
        "- Answer: q1\n"
    )


def test_a_refused_question_states_decision_and_reason_in_markdown() -> None:
    written = text("markdown", refused())
    assert "**ABSTAIN**: No passage is similar enough. (`no_evidence`)" in written
    assert "Sources" not in written


def test_markdown_shows_a_comparison_and_contradictions() -> None:
    point = {"text": "Both [a p1] agree * [b p2].", "citations": [1, 0]}
    side = {"passage_id": "b:1-2", "title": "Act", "date": None, "quote": "Not so."}
    document = answer(
        citation(),
        citation(page=2),
        sentences=[{"text": "He can.", "citations": [0], "grounded": True}],
        standalone_question="Can a husband be guilty of rape?",
        comparison={"answers": [], "agreements": [point], "differences": []},
        conflicts=[{"kind": "polarity", "detail": "Yes and no.", "first": side, "second": side}],
        fallback={"code": "model_refused", "message": "The model refused."},
    )
    written = text("markdown", document)
    line = f"Act: “Not so.” [passage]({BASE}/?passage=b%3A1-2)"
    assert "\n\nSearched for: Can a husband be guilty of rape?\n\n**ANSWER**" in written
    assert "\n\nNote: The model refused.\n\nHe can. [1]\n\n" in written
    assert "\n\n## Agreements\n\n- Both agree \\*. [2][1]\n\n" in written
    assert f"sources\n\n- Yes and no.\n  - {line}\n  - {line}\n\n## Sources\n\n[1] " in written
    assert "Differences" not in written


def test_a_session_is_in_order_of_creation() -> None:
    exported = export([refused(), answer(citation())], "markdown", BASE)
    assert exported.text.index("**ANSWER**") < exported.text.index("**ABSTAIN**")
    assert exported.file_name == "atlas-session-s1.md"
    as_json = json.loads(text("json", refused(), answer(citation())))
    assert [each["qa_id"] for each in as_json["answers"]] == ["q1", "q2"]


@given(TEXTS)
@example(NASTY)
@example("- a")
@example("12) a")
@example("# a")
@example("===")
@example("www.x.org and https://x.org and a@b.org")
@example("&amp; \\&")
def test_no_text_becomes_markup_in_markdown(content: str) -> None:
    parser = MarkdownIt("js-default", {"html": True})
    inline = [token for token in parser.parse(escape_line(content)) if token.type == "inline"]
    children = [child for token in inline for child in token.children or []]
    assert {child.type for child in children} <= {"text"}
    assert "".join(child.content for child in children) == one_line(content)


@given(TEXTS)
@example("&GT;")
@example("&amp;")
def test_no_address_ends_its_link_in_markdown(content: str) -> None:
    url = f"https://x.test/{content}"
    assume(is_link(url))
    written = text("markdown", answer(citation(url=url)))
    tokens = MarkdownIt("commonmark").parse(written)
    links = [
        child.attrs["href"]
        for token in tokens
        for child in token.children or []
        if child.type == "link_open"
    ]
    assert len(links) == 2
    assert unquote(str(links[1])) == unquote(one_line(url))


def test_a_bracket_in_an_address_does_not_end_its_link() -> None:
    url = "https://x.test/Act_(1998)?a=[b]*_"
    written = text("markdown", answer(citation(url=url)))
    assert "[original](https://x.test/Act_%281998%29?a=%5Bb%5D*_)" in written


def test_csv_has_a_row_for_each_sentence_and_citation_and_one_for_a_refusal() -> None:
    sentences = [
        {"text": "=SUM(A1)", "citations": [0, 1], "grounded": True},
        {"text": "None is known.", "citations": [], "grounded": False},
    ]
    other = citation(page=2, quote='Two "lines"\nof it', passage_id="b:0-1")
    found = rows(text("csv", answer(citation(), other, sentences=sentences), refused()))
    assert list(found[0]) == list(COLUMNS)
    kept = [(r["qa_id"], r["sentence_number"], r["sentence"], r["page"]) for r in found]
    assert kept == [
        ("q1", "1", "'=SUM(A1)", "1"),
        ("q1", "1", "'=SUM(A1)", "2"),
        ("q1", "2", "None is known.", ""),
        ("q2", "", "", ""),
    ]
    assert found[0]["permalink"] == LINK
    assert found[1]["quote"] == 'Two "lines"\nof it'
    assert (found[3]["decision"], found[3]["reason"]) == ("ABSTAIN", "no_evidence")


@given(TEXTS)
@example("=1+1")
@example("'=1+1")
@example(" -2")
@example("\t@x")
@example('a"b,\r\nc')
def test_every_text_survives_in_csv_and_none_is_a_formula(content: str) -> None:
    (row,) = rows(text("csv", answer(citation(title=content))))
    assert row["title"] in (content, f"'{content}")
    assert row["title"].lstrip()[:1] not in {*"=+-@"}


@given(TEXTS, TEXTS)
def test_two_texts_are_never_one_in_csv(one: str, other: str) -> None:
    assert (inert(one) == inert(other)) == (one == other)


def test_json_holds_the_documents_as_they_are() -> None:
    document = answer(citation(title=NASTY), unknown={"kept": [1, None]})
    assert json.loads(text("json", document)) == {"format_version": 1, "answers": [document]}


@pytest.mark.parametrize("format", list(FORMATS))
def test_every_format_takes_a_session_without_any_citation(format: Format) -> None:
    exported = export([refused(qa_id="q/2\r\nX: y")], format, f"{BASE}/")
    assert exported.file_name == f"atlas-answer-q-2-X-y.{FORMATS[format].suffix}"
    assert exported.media_type == FORMATS[format].media_type
    if format in ("bibtex", "ris", "csl-json"):
        assert exported.text.strip() in ("", "[]")
    else:
        assert "no_evidence" in exported.text


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "nothing to export"),
        ([{"answer": "x"}], "Document 1 is not an answer: qa_id: Field required"),
        ([answer(), answer(created="yesterday")], "Document 2 is not an answer: created"),
        ([answer(unread="\ud800")], "Document 1 is not JSON in UTF-8"),
        ([answer(unread=float("nan"))], "Document 1 is not JSON in UTF-8"),
        (
            [answer(sentences=[{"text": "x", "citations": [0], "grounded": True}])],
            "it refers to citation 0, and there are 0",
        ),
        (
            [answer(citation(), sentences=[{"text": "x", "citations": [-1], "grounded": True}])],
            "it refers to citation -1, and there are 1",
        ),
    ],
)
def test_what_is_not_an_answer_is_refused(documents: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        export(documents, "markdown", BASE)


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    assert known_format("csl-json") == "csl-json"
    with pytest.raises(RequestError, match="Known formats: markdown, json, csv, bibtex, ris, csl"):
        known_format("docx")


@pytest.mark.parametrize("format", list(FORMATS))
def test_what_the_server_answers_can_be_exported(client: FlaskClient, format: Format) -> None:
    question = {"question": "What did Gideon v. Wainwright decide?"}
    sent = client.post("/api/ask", json=question).get_json()
    now = datetime.now(UTC).isoformat()
    document = {"created": now, "collection": "atlas_demo", "collection_version": "v1"} | sent
    assert "gideon" in export([document], format, BASE).text


def test_a_quote_is_exported_on_one_line_without_the_marks_of_a_message() -> None:
    assert one_line("> It has been out\n> since May.") == "> It has been out since May."
