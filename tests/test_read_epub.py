import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest

from atlas_search.readers import Draft
from atlas_search.readers.epub import EpubReader
from tests.drafts import only_draft, only_reason

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


def page(inner: str) -> str:
    """A chapter with this body."""
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
        f"<head><title>File</title></head><body>{inner}</body></html>"
    )


def package(chapters: Mapping[str, str], metadata: str = "", items: str = "", toc: str = "") -> str:
    """A package file that lists the chapters, by name, in that order."""
    listed = "".join(f'<item id="i-{n}" href="{n}" media-type="{XHTML}"/>' for n in chapters)
    spine = "".join(f'<itemref idref="i-{name}"/>' for name in chapters)
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:opf="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0">'
        f"<metadata>{metadata}</metadata><manifest>{listed}{items}</manifest>"
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


def nav(inner: str) -> dict[str, object]:
    """A table of contents as EPUB 3 has it."""
    return {
        "items": f'<item id="nav" href="nav.xhtml" media-type="{XHTML}" properties="nav"/>',
        "parts": {
            "OEBPS/nav.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml" '
            'xmlns:epub="http://www.idpf.org/2007/ops"><body>'
            '<nav epub:type="page-list"><ol><li><a href="one.xhtml">1</a></li></ol></nav>'
            f'<nav epub:type="toc"><ol>{inner}</ol></nav></body></html>'
        },
    }


def written(folder: Path, data: bytes) -> Path:
    path = folder / "book.epub"
    path.write_bytes(data)
    return path


def draft(folder: Path, data: bytes) -> Draft:
    return only_draft(EpubReader().read(written(folder, data), ""))


def reason(folder: Path, data: bytes) -> str:
    return only_reason(EpubReader().read(written(folder, data), ""))


def sections(found: Draft) -> list[tuple[str, str]]:
    """The first line of each segment, and its section."""
    return [(found.text[s.start :].split("\n")[0], s.section) for s in found.segments]


def test_each_part_of_the_reading_order_is_a_page(tmp_path):
    found = draft(
        tmp_path, book({"b.xhtml": "<p>First.</p>", "a.xhtml": "<p>Then.</p><p>End.</p>"})
    )
    assert found.text == "First.\n\nThen.\n\nEnd."
    assert found.pages == (0, 8)
    assert found.text[found.pages[1] :].startswith("Then.")


def test_a_part_without_text_keeps_its_number(tmp_path):
    picture = "<img src='x.png' alt='' />"
    chapters = {
        "a.xhtml": picture,
        "b.xhtml": "<p>Two.</p>",
        "c.xhtml": picture,
        "d.xhtml": picture,
    }
    assert draft(tmp_path, book(chapters)).pages == (0, 0, 4, 4)


def test_sections_come_from_the_headings(tmp_path):
    chapters = {
        "a.xhtml": "<h1>Part 2</h1><h2>Right to silence</h2><p>Text.</p>",
        "b.xhtml": "<p>Goes on.</p><h2>Right to counsel</h2>",
    }
    assert sections(draft(tmp_path, book(chapters))) == [
        ("Part 2", "Part 2"),
        ("Right to silence", "Part 2 > Right to silence"),
        ("Right to counsel", "Part 2 > Right to counsel"),
    ]


def test_the_table_of_contents_leads_to_a_chapter(tmp_path):
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
    parts = {**contents.pop("parts"), "OEBPS/three a.xhtml": page(chapters["three%20a.xhtml"])}
    found = draft(tmp_path, book(chapters, parts=parts, **contents))
    assert sections(found) == [
        ("Dedication", "Dedication"),
        ("Untitled text.", "Part 1 > Tides"),
        ("Lights", "Part 1 > Lights"),
        ("Lenses", "Part 1 > Lights > Lenses"),
    ]


def test_a_title_of_the_contents_counts_up_to_the_heading(tmp_path):
    found = draft(
        tmp_path,
        book(
            {"one.xhtml": "<p>Motto.</p><h2>Lights</h2><p>Text.</p>"},
            **nav('<li><a href="one.xhtml">Chapter 1</a></li>'),
        ),
    )
    assert sections(found) == [("Motto.", "Chapter 1"), ("Lights", "Lights")]


def test_the_contents_of_epub_2_are_read(tmp_path):
    ncx = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel>'
        '<text>Part 1</text></navLabel><content src="one.xhtml"/><navPoint><navLabel><text>Tides'
        '</text></navLabel><content src="two.xhtml"/></navPoint></navPoint></navMap></ncx>'
    )
    found = draft(
        tmp_path,
        book(
            {"one.xhtml": "<p>a</p>", "two.xhtml": "<p>b</p>"},
            items='<item id="toc" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
            toc=' toc="toc"',
            parts={"OEBPS/toc.ncx": ncx},
        ),
    )
    assert sections(found) == [("a", "Part 1"), ("b", "Part 1 > Tides")]


def test_a_broken_table_of_contents_does_not_matter(tmp_path):
    contents = nav("") | {"parts": {"OEBPS/nav.xhtml": ""}}
    found = draft(tmp_path, book({"one.xhtml": "<h1>One</h1>"}, **contents))
    assert sections(found) == [("One", "One")]


def test_dublin_core_is_metadata(tmp_path):
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
    found = draft(tmp_path, book({"one.xhtml": "<p>Text.</p>"}, metadata=metadata))
    assert found.title == "How a harbour works"
    assert found.metadata == {
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


def test_a_date_that_means_unknown_is_left_out(tmp_path):
    metadata = "<dc:date>0101-01-01T00:00:00+00:00</dc:date>"
    assert draft(tmp_path, book({"a.xhtml": "<p>Text.</p>"}, metadata=metadata)).metadata == {}


def test_a_book_of_epub_3_states_its_date_without_an_event(tmp_path):
    metadata = "<dc:date>2013-06-21T00:00:00Z</dc:date>"
    found = draft(tmp_path, book({"a.xhtml": "<p>Text.</p>"}, metadata=metadata))
    assert found.metadata == {"date": "2013-06-21"}


@pytest.mark.parametrize("doctype", ["", '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x">'])
def test_names_of_characters_are_read(tmp_path, doctype):
    chapter = f"{doctype}<html><body><p>caf&eacute;&nbsp;&amp; bar</p></body></html>"
    data = book({"a.xhtml": ""}, parts={"OEBPS/a.xhtml": chapter})
    found = draft(tmp_path, data)
    assert found.text == "café & bar"
    assert found.remark == ""


def test_a_malformed_chapter_is_read_as_html_and_remarked(tmp_path):
    data = book({"a.xhtml": "<p>Fine.</p>", "b.xhtml": "<p>One<br>two é & three"})
    found = draft(tmp_path, data)
    assert found.text == "Fine.\n\nOne\ntwo é & three"
    assert found.remark == "1 of 2 parts not well-formed, read as HTML (OEBPS/b.xhtml)"


def test_a_missing_chapter_is_remarked_and_keeps_its_number(tmp_path):
    chapters = {"a.xhtml": "<p>One.</p>", "b.xhtml": "", "c.xhtml": "<p>Three.</p>"}
    found = draft(tmp_path, book(chapters, parts={"OEBPS/b.xhtml": ""}))
    assert found.pages == (0, 6, 6)
    assert found.remark == "1 of 3 parts missing or damaged (OEBPS/b.xhtml)"


def test_a_chapter_that_is_not_in_the_list_of_files_is_remarked(tmp_path):
    opf = package({"a.xhtml": ""}).replace("</spine>", '<itemref idref="no"/></spine>')
    data = book({"a.xhtml": "<p>One.</p>"}, parts={"OEBPS/book.opf": opf})
    assert draft(tmp_path, data).remark == (
        "1 of 2 parts missing or damaged (not in its list of files)"
    )


def test_a_damaged_chapter_is_remarked(tmp_path):
    with zipfile.ZipFile(
        stream := BytesIO(book({"a.xhtml": "<p>One.</p>", "b.xhtml": "Two"}))
    ) as z:
        start = z.getinfo("OEBPS/b.xhtml").header_offset + 60
    data = bytearray(stream.getvalue())
    data[start : start + 20] = bytes(20)
    found = draft(tmp_path, bytes(data))
    assert found.text == "One."
    assert found.remark == "1 of 2 parts missing or damaged (OEBPS/b.xhtml)"


def test_a_protected_book_is_skipped(tmp_path):
    locked = ENCRYPTION.format(
        method="http://www.w3.org/2001/04/xmlenc#aes128-cbc", target="OEBPS/a.xhtml"
    )
    data = book({"a.xhtml": "<p>x</p>"}, parts={"META-INF/encryption.xml": locked})
    assert reason(tmp_path, data) == (
        "it is protected (DRM): 1 of its parts are encrypted; get a copy without protection"
    )


def test_scrambled_fonts_do_not_matter(tmp_path):
    fonts = ENCRYPTION.format(method="http://www.idpf.org/2008/embedding", target="OEBPS/f.otf")
    data = book({"a.xhtml": "<p>Text.</p>"}, parts={"META-INF/encryption.xml": fonts})
    assert draft(tmp_path, data).text == "Text."


def test_a_book_of_pictures_is_skipped(tmp_path):
    opf = package({"a.xhtml": ""}).replace(XHTML, "image/svg+xml")
    data = book({"a.xhtml": ""}, parts={"OEBPS/book.opf": opf})
    assert reason(tmp_path, data) == "it holds no text; its pages may be pictures"


def test_a_book_without_any_of_its_chapters_is_skipped(tmp_path):
    data = book({"a.xhtml": ""}, parts={"OEBPS/a.xhtml": ""})
    assert reason(tmp_path, data) == (
        "it holds no text; 1 of 1 parts missing or damaged (OEBPS/a.xhtml)"
    )


@pytest.mark.parametrize("part", ["META-INF/container.xml", "OEBPS/book.opf"])
def test_a_book_that_lacks_a_part_is_skipped(tmp_path, part):
    data = book({"a.xhtml": "<p>x</p>"}, parts={part: ""})
    assert reason(tmp_path, data) == f"its part {part} is missing; get the whole file again"


def test_a_book_with_broken_xml_is_skipped(tmp_path):
    data = book({"a.xhtml": "<p>x</p>"}, parts={"OEBPS/book.opf": "<package>"})
    assert reason(tmp_path, data).startswith("its part OEBPS/book.opf is not valid XML: ")


def test_a_book_without_reading_order_is_skipped(tmp_path):
    assert "lists no chapters" in reason(tmp_path, book({}))


def test_a_container_without_a_book_is_skipped(tmp_path):
    data = book({"a.xhtml": "<p>x</p>"}, parts={"META-INF/container.xml": "<container/>"})
    assert "names no book" in reason(tmp_path, data)


def test_an_empty_file_is_skipped(tmp_path):
    assert reason(tmp_path, b"") == "the file is empty"


def test_a_file_of_another_kind_is_skipped(tmp_path):
    assert reason(tmp_path, b"%PDF-1.4") == "it is not an EPUB file, whatever its name says"


def test_a_truncated_file_is_skipped(tmp_path):
    data = book({"a.xhtml": "<p>x</p>"})
    assert "breaks off" in reason(tmp_path, data[: len(data) // 2])


def test_a_zip_bomb_is_refused(tmp_path):
    data = book({"a.xhtml": "<p>x</p>"}, parts={"OEBPS/x": "0" * 30_000_000})
    assert reason(tmp_path, data).startswith("it would unpack to 30,")


def test_an_entity_is_not_expanded(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    chapter = (
        f'<!DOCTYPE html [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
        "<html><body><p>Text &e;.</p></body></html>"
    )
    found = draft(tmp_path, book({"a.xhtml": ""}, parts={"OEBPS/a.xhtml": chapter}))
    assert found.text == "Text &e;."


def test_a_missing_file_raises(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        list(EpubReader().read(tmp_path / "nowhere.epub", ""))


def test_a_file_with_bytes_cut_out_is_skipped(tmp_path):
    data = book({"a.xhtml": "<p>x</p>"}, parts={"OEBPS/x.css": "p {}"})
    assert reason(tmp_path, data[:40] + data[400:]).startswith(
        "its part META-INF/container.xml is damaged ("
    )
