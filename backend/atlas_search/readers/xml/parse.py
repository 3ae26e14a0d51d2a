"""From the bytes of a file to its tree. Nothing outside the file is ever opened or fetched."""

import re
from dataclasses import dataclass

from lxml import etree

from atlas_search.readers import Skipped
from atlas_search.readers.xml.mend import with_html_characters, without_outside_declarations
from atlas_search.readers.xml.order import DEEPEST, CannotOrder, in_order, words_of

INCLUDE = "xi-include"
"""The plain name of an `xi:include`, which points to another file."""

_XINCLUDE = "{http://www.w3.org/2001/XInclude}include"
_DECLARED = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)""")
_HEAD = 2000
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")
_UTF8_MARK = b"\xef\xbb\xbf"
_ONE_BYTE = re.compile(r"(iso-?8859|windows-?125|cp-?125|latin)", re.IGNORECASE)
_LATIN_1 = re.compile(r"(iso-?8859-?1|latin-?1)", re.IGNORECASE)
_CONTROLS = re.compile(rb"[\x80-\x9f]")
_MOST_ATTRIBUTES = 1_000
"""Of one element, whose names are made plain: libxml2 looks through all of them for each name."""

_PLACE = re.compile(r"(, line \d+, column \d+)+$|\s+$")
_ERRORS = etree.ErrorTypes


@dataclass(frozen=True)
class Parsed:
    """A tree in which every name is in lower case and without its namespace.

    `name` is that of the root as written, `remark` says what was mended.
    """

    root: etree._Element
    name: str
    remark: str = ""


def parse(data: bytes, encoding: str) -> Parsed | Skipped:
    """The tree of an XML file, or why there is none.

    `encoding` counts where the file states none. Comments and processing instructions are left
    out. Character entities that only another file declares, as in TEI P4, are read as those of
    HTML.
    """
    if not data.strip():
        return Skipped("the file is empty")
    remarks: list[str] = []
    try:
        data, stated = _find_encoding(data, encoding, remarks)
        root = _mend(data, stated, remarks)
    except etree.XMLSyntaxError as error:
        return Skipped(_reason(error))
    except _NotXml as error:
        return Skipped(str(error))
    name = etree.QName(root).localname
    _make_plain(root)
    return Parsed(root, name, "; ".join(remarks))


class _NotXml(ValueError):
    """Why the bytes of a file cannot be XML in its encoding."""


def _find_encoding(data: bytes, encoding: str, remarks: list[str]) -> tuple[bytes, str | None]:
    """The bytes, and the encoding that overrules what they state themselves, or None."""
    declared = _DECLARED.match(data.removeprefix(_UTF8_MARK)[:_HEAD])
    if declared:
        return data, _overrule(data, declared[1].decode("ascii"), remarks)
    if encoding and not data.startswith((_UTF8_MARK, *_WIDE_MARKS)):
        try:
            return data.decode(encoding).encode(), None
        except LookupError:
            raise _NotXml(f"there is no encoding `{encoding}`; give another one") from None
        except UnicodeError as error:
            raise _NotXml(f"it is not {encoding}: {error}; give another encoding") from None
    return data, None


def _overrule(data: bytes, declared: str, remarks: list[str]) -> str | None:
    if declared.lower().replace("_", "-").startswith(("utf-16", "ucs-2", "utf-32")):
        # the declaration could not have been found in such bytes
        raise _NotXml(_false(declared, "UTF-8 or another encoding of single bytes"))
    if not _ONE_BYTE.match(declared) or data.isascii() or data.startswith(_UTF8_MARK):
        return None
    if _is_utf8(data):
        raise _NotXml(_false(declared, "UTF-8"))
    if _LATIN_1.fullmatch(declared) and _CONTROLS.search(data):
        remarks.append(f"declared as {declared}, but read as windows-1252, of which it has marks")
        return "windows-1252"
    return None


def _false(declared: str, actual: str) -> str:
    return (
        f"its first line declares the encoding {declared}, but its bytes are {actual}; "
        "correct that declaration"
    )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _mend(data: bytes, encoding: str | None, remarks: list[str]) -> etree._Element:
    """The tree, if need be without declarations in other files and with characters named there.

    If that is not enough, its tags are put in order.
    """
    data, remark = without_outside_declarations(data)
    remarks += [remark] * bool(remark)
    try:
        return _tree(data, encoding)
    except etree.XMLSyntaxError as error:
        fault = error
    data, names = with_html_characters(data)
    if names:
        remarks.append(f"undeclared character entities were read as in HTML: {', '.join(names)}")
        try:
            return _tree(data, encoding)
        except etree.XMLSyntaxError as error:
            fault = error
    if not _may_recover(data, fault):
        raise fault
    return _recover(_decode(data, encoding, fault), fault, remarks)


def _may_recover(data: bytes, fault: etree.XMLSyntaxError) -> bool:
    """Whether `fault` is one of order: with entities of its own no file is ever recovered."""
    limits = ("too long", "depth", "amplification")
    is_attack = fault.code == _ERRORS.ERR_ENTITY_LOOP or any(n in str(fault.msg) for n in limits)
    closed = _UNDECLARED | _ENCODING | {_ERRORS.ERR_UNSUPPORTED_ENCODING}
    return not is_attack and fault.code not in closed and b"<!ENTITY" not in data


def _decode(data: bytes, encoding: str | None, fault: etree.XMLSyntaxError) -> str:
    declared = _DECLARED.match(data.removeprefix(_UTF8_MARK)[:_HEAD])
    if data.startswith(_WIDE_MARKS):
        raise fault
    try:
        stated = declared[1].decode("ascii") if declared else "utf-8"
        return data.removeprefix(_UTF8_MARK).decode(encoding or stated)
    except (LookupError, UnicodeError):
        raise fault from None


def _recover(text: str, fault: etree.XMLSyntaxError, remarks: list[str]) -> etree._Element:
    """The tree of a text whose tags were put in order. Raises _NotXml if a word would be lost."""
    try:
        ordered = in_order(text)
    except CannotOrder as error:
        if fault.code in _ENDS_EARLY or "</" not in text:
            raise fault from None
        raise _NotXml(f"{_fault(fault)}, and {error}") from None
    data = ordered.text.encode()
    try:
        root = _tree(data, "utf-8")
    except etree.XMLSyntaxError as error:
        if not _may_recover(data, error):
            raise
        root = _tree(data, "utf-8", recover=True)
    lost = ordered.words - words_of(" ".join(root.itertext())) if root is not None else None
    if lost is None or lost:
        said = f"{lost.total()} words, the first `{next(iter(lost))}`" if lost else "everything"
        raise _NotXml(f"{_fault(fault)}: reading on would lose {said}; correct it there")
    remarks.append(f"{_fault(fault)}{ordered.remark()}")
    return root


def _fault(fault: etree.XMLSyntaxError) -> str:
    what = _PLACE.sub("", str(fault.msg)).strip()
    return f"line {fault.lineno}: it is not well-formed XML: {what}"


def _tree(data: bytes, encoding: str | None, *, recover: bool = False) -> etree._Element:
    parser = etree.XMLParser(
        encoding=encoding,
        recover=recover,
        resolve_entities="internal",
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    return etree.fromstring(data, parser)


def _make_plain(root: etree._Element) -> None:
    for element in root.iter("*"):
        name = INCLUDE if element.tag == _XINCLUDE else _plain(element.tag)
        if name != element.tag:
            element.tag = name
        for key in element.keys()[:_MOST_ATTRIBUTES]:
            if (short := _plain(key)) != key and short not in element.attrib:
                element.set(short, element.get(key, ""))


def _plain(name: str) -> str:
    return name.rpartition("}")[2].lower()


_UNDECLARED = frozenset({_ERRORS.ERR_UNDECLARED_ENTITY, _ERRORS.WAR_UNDECLARED_ENTITY})
_ENTITY = re.compile(r"Entity '([^']*)'")
_ENDS_EARLY = frozenset({_ERRORS.ERR_TAG_NOT_FINISHED, _ERRORS.ERR_GT_REQUIRED})
_NOT_XML = frozenset({_ERRORS.ERR_DOCUMENT_EMPTY, _ERRORS.ERR_DOCUMENT_START})
_ENCODING = frozenset({_ERRORS.ERR_INVALID_ENCODING, _ERRORS.I18N_CONV_FAILED})
_BOMB = "its entities multiply into more text than a source can hold, as in an attack"


def _reason(error: etree.XMLSyntaxError) -> str:
    what, line, code = _PLACE.sub("", str(error.msg)).strip(), f"line {error.lineno}", error.code
    if code in _UNDECLARED:
        entity = _ENTITY.search(what)
        return (
            f"{line}: the entity &{entity[1] if entity else ''}; is declared outside the file or "
            "not at all, and other files are never read; put what it stands for in its place"
        )
    if code in _ENCODING:
        return (
            f"{line}: its bytes are not in the encoding that its first line declares, or not "
            "UTF-8 if it declares none; declare the right one"
        )
    if code in _ENDS_EARLY:
        return f"it ends at {line} in the middle of an element ({what}); get the whole file again"
    if code in _NOT_XML:
        return f"it is not XML: {what} at {line}"
    if code == _ERRORS.ERR_ENTITY_LOOP or "amplification" in what:
        return f"{line}: {_BOMB}; remove them"
    if "too long" in what:
        return f"{line}: a run of text is longer than ten million bytes; divide it"
    if "depth" in what:
        return f"{line}: elements are nested more than {DEEPEST} deep; flatten them"
    if code == _ERRORS.ERR_UNSUPPORTED_ENCODING:
        return f"{line}: {what}; convert the file to UTF-8"
    return f"{_fault(error)}; correct it there"
