"""Labels of provisions, the numbers of lists, and where a writer says it is."""

import pytest

from atlas_search.core.domain import Segment
from atlas_search.core.locator import is_locator, root
from atlas_search.readers.law.statutes import Outline, item_label, level, number, schedule_number
from atlas_search.readers.xml.tree import TextWriter


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("10", "10"),
        ("10A", "10A"),
        ("2.1", "2.1"),
        ("SEC. 2.", "2"),
        ("§ 78c–1.", "78c-1"),
        ("Article 5", "5"),
        ("Article 9 (ex Article 8)", "9"),
        ("Art. 5 bis", "5 bis"),
        ("*4", "4"),
        ("9 to 11", "9-11"),
        ("9 à 11", "9-11"),
        ("9 and 10", "9,10"),
        ("1.—", "1"),
        ("SCHEDULE I", "I"),
        ("SCHEDULE A1", "A1"),
        ("SCHEDULE I / ANNEXE I", "I"),
        ("THE SCHEDULE", ""),
        ("", ""),
    ],
)
def test_the_number_in_a_label(label: str, expected: str) -> None:
    assert number(label) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("(1)", "(1)"),
        ("1.", "(1)"),
        ("1)", "(1)"),
        ("(1.1)", "(1.1)"),
        ("(A)", "(A)"),
        ("*(2)", "(2)"),
        ("(1) to (3)", "(1-3)"),
        ("(1) et (2)", "(1,2)"),
        ("", ""),
    ],
)
def test_the_level_of_a_label(label: str, expected: str) -> None:
    assert level(label) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("SCHEDULE 2.1", "2.1"),
        ("SCHEDULE I / ANNEXE I", "I"),
        ("Annex IV", "IV"),
        ("3", "3"),
        ("SCHEDULE", ""),
        ("SECOND SCHEDULE", ""),
        ("SCHEDULE TO PART IV", ""),
        ("FORM 1 OF 2", ""),
        ("", ""),
    ],
)
def test_the_number_of_a_schedule(label: str, expected: str) -> None:
    assert schedule_number(label) == expected


@pytest.mark.parametrize(
    ("place", "kind", "decoration", "expected"),
    [
        (3, "alpha", "parens", "(c)"),
        (28, "alpha", "parens", "(bb)"),
        (4, "roman", "parenRight", "iv)"),
        (49, "romanUpper", "period", "XLIX."),
        (7, "arabic", "none", "7"),
    ],
)
def test_the_label_of_an_item(place: int, kind: str, decoration: str, expected: str) -> None:
    assert item_label(place, kind, decoration) == expected


def test_a_segment_begins_where_the_place_changes() -> None:
    writer = TextWriter()
    writer.section("Part 1")
    for locator, words in (("s 1", "One."), ("s 1", "More."), ("s 2", "Two."), ("", "Three.")):
        writer.locate(locator)
        writer.add(words)
        writer.block()
    assert writer.finish().segments == (
        Segment(0, "Part 1", "", "s 1"),
        Segment(13, "Part 1", "", "s 2"),
        Segment(19, "Part 1"),
    )


@pytest.mark.parametrize("place", ["sch para 3", "sch 1 para 3", "§ 78c-1(a)", "art 5 bis(2)"])
def test_places_in_laws_are_locators(place: str) -> None:
    assert is_locator(place)
    assert root(place) == place.partition("(")[0]


@pytest.mark.parametrize("text", ["sch", "sch parade 3", "schedule 1", "the 3"])
def test_what_is_no_locator(text: str) -> None:
    assert not is_locator(text)


def test_what_no_citation_can_hold_is_no_locator() -> None:
    writer = TextWriter()
    outline = Outline(writer)
    for place in ("s a1", "s 3"):
        outline.enter(place, first="(1)")
        writer.add("Text.")
        writer.block()
        outline.leave()
    assert [segment.locator for segment in writer.finish().segments] == ["s 3(1)"]
