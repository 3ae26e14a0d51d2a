"""Trees of HTML as text: blocks, rows, headings and their sections."""

import pytest
from lxml import etree, html

from atlas_search.core.domain import Segment
from atlas_search.readers.markup import Flat, Heading, flatten, plain, sections


def flat(source: str) -> Flat:
    return flatten(html.document_fromstring(source))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>One.</p><div>Two.<blockquote>Three.</blockquote></div><ul><li>Four.<li>Five.</ul>",
         "One.\n\nTwo.\n\nThree.\n\nFour.\n\nFive."),
        # white space is collapsed as a browser would
        ("<p>\n  A <b>bold\n</b>  <i>and</i>&nbsp; plain\tword </p>\n<p> &nbsp; </p>",
         "A bold and plain word"),
        ("<p>con<wbr>sti<b>tu</b>tion<!-- note -->al</p>", "constitutional"),
        ("<p>First line<br>\n second line<br><br><br>third</p>",
         "First line\nsecond line\n\nthird"),
        ("<p>Before</p><pre>\n  one\r\n    two  \n\n\n\nthree\n</pre><p>After</p>",
         "Before\n\n  one\n    two\n\nthree\n\nAfter"),
        # what nobody sees is left out, and still parts the text around it
        ("<html><head><title>T</title></head><body><nav>Home</nav><p>Seen<script>x()</script>"
         "<style>p {}</style></p><template>t</template><p hidden>h</p>"
         '<p style="color: red; display: none">n</p><svg><title>s</title></svg></body></html>',
         "Seen"),
        ("<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字</p>", "漢字"),
        ("<div>Before<nav>Home</nav>after</div>", "Before\n\nafter"),
        # a table that only lays out a page keeps its paragraphs
        ("<table><tr><td>Menu<td><h1>Title</h1><p>One.</p><p>Two.</p>"
         "<table><tr><td>a<td>b</tr></table></table>", "Menu\n\nTitle\n\nOne.\n\nTwo.\n\na | b"),
    ],
)  # fmt: skip
def test_blocks_become_paragraphs(source: str, text: str) -> None:
    assert flat(source).text == text


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("<tr><th>Year<th>Ships<th>Crew</tr><tr><td><p>1901</p><td><td>12<br>men</tr>"
         "<tr><td>only one",
         ["Year | Ships | Crew", "Year: 1901 | Crew: 12 men", "only one"]),
        ("<tr><th>Port<th>Depth:</tr><tr><th>Ostby<td>4 m</tr><tr><td>Northport<td>9 m</tr>",
         ["Port | Depth:", "Port: Ostby | Depth: 4 m", "Port: Northport | Depth: 9 m"]),
        ("<thead><tr><td>Port<td>Depth</tr></thead><tbody><tr><td>Ostby<td>4 m</tr></tbody>",
         ["Port | Depth", "Port: Ostby | Depth: 4 m"]),
        ("<tr><td>Port<td>Depth</tr><tr><td>Ostby<td>4 m</tr>", ["Port | Depth", "Ostby | 4 m"]),
        ("<tr><th><th>Depth<th>Pilots</tr><tr><th>Ostby<td>4 m<td>none</tr>",
         ["| Depth | Pilots", "Ostby | Depth: 4 m | Pilots: none"]),
        ("<tr><th>Port<th>Depth<th>Pilots</tr><tr><td colspan=2>Ostby<td>none</tr>",
         ["Port | Depth | Pilots", "Port: Ostby | Pilots: none"]),
        ("<tr><th rowspan=2>Port<th colspan=2>Depth</tr><tr><th>low<th>high</tr>"
         "<tr><td rowspan=2>Ostby<td>4 m<td>6 m</tr><tr><td>5 m<td>7 m</tr>",
         ["Port | Depth", "Port | low | high", "Port: Ostby | Depth low: 4 m | Depth high: 6 m",
          "Port: Ostby | Depth low: 5 m | Depth high: 7 m"]),
        ("<tr><td colspan=9999999>Ports</tr><tr><td>Ostby<td rowspan=x>4 m</tr>",
         ["Ports", "Ostby | 4 m"]),
        (f"<tr><th>{'Port ' * 20}<th>Depth</tr><tr><td>Ostby<td>4 m</tr>",
         [f"{'Port ' * 20}| Depth", "Ostby | 4 m"]),
        ("<tr><th>Port<th>Depth</tr><tr><td>Ostby<td>4 m</tr>"
         "<tr><th>Ship<th>Crew</tr><tr><td>Swan<td>12</tr>",
         ["Port | Depth", "Port: Ostby | Depth: 4 m", "Ship | Crew", "Ship: Swan | Crew: 12"]),
        # a table inside a table has its own headings
        ("<tr><th>Port<th>Ships</tr><tr><td>Ostby<td>"
         "<table><tr><th>Ship<th>Crew</tr><tr><td>Swan<td>12</tr></table></td></tr>"
         "<tr><td>Northport<td>none</tr>",
         ["Port | Ships", "Ostby", "Ship | Crew", "Ship: Swan | Crew: 12",
          "Port: Northport | Ships: none"]),
    ],
)  # fmt: skip
def test_a_row_is_read_with_the_headings_of_its_columns(table: str, rows: list[str]) -> None:
    assert flat(f"<table>{table}</table>").text.split("\n\n") == rows


def test_headings_open_sections_that_begin_at_the_heading() -> None:
    result = flat("<p>Lead.</p><h1>Part 2</h1><p>x</p><h2>Right to\n<i>silence</i></h2><h1>Part 3")
    assert [(result.text[s.start :].split("\n")[0], s.section) for s in result.segments] == [
        ("Part 2", "Part 2"),
        ("Right to silence", "Part 2 > Right to silence"),
        ("Part 3", "Part 3"),
    ]


@pytest.mark.parametrize(
    ("source", "segments"),
    [
        ("<h2>Section</h2>", (Segment(0, "Section"),)),
        ("<h1>Chapter I<br>The Harbour</h1>", (Segment(0, "Chapter I The Harbour"),)),
        # an empty heading opens no section
        ("<h1><img src='x.png'></h1><p>Text.</p>", ()),
    ],
)  # fmt: skip
def test_a_heading_opens_a_section_on_one_line(source: str, segments: tuple[Segment, ...]) -> None:
    assert flat(source).segments == segments


def test_an_unclosed_heading_does_not_swallow_the_text() -> None:
    root = etree.fromstring("<body><h2><div>Heading</div><div>Text.</div></h2></body>")
    assert flatten(root).headings == (Heading(0, 2, "Heading"),)


def test_trafilatura_output_is_read_too() -> None:
    root = etree.fromstring(
        '<doc><main><head rend="h1">Harbour</head><p>One<lb/>two</p><head rend="h2">Pilots</head>'
        "<list><item>a</item></list><quote>b</quote>"
        "<table><row><cell>c</cell><cell>d</cell></row></table></main></doc>"
    )
    result = flatten(root)
    assert result.text == "Harbour\n\nOne\ntwo\n\nPilots\n\na\n\nb\n\nc | d"
    assert result.segments == (Segment(0, "Harbour"), Segment(18, "Harbour > Pilots"))


def test_names_of_characters_are_read_where_no_document_type_declares_them() -> None:
    doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "xhtml11.dtd">'
    root = etree.fromstring(
        f'{doctype}<html xmlns="http://www.w3.org/1999/xhtml"><p>a&nbsp;b &mdash; c</p></html>',
        etree.XMLParser(resolve_entities=False),
    )
    assert flatten(root).text == "a b — c"


def test_a_deep_tree_is_read_and_nothing_behind_its_root() -> None:
    root = bottom = etree.Element("div")
    for _ in range(5000):
        bottom = etree.SubElement(bottom, "div")
    bottom.text = "deep"
    assert flatten(root).text == "deep"
    assert flatten(html.fragment_fromstring("<div><p>in</p>tail</div>")[0]).text == "in"


def test_plain_text_has_neither_controls_nor_invisible_characters() -> None:
    assert plain("a\r\nb\rc\x0bd\x00e\xadf\u200bg\u00a0h\ufeff") == "a\nb\nc defg h"
    assert plain("\x93so\x94 \x96 it\x92s\x85") == "“so” – it’s…"  # quotes of Windows


@pytest.mark.parametrize(
    ("headings", "expected"),
    [
        # of several at one place the last names the section
        ([Heading(0, 1, "Book"), Heading(0, 2, "Part"), Heading(9, 2, "Next")],
         (Segment(0, "Book > Part"), Segment(9, "Book > Next"))),
        # one without a title ends the sections before
        ([Heading(0, 1, "Book"), Heading(5, 1, ""), Heading(9, 2, "Alone")],
         (Segment(0, "Book"), Segment(5, ""), Segment(9, "Alone"))),
        ([Heading(0, 1, "x" * 999)], (Segment(0, "x" * 200),)),
    ],
)  # fmt: skip
def test_headings_name_sections(headings: list[Heading], expected: tuple[Segment, ...]) -> None:
    assert sections(headings) == expected
