"""Page numbers made of printed ones."""

import pytest

from atlas_search.readers.xml.tree import Printed, counted_labels, counted_pages, printed_pages


@pytest.mark.parametrize(
    ("labels", "pages"),
    [
        # one character a page: the offset of a label is its place
        (["1", "2", "3"], (0, 1, 2)),
        (["3", "4"], (0, 0, 0, 1)),
        (["1", "2", "5"], (0, 1, 2, 2, 2)),
        (["", "2", ""], (0, 1, 2)),
        (["[1]", "p. 2", "003"], (0, 1, 2)),
        (["i", "ii", "1", "2"], (0, 3)),
        ([*"123456789", "", "11"], tuple(range(11))),
    ],
)
def test_printed_numbers_are_page_numbers(labels: list[str], pages: tuple[int, ...]) -> None:
    marks = [(label, place) for place, label in enumerate(labels)]
    assert printed_pages(marks).pages == pages


def test_a_misprinted_number_is_passed_over() -> None:
    labels = [str(number) for number in range(1, 21)]
    labels[11] = "21"
    labels[4] = "4"
    marks = [(label, place) for place, label in enumerate(labels)]
    assert printed_pages(marks) == Printed(tuple(range(20)), tuple(labels), ("4", "21"))


@pytest.mark.parametrize(
    "labels", [["1r", "1v"], ["0"], ["40001"], ["1", "2", "1", "2"], ["3", "2", "1"], ["", ""]]
)
def test_numbers_that_make_no_sequence_are_no_page_numbers(labels: list[str]) -> None:
    assert printed_pages([(label, place) for place, label in enumerate(labels)]).pages == ()


def test_counted_pages_begin_with_the_text() -> None:
    assert counted_pages([("x", 0), ("y", 4)]) == (0, 4)
    assert counted_pages([("x", 2), ("y", 4)]) == (0, 2, 4)
    assert counted_pages([]) == (0,)


def test_counted_pages_keep_what_is_printed_on_them() -> None:
    assert counted_labels([("1r", 0), ("1v", 4)]) == ("1r", "1v")
    assert counted_labels([("[23r]", 2), ("", 4)]) == ("", "23r", "")


@pytest.mark.parametrize(
    ("labels", "pages", "printed"),
    [
        (["1", "2", "3"], (0, 1, 2), ("1", "2", "3")),
        (["[1]", "p. 2", "003"], (0, 1, 2), ("1", "2", "3")),
        # a number that is left out is a page of which nothing is known
        (["3", "5"], (0, 0, 0, 1, 1), ("", "", "3", "", "5")),
        # roman ones have the pages before the first number, if there are enough
        (["xi", "xii", "13"], (*[0] * 11, 1, 2), (*[""] * 10, "xi", "xii", "13")),
        (["i", "ii", "iii", "4"], (0, 1, 2, 3), ("i", "ii", "iii", "4")),
        # else page 1 has the numbers of several
        (["i", "ii", "1", "2"], (0, 3), ("i–1", "2")),
        (["i", "ii", "iii", "3"], (0, 2, 3), ("i–ii", "iii", "3")),
        ([*"123456789", "9a", "10", "11"], None, (*"12345678", "9–9a", "10", "11")),
    ],
)
def test_printed_numbers_stand_beside_the_page_numbers(
    labels: list[str], pages: tuple[int, ...] | None, printed: tuple[str, ...]
) -> None:
    found = printed_pages([(label, place) for place, label in enumerate(labels)])
    assert found.labels == printed
    assert pages is None or found.pages == pages
    assert len(found.pages) == len(found.labels)
