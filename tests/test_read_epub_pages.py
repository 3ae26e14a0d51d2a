"""The printed pages of an e-book, from its page list or the breaks in its chapters."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from atlas_search.readers import Draft
from atlas_search.readers.epub import chapter_of
from atlas_search.readers.markup import flatten
from tests.test_read_epub import XHTML, book, draft

EPUB = 'xmlns:epub="http://www.idpf.org/2007/ops"'
NCX = "http://www.daisy.org/z3986/2005/ncx/"


def printed(found: Draft) -> list[tuple[str, str]]:
    """The label of each page, and its text."""
    ends = [*found.pages[1:], len(found.text)]
    labels = found.printed_pages or [""] * len(found.pages)
    spans = zip(labels, found.pages, ends, strict=True)
    return [(label, found.text[start:end].strip()) for label, start, end in spans]


def with_list(entries: dict[str, str]) -> dict[str, object]:
    """The page list of an EPUB 3 book, by label."""
    items = "".join(f'<li><a href="{link}">{label}</a></li>' for label, link in entries.items())
    return {
        "items": f'<item id="nav" href="nav.xhtml" media-type="{XHTML}" properties="nav"/>',
        "parts": {
            "OEBPS/nav.xhtml": f'<html xmlns="http://www.w3.org/1999/xhtml" {EPUB}><body>'
            f'<nav epub:type="page-list"><ol>{items}</ol></nav></body></html>'
        },
    }


def test_pages_are_those_that_the_book_lists(tmp_path: Path) -> None:
    chapters = {
        "one.xhtml": '<p><a id="a"/>A preface. <a id="b"/>It goes on.</p>',
        "two.xhtml": '<h1 id="c">Gulls</h1><p>Gulls <span id="d"/>“fly”.</p>',
    }
    links = {
        "xi": "one.xhtml#a",
        "Page xii": "one.xhtml#b",
        "1": "two.xhtml#c",
        "2": "two.xhtml#d",
    }
    found = draft(tmp_path, book(chapters, **with_list(links)))
    assert printed(found) == [
        *[("xi", "A preface."), ("xii", "It goes on.")],
        *[("1", "Gulls\n\nGulls"), ("2", "“fly”.")],
    ]
    assert [segment.section for segment in found.segments] == ["Gulls"]


def test_the_page_list_of_epub_2_is_read(tmp_path: Path) -> None:
    targets = "".join(
        f'<pageTarget type="{kind}" value="1"><navLabel><text>{label}</text></navLabel>'
        f'<content src="one.xhtml#{id_}"/></pageTarget>'
        for kind, label, id_ in (("front", "iv", "a"), ("normal", "5", "b"))
    )
    found = draft(
        tmp_path,
        book(
            {"one.xhtml": '<p id="a">Gulls.</p><p id="b">Terns.</p>'},
            items='<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
            toc=' toc="ncx"',
            parts={"OEBPS/toc.ncx": f'<ncx xmlns="{NCX}"><pageList>{targets}</pageList></ncx>'},
        ),
    )
    assert printed(found) == [("iv", "Gulls."), ("5", "Terns.")]


def test_marked_breaks_say_their_numbers_and_are_no_text(tmp_path: Path) -> None:
    inner = (
        f"<div {EPUB}><p>Before.</p>"
        '<span epub:type="pagebreak" id="x1" title="23r"/><p>Gulls '
        '<span epub:type="pagebreak" id="x2">[p. 23v]</span> fly '
        '<span role="doc-pagebreak" aria-label=" Page 24. "/>far.</p>'
        '<div role="doc-pagebreak" id="page_25"/><p>Terns.</p></div>'
    )
    found = draft(tmp_path, book({"one.xhtml": inner}))
    assert found.text == "Before.\n\nGulls fly far.\n\nTerns."
    assert printed(found) == [
        *[("", "Before."), ("23r", "Gulls"), ("23v", "fly"), ("24", "far."), ("25", "Terns.")]
    ]


def test_a_break_at_the_end_of_a_chapter_begins_with_the_next(tmp_path: Path) -> None:
    mark = '<span role="doc-pagebreak" title="{}"/>'
    chapters = {
        "one.xhtml": f"{mark.format('i')}<p>Gulls.</p>{mark.format('ii')}",
        "two.xhtml": "<p>Terns.</p>",
    }
    found = draft(tmp_path, book(chapters))
    assert printed(found) == [("i", "Gulls."), ("ii", "Terns.")]


def test_a_word_that_a_page_breaks_is_left_whole(tmp_path: Path) -> None:
    inner = (
        'The <a role="doc-pagebreak" title="iv"/>lamp was li<a role="doc-pagebreak" title="5"/>'
        'ghted. Ships <a role="doc-pagebreak" title="6"/>came, at la<a role="doc-pagebreak" '
        'title="7"/>st.'
    )
    found = draft(tmp_path, book({"one.xhtml": f"<p>{inner}</p>", "two.xhtml": "<p>End.</p>"}))
    assert found.text == "The lamp was lighted. Ships came, at last.\n\nEnd."
    assert printed(found) == [
        *[("", "The"), ("iv", "lamp was lighted."), ("5", "Ships"), ("6", "came, at last.")],
        ("7", "End."),
    ]


def test_numbers_that_only_count_are_not_kept(tmp_path: Path) -> None:
    links = {"1": "one.xhtml#a", "2": "one.xhtml#b"}
    chapters = {"one.xhtml": '<p id="a">Gulls.</p><p id="b">Terns.</p>'}
    found = draft(tmp_path, book(chapters, **with_list(links)))
    assert (found.pages, found.printed_pages) == ((0, 8), ())


def test_a_single_mark_or_one_that_leads_nowhere_is_no_page_list(tmp_path: Path) -> None:
    chapters = {"one.xhtml": '<p>Gulls <a id="a"/>fly.</p>', "two.xhtml": "<p>Terns.</p>"}
    links = {"7": "one.xhtml#a", "8": "one.xhtml#lost", "9": "lost.xhtml#a"}
    found = draft(tmp_path, book(chapters, **with_list(links)))
    assert (found.pages, found.printed_pages) == ((0, 12), ())


PIECES = st.lists(
    st.sampled_from(
        [
            *["Gulls", " ", " fly. ", "“Terns”", "<br/>", "<p>", "</p>", "|", "<i>far</i>"],
            *["<table><tr><td>a</td>", "<td>b</td></tr></table>", "<pre> x\n  y </pre>"],
            *[
                "<h2>Birds</h2>",
                '<b role="doc-pagebreak" title="7"></b>',
                "<nav>menu</nav>",
                "-",
                "x",
            ],
        ]
    ),
    max_size=20,
).map("".join)


@given(PIECES)
def test_marks_never_change_the_text_and_their_places_ascend(inner: str) -> None:
    def tree() -> etree._Element:
        return etree.fromstring(f"<body>{inner}</body>", etree.HTMLParser())

    found = chapter_of(tree(), {})
    assert found.flat == flatten(tree())
    starts = [start for start, _ in found.breaks]
    assert starts == sorted(starts)
    assert all(start <= len(found.flat.text) for start in starts)
    assert not any(found.flat.text[start : start + 1].isspace() for start in starts)
