"""Exports of answers as Markdown, CSV and JSON, and what every format takes and refuses."""

import json
import re
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import assume, example, given, settings
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
    bibtex_entries,
    citation,
    csl_items,
    refused,
    ris_entries,
    rows,
    text,
)

# Markdown


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


COUNTS = {"documents": 2, "passages": 3, "all_documents": 5, "all_passages": 9}
NOTHING: dict[str, list[str]] = {"required": [], "unmet": [], "excluded": [], "unknown_words": []}
SCOPE = {
    "sentence": "Searched 1 of 3 corpora (Legal [UK]): 2 of 5 documents.",
    "narrowed": True,
    "corpora": [{"id": "legal_uk", "label": "Legal [UK]", **COUNTS}],
    "all_corpora": 3,
    "dates": {"first": "", "last": "", "or_earlier": False, "or_later": False, "undated": 2},
    "filters": {"court": ["House of Lords"]},
    "short_legs": [],
    **COUNTS,
    **NOTHING,
}
SIDE = {"passage_id": "b:1-2", "title": "Act", "date": None, "quote": "Not so."}
LINE = f"Act: “Not so.” [passage]({BASE}/?passage=b%3A1-2)"


@pytest.mark.parametrize(
    ("changes", "written"),
    [
        (
            {"scope": SCOPE},
            "He can. [1]\n\n"
            "Searched 1 of 3 corpora (Legal \\[UK\\]): 2 of 5 documents.\n\n## Sources",
        ),
        (
            {"standalone_question": "Can a husband be guilty of rape?"},
            "\n\nSearched for: Can a husband be guilty of rape?\n\nHe can. [1]",
        ),
        (
            {"fallback": {"code": "model_refused", "message": "The model refused."}},
            "\n\nNote: The model refused.\n\nHe can. [1]\n\n",
        ),
        (
            {
                "comparison": {
                    "answers": [],
                    "agreements": [{"text": "Both [a p1] agree * [b p2].", "citations": [0]}],
                    "differences": [],
                }
            },
            "\n\n## Agreements\n\n- Both agree \\*. [1]\n\n## Sources",
        ),
        (
            {
                "conflicts": [
                    {"kind": "polarity", "detail": "Yes and no.", "first": SIDE, "second": SIDE}
                ]
            },
            f"sources\n\n- Yes and no.\n  - {LINE}\n  - {LINE}\n\n## Sources\n\n[1] ",
        ),
        (
            {
                "confidence": {"word": "possible", "likelihood": 0.5},
                "validation": {"warnings": ["No passage quoted speaks of [Dunedin]."]},
            },
            "\n\nPossibly an answer.\n\n"
            "Note: No passage quoted speaks of \\[Dunedin\\].\n\nHe can. [1]\n\n",
        ),
    ],
    ids=["scope", "rewritten", "fallback", "comparison", "conflict", "confidence"],
)
def test_markdown_shows_what_stands_beside_an_answer(
    changes: dict[str, object], written: str
) -> None:
    assert written in text("markdown", answer(citation(), **changes))


def test_closest_quotes_stand_below_a_heading_of_their_own_and_are_no_sources() -> None:
    written = text("markdown", refused(closest=[citation(quote="A *husband* can.", url=None)]))
    assert (
        "**Not answered.** No passage is similar enough.\n\n"
        "## Closest passages, not an answer\n\n"
        "R v R, 1991-10-23, p. 1, DECISION\n\n"
        "> A \\*husband\\* can.\n\n"
        f"[passage]({LINK})\n\n"
        "- Collection"
    ) in written
    assert "## Sources" not in written


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


@settings(max_examples=30)
@given(TEXTS)
@example("&GT;")
@example("&amp;")
@example("Act_(1998)?a=[b]*_")
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


def test_a_quote_is_exported_on_one_line_without_the_marks_of_a_message() -> None:
    assert one_line("> It has been out\n> since May.") == "> It has been out since May."


# CSV and JSON


def test_csv_has_a_row_for_each_sentence_and_citation_and_one_for_a_refusal() -> None:
    sentences = [
        {"text": "=SUM(A1)", "citations": [0, 1], "grounded": True},
        {"text": "None is known.", "citations": [], "grounded": False},
    ]
    other = citation(page=2, quote='Two "lines"\nof it', passage_id="b:0-1")
    declined = refused(closest=[citation()])
    table = rows(text("csv", declined, answer(citation(), other, sentences=sentences)))
    assert list(table[0]) == list(COLUMNS)
    kept = [(r["qa_id"], r["sentence_number"], r["sentence"], r["page"]) for r in table]
    assert kept == [
        ("q1", "1", "'=SUM(A1)", "1"),
        ("q1", "1", "'=SUM(A1)", "2"),
        ("q1", "2", "None is known.", ""),
        ("q2", "", "", ""),
    ]
    assert table[0]["permalink"] == LINK
    assert table[1]["quote"] == 'Two "lines"\nof it'
    assert (table[3]["decision"], table[3]["reason"]) == ("ABSTAIN", "no_evidence")
    assert (table[3]["quote"], table[3]["document_id"]) == ("", "")


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


def test_json_holds_the_documents_as_they_are_in_order_of_creation() -> None:
    document = answer(citation(title=NASTY), unknown={"kept": [1, None]})
    exported = export([refused(), document], "json", BASE)
    assert json.loads(exported.text) == {"format_version": 1, "answers": [document, refused()]}
    assert re.fullmatch(r"atlas-[a-z-]+-and-more-\d{4}-\d\d-\d\d\.json", exported.file_name)


# what every format takes, and what none does


@pytest.mark.parametrize("format", list(FORMATS))
def test_every_format_takes_a_session_without_any_citation(format: Format) -> None:
    asked = {"question": "Was “Łódź/\r\nX: y” asked?", "created": "2026-11-28T10:00:00+00:00"}
    exported = export([refused(**asked)], format, f"{BASE}/")
    assert exported.file_name == f"atlas-lodz-x-y-asked-2026-11-28.{FORMATS[format].suffix}"
    assert exported.media_type == FORMATS[format].media_type
    if format in ("bibtex", "ris", "csl-json"):
        assert exported.text.strip() in ("", "[]")
    elif format == "web-annotation":
        assert json.loads(exported.text)["total"] == 0
    else:
        assert "No passage is similar enough." in exported.text


@pytest.mark.parametrize("format", ["csv", "bibtex", "ris", "csl-json"])
def test_reference_managers_and_tables_get_the_sources_alone(format: Format) -> None:
    assert text(format, answer(citation(), scope=SCOPE)) == text(format, answer(citation()))


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
    with pytest.raises(RequestError, match="Known formats: markdown, json, csv, bibtex, ris, csl"):
        known_format("docx")


# hostile texts: in no format is a text a command, a formula, a link or an entry

LATEX = "\\input{/etc/passwd} } @comment{x, \\write18{id} % \\end{document} ^^5cinput $\\x$"
RIS = "A\nER  - \n\nTY  - CASE\nTI  - B\r\nUR  - javascript:alert(1)"
MARKUP = '[a](javascript:alert(1)) <javascript:alert(1)> ![x](https://elsewhere.test) <img src="x">'


def full_of(content: str) -> dict[str, Any]:
    """An answer in which everything that can be said is `content`."""
    fields = ("title", "section", "speaker", "date", "quote", "document_id", "locator")
    metadata = dict.fromkeys(("author", "court", "publisher", "source", "status"), content)
    cited = citation(**dict.fromkeys(fields, content), printed_page=content, metadata=metadata)
    sentences = [{"text": content, "citations": [0], "grounded": True}]
    return answer(cited, question=content, sentences=sentences, answer=content)


def test_latex_in_a_text_is_text() -> None:
    written = text("bibtex", full_of(LATEX))
    (entry,) = bibtex_entries(written)
    for command in ("\\input", "\\write18", "\\end", "^^", "@comment{"):
        assert command not in written
    assert entry.fields_dict["author"].value


def test_a_text_begins_no_entry_of_ris() -> None:
    (entry,) = ris_entries(text("ris", full_of(RIS)))
    assert entry["type_of_reference"] == "CASE"
    assert entry["urls"] == [citation()["url"]]
    assert entry["title"].startswith("A ER - TY - CASE")


def test_a_text_is_one_value_of_csl() -> None:
    (item,) = csl_items(text("csl-json", full_of('"}], "URL": "javascript:alert(1)"')))
    assert item["URL"] == citation()["url"]


@pytest.mark.parametrize(
    "content",
    [
        *["=cmd|'/C calc'!A0", "+cmd|'/C calc'!A0", "-2+3+cmd|'/C calc'!A0"],
        *["@SUM(1+1)*cmd|'/C calc'!A0", "\t=1+1", "\r=1+1", "\n=1+1", " =1+1", "＝1+1", "'=1+1"],
    ],
)
def test_no_cell_of_a_table_is_a_formula(content: str) -> None:
    for row in rows(text("csv", full_of(content))):
        for column, value in row.items():
            assert value.lstrip()[:1] not in {*"=+-@＝＋－＠"}, column
            assert value[:1] not in {*"\t\r\n"}, column


def test_a_text_in_markdown_is_no_link_picture_or_markup() -> None:
    tokens = MarkdownIt("commonmark").parse(text("markdown", full_of(MARKUP)))
    inner = [child for token in tokens for child in token.children or []]
    links = [str(child.attrs["href"]) for child in inner if child.type == "link_open"]
    assert links
    assert all(is_link(link) and "elsewhere" not in link for link in links)
    kinds = {child.type for child in inner} | {token.type for token in tokens}
    assert not kinds & {"image", "html_inline", "html_block"}
