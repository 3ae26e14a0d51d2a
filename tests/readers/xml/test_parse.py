"""XML files that are not as they should be: entities, depth, encodings, and nearly well-formed
ones, which are read with a remark unless a word would be lost."""

from collections.abc import Callable
from pathlib import Path

import pytest

from atlas_search.readers import Draft, Read
from atlas_search.readers.xml.parse import OUTSIDE
from atlas_search.readers.xml.read import XmlReader
from tests.readers.drafts import only_draft, only_reason

Xml = Callable[..., Draft]
ReadXml = Callable[..., list[Read]]

NOT_DECLARED = (
    "is declared outside the file or not at all, and other files are never read; "
    "put what it stands for in its place"
)
PLAIN = "; no known structure: <a> is read as plain text, "
SOME = "Opening and ending tag mismatch: "


def test_an_external_entity_is_never_opened(read_xml: ReadXml, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden words", encoding="utf-8")
    source = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">]>\n<a>before &x; after</a>'
    assert only_reason(read_xml(source)) == f"line 2: the entity &x; {NOT_DECLARED}"


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE a [<!ENTITY % x SYSTEM "{}"> %x;]>',
        '<!DOCTYPE a [\n<!ENTITY % x PUBLIC "-//x" "{}">\n%x;\n]>',
        '<!DOCTYPE a SYSTEM "{}">',
        '<!DOCTYPE a PUBLIC "-//x" "{}" []>',
    ],
)
def test_no_doctype_brings_other_files_into_the_text(
    read_xml: ReadXml, tmp_path: Path, doctype: str
) -> None:
    other = tmp_path / "other.dtd"
    other.write_text('<!ENTITY own "hidden words">', encoding="utf-8")
    head = doctype.format(other.as_uri())
    assert only_draft(read_xml(f"{head}<a>open words</a>")).text == "open words"
    assert "the entity &own; is declared outside" in only_reason(read_xml(f"{head}<a>&own;</a>"))


@pytest.mark.parametrize(
    ("source", "text", "remark"),
    [
        ('<!DOCTYPE a [<!ENTITY dash "-<i>x</i>">]><a>b &dash; c</a>', "b -x c", ""),
        ('<!DOCTYPE a [<!ENTITY % iso SYSTEM "iso.ent"> %iso; <!ENTITY eth "th">]>'
         "<a>&eacute;&eth;</a>", "éth",
         "declarations in other files were not read; "
         "undeclared character entities were read as in HTML: eacute"),
        ('<!DOCTYPE a PUBLIC "-//x" [\n<!NOTATION tiff PUBLIC "-//y">\n'
         '<!ENTITY P.1 SYSTEM "p1" NDATA tiff>\n]>\n<a>one & <b>two</b></a>', "one & two",
         "line 5: it is not well-formed XML"),
        ('<a xmlns="{x}">one</a>', "one", ""),
    ],
)  # fmt: skip
def test_what_a_file_declares_itself_is_read(xml: Xml, source: str, text: str, remark: str) -> None:
    draft = xml(source)
    assert draft.text == text
    assert remark in draft.remark


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b" \n\t", "the file is empty"),
        (b"just words", "it is not XML: Start tag expected, '<' not found at line 1"),
        (b"<a>\n<b>x", "it ends at line 2 in the middle of an element "
         "(Premature end of data in tag b line 2); get the whole file again"),
        (b"<a>\n&nosuchthing;</a>", f"line 2: the entity &nosuchthing; {NOT_DECLARED}"),
        (b"<a><b/></a>", "it holds no text"),
        (b"<a>1 & 2" + b"<b>" * 500 + b"one" + b"</b>" * 500 + b"</a>",
         "line 1: it is not well-formed XML: xmlParseEntityRef: no name, and elements are nested "
         "more than 256 deep; flatten them"),
        (b'<!DOCTYPE a [<!ENTITY x "&y;"><!ENTITY y "&x;">]><a>&x;</a>',
         "line 1: its entities multiply into more text than a source can hold, as in an attack; "
         "remove them"),
        ('<?xml version="1.0" encoding="UTF-8"?>\n<a>café</a>'.encode("latin-1"),
         "line 2: its bytes are not in the encoding that its first line declares, or not UTF-8 if "
         "it declares none; declare the right one"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?><a>café</a>'.encode(),
         "its first line declares the encoding ISO-8859-1, but its bytes are UTF-8; correct that "
         "declaration"),
        ('<?xml version="1.0" encoding="utf-16"?><a>café</a>'.encode(),
         "its first line declares the encoding utf-16, but its bytes are UTF-8 or another "
         "encoding of single bytes; correct that declaration"),
        (b'<?xml version="1.0" encoding="klingon"?><a>x</a>',
         "line 1: Unsupported encoding: klingon; convert the file to UTF-8"),
        # what would lose text
        (b"<a>\n<b>one</c> & two", f"line 2: it is not well-formed XML: {SOME}b line 2 and c, and "
         "it ends in the middle of <a>; get the whole file again"),
        (b"<a>one</a>\n<a>two</a>", "line 2: it is not well-formed XML: Extra content at the end "
         "of the document, and <a> stands after the end of the root; divide the file there"),
        ("<a>one <b\u00b2>two</b\u00b2> three</a>".encode(), "line 1: it is not well-formed XML: "
         "error parsing attribute name: reading on would lose 2 words, the first `two`; "
         "correct it there"),
        # a file that declares entities is never recovered
        (b'<!DOCTYPE a [<!ENTITY l0 "lol"><!ENTITY l1 "&l0;&l0;">]><a><b>one</a>',
         f"line 1: it is not well-formed XML: {SOME}b line 1 and a; correct it there"),
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a><b>one</a>',
         f"line 1: it is not well-formed XML: {SOME}b line 1 and a; correct it there"),
    ],
    ids=lambda value: value[:40] if isinstance(value, bytes) else "",
)  # fmt: skip
def test_a_broken_file_is_skipped_with_its_reason(
    read_xml: ReadXml, content: bytes, expected: str
) -> None:
    assert only_reason(read_xml(content)) == expected


@pytest.mark.parametrize(
    ("content", "text", "remark"),
    [
        (b"<a>\n<b>one</a>", "one", f"line 2: {{}}{SOME}b line 2 and a; nothing was lost"),
        (b"<a>one & two</a>", "one & two", "line 1: {}xmlParseEntityRef: no name; "
         "nothing was lost"),
        (b"<a>one < two</a>", "one < two", "line 1: {}StartTag: invalid element name; "
         "nothing was lost"),
        (b"<a>one</b> two</a>", "one two", f"line 1: {{}}{SOME}a line 1 and b; nothing was lost"),
        (b"<a><p>one <tab n='1'>two <tab>three</p></a>", "one two three",
         f"line 1: {{}}{SOME}tab line 1 and p and 1 more places; nothing was lost"),
        (b"<a>one\x0ctwo</a>", "one two", "line 1: {}PCDATA invalid Char value 12; "
         "nothing was lost"),
        (b"1976\n<a>one</a>", "one", "line 1: {}Start tag expected, '<' not found; "
         "4 characters around it were lost: `1976`"),
        (b"<a n='1' n='2' m=3 'o'>one</a>", "one", "line 1: {}AttValue: \" or ' expected; "
         "attributes of 1 tags could not be read; nothing was lost"),
        (b"<a><x:b>one</x:b></a>", "one", "line 1: {}Namespace prefix x on b is not defined; "
         "nothing was lost"),
        (b"<a><!-- no text --><![CDATA[one & <two>]]> & three</a>", "one & <two> & three",
         "line 1: {}xmlParseEntityRef: no name; nothing was lost"),
    ],
)  # fmt: skip
def test_nearly_well_formed_xml_is_read_with_the_place_of_its_fault(
    xml: Xml, content: bytes, text: str, remark: str
) -> None:
    draft = xml(content)
    assert draft.text == text
    assert draft.remark.startswith(remark.format("it is not well-formed XML: ") + PLAIN)


def test_much_text_outside_all_elements_is_refused(read_xml: ReadXml) -> None:
    words = "word " * (OUTSIDE // 5)
    assert isinstance(read_xml(f"{words}<a>one</a>")[0], Draft)
    reason = only_reason(read_xml(f"{words} more<a>one</b></a>"))
    assert "text stands outside all elements (`word word" in reason


@pytest.mark.parametrize("tag", ["div", "seg", "note", "choice", "sp", "list"])
def test_200_levels_are_read_without_recursion(xml: Xml, tag: str) -> None:
    body = f"<body>{f'<{tag}>' * 200}x{f'</{tag}>' * 200}</body>"
    draft = xml(f"<TEI><teiHeader/><text>{body}</text></TEI>")
    assert draft.text in ("x", "[Note: x]")


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ('<?xml version="1.0" encoding="UTF-16"?>', "utf-16"),
        ("", "utf-16"),
        ('<?xml version="1.0" encoding="UTF-16"?>', "utf-16-be"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>', "latin-1"),
        ("<?xml version='1.0' encoding='windows-1252'?>", "cp1252"),
        ("", "utf-8-sig"),
        ("", "utf-8"),
    ],
)
def test_the_encoding_that_a_file_states_counts(
    read_xml: ReadXml, declaration: str, encoding: str
) -> None:
    other = "cp1251" * bool(declaration)
    draft = only_draft(read_xml(f"{declaration}<a>café</a>".encode(encoding), other))
    assert draft.text == "café"


def test_the_encoding_given_counts_where_a_file_states_none(read_xml: ReadXml) -> None:
    assert only_draft(read_xml("<a>café</a>".encode("latin-1"), "latin-1")).text == "café"
    assert "there is no encoding `nonsense`" in only_reason(read_xml(b"<a>x</a>", "nonsense"))
    assert "it is not ascii" in only_reason(read_xml("<a>é</a>", "ascii"))


def test_windows_quotation_marks_in_latin_1_are_read_with_a_remark(xml: Xml) -> None:
    draft = xml('<?xml version="1.0" encoding="iso-8859-1"?><a>“so”</a>'.encode("cp1252"))
    assert draft.text == "“so”"
    assert draft.remark.startswith(
        "declared as iso-8859-1, but read as windows-1252, of which it has marks"
    )


def test_the_settings_are_options() -> None:
    options = XmlReader(normalised=True).options
    assert options == {"version": 6, "normalised": True, "documents_at": ""}
    assert XmlReader().suffixes == {".xml", ".tei", ".rdf"}
