"""Exports as BibTeX, RIS and CSL-JSON, read again by the libraries that programs read them with."""

from io import BytesIO
from pathlib import Path

import bibtexparser
import docx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from atlas_search.core.wire import CitationOut
from atlas_search.documents.references import (
    Base,
    dating,
    kind_of,
    one_line,
    references_of,
    stated_by,
    zotero_items,
)
from atlas_search.readers import Draft
from atlas_search.readers.files import files_reader
from atlas_search.readers.metadata import typed_metadata
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
from tests.source_files import book, epub_parts


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


@pytest.mark.parametrize(
    ("front", "authors", "doi"),
    [
        ('authors: ["Erdős, Pál", "van der Berg, Ana"]', "Erdős, Pál|van der Berg, Ana", ""),
        ("author: Roe, Ann; Hay, Bo", "Roe, Ann|Hay, Bo", ""),
        ("Author(s): Roe, Ann", "Roe, Ann", ""),
        ("dc:creator: Roe, Ann", "Roe, Ann", ""),
        ("creators: [{name: Ann Roe}, {name: Bo Hay}]", "Ann Roe|Bo Hay", ""),
        ("author: {name: Ann Roe, orcid: 1}", "Ann Roe", ""),
        ("author: [{family: Roe, given: Ann}, {family: Hay}]", "Roe, Ann|Hay", ""),
        ("authors: [{firstName: Ann, lastName: Roe}]", "Roe, Ann", ""),
        ("author: [Ann Roe, {name: Bo Hay}]", "Ann Roe|Bo Hay", ""),
        ("author: {'@type': Organization, name: Harbour Board}", "Harbour Board", ""),
        ("author: World Health Organization", "World Health Organization", ""),
        ("author: [田中太郎, 李明]", "田中太郎|李明", ""),
        ("DOI: https://doi.org/10.1000/182", "", "10.1000/182"),
        ("doi: 'doi:10.1000/182.'", "", "10.1000/182"),
        ("identifier: 'ISBN 1; doi 10.1000/182'", "", "10.1000/182"),
        ("doi: 10.1000/x_(98)1<7>", "", "10.1000/x_(98)1<7>"),
    ],
)
def test_authors_and_doi_are_found_however_they_are_written(
    tmp_path: Path, front: str, authors: str, doi: str
) -> None:
    source = tmp_path / "a.md"
    source.write_text(f"---\ntitle: T\n{front}\n---\nText.", "utf-8")
    (read,) = files_reader().read(source, "")
    assert isinstance(read, Draft)
    cited = citation(metadata=typed_metadata(read.metadata))
    stated = stated_by(CitationOut.model_validate(cited))
    assert (stated.authors, stated.doi) == (tuple(filter(None, authors.split("|"))), doi)


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


TITLE = "R&D costs of 50% in München_Ost: the {Holm} case #7 & $5 fees"
AUTHORS = ("Erdős, Pál", "van der Berg, Ana", "World Health Organization")
DOI = "10.1000/x_(98)1<7>"


def saved_docx() -> bytes:
    document = docx.Document()
    document.core_properties.title = TITLE
    document.core_properties.author = "; ".join(AUTHORS)
    document.core_properties.identifier = f"https://doi.org/{DOI}"
    document.add_paragraph("It rained.")
    document.save(stream := BytesIO())
    return stream.getvalue()


def epub() -> bytes:
    fields = [("title", TITLE), ("publisher", "Holm Press")]
    fields += [("creator", author) for author in AUTHORS]
    fields += [("identifier", f"doi:{DOI}")]
    return book(epub_parts("a", "2000-01-01T00:00:00Z", fields, {"One": "<p>It rained.</p>"}))


MARKED = [("citation_journal_title", "Acta"), ("citation_doi", DOI), ("dc.publisher", "Holm Press")]
MARKED += [("citation_volume", "12"), ("citation_issue", "3"), ("citation_title", TITLE)]
MARKED += [("citation_firstpage", "215"), ("citation_lastpage", "220")]
MARKED += [("citation_author", author) for author in AUTHORS]
METAS = "".join(
    f"""<meta name="{name}" content="{value.replace("&", "&amp;")}">""" for name, value in MARKED
)
HTML = f"<html><head>{METAS}</head><body><main><p>It rained all day long.</p></main></body></html>"
NAMES = "".join(f"<author>{author}</author>" for author in AUTHORS)
TEI = f"""<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc>
<titleStmt><title>{TITLE.replace("&", "&amp;")}</title>{NAMES}</titleStmt>
<publicationStmt><publisher>Holm Press</publisher><idno type="DOI">10.1000/x_(98)1&lt;7&gt;</idno>
</publicationStmt><sourceDesc><biblStruct><monogr><title level="j">Acta</title><imprint>
<biblScope unit="volume">12</biblScope><biblScope unit="issue">3</biblScope>
<biblScope unit="page">215-220</biblScope></imprint></monogr></biblStruct>
<msDesc><msIdentifier><repository>Holm Archive</repository><idno>FO 371/12</idno></msIdentifier>
</msDesc></sourceDesc></fileDesc></teiHeader><text><body><p>It rained.</p></body></text></TEI>"""
FRONT = f"""---
title: "{TITLE}"
authors: ["Erdős, Pál", "van der Berg, Ana", "World Health Organization"]
doi: {DOI}
journal: Acta
volume: 12
issue: 3
pages: 215-220
publisher: Holm Press
archive: Holm Archive
shelf_mark: FO 371/12
---
It rained."""
CSV = f"""text,title,Author,DOI,Publication Title,Volume,Issue,Pages,Publisher,Archive,Call Number
It rained.,"{TITLE}","{"; ".join(AUTHORS)}",{DOI},Acta,12,3,215-220,Holm Press,Holm Archive,FO \
371/12
"""


@pytest.mark.parametrize(
    ("name", "content", "facts"),
    [
        ("a.md", FRONT.encode(), {"publisher", "container", "archive"}),
        ("a.csv", CSV.encode(), {"publisher", "container", "archive"}),
        ("a.xml", TEI.encode(), {"publisher", "container", "archive"}),
        ("a.html", HTML.encode(), {"publisher", "container"}),
        ("a.epub", epub(), {"publisher"}),
        ("a.docx", saved_docx(), set()),
    ],
)
def test_what_a_source_says_of_itself_survives_in_every_format(
    tmp_path: Path, name: str, content: bytes, facts: set[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    (draft,) = files_reader().read(tmp_path / name, "")
    assert isinstance(draft, Draft), draft
    metadata = {**typed_metadata(draft.metadata)}
    cited = citation(title=draft.title, metadata=metadata, document_id="a")
    (entry,) = bibtex_entries(text("bibtex", answer(cited)))
    (plain,) = bibtexparser.parse_string(text("bibtex", answer(cited))).entries
    (record,) = ris_entries(text("ris", answer(cited)))
    (item,) = csl_items(text("csl-json", answer(cited)))
    both = [(CitationOut.model_validate(cited), "c")]
    (saved,) = zotero_items(references_of(both, Base("http://atlas.test")))

    assert same(entry["title"], TITLE)
    assert [record["title"], item["title"], saved["title"]] == [TITLE] * 3
    assert plain["author"] == f"{AUTHORS[0]} and {AUTHORS[1]} and {{{AUTHORS[2]}}}"
    assert record["authors"] == [*AUTHORS]
    assert item["author"] == [
        {"family": "Erdős", "given": "Pál"},
        {"family": "van der Berg", "given": "Ana"},
        {"literal": "World Health Organization"},
    ]
    assert saved["creators"] == [
        {"lastName": "Erdős", "firstName": "Pál", "creatorType": "author"},
        {"lastName": "van der Berg", "firstName": "Ana", "creatorType": "author"},
        {"name": "World Health Organization", "fieldMode": 1, "creatorType": "author"},
    ]
    assert [plain["doi"], record["doi"], item["DOI"]] == [DOI] * 3
    assert DOI in (saved.get("DOI"), saved["extra"].split(": ")[-1])
    if "publisher" in facts:
        assert [entry["publisher"], record["publisher"], item["publisher"]] == ["Holm Press"] * 3
    if "container" in facts:
        pages = (record["start_page"], record["end_page"])
        assert (entry["journal"], entry["volume"], entry["number"]) == ("Acta", "12", "3")
        assert (record["secondary_title"], record["volume"], record["number"]) == (
            "Acta",
            "12",
            "3",
        )
        assert (item["container-title"], item["volume"], item["issue"]) == ("Acta", "12", "3")
        assert (saved["publicationTitle"], saved["volume"], saved["issue"]) == ("Acta", "12", "3")
        assert (plain["pages"], pages) == ("215--220", ("215", "220"))
        assert [item["page"], saved["pages"]] == ["215-220"] * 2
    if "archive" in facts:
        assert entry["library"] == "Holm Archive, FO 371/12"
        assert (record["name_of_database"], record["call_number"]) == ("Holm Archive", "FO 371/12")
        assert (item["archive"], item["archive_location"]) == ("Holm Archive", "FO 371/12")
        assert (saved["archive"], saved["archiveLocation"]) == ("Holm Archive", "FO 371/12")
