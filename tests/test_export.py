"""Exports of answers, read again by the libraries that programs read them with."""

import csv
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import bibtexparser
import pytest
import rispy
from bibtexparser.middlewares import LatexDecodingMiddleware
from flask.testing import FlaskClient
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from atlas_search.core.errors import RequestError
from atlas_search.output.answer_document import CitationOut
from atlas_search.output.dating import dating
from atlas_search.output.formats import FORMATS, Format, export, known_format
from atlas_search.output.markdown import escape_line
from atlas_search.output.references import kind_of, one_line
from atlas_search.output.table import COLUMNS, inert

BASE = "http://atlas.test:8000"
LINK = f"{BASE}/?passage=legal_uk.r-v-r-1991%3A10-42"
NASTY = "50% {of} \\emph{it} & $5 #1 a_b <b>x</b> ~^ \"q\" `` '' -- |c| 'naïve' שלום 漢字"
TEXTS = st.text(max_size=40)
unhurried = settings(deadline=None)


def citation(**changes: object) -> dict[str, Any]:
    return {
        "marker": "[legal_uk.r-v-r-1991 p1]",
        "passage_id": "legal_uk.r-v-r-1991:10-42",
        "document_id": "legal_uk.r-v-r-1991",
        "corpus": "legal_uk",
        "title": "R v R",
        "page": 1,
        "section": "DECISION",
        "speaker": None,
        "date": "1991-10-23",
        "url": "https://www.bailii.org/uk/cases/UKHL/1991/12.html",
        "start": 10,
        "end": 42,
        "quote": "A husband can be guilty of rape.",
        "metadata": {
            "court": "House of Lords",
            "author": "Lord Keith of Kinkel",
            "source": "[1991] UKHL 12",
        },
    } | changes


def answer(*citations: Mapping[str, object], **changes: object) -> dict[str, Any]:
    cited = list(citations)
    return {
        "qa_id": "q1",
        "session_id": "s1",
        "trace_id": "0" * 32,
        "created": "2026-01-02T03:04:05Z",
        "question": "Can a husband be guilty?",
        "decision": "ANSWER",
        "reason": {"code": "answered", "message": "The passages support an answer."},
        "answer": "He can.",
        "sentences": [{"text": "He can.", "citations": [*range(len(cited))], "grounded": True}],
        "citations": cited,
        "target": "default",
        "collection": "atlas_demo",
        "collection_version": "v1",
        "usage": {"provider": "extractive", "model": "", "prompt_tokens": 0},
    } | changes


def refused(**changes: object) -> dict[str, Any]:
    reason = {"code": "no_evidence", "message": "No passage is similar enough."}
    fields = {"decision": "ABSTAIN", "reason": reason, "answer": None, "sentences": []}
    return answer(**(fields | {"qa_id": "q2", "created": "2026-01-02T03:05:00Z"} | changes))


def text(format: Format, *documents: Mapping[str, object]) -> str:
    return export(documents, format, BASE).text


def bibtex_entries(written: str) -> list[Any]:
    library = bibtexparser.parse_string(written, append_middleware=[LatexDecodingMiddleware()])
    assert library.failed_blocks == []
    return library.entries


def ris_entries(written: str) -> list[dict[str, Any]]:
    return rispy.loads(written, delimiter_tags_mapping={})


def csl_items(written: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(written)
    return items


def rows(written: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written, newline="")))


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


@unhurried
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


@unhurried
@given(TEXTS)
def test_no_address_ends_its_link_in_markdown(content: str) -> None:
    url = f"https://x.test/{content}"
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


def test_an_address_that_is_not_of_the_web_is_no_link() -> None:
    written = text("markdown", answer(citation(url="javascript:alert(1)")))
    assert "· javascript\\:alert(1)" in written


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


@unhurried
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


@unhurried
@given(TEXTS, TEXTS)
def test_two_texts_are_never_one_in_csv(one: str, other: str) -> None:
    assert (inert(one) == inert(other)) == (one == other)


def test_json_holds_the_documents_as_they_are() -> None:
    document = answer(citation(title=NASTY), unknown={"kept": [1, None]})
    assert json.loads(text("json", document)) == {"format_version": 1, "answers": [document]}


def test_bibtex_has_one_entry_for_each_document() -> None:
    again = citation(page=3, passage_id="legal_uk.r-v-r-1991:50-60", quote="All agreed.")
    assert text("bibtex", answer(citation(), again), answer(citation(), qa_id="q3")) == (
        "@misc{legal_uk.r-v-r-1991,\n"
        "\ttitle = {{R v R}},\n"
        "\tauthor = {{Lord Keith of Kinkel}},\n"
        "\torganization = {House of Lords},\n"
        "\tyear = {1991},\n"
        "\tdate = {1991-10-23},\n"
        "\thowpublished = {[1991] UKHL 12},\n"
        "\turl = {https://www.bailii.org/uk/cases/UKHL/1991/12.html},\n"
        "\tannote = {p. 1, DECISION: “A husband can be guilty of rape.” "
        f"{BASE}/?passage=legal\\_uk.r-v-r-1991\\%3A10-42 "
        "p. 3, DECISION: “All agreed.” "
        f"{BASE}/?passage=legal\\_uk.r-v-r-1991\\%3A50-60}}\n"
        "}\n"
    )


@unhurried
@given(TEXTS, TEXTS)
@example(NASTY, NASTY)
@example("a{", "}b\\")
@example("@misc{x,", "?`!`,,")
def test_every_text_survives_in_bibtex(title: str, quote: str) -> None:
    cited = citation(title=title, quote=quote, section=None)
    written = text("bibtex", answer(cited))
    # as BibTeX counts them: a backslash before a brace makes no difference
    assert written.count("{") == written.count("}")
    (entry,) = bibtex_entries(written)
    assert same(entry["title"], title)
    assert same(entry["annote"], f"p. 1: “{quote}” {LINK}")


def same(read: str, original: str) -> bool:
    """The decoder reads `\\textasciicircum` as another circumflex."""
    return read.replace("ˆ", "^") == one_line(original).replace("ˆ", "^")


def test_ris_has_the_type_the_date_and_a_note_for_each_quote() -> None:
    assert text("ris", answer(citation())) == (
        "TY  - CASE\n"
        "ID  - legal_uk.r-v-r-1991\n"
        "TI  - R v R\n"
        "AU  - Lord Keith of Kinkel\n"
        "PB  - House of Lords\n"
        "PY  - 1991\n"
        "DA  - 1991/10/23/\n"
        "UR  - https://www.bailii.org/uk/cases/UKHL/1991/12.html\n"
        "N1  - [1991] UKHL 12\n"
        f"N1  - p. 1, DECISION: “A husband can be guilty of rape.” {LINK}\n"
        "ER  - \n"
    )


@unhurried
@given(TEXTS, TEXTS)
@example(NASTY, NASTY)
@example("a\nER  - \nTY  - BOOK", "x\r\nTI  - y")
def test_every_text_survives_in_ris(title: str, quote: str) -> None:
    cited = citation(title=title, quote=quote, section=None, metadata={})
    (entry,) = ris_entries(text("ris", answer(cited)))
    assert entry.get("title", "") == one_line(title)
    assert entry["notes"] == [one_line(f"p. 1: “{quote}” {LINK}")]


def test_csl_json_has_the_fields_that_citation_processors_read() -> None:
    assert csl_items(text("csl-json", answer(citation()))) == [
        {
            "id": "legal_uk.r-v-r-1991",
            "type": "legal_case",
            "title": "R v R",
            "author": [{"literal": "Lord Keith of Kinkel"}],
            "issued": {"date-parts": [[1991, 10, 23]]},
            "authority": "House of Lords",
            "URL": "https://www.bailii.org/uk/cases/UKHL/1991/12.html",
            "note": f"[1991] UKHL 12\np. 1, DECISION: “A husband can be guilty of rape.” {LINK}",
        }
    ]


@unhurried
@given(TEXTS, TEXTS)
def test_every_text_survives_in_csl_json(title: str, quote: str) -> None:
    cited = citation(title=title, quote=quote, section=None, metadata={})
    (item,) = csl_items(text("csl-json", answer(cited)))
    assert item.get("title", "") == one_line(title)
    assert item["note"] == one_line(f"p. 1: “{quote}” {LINK}")


@unhurried
@given(st.lists(st.text(min_size=1, max_size=6), unique=True, max_size=6))
@example(["é", "e", "E", "漢", "字", "a/b", "a-b"])
def test_keys_are_ascii_and_differ_in_more_than_capitals(ids: list[str]) -> None:
    document = answer(*(citation(document_id=id_) for id_ in ids))
    keys = [item["id"] for item in csl_items(text("csl-json", document))]
    assert len({key.lower() for key in keys}) == len(ids)
    assert all(key.isascii() and not set(key) & set(" ,{}\\\"#%~()='") for key in keys)


@pytest.mark.parametrize(
    ("written", "parts", "circa"),
    [
        ("1954-05-17", ((1954, 5, 17),), False),
        ("May 1954", ((1954, 5),), False),
        ("1954", ((1954,),), False),
        ("c. 1957", ((1957,),), True),
        ("1957~", ((1957,),), True),
        ("1901/1903", ((1901,), (1903,)), False),
        ("Spring 1954", ((1954, 3), (1954, 5)), False),
        ("since 1901", (), False),
        ("undated", (), False),
    ],
)
def test_a_written_date_says_as_much_as_it_says(
    written: str, parts: tuple[tuple[int, ...], ...], *, circa: bool
) -> None:
    assert (dating(written).parts, dating(written).circa) == (parts, circa)


@pytest.mark.parametrize(
    ("written", "bibtex", "ris", "csl"),
    [
        ("1954", ("1954", "1954"), ("1954", "1954///"), {"date-parts": [[1954]]}),
        ("May 1954", ("1954", "1954-05"), ("1954", "1954/05//"), {"date-parts": [[1954, 5]]}),
        (
            "c. 1957",
            ("1957", "1957~"),
            ("1957", "1957///c. 1957"),
            {"date-parts": [[1957]], "circa": True},
        ),
        (
            "1901/1903",
            ("1901", "1901/1903"),
            ("1901", "1901///1901/1903"),
            {"date-parts": [[1901], [1903]]},
        ),
        ("since 1901", ("since 1901", None), (None, "///since 1901"), {"literal": "since 1901"}),
        (None, (None, None), (None, None), None),
    ],
)
def test_a_date_is_written_as_each_format_has_it(
    written: str | None,
    bibtex: tuple[str | None, str | None],
    ris: tuple[str | None, str | None],
    csl: dict[str, object] | None,
) -> None:
    document = answer(citation(date=written))
    (entry,) = bibtexparser.parse_string(text("bibtex", document)).entries
    assert (entry.get("year") and entry["year"], entry.get("date") and entry["date"]) == bibtex
    (record,) = ris_entries(text("ris", document))
    assert (record.get("year"), record.get("date")) == ris
    (item,) = csl_items(text("csl-json", document))
    assert item.get("issued") == csl


@pytest.mark.parametrize(
    ("title", "metadata", "kind"),
    [
        ("R v R", {}, "case"),
        ("Brown v. Board of Education", {}, "case"),
        ("Notes", {"court": "House of Lords"}, "case"),
        ("Crimes Act 1961", {"body": "New Zealand Parliament"}, "statute"),
        ("Crimes (Provocation Repeal) Amendment Act 2009", {}, "statute"),
        ("How a bill becomes an Act", {"body": "New Zealand Parliament"}, "document"),
        ("Abortion Act 1967", {"house": "House of Commons"}, "debate"),
        ("1 May 1957", {"series": "House of Lords written answers"}, "debate"),
        ("Commentaries", {"publisher": "Clarendon Press"}, "book"),
        ("Crimes Act 1961", {"kind": "Book"}, "book"),
        ("Letter", {}, "document"),
    ],
)
def test_what_a_document_is_follows_from_metadata_and_title(
    title: str, metadata: dict[str, str], kind: str
) -> None:
    assert kind_of(CitationOut.model_validate(citation(title=title, metadata=metadata))) == kind


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
