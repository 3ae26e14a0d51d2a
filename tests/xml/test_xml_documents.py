"""What holds for the documents of every XML file, known kind or not."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.readers.xml.tree import TextWriter, counted_pages, printed_pages, unique_keys
from tests.xml.xml_drafts import DATA, drafts, paragraphs

SAMPLES = sorted(DATA.glob("*.xml"))


def test_unknown_xml_is_read_as_plain_text_and_it_is_said() -> None:
    (draft,) = drafts("unknown.xml")
    assert paragraphs(draft) == [
        "On coal and iron",
        "Coal is black.",
        "Coal | 5\nIron | 6",
        "Iron is not.",
    ]
    assert draft.metadata == {"language": "en"}
    assert draft.remark.startswith("no known structure: <Report> is read as plain text")
    assert all(name in draft.remark for name in ("CLML", "USLM", "--documents-at", "convert"))


def test_unknown_xml_can_be_several_documents() -> None:
    first, second = drafts("unknown.xml", documents_at="Chapter")
    assert (first.key, first.text[:16]) == ("1", "On coal and iron")
    assert (second.key, second.text) == ("two", "Iron is not.")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_offsets_are_in_order_and_in_the_text(path: Path) -> None:
    for draft in drafts(path.name):
        starts = [segment.start for segment in draft.segments]
        assert starts == sorted(set(starts))
        assert all(not draft.text[start].isspace() for start in starts)
        assert draft.pages[0] == 0
        assert list(draft.pages) == sorted(draft.pages)
        assert draft.pages[-1] < len(draft.text)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_texts_have_no_blanks_to_spare(path: Path) -> None:
    for draft in drafts(path.name):
        assert draft.text == draft.text.strip()
        assert "\n\n\n" not in draft.text
        assert "  " not in draft.text
        assert all(line == line.strip() for line in draft.text.split("\n"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_same_bytes_give_the_same_drafts(path: Path) -> None:
    assert drafts(path.name) == drafts(path.name)


def test_keys_are_unique() -> None:
    assert unique_keys(["a", "", "a", "2", "a-2", "a"]) == ["a", "2", "a-2", "2-2", "a-2-2", "a-3"]


@given(st.lists(st.sampled_from(["", "1", "2", "a", "a-2", "1-2"])))
def test_no_two_keys_are_alike(keys: list[str]) -> None:
    unique = unique_keys(keys)
    assert len(set(unique)) == len(keys)


@given(st.lists(st.tuples(st.sampled_from(["", "1", "2", "7", "x", "39"]), st.integers(0, 9))))
def test_page_offsets_ascend_from_zero(found: list[tuple[str, int]]) -> None:
    marks = sorted(found, key=lambda mark: mark[1])
    for pages in (printed_pages(marks).pages, counted_pages(marks)):
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
