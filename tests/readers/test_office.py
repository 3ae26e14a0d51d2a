"""Presentations, workbooks and texts of office programs, made of a few elements."""

from collections.abc import Callable
from datetime import date, datetime
from io import BytesIO
from typing import Any

import openpyxl
import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from atlas_search.readers import Draft, Skipped
from atlas_search.readers.office.xlsx import xlsx_reader
from tests.readers.conftest import Reads
from tests.readers.drafts import headings, only_draft, only_reason, pages, paragraphs
from tests.source_files import good_files, opendocument, with_part, workbook

A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'

Talk = Callable[..., Draft]


@pytest.fixture
def talk(reads: Reads) -> Talk:
    """A function that reads a presentation of blank slides, each drawn by a function."""

    def read(*draw: Callable[[Any], object], first: int = 1) -> Draft:
        presentation = pptx.Presentation()
        presentation.part._element.set("firstSlideNum", str(first))
        for each in draw:
            each(presentation.slides.add_slide(presentation.slide_layouts[5]))
        presentation.save(stream := BytesIO())
        return only_draft(reads(stream.getvalue(), "talk.pptx"))

    return read


def box(slide: Any, text: str) -> None:
    slide.shapes.add_textbox(0, 0, 9, 9).text_frame.text = text


def titled(slide: Any) -> None:
    box(slide, "Twelve ships.")
    slide.shapes.title.text = "The harbour"
    slide.notes_slide.notes_text_frame.text = "Wait for questions."


def test_a_slide_is_a_page_whose_title_comes_first_and_whose_notes_stand_apart(talk: Talk) -> None:
    draft = talk(titled, lambda _: None, lambda slide: box(slide, "The wall."), first=7)
    assert pages(draft) == [
        "The harbour\n\nTwelve ships.\n\nSpeaker notes\n\nWait for questions.",
        "",
        "The wall.",
    ]
    assert draft.printed_pages == ("7", "8", "9")
    assert headings(draft) == [
        ("The harbour", "The harbour"),
        ("Speaker notes", "The harbour > Speaker notes"),
        ("The wall.", ""),
    ]


def table(slide: Any) -> None:
    cells = slide.shapes.add_table(3, 3, 0, 0, 9, 9).table
    for row, line in enumerate((["Port", "Ships", "Dues"], ["Ostby", "12", "3"], ["", "9", "2"])):
        for column, text in enumerate(line):
            cells.cell(row, column).text = text
    cells.cell(1, 0).merge(cells.cell(2, 0))


def test_a_row_is_read_under_its_heads_and_a_merged_cell_stands_in_each(talk: Talk) -> None:
    assert paragraphs(talk(table)) == [
        "Port | Ships | Dues",
        "Port: Ostby | Ships: 12 | Dues: 3",
        "Port: Ostby | Ships: 9 | Dues: 2",
    ]


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("<a:r><a:t>tariff</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>1</a:t></a:r>",
         "tariff[1]"),
        ("<a:r><a:t>H</a:t></a:r><a:r><a:rPr baseline='-25000'/><a:t>2</a:t></a:r>", "H2"),
        ("<a:r><a:t>one</a:t></a:r><a:br/><a:r><a:t>two</a:t></a:r>", "one\ntwo"),
        ("<a:fld id='{1}' type='datetime1'><a:t>4 May</a:t></a:fld>", "4 May"),
    ],
)  # fmt: skip
def test_the_pieces_of_a_line_of_a_slide(reads: Reads, inner: str, text: str) -> None:
    shape = f"<p:sp><p:txBody><a:p>{inner}</a:p></p:txBody></p:sp>"
    for form in (
        shape,
        f"<p:grpSp>{shape}</p:grpSp>",
        f"<AlternateContent><Choice>{shape}</Choice><Fallback>{shape}</Fallback></AlternateContent>",
    ):
        slide = f"<p:sld {A} {P}><p:cSld><p:spTree>{form}</p:spTree></p:cSld></p:sld>"
        data = with_part(good_files("pptx")["farm/show.pptx"], "ppt/slides/slide1.xml", slide)
        assert only_draft(reads(data, "talk.pptx")).text == text


def test_charts_are_told_and_a_talk_of_pictures_is_refused(reads: Reads, talk: Talk) -> None:
    def chart(slide: Any) -> None:
        box(slide, "Ships a year")
        data = CategoryChartData()
        data.categories, _ = ["1887"], data.add_series("Ships", [12])
        slide.shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, 9, 9, data)

    assert talk(chart).remark == "left out: charts (1)"
    pptx.Presentation().save(stream := BytesIO())
    assert only_reason(reads(stream.getvalue(), "talk.pptx")) == "it holds no text"


PORTS = [["Harbour dues of 1887"], ["Port", "Ships", "Dues", "Note"], ["Ostby", 12, 3.5, ""]]


def test_a_row_of_a_sheet_is_a_line_under_the_heads_and_a_sheet_is_a_section(reads: Reads) -> None:
    draft = only_draft(reads(workbook(PORTS, [["Mast", "oak"]]), "dues.xlsx"))
    assert paragraphs(draft) == [
        "Harbour dues of 1887",
        "Port | Ships | Dues | Note",
        "Port: Ostby | Ships: 12 | Dues: 3.5",
        "Mast | oak",
    ]
    assert headings(draft) == [("Harbour dues of 1887", "Sheet"), ("Mast | oak", "Sheet1")]
    assert not only_draft(reads(workbook(PORTS), "dues.xlsx")).segments


def test_a_sheet_with_a_column_of_texts_gives_a_document_a_row(reads: Reads) -> None:
    letters = [
        ["text", "date"],
        ["Twelve ships.", date(1887, 5, 3)],
        [None, None],
        ["One\ntwo.", 7],
    ]
    first, second, third, rest = reads(workbook(letters, PORTS, [["id", "text"], ["a"]]), "a.xlsx")
    assert isinstance(first, Draft)
    assert (first.text, first.key, first.metadata) == (
        "Twelve ships.",
        "row-1",
        {"date": "1887-05-03"},
    )
    assert isinstance(second, Draft)
    assert (second.text, second.key) == ("One\ntwo.", "row-2")
    assert third == Skipped("Sheet2, line 2: it holds no text", "a")
    assert isinstance(rest, Draft)
    assert (rest.key, rest.text.split("\n")[0]) == ("", "Harbour dues of 1887")
    reader = xlsx_reader(text_column="note")
    refused = only_reason(reads(workbook([["id", "text"], ["a", "b"]]), "a.xlsx", reader))
    assert "no field `note`" in refused


@pytest.mark.parametrize(
    ("value", "format_", "shown"),
    [
        (1234.5, "#,##0.00", "1,234.50"),
        (-1234.5, '"£"#,##0;[Red]-"£"#,##0', "-£1,234"),
        (0.125, "0.0%", "12.5%"),
        (7, "0000", "0007"),
        (0.1 + 0.2, "General", "0.3"),
        (12, "[$€-407] 0.00", "€ 12.00"),
        (True, "General", "TRUE"),
        (datetime(1901, 5, 3, 14, 30), "yyyy-mm-dd h:mm", "1901-05-03 14:30"),
        (datetime(1901, 5, 3), "d mmm yyyy", "1901-05-03"),
        (datetime(1901, 5, 3), "mmm yyyy", "1901-05"),
        (datetime(1901, 5, 3), "yyyy", "1901"),
    ],
)
def test_numbers_and_dates_are_written_as_shown(
    reads: Reads, value: object, format_: str, shown: str
) -> None:
    book = openpyxl.Workbook()
    book.active["A1"] = value
    book.active["A1"].number_format = format_
    book.save(stream := BytesIO())
    assert only_draft(reads(stream.getvalue(), "a.xlsx")).text == shown


def test_a_merged_cell_of_a_sheet_stands_in_every_row_that_it_spans(reads: Reads) -> None:
    book = openpyxl.Workbook()
    for row in (["Port", "Ship", "Dues"], ["Ostby", "Ann", 3], [None, "Bob", 2], ["Vik", "Eve", 1]):
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    book.save(stream := BytesIO())
    assert paragraphs(only_draft(reads(stream.getvalue(), "a.xlsx")))[1:] == [
        "Port: Ostby | Ship: Ann | Dues: 3",
        "Port: Ostby | Ship: Bob | Dues: 2",
        "Port: Vik | Ship: Eve | Dues: 1",
    ]


STYLES = """<office:automatic-styles>
<style:style style:name="P1"><style:paragraph-properties fo:break-before="page"/></style:style>
<style:style style:name="P2" style:parent-style-name="Table_20_Heading"/>
<style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style>
<text:list-style style:name="L1"><text:list-level-style-number style:num-format="1"/>
</text:list-style></office:automatic-styles>"""
NOTE = (
    "<text:note><text:note-citation>7</text:note-citation><text:note-body>"
    "<text:p>See the ledger.</text:p></text:note-body></text:note>"
)
CELLS = (
    '<table:table><table:table-row><table:table-cell><text:p text:style-name="P2">Port</text:p>'
    '</table:table-cell><table:table-cell><text:p text:style-name="P2">Ships</text:p>'
    "</table:table-cell></table:table-row>"
    '<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Ostby</text:p>'
    "</table:table-cell><table:table-cell><text:p>12</text:p></table:table-cell></table:table-row>"
    "<table:table-row><table:covered-table-cell/><table:table-cell><text:p>9</text:p>"
    "</table:table-cell></table:table-row></table:table>"
)


@pytest.fixture
def letter(reads: Reads) -> Callable[[str], Draft]:
    """A function that reads an OpenDocument text of these elements."""

    def read(body: str) -> Draft:
        return only_draft(reads(opendocument(body, styles=STYLES), "letter.odt"))

    return read


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('<text:p>tariff<text:span text:style-name="T1">1</text:span></text:p>', "tariff[1]"),
        ("<text:p>a<text:s/>b<text:tab/>c<text:line-break/>d</text:p>", "a b c\nd"),
        ("<text:list><text:list-item><text:p>oak</text:p></text:list-item><text:list-item>"
         "<text:p>elm</text:p></text:list-item></text:list>", "oak\n\nelm"),
        ("<text:p>The<office:annotation><text:p>Why?</text:p></office:annotation> wall</text:p>",
         "The wall"),
        ("<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p>Here</text:p>",
         "Here"),
        ("<text:p>Box<draw:frame><svg:title>a picture</svg:title><draw:text-box><text:p>in it"
         "</text:p></draw:text-box></draw:frame></text:p>", "Box\n\nin it"),
        ("<text:p>On <text:title>ships</text:title></text:p>", "On ships"),
        (CELLS, "Port | Ships\n\nPort: Ostby | Ships: 12\n\nPort: Ostby | Ships: 9"),
        (f"<text:p>Dues{NOTE} rose.</text:p><text:p>End.</text:p>",
         "Dues[1] rose.\n\nEnd.\n\n[1] See the ledger."),
    ],
)  # fmt: skip
def test_the_pieces_of_an_opendocument_text(
    letter: Callable[[str], Draft], body: str, text: str
) -> None:
    assert letter(body).text == text


def test_headings_notes_and_pages_of_an_opendocument_text(letter: Callable[[str], Draft]) -> None:
    draft = letter(
        f'<text:h text:outline-level="1">Ships</text:h><text:p>One{NOTE}</text:p>'
        '<text:h text:outline-level="2">Dues</text:h><text:p>a<text:soft-page-break/> b</text:p>'
        '<text:p text:style-name="P1">c</text:p>'
        '<text:list text:style-name="L1"><text:list-item><text:p>d</text:p></text:list-item>'
        "</text:list>"
    )
    assert headings(draft) == [
        ("Ships", "Ships"),
        ("Dues", "Ships > Dues"),
        ("[1] See the ledger.", "Notes"),
    ]
    assert [page.split("\n\n")[-1] for page in pages(draft)[:2]] == ["a", "b"]
    assert pages(draft)[2].startswith("c")
    assert draft.remark == "left out: automatic numbers (1)"


RTF = (
    r"{\rtf1\ansi\ansicpg1250\deff0{\fonttbl{\f0\fcharset1 A;}{\f1\fcharset204 B;}"
    r"{\f2\fcharset128 C;}{\f3\fcharset77 D;}}{\colortbl;\red0;}"
)


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (r"\'c8esk\'fd", "Český"),
        (r"\f1\'c4\'ee\'ec", "Дом"),
        (r"\f2\'83A\'83e", "アテ"),  # the second bytes of both are letters
        (r"\f3\'8e", "é"),
        (r"{\f1\'c4}\'e8", "Дč"),
        (r"\uc1\u1044 D\u-10240?\u-8376 ?", "Д𐍈"),
        (r"\uc2\u8364\'80\'80 5", "€ 5"),
        (r"a\~b\line c\emdash d", "a b\nc—d"),
        (r"one\par two\par", "one\n\ntwo"),
        (r"tariff{\super 1} and km{\super 2}", "tariff[1] and km²"),
        (r"{\v hidden}{\deleted gone}here", "here"),
        (r"{\field{\*\fldinst HYPERLINK x}{\fldrslt link}}", "link"),
        (r"a{\pict\bin4 }}}}ffd8}b{\*\unknown {x}}c{\header d}", "abc"),
        (r"{\pntext 1.\tab}one", "1. one"),
        (r"Box{\shp{\*\shpinst{\shptxt in it}}{\shprslt{\*\do{\dptxbxtext in it}}}}",
         "Box\n\nin it"),
        (r"\trowd\trhdr\intbl Port\cell Ships\cell\row\trowd\intbl Ostby\cell 1\par 2\cell\row",
         "Port | Ships\n\nPort: Ostby | Ships: 1 2"),
        (r"Dues{\footnote\pard See the ledger.\par}rose.\par End.",
         "Dues[1]rose.\n\nEnd.\n\n[1] See the ledger."),
    ],
)  # fmt: skip
def test_the_pieces_of_rich_text(reads: Reads, inner: str, text: str) -> None:
    assert only_draft(reads(f"{RTF}{inner}}}", "letter.rtf")).text == text


def test_headings_pages_and_facts_of_rich_text(reads: Reads) -> None:
    info = (
        r"{\info{\title Dues}{\upr{\author ?}{\*\ud{\author \u1044 ?}}}{\creatim\yr1999\mo5\dy3}}"
    )
    draft = only_draft(
        reads(
            rf"{RTF}{info}\pard\outlinelevel0 Ships\par\pard One.\par\pard\outlinelevel1 Dues"
            r"\par\pard a\page b{\footnote c}\par}",
            "letter.rtf",
        )
    )
    assert headings(draft) == [("Ships", "Ships"), ("Dues", "Ships > Dues"), ("[1] c", "Notes")]
    assert pages(draft)[1] == "b[1]\n\n[1] c"
    assert draft.metadata == {"title": "Dues", "author": "Д", "created": "1999-05-03"}
