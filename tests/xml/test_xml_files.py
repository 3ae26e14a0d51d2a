"""XML files that are not read, or not as they ask: entities, depth, faults and encodings."""

from pathlib import Path

import pytest

from atlas_search.readers import Draft
from atlas_search.readers.xml.read import XmlReader
from tests.xml.xml_drafts import reads, reason


def test_an_external_entity_is_never_opened(read_bytes, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden words", encoding="utf-8")
    xml = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">]>\n<a>before &x; after</a>'
    assert reason(read_bytes(xml.encode())) == (
        "line 2: the entity &x; is declared outside the file or not at all, and other files are "
        "never read; put what it stands for in its place"
    )


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
    read_bytes, tmp_path: Path, doctype: str
) -> None:
    other = tmp_path / "other.dtd"
    other.write_text('<!ENTITY own "hidden words">', encoding="utf-8")
    xml = doctype.format(other.as_uri())
    (read,) = read_bytes(f"{xml}<a>open words</a>".encode())
    assert isinstance(read, Draft)
    assert read.text == "open words"
    assert "the entity &own; is declared outside" in reason(
        read_bytes(f"{xml}<a>&own;</a>".encode())
    )


def test_declarations_in_other_files_are_passed_over_and_it_is_said(read_bytes) -> None:
    doctype = '<!DOCTYPE a [<!ENTITY % iso SYSTEM "iso.ent"> %iso; <!ENTITY eth "th">]>'
    xml = f"{doctype}<a>&eacute;&eth;</a>"
    (draft,) = read_bytes(xml.encode())
    assert isinstance(draft, Draft)
    assert draft.text == "éth"
    assert draft.remark.startswith(
        "declarations in other files were not read; "
        "undeclared character entities were read as in HTML: eacute"
    )


def test_entities_that_multiply_are_not_read(read_bytes) -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    xml = f'<!DOCTYPE a [<!ENTITY l0 "lol">{levels}]><a>&l9;</a>'
    assert reason(read_bytes(xml.encode())) == (
        "line 1: its entities multiply into more text than a source can hold, as in an attack; "
        "remove them"
    )


def test_entities_that_contain_themselves_are_not_read(read_bytes) -> None:
    xml = b'<!DOCTYPE a [<!ENTITY x "&y;"><!ENTITY y "&x;">]><a>&x;</a>'
    assert "multiply" in reason(read_bytes(xml))


def test_an_entity_that_the_file_declares_is_read(read_bytes) -> None:
    (draft,) = read_bytes(b'<!DOCTYPE a [<!ENTITY dash "-<i>x</i>">]><a>b &dash; c</a>')
    assert isinstance(draft, Draft)
    assert draft.text == "b -x c"


def test_500_levels_are_too_many(read_bytes) -> None:
    xml = b"<a>" * 500 + b"x" + b"</a>" * 500
    assert reason(read_bytes(xml)) == "line 1: elements are nested more than 256 deep; flatten them"


@pytest.mark.parametrize("tag", ["div", "seg", "note", "choice", "sp", "list"])
def test_200_levels_are_read_without_recursion(tei, tag: str) -> None:
    assert tei(f"<body>{f'<{tag}>' * 200}x{f'</{tag}>' * 200}</body>").text in ("x", "[Note: x]")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "the file is empty"),
        (b" \n\t", "the file is empty"),
        (b"just words", "it is not XML: Start tag expected, '<' not found at line 1"),
        (b"<a>\n<b>x", "it ends at line 2 in the middle of an element "
         "(Premature end of data in tag b line 2); get the whole file again"),
        (b"<a>\n&nosuchthing;</a>",
         "line 2: the entity &nosuchthing; is declared outside the file or not at all, and other "
         "files are never read; put what it stands for in its place"),
        (b"<a><b/></a>", "it holds no text"),
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
    ],
)  # fmt: skip
def test_a_broken_file_is_skipped_with_its_reason(
    read_bytes, content: bytes, expected: str
) -> None:
    assert reason(read_bytes(content)) == expected


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
    read_bytes, declaration: str, encoding: str
) -> None:
    (draft,) = read_bytes(
        f"{declaration}<a>café</a>".encode(encoding), "cp1251" * bool(declaration)
    )
    assert isinstance(draft, Draft)
    assert draft.text == "café"


def test_the_encoding_given_counts_where_a_file_states_none(read_bytes) -> None:
    (draft,) = read_bytes("<a>café</a>".encode("latin-1"), "latin-1")
    assert isinstance(draft, Draft)
    assert draft.text == "café"
    assert "there is no encoding `nonsense`" in reason(read_bytes(b"<a>x</a>", "nonsense"))
    assert "it is not ascii" in reason(read_bytes("<a>é</a>".encode(), "ascii"))


def test_windows_quotation_marks_in_latin_1_are_read_and_it_is_said(read_bytes) -> None:
    xml = '<?xml version="1.0" encoding="iso-8859-1"?><a>“so”</a>'.encode("cp1252")
    (draft,) = read_bytes(xml)
    assert isinstance(draft, Draft)
    assert draft.text == "“so”"
    assert draft.remark.startswith(
        "declared as iso-8859-1, but read as windows-1252, of which it has marks"
    )


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        reads(tmp_path / "missing.xml")


def test_the_settings_are_options() -> None:
    assert XmlReader(normalised=True).options == {
        "version": 3,
        "normalised": True,
        "documents_at": "",
    }
    assert XmlReader().suffixes == {".xml", ".tei"}


def test_a_namespace_may_hold_braces(read_bytes) -> None:
    (draft,) = read_bytes(b'<a xmlns="{x}">one</a>')
    assert isinstance(draft, Draft)
    assert draft.text == "one"
