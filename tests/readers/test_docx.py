"""Word files made of a few elements: paragraphs, tables, pages, notes, numbers, and damage."""

import re
import zipfile
from collections.abc import Callable, Mapping
from datetime import datetime
from io import BytesIO
from pathlib import Path

import docx
import pytest
from docx.document import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls

from atlas_search.core.domain import Segment
from atlas_search.readers import Draft
from tests.readers.conftest import Reads
from tests.readers.drafts import headings, only_draft, only_reason

W = nsdecls("w")
FOOTNOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
RENDERED = "<w:r><w:lastRenderedPageBreak/></w:r>"
BREAK = '<w:r><w:br w:type="page"/></w:r>'

Write = Callable[[Document], object]
Read = Callable[[bytes | Write], Draft]


@pytest.fixture
def draft(reads: Reads) -> Read:
    """A function that reads a Word file, or one that is written first."""

    def read(source: bytes | Write) -> Draft:
        data = source if isinstance(source, bytes) else word_file(source)
        return only_draft(reads(data, "paper.docx"))

    return read


def word_file(write: Write) -> bytes:
    document = docx.Document()
    write(document)
    document.save(stream := BytesIO())
    return stream.getvalue()


def parts_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_parts(data: bytes, parts: Mapping[str, bytes]) -> bytes:
    """A copy of the file with some of its parts replaced or added, or left out if empty."""
    with zipfile.ZipFile(stream := BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**parts_of(data), **parts}.items():
            if content:
                archive.writestr(name, content)
    return stream.getvalue()


def paragraphs(*inner: str) -> Write:
    """Writes paragraphs that hold this WordprocessingML."""

    def write(document: Document) -> None:
        for xml in inner:
            document.element.body.insert(-1, parse_xml(f"<w:p {W}>{xml}</w:p>"))

    return write


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def raised(text: str) -> str:
    mark = '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
    return run(text).replace("<w:r>", f"<w:r>{mark}")


PLAIN = word_file(paragraphs(run("Text.")))


def filled(document: Document, *rows: str, head: str = "") -> None:
    """Adds a table of rows whose cells are parted by `|`, the first one marked as the head."""
    table = document.add_table(rows=0, cols=rows[0].count("|") + 1)
    for number, row in enumerate(rows):
        added = table.add_row()
        for cell, text in zip(added.cells, row.split("|"), strict=True):
            piece = cell.paragraphs[0].add_run(text)
            piece.bold = (head == "bold" and not number) or None
        if head == "repeated" and not number:
            added._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))


def test_paragraphs_and_tables_come_in_their_order(draft: Read) -> None:
    def write(document: Document) -> None:
        document.add_paragraph("First.")
        filled(document, "Year|Ships|Crew", "1901||12")
        document.add_paragraph("Last.")

    assert draft(write).text == "First.\n\nYear | Ships | Crew\n\n1901 |  | 12\n\nLast."


@pytest.mark.parametrize(
    ("head", "rows", "text"),
    [
        ("repeated", ("Port|Depth", "Ostby|4 m"), "Port | Depth\n\nPort: Ostby | Depth: 4 m"),
        ("bold", ("Port|Depth", "Ostby|4 m"), "Port | Depth\n\nPort: Ostby | Depth: 4 m"),
        ("", ("Port|Depth", "Ostby|4 m"), "Port | Depth\n\nOstby | 4 m"),
        # an empty heading stands before no value
        ("bold", ("|Depth|Pilots", "Ostby|4 m|none"),
         "| Depth | Pilots\n\nOstby | Depth: 4 m | Pilots: none"),
    ],
)  # fmt: skip
def test_a_row_is_read_with_the_headings_of_its_columns(
    draft: Read, head: str, rows: tuple[str, ...], text: str
) -> None:
    assert draft(lambda document: filled(document, *rows, head=head)).text == text


def test_merged_cells_stand_in_each_row_under_the_name_of_their_column(draft: Read) -> None:
    def write(document: Document) -> None:
        rows = "Port|Low|High|Pilots", "Ostby|4 m|6 m|none", "|5 m|7 m|one", "Skag|9 m||two"
        filled(document, *rows, head="bold")
        cells = document.tables[0].cell
        cells(1, 0).merge(cells(2, 0))
        cells(3, 1).merge(cells(3, 2))

    assert draft(write).text.split("\n\n")[1:] == [
        "Port: Ostby | Low: 4 m | High: 6 m | Pilots: none",
        "Port: Ostby | Low: 5 m | High: 7 m | Pilots: one",
        "Port: Skag | Low: 9 m | Pilots: two",
    ]


def test_a_table_that_only_lays_out_a_page_keeps_its_paragraphs(draft: Read) -> None:
    def write(document: Document) -> None:
        left, right = document.add_table(rows=1, cols=2).rows[0].cells
        left.text = "Left."
        right.text = "Right."
        right.add_paragraph("More.")

    assert draft(write).text == "Left.\n\nRight.\n\nMore."


def test_headings_open_sections(draft: Read) -> None:
    def write(document: Document) -> None:
        style = document.styles.add_style("Clause", WD_STYLE_TYPE.PARAGRAPH)
        style.base_style = document.styles["Heading 1"]
        document.add_heading("Harbours", level=0)
        document.add_paragraph("Lead.")
        document.add_heading("Lights", level=1)
        document.add_heading("Lenses", level=2)
        document.add_paragraph("Text.")
        document.add_paragraph("Tides", style="Clause")

    assert headings(draft(write)) == [
        ("Harbours", "Harbours"),
        ("Lights", "Lights"),
        ("Lenses", "Lights > Lenses"),
        ("Tides", "Tides"),
    ]


def test_an_outline_level_makes_a_heading_and_body_level_none(draft: Read) -> None:
    source = paragraphs(
        f'<w:pPr><w:outlineLvl w:val="1"/></w:pPr>{run("Lights")}',
        f'<w:pPr><w:pStyle w:val="Heading1"/><w:outlineLvl w:val="9"/></w:pPr>{run("Text.")}',
    )
    assert [s.section for s in draft(source).segments] == ["Lights"]


def test_page_breaks_begin_pages(draft: Read) -> None:
    def write(document: Document) -> None:
        document.add_paragraph("One.")
        document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
        document.add_paragraph("Two.").add_run().add_break(WD_BREAK.PAGE)
        document.add_paragraph("Three.").paragraph_format.page_break_before = True
        document.add_paragraph("Four.").paragraph_format.page_break_before = True

    read = draft(write)
    assert read.text == "One.\n\nTwo.\n\nThree.\n\nFour."
    assert read.pages == (0, 6, 12, 12, 20)


@pytest.mark.parametrize(
    ("inner", "text", "pages"),
    [
        ([run("One ends ") + RENDERED + run("here."), RENDERED + run("Three.")],
         "One ends here.\n\nThree.", (0, 9, 16)),
        # a page begins with a letter, not with a blank
        ([run("One") + RENDERED + run("  two")], "One  two", (0, 5)),
        # a break that Word rendered counts once
        ([run("One.") + BREAK, RENDERED + run("Two."), BREAK, RENDERED + run("Three")],
         "One.\n\nTwo.\n\nThree", (0, 6, 12)),
        # two breaks in a row leave a page empty, one at the end begins none
        ([run("One."), BREAK, BREAK, run("Three.")], "One.\n\nThree.", (0, 6, 6)),
        ([run("One."), BREAK], "One.", (0,)),
    ],
)  # fmt: skip
def test_pages_are_those_that_word_rendered(
    draft: Read, inner: list[str], text: str, pages: tuple[int, ...]
) -> None:
    read = draft(paragraphs(*inner))
    assert (read.text, read.pages) == (text, pages)


def test_a_page_that_begins_in_a_row_counts_once(draft: Read) -> None:
    def write(document: Document) -> None:
        document.add_paragraph("One.")
        for cell in document.add_table(rows=1, cols=2).rows[0].cells:
            cell.paragraphs[0]._p.append(parse_xml(f"<w:r {W}><w:lastRenderedPageBreak/></w:r>"))
            cell.paragraphs[0].add_run("cell")

    read = draft(write)
    assert (read.text, read.pages) == ("One.\n\ncell | cell", (0, 6))


BOX = f"<w:txbxContent><w:p>{run('Boxed.')}</w:p></w:txbxContent>"
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (f"{run('A')}<w:hyperlink>{run(' link')}</w:hyperlink>{run(' ')}"
         f"<w:sdt><w:sdtContent>{run('field')}</w:sdtContent></w:sdt><w:r><w:tab/></w:r>"
         f"{run('end')}<w:r><w:br/></w:r>{run('well')}<w:r><w:noBreakHyphen/></w:r>{run('known')}",
         "A link field end\nwell-known"),
        # tracked changes are read as accepted
        (f"{run('The court ')}<w:del><w:r><w:delText>denied</w:delText></w:r></w:del>"
         f"<w:ins>{run('granted')}</w:ins><w:moveFrom>{run(' moved')}</w:moveFrom>{run(' leave.')}",
         "The court granted leave."),
        # a text box is read once and after its paragraph
        (f"{run('Before ')}<w:r><mc:AlternateContent {MC}><mc:Choice>{BOX}</mc:Choice>"
         f"<mc:Fallback>{BOX}</mc:Fallback></mc:AlternateContent></w:r>{run('after.')}",
         "Before after.\n\nBoxed."),
        # a raised number is no part of the word before it
        (f"{run('The dues')}{raised('1')}{run(' of 40 km')}{raised('2')}{run(' are the 3')}"
         f"{raised('rd')}{run('.')}", "The dues[1] of 40 km² are the 3rd."),
    ],
)  # fmt: skip
def test_the_pieces_of_a_paragraph_are_put_together(draft: Read, inner: str, text: str) -> None:
    assert draft(paragraphs(inner)).text == text


def test_blocks_in_content_controls_are_read(draft: Read) -> None:
    def write(document: Document) -> None:
        inner = f"<w:sdtContent><w:p>{run('Inside.')}</w:p></w:sdtContent>"
        document.element.body.insert(0, parse_xml(f"<w:sdt {W}>{inner}</w:sdt>"))
        document.add_paragraph("Outside.")

    assert draft(write).text == "Inside.\n\nOutside."


def test_footnotes_stand_at_the_end_in_the_order_of_their_marks(draft: Read) -> None:
    mark = '<w:r><w:footnoteReference w:id="{}"/></w:r>'
    # a note that two marks refer to is one
    second = run("Two") + mark.format(2) + mark.format(7)
    data = word_file(paragraphs(run("One") + mark.format(7) + run(".") + BREAK, second))
    notes = (
        f'<w:footnotes {W}><w:footnote w:id="-1" w:type="separator"><w:p/></w:footnote>'
        f'<w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r>{run(" Second.")}</w:p></w:footnote>'
        f'<w:footnote w:id="7"><w:p>{run("First.")}</w:p><w:p>{run("More.")}</w:p></w:footnote>'
        "</w:footnotes>"
    )
    rels = "word/_rels/document.xml.rels"
    link = f'<Relationship Id="n1" Type="{FOOTNOTES}" Target="footnotes.xml"/></Relationships>'
    links = parts_of(data)[rels].replace(b"</Relationships>", link.encode())
    read = draft(with_parts(data, {"word/footnotes.xml": notes.encode(), rels: links}))
    assert read.text == "One[1].\n\nTwo[2][1]\n\n[1] First.\n\nMore.\n\n[2] Second."
    assert read.segments == (Segment(read.text.index("[1] First"), "Notes"),)
    assert len(read.pages) == 2


@pytest.mark.parametrize(
    ("inner", "remark"),
    [
        (run("One") + '<w:r><w:footnoteReference w:id="7"/></w:r>',
         "left out: notes that the file lacks (1)"),
        (run("A") + '<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>',
         "left out: symbols of special fonts (1)"),
        (run("A sentence of some length. " * 800),
         "it does not say where pages begin: open it in Word and save it anew"),
    ],
)  # fmt: skip
def test_what_is_left_out_is_remarked(draft: Read, inner: str, remark: str) -> None:
    assert draft(paragraphs(inner)).remark == remark


def test_core_properties_are_metadata(draft: Read) -> None:
    def write(document: Document) -> None:
        document.add_paragraph("Text.")
        properties = document.core_properties
        properties.title = "How a harbour works"
        properties.author = "A. Pilot"
        properties.keywords = "lights; tides"
        properties.subject = "Harbours"
        properties.language = "en-GB"
        properties.created = datetime(2019, 3, 4, 10, 15)
        properties.modified = datetime(2020, 1, 2)

    read = draft(write)
    assert read.title == "How a harbour works"
    assert read.metadata == {
        "title": "How a harbour works",
        "author": "A. Pilot",
        "tags": "lights; tides",
        "subject": "Harbours",
        "language": "en-GB",
        "created": "2019-03-04",
        "modified": "2020-01-02",
    }


def test_without_core_properties_the_text_is_read(draft: Read) -> None:
    links = parts_of(PLAIN)["_rels/.rels"]
    start = links.rindex(b"<Relationship ", 0, links.index(b"core-properties"))
    end = links.index(b"/>", start) + 2
    assert draft(with_parts(PLAIN, {"_rels/.rels": links[:start] + links[end:]})).metadata == {}
    assert draft(with_parts(PLAIN, {"docProps/core.xml": b"<other/>"})).metadata == {}


def test_a_file_of_the_strict_kind_is_read_as_any_other(draft: Read) -> None:
    def write(document: Document) -> None:
        document.core_properties.title = "Minutes"
        document.add_heading("Harbour", level=1)
        document.add_paragraph("Twelve ships were counted.")

    usual = re.compile(rb"http://schemas\.openxmlformats\.org/(?!package)(\w+)/2006/")
    parts = parts_of(word_file(write))
    strict = {n: usual.sub(rb"http://purl.oclc.org/ooxml/\1/", part) for n, part in parts.items()}
    read = draft(with_parts(word_file(write), strict))
    assert read.text == "Harbour\n\nTwelve ships were counted."
    assert read.segments == (Segment(0, "Harbour"),)
    assert read.metadata["title"] == "Minutes"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (word_file(paragraphs(" ")), "it holds no text"),
        (with_parts(PLAIN, {"word/document.xml": f"<w:document {W}/>".encode()}),
         "it holds no text"),
        *((with_parts(PLAIN, {part: b""}), "python-docx cannot open it (")
          for part in ("word/document.xml", "[Content_Types].xml", "_rels/.rels")),
        (with_parts(PLAIN, {"word/document.xml": b"<w:document>"}),
         "; open it in Word and save it as .docx anew"),
    ],
    ids=["blank", "no body", "no document", "no types", "no links", "xml"],
)  # fmt: skip
def test_a_file_that_cannot_be_read_says_why(reads: Reads, data: bytes, reason: str) -> None:
    assert reason in only_reason(reads(data, "paper.docx"))


def test_an_entity_is_not_expanded(draft: Read, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    xml = (
        f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]><w:document {W}><w:body>'
        "<w:p><w:r><w:t>Text.</w:t></w:r></w:p><w:p><w:r><w:t>&e;</w:t></w:r></w:p>"
        "</w:body></w:document>"
    )
    assert draft(with_parts(PLAIN, {"word/document.xml": xml.encode()})).text == "Text."


KINDS = {"1": ("decimal", "lowerLetter", "lowerRoman"), "2": ("upperRoman", "decimal", "decimal")}
TEXTS = {"1": ("%1.", "(%2)", "(%3)"), "2": ("Part %1", "%1.%2", "%1.%2.%3")}


def numbering(*, anew: str = "", legal: bool = False) -> bytes:
    """List 1 counts 1. (a) (i), list 2 Part I, I.1 or, as in law, 1.1; list 3 goes on as list 1 or
    begins anew."""
    levels = {
        id_: "".join(
            f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
            f'{"<w:isLgl/>" if legal and n else ""}<w:lvlText w:val="{text}"/></w:lvl>'
            for n, (kind, text) in enumerate(zip(KINDS[id_], TEXTS[id_], strict=True))
        )
        for id_ in KINDS
    }
    lists = "".join(
        f'<w:abstractNum w:abstractNumId="{id_}">{inner}</w:abstractNum>'
        for id_, inner in levels.items()
    )
    nums = "".join(
        f'<w:num w:numId="{id_}"><w:abstractNumId w:val="{of}"/>{inner}</w:num>'
        for id_, of, inner in (("1", "1", ""), ("2", "2", ""), ("3", "1", anew))
    )
    return f"<w:numbering {W}>{lists}{nums}</w:numbering>".encode()


def item(text: str, depth: int = 0, of: str = "1") -> str:
    numbered = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{of}"/></w:numPr>'
    return f"<w:pPr>{numbered}</w:pPr>{run(text) if text else ''}"


def list_file(*items: str, **lists: object) -> bytes:
    return with_parts(word_file(paragraphs(*items)), {"word/numbering.xml": numbering(**lists)})  # type: ignore[arg-type]


ANEW = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'
TWO_LISTS = (item("Wells"), item("Ponds"), item("Seas", of="3"), item("Lakes", of="3"))
LAW = (item("Wells", of="2"), item("Ponds", of="2"), item("small", 1, of="2"))


@pytest.mark.parametrize(
    ("items", "lists", "expected"),
    [
        ((item("Wells"), item("deep", 1), item("wide", 1), item("old", 2), item("Ponds"),
          run("Between."), item("small", 1), item("Seas")), {},
         "1. Wells|(a) deep|(b) wide|(i) old|2. Ponds|Between.|(a) small|3. Seas"),
        (LAW, {"legal": False}, "Part I Wells|Part II Ponds|II.1 small"),
        (LAW, {"legal": True}, "Part I Wells|Part II Ponds|2.1 small"),
        (TWO_LISTS, {}, "1. Wells|2. Ponds|3. Seas|4. Lakes"),
        (TWO_LISTS, {"anew": ANEW}, "1. Wells|2. Ponds|7. Seas|8. Lakes"),
        # after a paragraph without words no number is sure
        ((item("Wells"), item(""), item("Ponds")), {}, "1. Wells|Ponds"),
        ([item("x", 1)] * 28, {},
         "|".join(f"({n}) x" for n in [*"abcdefghijklmnopqrstuvwxyz", "aa", "bb"])),
    ],
)  # fmt: skip
def test_paragraphs_have_the_numbers_that_word_computes(
    draft: Read, items: tuple[str, ...], lists: dict[str, object], expected: str
) -> None:
    assert draft(list_file(*items, **lists)).text.split("\n\n") == expected.split("|")


def test_automatic_numbers_of_styles_are_read_and_bullets_are_not(draft: Read) -> None:
    def write(document: Document) -> None:
        document.add_paragraph("First.", style="List Number")
        document.add_paragraph("Second.", style="List Number")
        document.add_paragraph("Point.", style="List Bullet")

    read = draft(write)
    assert (read.text, read.remark) == ("1. First.\n\n2. Second.\n\nPoint.", "")


@pytest.mark.parametrize(
    "unsure",
    [
        "<w:r><w:instrText>LISTNUM 1</w:instrText></w:r>",
        "<w:pPr><w:rPr><w:del w:id='1' w:author='A'/></w:rPr></w:pPr>",
    ],
)
def test_where_word_counts_what_is_not_read_no_number_is_written(draft: Read, unsure: str) -> None:
    read = draft(list_file(item("Wells"), unsure))
    assert (read.text, read.remark) == ("Wells", "left out: automatic numbers (1)")
