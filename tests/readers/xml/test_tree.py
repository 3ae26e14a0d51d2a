"""Page numbers made of printed ones, keys of documents, and offsets that fit the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.readers.xml.tree import (
    Printed,
    TextWriter,
    counted_pages,
    printed_pages,
    unique_keys,
)


@pytest.mark.parametrize(
    ("labels", "pages", "printed"),
    [
        # one character a page: the offset of a label is its place
        ("1 2 3", (0, 1, 2), "1 2 3"),
        ("3 4", (0, 0, 0, 1), "- - 3 4"),
        ("- 2 -", (0, 1, 2), None),
        ("[1] p._2 003", (0, 1, 2), "1 2 3"),
        # a number that is left out is a page of which nothing is known
        ("1 2 5", (0, 1, 2, 2, 2), None),
        ("3 5", (0, 0, 0, 1, 1), "- - 3 - 5"),
        # roman ones have the pages before the first number, if there are enough
        ("xi xii 13", (*[0] * 11, 1, 2), f"{'- ' * 10}xi xii 13"),
        ("i ii iii 4", (0, 1, 2, 3), "i ii iii 4"),
        # else page 1 has the numbers of several
        ("i ii 1 2", (0, 3), "i–1 2"),
        ("i ii iii 3", (0, 2, 3), "i–ii iii 3"),
        ("1 2 3 4 5 6 7 8 9 - 11", tuple(range(11)), None),
        ("1 2 3 4 5 6 7 8 9 9a 10 11", None, "1 2 3 4 5 6 7 8 9–9a 10 11"),
        # numbers that make no sequence are no page numbers
        *((labels, (), None) for labels in ("1r 1v", "0", "40001", "1 2 1 2", "3 2 1", "- -")),
    ],
)
def test_printed_numbers_are_page_numbers(
    labels: str, pages: tuple[int, ...] | None, printed: str | None
) -> None:
    """A blank stands for no label here, `_` for a blank within one."""
    marks = [
        (label.replace("_", " ").replace("-", ""), place)
        for place, label in enumerate(labels.split())
    ]
    result = printed_pages(marks)
    assert pages is None or result.pages == pages
    assert printed is None or result.labels == tuple(printed.replace("-", "").split(" "))
    assert len(result.labels) in (0, len(result.pages))


def test_a_misprinted_number_is_passed_over() -> None:
    labels = [str(number) for number in range(1, 21)]
    labels[11] = "21"
    labels[4] = "4"
    marks = [(label, place) for place, label in enumerate(labels)]
    assert printed_pages(marks) == Printed(tuple(range(20)), tuple(labels), ("4", "21"))


def test_counted_pages_begin_with_the_text_and_keep_what_is_printed_on_them() -> None:
    assert counted_pages([("1r", 0), ("1v", 4)]) == ((0, 4), ("1r", "1v"))
    assert counted_pages([("[23r]", 2), ("", 4)]) == ((0, 2, 4), ("", "23r", ""))
    assert counted_pages([]) == ((0,), ("",))


def test_keys_are_unique() -> None:
    assert unique_keys(["a", "", "a", "2", "a-2", "a"]) == ["a", "2", "a-2", "2-2", "a-2-2", "a-3"]


@given(st.lists(st.sampled_from(["", "1", "2", "a", "a-2", "1-2"])))
def test_no_two_keys_are_alike(keys: list[str]) -> None:
    assert len(set(unique_keys(keys))) == len(keys)


@given(st.lists(st.tuples(st.sampled_from(["", "1", "2", "7", "x", "39"]), st.integers(0, 9))))
def test_page_offsets_ascend_from_zero(result: list[tuple[str, int]]) -> None:
    marks = sorted(result, key=lambda mark: mark[1])
    for pages in (printed_pages(marks).pages, counted_pages(marks)[0]):
        assert list(pages) == sorted(pages)
        assert not pages or pages[0] == 0


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.text(" ab\n\u00a0", max_size=5)),
        st.tuples(st.sampled_from(["block", "line", "blank", "glue", "rejoin"])),
        st.tuples(st.sampled_from(["speech", "voice", "page", "section"]), st.sampled_from("ab")),
        st.tuples(st.just("note"), st.just("n")),
    ),
    max_size=30,
)


@pytest.mark.thorough
@given(STEPS)
def test_whatever_is_written_offsets_fit_the_text(steps: list[tuple[str, ...]]) -> None:
    writer = TextWriter()
    for name, *arguments in steps:
        getattr(writer, name)(*arguments)
    composed = writer.finish()
    starts = [segment.start for segment in composed.segments]
    assert starts == sorted(set(starts))
    assert all(not composed.text[start].isspace() for start in starts)
    assert all(offset < len(composed.text) for _, offset in composed.marks)
    assert composed.text == composed.text.strip()
    assert "\n\n\n" not in composed.text
    assert all(line == line.strip() for line in composed.text.split("\n"))
