import pytest
from lxml import etree, html

from atlas_search.core.domain import Segment
from atlas_search.readers.markup import Flat, Heading, flatten, plain, sections


def flat(source: str) -> Flat:
    return flatten(html.document_fromstring(source))


def test_blocks_become_paragraphs_with_a_blank_line_between_them():
    source = "<p>One.</p><div>Two.<blockquote>Three.</blockquote></div><ul><li>Four.<li>Five.</ul>"
    assert flat(source).text == "One.\n\nTwo.\n\nThree.\n\nFour.\n\nFive."


def test_white_space_is_collapsed_as_a_browser_would():
    source = "<p>\n  A <b>bold\n</b>  <i>and</i>&nbsp; plain\tword </p>\n<p> &nbsp; </p>"
    assert flat(source).text == "A bold and plain word"


def test_inline_elements_do_not_part_words():
    assert flat("<p>con<wbr>sti<b>tu</b>tion<!-- note -->al</p>").text == "constitutional"


def test_a_br_ends_a_line_inside_its_paragraph():
    assert flat("<p>First line<br>\n second line<br><br><br>third</p>").text == (
        "First line\nsecond line\n\nthird"
    )


def test_pre_keeps_its_lines_and_indents():
    source = "<p>Before</p><pre>\n  one\r\n    two  \n\n\n\nthree\n</pre><p>After</p>"
    assert flat(source).text == "Before\n\n  one\n    two\n\nthree\n\nAfter"


def test_the_cells_of_a_row_are_one_paragraph():
    source = (
        "<table><tr><th>Year<th>Ships<th>Crew</tr>"
        "<tr><td><p>1901</p><td><td>12<br>men</tr><tr><td>only one</table>"
    )
    assert flat(source).text == "Year | Ships | Crew\n\nYear: 1901 | Crew: 12 men\n\nonly one"


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (
            "<tr><th>Port<th>Depth:</tr><tr><th>Ostby<td>4 m</tr><tr><td>Northport<td>9 m</tr>",
            ["Port | Depth:", "Port: Ostby | Depth: 4 m", "Port: Northport | Depth: 9 m"],
        ),
        (
            "<thead><tr><td>Port<td>Depth</tr></thead><tbody><tr><td>Ostby<td>4 m</tr></tbody>",
            ["Port | Depth", "Port: Ostby | Depth: 4 m"],
        ),
        (
            "<tr><td>Port<td>Depth</tr><tr><td>Ostby<td>4 m</tr>",
            ["Port | Depth", "Ostby | 4 m"],
        ),
        (
            "<tr><th><th>Depth<th>Pilots</tr><tr><th>Ostby<td>4 m<td>none</tr>",
            ["| Depth | Pilots", "Ostby | Depth: 4 m | Pilots: none"],
        ),
        (
            "<tr><th>Port<th>Depth<th>Pilots</tr><tr><td colspan=2>Ostby<td>none</tr>",
            ["Port | Depth | Pilots", "Ostby | none"],
        ),
        (
            f"<tr><th>{'Port ' * 20}<th>Depth</tr><tr><td>Ostby<td>4 m</tr>",
            [f"{'Port ' * 20}| Depth", "Ostby | 4 m"],
        ),
        (
            "<tr><th>Port<th>Depth</tr><tr><td>Ostby<td>4 m</tr>"
            "<tr><th>Ship<th>Crew</tr><tr><td>Swan<td>12</tr>",
            ["Port | Depth", "Port: Ostby | Depth: 4 m", "Ship | Crew", "Ship: Swan | Crew: 12"],
        ),
    ],
)
def test_a_row_is_read_with_the_headings_of_its_columns(table: str, rows: list[str]):
    assert flat(f"<table>{table}</table>").text.split("\n\n") == rows


def test_a_table_inside_a_table_has_its_own_headings():
    source = (
        "<table><tr><th>Port<th>Ships</tr><tr><td>Ostby<td>"
        "<table><tr><th>Ship<th>Crew</tr><tr><td>Swan<td>12</tr></table></td></tr>"
        "<tr><td>Northport<td>none</tr></table>"
    )
    rows = flat(source).text.split("\n\n")
    assert rows == [
        *("Port | Ships", "Ostby", "Ship | Crew"),
        *("Ship: Swan | Crew: 12", "Port: Northport | Ships: none"),
    ]


def test_a_table_that_only_lays_out_a_page_keeps_its_paragraphs():
    source = (
        "<table><tr><td>Menu<td><h1>Title</h1><p>One.</p><p>Two.</p>"
        "<table><tr><td>a<td>b</tr></table></table>"
    )
    assert flat(source).text == "Menu\n\nTitle\n\nOne.\n\nTwo.\n\na | b"
    assert flat(source).segments == (Segment(6, "Title"),)


def test_what_nobody_sees_is_left_out():
    source = (
        "<html><head><title>T</title></head><body><nav>Home</nav><p>Seen<script>x()</script>"
        "<style>p {}</style></p><template>t</template><p hidden>h</p>"
        '<p style="color: red; display: none">n</p><svg><title>s</title></svg></body></html>'
    )
    assert flat(source).text == "Seen"


def test_readings_of_characters_are_left_out():
    assert flat("<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字</p>").text == "漢字"


def test_hidden_navigation_still_parts_the_text_around_it():
    assert flat("<div>Before<nav>Home</nav>after</div>").text == "Before\n\nafter"


def test_headings_open_sections_that_begin_at_the_heading():
    result = flat("<p>Lead.</p><h1>Part 2</h1><p>x</p><h2>Right to\n<i>silence</i></h2><h1>Part 3")
    assert result.title == "Part 2"
    assert [(result.text[s.start :].split("\n")[0], s.section) for s in result.segments] == [
        ("Part 2", "Part 2"),
        ("Right to silence", "Part 2 > Right to silence"),
        ("Part 3", "Part 3"),
    ]


def test_a_page_without_h1_has_no_title():
    assert flat("<h2>Section</h2>").title == ""


def test_a_heading_of_several_lines_is_one_title():
    result = flat("<h1>Chapter I<br>The Harbour</h1>")
    assert result.text == "Chapter I\nThe Harbour"
    assert result.title == "Chapter I The Harbour"


def test_an_unclosed_heading_does_not_swallow_the_text():
    root = etree.fromstring("<body><h2><div>Heading</div><div>Text.</div></h2></body>")
    assert flatten(root).headings == (Heading(0, 2, "Heading"),)


def test_an_empty_heading_opens_no_section():
    assert flat("<h1><img src='x.png'></h1><p>Text.</p>").segments == ()


def test_trafilatura_output_is_read_too():
    root = etree.fromstring(
        '<doc><main><head rend="h1">Harbour</head><p>One<lb/>two</p><head rend="h2">Pilots</head>'
        "<list><item>a</item></list><quote>b</quote>"
        "<table><row><cell>c</cell><cell>d</cell></row></table></main></doc>"
    )
    result = flatten(root)
    assert result.text == "Harbour\n\nOne\ntwo\n\nPilots\n\na\n\nb\n\nc | d"
    assert result.segments == (Segment(0, "Harbour"), Segment(18, "Harbour > Pilots"))


def test_names_of_characters_are_read_where_no_document_type_declares_them():
    doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "xhtml11.dtd">'
    root = etree.fromstring(
        f'{doctype}<html xmlns="http://www.w3.org/1999/xhtml"><p>a&nbsp;b &mdash; c</p></html>',
        etree.XMLParser(resolve_entities=False),
    )
    assert flatten(root).text == "a b — c"


def test_deep_nesting_does_not_break_it():
    root = bottom = etree.Element("div")
    for _ in range(5000):
        bottom = etree.SubElement(bottom, "div")
    bottom.text = "deep"
    assert flatten(root).text == "deep"


def test_text_after_the_root_is_not_part_of_it():
    root = html.fragment_fromstring("<div><p>in</p>tail</div>")
    assert flatten(root[0]).text == "in"


def test_plain_text_has_neither_controls_nor_invisible_characters():
    assert plain("a\r\nb\rc\x0bd\x00e\xadf\u200bg\u00a0h\ufeff") == "a\nb\nc defg h"


def test_mislabelled_windows_quotes_are_quotes():
    assert plain("\x93so\x94 \x96 it\x92s\x85") == "“so” – it’s…"


def test_of_several_headings_at_one_place_the_last_names_the_section():
    headings = [Heading(0, 1, "Book"), Heading(0, 2, "Part"), Heading(9, 2, "Next")]
    assert sections(headings) == (Segment(0, "Book > Part"), Segment(9, "Book > Next"))


def test_a_heading_without_title_ends_the_sections_before():
    headings = [Heading(0, 1, "Book"), Heading(5, 1, ""), Heading(9, 2, "Alone")]
    assert sections(headings) == (Segment(0, "Book"), Segment(5, ""), Segment(9, "Alone"))


def test_a_very_long_heading_is_cut_in_the_name_of_its_section():
    assert sections([Heading(0, 1, "x" * 999)]) == (Segment(0, "x" * 200),)
