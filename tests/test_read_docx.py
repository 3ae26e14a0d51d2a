import zipfile
from datetime import datetime
from io import BytesIO

import docx
import pytest
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement, parse_xml

from atlas_search.core.domain import Segment
from tests.word_files import (
    BREAK,
    FOOTNOTES,
    RENDERED,
    W,
    body,
    changed,
    draft,
    paragraphs,
    run,
    saved,
)


def test_paragraphs_and_tables_come_in_their_order(tmp_path):
    def write(document):
        document.add_paragraph("First.")
        table = document.add_table(rows=2, cols=3)
        for cell, text in zip(table.rows[0].cells, ("Year", "Ships", "Crew"), strict=True):
            cell.text = text
        table.rows[1].cells[0].text = "1901"
        table.rows[1].cells[2].text = "12"
        document.add_paragraph("Last.")

    assert draft(tmp_path, write).text == "First.\n\nYear | Ships | Crew\n\n1901 |  | 12\n\nLast."


def ports(document, *, repeated: bool = False, bold: bool = False) -> None:
    table = document.add_table(rows=0, cols=2)
    for texts in (("Port", "Depth"), ("Ostby", "4 m")):
        row = table.add_row()
        for cell, text in zip(row.cells, texts, strict=True):
            run = cell.paragraphs[0].add_run(text)
            run.bold = (bold and text in {"Port", "Depth"}) or None
        if repeated and texts[0] == "Port":
            row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))


@pytest.mark.parametrize("how", ["repeated", "bold"])
def test_a_row_is_read_with_the_headings_of_its_columns(tmp_path, how):
    found = draft(tmp_path, lambda document: ports(document, **{how: True}))
    assert found.text == "Port | Depth\n\nPort: Ostby | Depth: 4 m"


def test_a_first_row_like_all_others_is_no_heading(tmp_path):
    assert draft(tmp_path, ports).text == "Port | Depth\n\nOstby | 4 m"


def test_an_empty_heading_stands_before_no_value(tmp_path):
    def write(document):
        table = document.add_table(rows=2, cols=3)
        for number, text in enumerate(("", "Depth", "Pilots")):
            table.rows[0].cells[number].paragraphs[0].add_run(text).bold = True
        for number, text in enumerate(("Ostby", "4 m", "none")):
            table.rows[1].cells[number].text = text

    text = "| Depth | Pilots\n\nOstby | Depth: 4 m | Pilots: none"
    assert draft(tmp_path, write).text == text


def test_a_table_that_only_lays_out_a_page_keeps_its_paragraphs(tmp_path):
    def write(document):
        left, right = document.add_table(rows=1, cols=2).rows[0].cells
        left.text = "Left."
        right.text = "Right."
        right.add_paragraph("More.")

    assert draft(tmp_path, write).text == "Left.\n\nRight.\n\nMore."


def test_headings_open_sections(tmp_path):
    def write(document):
        document.add_heading("Harbours", level=0)
        document.add_paragraph("Lead.")
        document.add_heading("Lights", level=1)
        document.add_heading("Lenses", level=2)
        document.add_paragraph("Text.")
        document.add_heading("Tides", level=1)

    found = draft(tmp_path, write)
    assert [(found.text[s.start :].split("\n")[0], s.section) for s in found.segments] == [
        ("Harbours", "Harbours"),
        ("Lights", "Lights"),
        ("Lenses", "Lights > Lenses"),
        ("Tides", "Tides"),
    ]


def test_a_style_based_on_a_heading_is_a_heading(tmp_path):
    def write(document):
        style = document.styles.add_style("Clause", docx.enum.style.WD_STYLE_TYPE.PARAGRAPH)
        style.base_style = document.styles["Heading 1"]
        document.add_paragraph("Definitions", style="Clause")
        document.add_paragraph("Text.")

    assert draft(tmp_path, write).segments == (Segment(0, "Definitions"),)


def test_an_outline_level_makes_a_heading_and_body_level_none(tmp_path):
    source = paragraphs(
        f'<w:pPr><w:outlineLvl w:val="1"/></w:pPr>{run("Lights")}',
        f'<w:pPr><w:pStyle w:val="Heading1"/><w:outlineLvl w:val="9"/></w:pPr>{run("Text.")}',
    )
    assert [s.section for s in draft(tmp_path, source).segments] == ["Lights"]


def test_page_breaks_begin_pages(tmp_path):
    def write(document):
        document.add_paragraph("One.")
        document.add_page_break()
        document.add_paragraph("Two.").add_run().add_break(WD_BREAK.PAGE)
        document.add_paragraph("Three.").paragraph_format.page_break_before = True
        document.add_paragraph("Four.").paragraph_format.page_break_before = True

    found = draft(tmp_path, write)
    assert found.text == "One.\n\nTwo.\n\nThree.\n\nFour."
    assert found.pages == (0, 6, 12, 12, 20)


def test_pages_are_those_that_word_rendered(tmp_path):
    source = paragraphs(run("One ends ") + RENDERED + run("here."), RENDERED + run("Three."))
    found = draft(tmp_path, source)
    assert found.text == "One ends here.\n\nThree."
    assert [found.text[start:] for start in found.pages[1:]] == ["here.\n\nThree.", "Three."]


def test_a_page_begins_with_a_letter_not_with_a_blank(tmp_path):
    found = draft(tmp_path, paragraphs(run("One") + RENDERED + run("  two")))
    assert found.text[found.pages[1] :] == "two"


def test_a_break_that_word_rendered_counts_once(tmp_path):
    source = paragraphs(run("One.") + BREAK, RENDERED + run("Two."), BREAK, RENDERED + run("Three"))
    assert draft(tmp_path, source).pages == (0, 6, 12)


def test_two_breaks_in_a_row_leave_a_page_empty(tmp_path):
    source = paragraphs(run("One."), BREAK, BREAK, run("Three."))
    assert draft(tmp_path, source).pages == (0, 6, 6)


def test_a_break_at_the_end_begins_no_page(tmp_path):
    assert draft(tmp_path, paragraphs(run("One."), BREAK)).pages == (0,)


def test_a_page_that_begins_in_a_row_counts_once(tmp_path):
    def write(document):
        document.add_paragraph("One.")
        for cell in document.add_table(rows=1, cols=2).rows[0].cells:
            cell.paragraphs[0]._p.append(parse_xml(f"<w:r {W}><w:lastRenderedPageBreak/></w:r>"))
            cell.paragraphs[0].add_run("cell")

    found = draft(tmp_path, write)
    assert found.text == "One.\n\ncell | cell"
    assert found.pages == (0, 6)


def test_a_long_text_without_pages_is_remarked(tmp_path):
    found = draft(tmp_path, paragraphs(*[run("A sentence of some length. " * 40)] * 20))
    assert found.remark == "it does not say where pages begin: open it in Word and save it anew"


def test_the_pieces_of_a_paragraph_are_put_together(tmp_path):
    source = paragraphs(
        f"{run('A')}<w:hyperlink>{run(' link')}</w:hyperlink>{run(' ')}"
        f"<w:sdt><w:sdtContent>{run('field')}</w:sdtContent></w:sdt><w:r><w:tab/></w:r>"
        f"{run('end')}<w:r><w:br/></w:r>{run('well')}<w:r><w:noBreakHyphen/></w:r>{run('known')}"
    )
    assert draft(tmp_path, source).text == "A link field end\nwell-known"


def test_tracked_changes_are_read_as_accepted(tmp_path):
    source = paragraphs(
        f"{run('The court ')}<w:del><w:r><w:delText>denied</w:delText></w:r></w:del>"
        f"<w:ins>{run('granted')}</w:ins><w:moveFrom>{run(' moved')}</w:moveFrom>{run(' leave.')}"
    )
    assert draft(tmp_path, source).text == "The court granted leave."


def test_blocks_in_content_controls_are_read(tmp_path):
    def write(document):
        inner = f"<w:sdtContent><w:p>{run('Inside.')}</w:p></w:sdtContent>"
        body(document).insert(0, parse_xml(f"<w:sdt {W}>{inner}</w:sdt>"))
        document.add_paragraph("Outside.")

    assert draft(tmp_path, write).text == "Inside.\n\nOutside."


def test_a_text_box_is_read_once_and_after_its_paragraph(tmp_path):
    compatibility = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    box = f"<w:txbxContent><w:p>{run('Boxed.')}</w:p></w:txbxContent>"
    source = paragraphs(
        f"{run('Before ')}<w:r><mc:AlternateContent {compatibility}><mc:Choice>{box}</mc:Choice>"
        f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>{run('after.')}"
    )
    assert draft(tmp_path, source).text == "Before after.\n\nBoxed."


def test_footnotes_stand_at_the_end_in_the_order_of_their_marks(tmp_path):
    mark = '<w:r><w:footnoteReference w:id="{}"/></w:r>'
    data = saved(
        paragraphs(run("One") + mark.format(7) + run(".") + BREAK, run("Two") + mark.format(2))
    )
    notes = (
        f'<w:footnotes {W}><w:footnote w:id="-1" w:type="separator"><w:p/></w:footnote>'
        f'<w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r>{run(" Second.")}</w:p></w:footnote>'
        f'<w:footnote w:id="7"><w:p>{run("First.")}</w:p><w:p>{run("More.")}</w:p></w:footnote>'
        "</w:footnotes>"
    )
    with zipfile.ZipFile(BytesIO(data)) as file:
        links = file.read("word/_rels/document.xml.rels")
    link = f'<Relationship Id="n1" Type="{FOOTNOTES}" Target="footnotes.xml"/></Relationships>'
    links = links.replace(b"</Relationships>", link.encode())
    found = draft(
        tmp_path,
        changed(
            data, {"word/footnotes.xml": notes.encode(), "word/_rels/document.xml.rels": links}
        ),
    )
    assert found.text == "One[1].\n\nTwo[2]\n\n[1] First.\n\nMore.\n\n[2] Second."
    assert found.segments == (Segment(found.text.index("[1] First"), "Notes"),)
    assert len(found.pages) == 2


def test_a_missing_note_is_remarked(tmp_path):
    source = paragraphs(run("One") + '<w:r><w:footnoteReference w:id="7"/></w:r>')
    assert draft(tmp_path, source).remark == "left out: notes that the file lacks (1)"


def test_automatic_numbers_are_read_and_bullets_are_not(tmp_path):
    def write(document):
        document.add_paragraph("First.", style="List Number")
        document.add_paragraph("Second.", style="List Number")
        document.add_paragraph("Point.", style="List Bullet")

    found = draft(tmp_path, write)
    assert found.text == "1. First.\n\n2. Second.\n\nPoint."
    assert not found.remark


def test_symbols_of_special_fonts_are_remarked(tmp_path):
    source = paragraphs(run("A") + '<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>')
    assert draft(tmp_path, source).remark == "left out: symbols of special fonts (1)"


def test_core_properties_are_metadata(tmp_path):
    def write(document):
        document.add_paragraph("Text.")
        properties = document.core_properties
        properties.title = "How a harbour works"
        properties.author = "A. Pilot"
        properties.keywords = "lights; tides"
        properties.subject = "Harbours"
        properties.language = "en-GB"
        properties.created = datetime(2019, 3, 4, 10, 15)
        properties.modified = datetime(2020, 1, 2)

    found = draft(tmp_path, write)
    assert found.title == "How a harbour works"
    assert found.metadata == {
        "title": "How a harbour works",
        "author": "A. Pilot",
        "tags": "lights; tides",
        "subject": "Harbours",
        "language": "en-GB",
        "created": "2019-03-04",
        "modified": "2020-01-02",
    }


def test_a_file_without_core_properties_has_no_metadata(tmp_path):
    data = saved(paragraphs(run("Text.")))
    with zipfile.ZipFile(BytesIO(data)) as file:
        links = file.read("_rels/.rels")
    start = links.rindex(b"<Relationship ", 0, links.index(b"core-properties"))
    end = links.index(b"/>", start) + 2
    found = draft(tmp_path, changed(data, {"_rels/.rels": links[:start] + links[end:]}))
    assert found.metadata == {}
