"""E-books: their order, contents, metadata, printed pages and notes, and damage."""

import zipfile
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from atlas_search.readers import Draft
from atlas_search.readers.epub import chapter_of
from atlas_search.readers.markup import flatten
from tests.readers.conftest import Reads
from tests.readers.drafts import headings, only_draft, only_reason, pages

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>"""
ENCRYPTION = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"
 xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>
<enc:EncryptionMethod Algorithm="{method}"/>
<enc:CipherData><enc:CipherReference URI="{target}"/></enc:CipherData>
</enc:EncryptedData></encryption>"""
XHTML = "application/xhtml+xml"
OPS = 'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'
NCX = "http://www.daisy.org/z3986/2005/ncx/"

Read = Callable[..., Draft]


@pytest.fixture
def draft(reads: Reads) -> Read:
    """A function that reads a book, or one made of these chapters."""

    def read(source: bytes | Mapping[str, str] | str, **made: object) -> Draft:
        chapters = {"a.xhtml": source} if isinstance(source, str) else source
        data = chapters if isinstance(chapters, bytes) else book(chapters, **made)  # type: ignore[arg-type]
        return only_draft(reads(data, "book.epub"))

    return read


def page(inner: str) -> str:
    """A chapter with this body."""
    return (
        f'<?xml version="1.0" encoding="utf-8"?><html {OPS}>'
        f"<head><title>File</title></head><body>{inner}</body></html>"
    )


def package(chapters: Mapping[str, str], metadata: str = "", items: str = "", toc: str = "") -> str:
    """A package file that lists the chapters, by name, in that order."""
    entries = "".join(f'<item id="i-{n}" href="{n}" media-type="{XHTML}"/>' for n in chapters)
    spine = "".join(f'<itemref idref="i-{name}"/>' for name in chapters)
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:opf="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0">'
        f"<metadata>{metadata}</metadata><manifest>{entries}{items}</manifest>"
        f"<spine{toc}>{spine}</spine></package>"
    )


def book(chapters: Mapping[str, str], *, parts: Mapping[str, str] = {}, **opf: str) -> bytes:
    """An EPUB; `parts` are further ones or take the place of others, empty ones are left out."""
    contents = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package(chapters, **opf),
        **{f"OEBPS/{name}": page(inner) for name, inner in chapters.items()},
        **parts,
    }
    with zipfile.ZipFile(stream := BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            if content:
                archive.writestr(name, content)
    return stream.getvalue()


def nav(contents: str, page_list: str = '<li><a href="one.xhtml">1</a></li>') -> dict[str, object]:
    """The contents and the page list of an EPUB 3 book."""
    return {
        "items": f'<item id="nav" href="nav.xhtml" media-type="{XHTML}" properties="nav"/>',
        "parts": {
            "OEBPS/nav.xhtml": f"<html {OPS}><body>"
            f'<nav epub:type="page-list"><ol>{page_list}</ol></nav>'
            f'<nav epub:type="toc"><ol>{contents}</ol></nav></body></html>'
        },
    }


def ncx(inner: str) -> dict[str, object]:
    """A part of the contents of an EPUB 2 book."""
    return {
        "items": '<item id="toc" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
        "toc": ' toc="toc"',
        "parts": {"OEBPS/toc.ncx": f'<ncx xmlns="{NCX}">{inner}</ncx>'},
    }


def page_list(**links: str) -> dict[str, object]:
    items = [f'<li><a href="{link}">{label}</a></li>' for label, link in links.items()]
    return nav("", "".join(items))


@pytest.mark.parametrize(
    ("chapters", "text", "starts"),
    [
        ({"b": "<p>First.</p>", "a": "<p>Then.</p><p>End.</p>"}, "First.\n\nThen.\n\nEnd.", (0, 8)),
        # a part without text keeps its number
        ({"a": "<img/>", "b": "<p>Two.</p>", "c": "<img/>", "d": "<img/>"}, "Two.", (0, 0, 4, 4)),
    ],
)
def test_each_part_of_the_reading_order_is_a_page(
    draft: Read, chapters: dict[str, str], text: str, starts: tuple[int, ...]
) -> None:
    read = draft(chapters)
    assert (read.text, read.pages) == (text, starts)


def test_sections_come_from_the_headings(draft: Read) -> None:
    chapters = {
        "a.xhtml": "<h1>Part 2</h1><h2>Right to silence</h2><p>Text.</p>",
        "b.xhtml": "<p>Goes on.</p><h2>Right to counsel</h2>",
    }
    assert headings(draft(chapters)) == [
        ("Part 2", "Part 2"),
        ("Right to silence", "Part 2 > Right to silence"),
        ("Right to counsel", "Part 2 > Right to counsel"),
    ]


def test_the_table_of_contents_leads_to_a_chapter(draft: Read) -> None:
    chapters = {
        "one.xhtml": "<h2>Dedication</h2><p>To all.</p>",
        "two.xhtml": "<p>Untitled text.</p>",
        "three%20a.xhtml": "<h3>Lights</h3><h4>Lenses</h4><p>Text.</p>",
        "four.xhtml": "<p>Goes on.</p>",
    }
    contents = nav(
        '<li><a href="one.xhtml">Dedication</a></li>'
        '<li><span>Part 1</span><ol><li><a href="two.xhtml#start">Tides</a></li>'
        '<li><a href="three%20a.xhtml">Of Lights</a></li></ol></li>'
    )
    contents["parts"] |= {"OEBPS/three a.xhtml": page(chapters["three%20a.xhtml"])}  # type: ignore[operator]
    assert headings(draft(chapters, **contents)) == [
        ("Dedication", "Dedication"),
        ("Untitled text.", "Part 1 > Tides"),
        ("Lights", "Part 1 > Lights"),
        ("Lenses", "Part 1 > Lights > Lenses"),
    ]


ENTRY = '<ol><li><a href="one.xhtml">A</a></li></ol>'
INSIDE = "<nav epub:type='toc'>" * 50 + ENTRY + "</nav>" * 50
NESTED = (
    "<navMap><navPoint><navLabel><text>Part 1</text></navLabel>"
    '<content src="one.xhtml"/><navPoint><navLabel><text>Tides</text></navLabel>'
    '<content src="two.xhtml"/></navPoint></navPoint></navMap>'
)


@pytest.mark.parametrize(
    ("one", "contents", "expected"),
    [
        # a title of the contents counts up to the heading
        ("<p>Motto.</p><h2>Lights</h2><p>Text.</p>",
         nav('<li><a href="one.xhtml">Chapter 1</a></li>'),
         [("Motto.", "Chapter 1"), ("Lights", "Lights")]),
        ("<p>a</p>", ncx(NESTED), [("a", "Part 1"), ("b", "Part 1 > Tides")]),
        # of contents inside each other the outermost are read, with all that is in them
        ("<p>a</p>", nav(INSIDE), [("a", "A")]),
        # broken contents do not matter
        ("<h1>One</h1>", nav("") | {"parts": {"OEBPS/nav.xhtml": ""}}, [("One", "One")]),
    ],
    ids=["title", "EPUB 2", "nested", "broken"],
)  # fmt: skip
def test_a_title_of_the_contents_names_a_section(
    draft: Read, one: str, contents: dict[str, object], expected: list[tuple[str, str]]
) -> None:
    two = {"two.xhtml": "<p>b</p>"} if len(expected) > 1 and one == "<p>a</p>" else {}
    assert headings(draft({"one.xhtml": one, **two}, **contents)) == expected


def test_dublin_core_is_metadata(draft: Read) -> None:
    metadata = (
        "<dc:title>How a harbour works</dc:title><dc:title>A primer</dc:title>"
        "<dc:creator>A. Pilot</dc:creator><dc:creator>B. Keeper</dc:creator>"
        "<dc:language>en</dc:language><dc:publisher>Quay Press</dc:publisher>"
        "<dc:subject>lights</dc:subject><dc:subject>tides</dc:subject><dc:subject></dc:subject>"
        "<dc:identifier>urn:isbn:1</dc:identifier><dc:source>https://example.org/h</dc:source>"
        '<dc:date opf:event="publication">1901</dc:date>'
        '<dc:date opf:event="creation">2019-03-04T10:15:00Z</dc:date>'
        '<meta property="dcterms:modified">2020-01-02T00:00:00Z</meta>'
    )
    read = draft("<p>Text.</p>", metadata=metadata)
    assert read.title == "How a harbour works"
    assert read.metadata == {
        "title": "How a harbour works",
        "author": ["A. Pilot", "B. Keeper"],
        "language": "en",
        "publisher": "Quay Press",
        "tags": ["lights", "tides"],
        "identifier": "urn:isbn:1",
        "source": "https://example.org/h",
        "url": "https://example.org/h",
        "date": "1901",
        "created": "2019-03-04",
        "modified": "2020-01-02",
    }


@pytest.mark.parametrize(
    ("stated", "metadata"),
    [
        ("2013-06-21T00:00:00Z", {"date": "2013-06-21"}),
        ("0101-01-01T00:00:00+00:00", {}),  # stands for unknown
    ],
)
def test_a_date_without_an_event_is_that_of_the_book(
    draft: Read, stated: str, metadata: dict[str, str]
) -> None:
    assert draft("<p>Text.</p>", metadata=f"<dc:date>{stated}</dc:date>").metadata == metadata


@pytest.mark.parametrize("doctype", ["", '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x">'])
def test_names_of_characters_are_read(draft: Read, doctype: str) -> None:
    chapter = f"{doctype}<html><body><p>caf&eacute;&nbsp;&amp; bar</p></body></html>"
    read = draft("", parts={"OEBPS/a.xhtml": chapter})
    assert (read.text, read.remark) == ("café & bar", "")


def test_an_entity_is_not_expanded(draft: Read, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    chapter = (
        f'<!DOCTYPE html [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
        "<html><body><p>Text &e;.</p></body></html>"
    )
    assert draft("", parts={"OEBPS/a.xhtml": chapter}).text == "Text &e;."


def damaged_book() -> bytes:
    """A book whose second chapter is overwritten."""
    stream = BytesIO(book({"a.xhtml": "<p>One.</p>", "b.xhtml": "Two"}))
    with zipfile.ZipFile(stream) as archive:
        start = archive.getinfo("OEBPS/b.xhtml").header_offset + 60
    data = bytearray(stream.getvalue())
    data[start : start + 20] = bytes(20)
    return bytes(data)


UNLISTED = package({"a.xhtml": ""}).replace("</spine>", '<itemref idref="no"/></spine>')


@pytest.mark.parametrize(
    ("data", "text", "remark"),
    [
        (book({"a.xhtml": "<p>Fine.</p>", "b.xhtml": "<p>One<br>two é & three"}),
         "Fine.\n\nOne\ntwo é & three",
         "1 of 2 parts not well-formed, read as HTML (OEBPS/b.xhtml)"),
        (book({"a.xhtml": "<p>One.</p>", "b.xhtml": "", "c.xhtml": "<p>Three.</p>"},
              parts={"OEBPS/b.xhtml": ""}),
         "One.\n\nThree.", "1 of 3 parts missing or damaged (OEBPS/b.xhtml)"),
        (book({"a.xhtml": "<p>One.</p>"}, parts={"OEBPS/book.opf": UNLISTED}),
         "One.", "1 of 2 parts missing or damaged (not in its list of files)"),
        (damaged_book(), "One.", "1 of 2 parts missing or damaged (OEBPS/b.xhtml)"),
    ],
    ids=["malformed", "missing", "unlisted", "damaged"],
)  # fmt: skip
def test_a_chapter_that_cannot_be_read_is_remarked(
    draft: Read, data: bytes, text: str, remark: str
) -> None:
    read = draft(data)
    assert (read.text, read.remark) == (text, remark)


def test_scrambled_fonts_do_not_matter(draft: Read) -> None:
    fonts = ENCRYPTION.format(method="http://www.idpf.org/2008/embedding", target="OEBPS/f.otf")
    assert draft("<p>Text.</p>", parts={"META-INF/encryption.xml": fonts}).text == "Text."


AES = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
X = {"a.xhtml": "<p>x</p>"}
PICTURES = package({"a.xhtml": ""}).replace(XHTML, "image/svg+xml")
WHOLE = book(X, parts={"OEBPS/x.css": "p {}"})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (book(X, parts={"META-INF/encryption.xml": ENCRYPTION.format(
            method=AES, target="OEBPS/a.xhtml")}),
         "it is protected (DRM): 1 of its parts are encrypted; get a copy without protection"),
        (book({"a.xhtml": ""}, parts={"OEBPS/book.opf": PICTURES}),
         "it holds no text; its pages may be pictures"),
        (book({"a.xhtml": ""}, parts={"OEBPS/a.xhtml": ""}),
         "it holds no text; 1 of 1 parts missing or damaged (OEBPS/a.xhtml)"),
        *((book(X, parts={part: ""}), f"its part {part} is missing; get the whole file again")
          for part in ("META-INF/container.xml", "OEBPS/book.opf")),
        (book(X, parts={"OEBPS/book.opf": "<package>"}),
         "its part OEBPS/book.opf is not valid XML: "),
        (book({}), "lists no chapters"),
        (book(X, parts={"META-INF/container.xml": "<container/>"}), "names no book"),
        (WHOLE[:40] + WHOLE[400:], "its part META-INF/container.xml is damaged ("),
    ],
    ids=["protected", "pictures", "no chapters", "container", "package", "xml", "spine", "no book",
         "cut"],
)  # fmt: skip
def test_a_book_that_cannot_be_read_says_why(reads: Reads, data: bytes, reason: str) -> None:
    assert reason in only_reason(reads(data, "book.epub"))


def labels_and_texts(read: Draft) -> list[tuple[str, str]]:
    """The label of each page, and its text."""
    labels = read.printed_pages or [""] * len(read.pages)
    return list(zip(labels, pages(read), strict=True))


def test_pages_are_those_that_the_book_lists(draft: Read) -> None:
    chapters = {
        "one.xhtml": '<p><a id="a"/>A preface. <a id="b"/>It goes on.</p>',
        "two.xhtml": '<h1 id="c">Gulls</h1><p>Gulls <span id="d"/>“fly”.</p>',
    }
    links = {"xi": "one.xhtml#a", "Page xii": "one.xhtml#b", "1": "two.xhtml#c", "2": "two.xhtml#d"}
    read = draft(chapters, **page_list(**links))
    assert labels_and_texts(read) == [
        *(("xi", "A preface."), ("xii", "It goes on.")),
        *(("1", "Gulls\n\nGulls"), ("2", "“fly”.")),
    ]
    assert [segment.section for segment in read.segments] == ["Gulls"]


def test_the_page_list_of_epub_2_is_read(draft: Read) -> None:
    targets = "".join(
        f'<pageTarget type="{kind}" value="1"><navLabel><text>{label}</text></navLabel>'
        f'<content src="one.xhtml#{id_}"/></pageTarget>'
        for kind, label, id_ in (("front", "iv", "a"), ("normal", "5", "b"))
    )
    chapters = {"one.xhtml": '<p id="a">Gulls.</p><p id="b">Terns.</p>'}
    read = draft(chapters, **ncx(f"<pageList>{targets}</pageList>"))
    assert labels_and_texts(read) == [("iv", "Gulls."), ("5", "Terns.")]


@pytest.mark.parametrize(
    ("chapters", "links", "starts"),
    [
        # numbers that only count are not kept
        ({"one.xhtml": '<p id="a">Gulls.</p><p id="b">Terns.</p>'},
         {"1": "one.xhtml#a", "2": "one.xhtml#b"}, (0, 8)),
        # a single mark, or one that leads nowhere, is no page list
        ({"one.xhtml": '<p>Gulls <a id="a"/>fly.</p>', "two.xhtml": "<p>Terns.</p>"},
         {"7": "one.xhtml#a", "8": "one.xhtml#lost", "9": "lost.xhtml#a"}, (0, 12)),
    ],
)  # fmt: skip
def test_a_page_list_that_says_nothing_gives_no_labels(
    draft: Read, chapters: dict[str, str], links: dict[str, str], starts: tuple[int, ...]
) -> None:
    read = draft(chapters, **page_list(**links))
    assert (read.pages, read.printed_pages) == (starts, ())


BREAKS = '<span role="doc-pagebreak" title="{}"/>'


@pytest.mark.parametrize(
    ("chapters", "expected"),
    [
        # marked breaks say their numbers and are no text
        (["<p>Before.</p>"
          '<span epub:type="pagebreak" id="x1" title="23r"/><p>Gulls '
          '<span epub:type="pagebreak" id="x2">[p. 23v]</span> fly '
          '<span role="doc-pagebreak" aria-label=" Page 24. "/>far.</p>'
          '<div role="doc-pagebreak" id="page_25"/><p>Terns.</p>'],
         "-Before.|23r-Gulls|23v-fly|24-far.|25-Terns."),
        # one at the end of a chapter begins with the next
        ([f"{BREAKS.format('i')}<p>Gulls.</p>{BREAKS.format('ii')}", "<p>Terns.</p>"],
         "i-Gulls.|ii-Terns."),
        # a word that a page breaks is left whole
        ([f"<p>The {BREAKS.format('iv')}lamp was li{BREAKS.format('5')}ghted. Ships "
          f"{BREAKS.format('6')}came, at la{BREAKS.format('7')}st.</p>", "<p>End.</p>"],
         "-The|iv-lamp was lighted.|5-Ships|6-came, at last.|7-End."),
    ],
)  # fmt: skip
def test_marked_breaks_begin_pages(draft: Read, chapters: list[str], expected: str) -> None:
    read = draft({f"{number}.xhtml": inner for number, inner in enumerate(chapters)})
    assert "|".join("-".join(each) for each in labels_and_texts(read)) == expected


PIECES = st.lists(
    st.sampled_from(
        [
            *("Gulls", " ", " fly. ", "“Terns”", "<br/>", "<p>", "</p>", "|", "<i>far</i>"),
            *("<table><tr><td>a</td>", "<td>b</td></tr></table>", "<pre> x\n  y </pre>", "-", "x"),
            *("<h2>Birds</h2>", '<b role="doc-pagebreak" title="7"></b>', "<nav>menu</nav>"),
        ]
    ),
    max_size=20,
).map("".join)


@given(PIECES)
def test_marks_never_change_the_text_and_their_places_ascend(inner: str) -> None:
    def tree() -> etree._Element:
        return etree.fromstring(f"<body>{inner}</body>", etree.HTMLParser())

    chapter = chapter_of(tree(), {})
    assert chapter.flat == flatten(tree())
    starts = [start for start, _ in chapter.breaks]
    assert starts == sorted(starts)
    assert all(start <= len(chapter.flat.text) for start in starts)
    assert not any(chapter.flat.text[start : start + 1].isspace() for start in starts)


@pytest.mark.parametrize(
    "sign",
    [
        '<a epub:type="noteref" href="notes.xhtml#n1">1</a>',
        '<sup><a epub:type="noteref" href="#n1">12</a></sup>',
        '<a class="noteref" href="#n1">1</a>',
        '<a id="FNanchor_1" href="#Footnote_1" class="fnanchor pginternal">[1]</a>',
        '<sup><a href="#n1">*</a></sup>',
        '<a href="#n1"><sup>iv</sup></a>',
        '<sup><a href="#n1">1</a>, <a href="#n2">2</a></sup>',
        '<a role="doc-noteref" href="#n1">†</a>',
    ],
)
def test_the_sign_of_a_note_sticks_to_no_word(draft: Read, sign: str) -> None:
    read = draft(f"<h1>January 1660{sign}</h1><p>The <i>Savannah</i>{sign} was a river.</p>")
    assert read.text == "January 1660\n\nThe Savannah was a river."
    assert [segment.section for segment in read.segments] == ["January 1660"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('<p><a class="noteref" href="#r1">1</a> Of old.</p>', "1 Of old."),
        ('<ul><li>Gulls <a href="#p48">48</a></li></ul>', "Gulls 48"),
        ("<p>Of 10 m<sup>2</sup> and more</p>", "Of 10 m² and more"),
        ('<p>See note<a class="noteref" href="#n1">on gulls</a></p>', "See noteon gulls"),
        ('<p><sup><a href="#v2">2</a></sup>And it was good.</p>', "2And it was good."),
        # a note stays where it stands
        ('<p>A pound<a id="r1" epub:type="noteref" href="#n1">1</a></p>'
         '<aside epub:type="footnote" id="n1"><p><a href="#r1">1</a>. A coin.</p></aside>',
         "A pound\n\n1. A coin."),
    ],
)  # fmt: skip
def test_other_numbers_and_the_notes_stay(draft: Read, body: str, text: str) -> None:
    assert draft(f"<p>A river.</p>{body}").text == f"A river.\n\n{text}"
