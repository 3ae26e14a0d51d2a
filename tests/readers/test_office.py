"""Presentations, workbooks and texts of office programs, made of a few elements."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from atlas_search.readers import Draft
from tests.readers.conftest import Reads
from tests.readers.drafts import headings, only_draft, only_reason, pages, paragraphs
from tests.source_files import good_files, with_part

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
        data = with_part(good_files("pptx")["farm/fair.pptx"], "ppt/slides/slide1.xml", slide)
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
