"""Exports as BibTeX, RIS and CSL-JSON, read again by the libraries that programs read them with."""

import bibtexparser
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from atlas_search.documents.answer import CitationOut
from atlas_search.documents.references import dating, kind_of, one_line
from tests.exporting import (
    BASE,
    LINK,
    NASTY,
    TEXTS,
    answer,
    bibtex_entries,
    citation,
    csl_items,
    ris_entries,
    text,
)


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


@settings(max_examples=30)
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


@settings(max_examples=30)
@given(TEXTS, TEXTS)
@example(NASTY, NASTY)
@example("a\nER  - \nTY  - BOOK", "x\r\nTI  - y")
def test_every_text_survives_in_ris(title: str, quote: str) -> None:
    cited = citation(title=title, quote=quote, section=None, metadata={})
    (entry,) = ris_entries(text("ris", answer(cited)))
    assert entry.get("title", "") == one_line(title)
    assert entry["notes"] == [one_line(f"p. 1: “{quote}” {LINK}")]


@settings(max_examples=30)
@given(TEXTS, TEXTS)
def test_every_text_survives_in_csl_json(title: str, quote: str) -> None:
    cited = citation(title=title, quote=quote, section=None, metadata={})
    (item,) = csl_items(text("csl-json", answer(cited)))
    assert item.get("title", "") == one_line(title)
    assert item["note"] == one_line(f"p. 1: “{quote}” {LINK}")


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
