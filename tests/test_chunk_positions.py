"""Lines, pages and speakers of a passage."""

import pytest

from atlas_search.building.chunking import Position, chunking, passage_spans, positions
from atlas_search.core.domain import Located, Segment
from atlas_search.language.text import TextSpan
from tests.cuts import document


@pytest.mark.parametrize(("start", "line"), [(0, 1), (3, 1), (4, 2), (5, 3), (8, 3)])
def test_lines_are_counted_from_one(start: int, line: int) -> None:
    assert positions(document("one\n\nthree"), [TextSpan(start, 10)])[0].line == line


@pytest.mark.parametrize(("start", "page"), [(0, 1), (9, 1), (10, 2), (24, 2), (25, 3), (99, 3)])
def test_a_page_begins_at_its_offset(start: int, page: int) -> None:
    assert positions(document("x" * 100, (0, 10, 25)), [TextSpan(start, 100)])[0].page == page


def test_what_comes_before_the_first_page_is_a_passage_on_the_first() -> None:
    source = document("text more", (5,))
    spans = passage_spans(source, chunking(), None)
    assert spans == [TextSpan(0, 4), TextSpan(5, 9)]
    assert positions(source, spans) == [Position(1, 1, "", ""), Position(1, 1, "", "")]


def test_everybody_who_speaks_in_a_passage_is_named_once() -> None:
    speeches = (Segment(4, "Q1", "Ash"), Segment(8, "Q1", "Birch"), Segment(12, "Q2", "Ash"))
    source = document("Hm. Yes No. Yes", (0,), *speeches)
    found = positions(source, [TextSpan(0, 15), TextSpan(4, 7), TextSpan(8, 15)])
    assert [(each.section, each.speaker) for each in found] == [
        ("", "Ash; Birch"),
        ("Q1", "Ash"),
        ("Q1", "Birch; Ash"),
    ]


def test_where_each_section_begins_is_told_of_a_passage_with_several() -> None:
    source = document("One. Two. Three.", (0,), Segment(0, "A"), Segment(5, "B", "", "s 2"))
    whole, first, last = positions(source, [TextSpan(0, 16), TextSpan(0, 4), TextSpan(5, 9)])
    assert whole.locators == (Located(0, "", "A"), Located(5, "s 2", "B"))
    assert (first.section, first.locators) == ("A", ())
    assert (last.section, last.locators) == ("B", (Located(0, "s 2"),))
