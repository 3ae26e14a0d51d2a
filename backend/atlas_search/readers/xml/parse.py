"""From the bytes of a file to its tree. Nothing outside the file is ever opened or fetched.

Tags are put in order here because libxml2's own recovery changes text: it drops the sign of
`one < two`, the whole of a file that begins before its root, and the attribute of `<p x=1>`.
"""

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from html.entities import html5

from lxml import etree

from atlas_search.readers import Skipped

_TAG_HEAD = 50_000
"""Bytes from the beginning within which a DOCTYPE ends."""

_NO_TEXT = rb"""(?:\s|<!NOTATION[^<>]*>|<!ENTITY\s+[^<>%"']+(?:"[^"]*"|'[^']*')\s*NDATA[^<>]*>)*"""
"""Declarations of pictures and the like, which stand for no text."""

_HALF_DOCTYPE = re.compile(
    rb"""<!DOCTYPE\s+\S+\s+PUBLIC\s+("[^"]*"|'[^']*')\s*(\[""" + _NO_TEXT + rb"""\])?\s*>"""
)
_SUBSET = re.compile(rb"<!DOCTYPE[^\[<>]*\[(.*?)\]\s*>", re.DOTALL)
_OUTSIDE = re.compile(rb"<!ENTITY\s+%\s+([^\s%;]+)\s+(?:SYSTEM|PUBLIC)\s")
_CALL = re.compile(rb"%([^\s%;]+);")
_CHARACTER = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|&([A-Za-z][A-Za-z0-9]*);", re.DOTALL
)
_ENTITY_OR_MARK = re.compile(rb"<!ENTITY\s+([^\s%]+)\s")
_OF_XML = frozenset({"amp", "lt", "gt", "quot", "apos"})


def without_outside_declarations(data: bytes) -> tuple[bytes, str]:
    """`data` without what its DOCTYPE calls from other files, and a remark if there was any.

    A DOCTYPE with a public name but no address, which is not well-formed, goes as a whole: the
    Australian Hansard of 1981 to 1997 has it.
    """
    if half := _HALF_DOCTYPE.search(data, 0, _TAG_HEAD):
        lines = b"\n" * half[0].count(b"\n")
        return data[: half.start()] + lines + data[
            half.end() :
        ], "its incomplete DOCTYPE was passed over"
    subset = _SUBSET.search(data, 0, _TAG_HEAD)
    outside = set(_OUTSIDE.findall(subset[1])) if subset else set()
    if not subset or not outside:
        return data, ""
    inside = _CALL.sub(lambda call: b"" if call[1] in outside else call[0], subset[1])
    return (
        data[: subset.start(1)] + inside + data[subset.end(1) :],
        "declarations in other files were not read",
    )


def with_html_characters(data: bytes) -> tuple[bytes, list[str]]:
    """`data` with `&eacute;` as `&#233;` unless it declares that itself, and the names in order."""
    own = {name.decode("ascii", "replace") for name in _ENTITY_OR_MARK.findall(data)} | _OF_XML
    names: dict[str, None] = {}

    def character(match: re.Match[bytes]) -> bytes:
        name = (match[1] or b"").decode("ascii")
        characters = html5.get(f"{name};", "")
        if not characters or name in own:
            return match[0]
        names[name] = None
        return "".join(f"&#{ord(letter)};" for letter in characters).encode("ascii")

    return _CHARACTER.sub(character, data), list(names)


DEEPEST = 256
"""Levels of elements that are read, a limit of libxml2. Editions stay far below it."""

OUTSIDE = 100
"""Characters around the first and the last tag that may be passed over, such as a stray year."""

_NAME = r"[^\W\d][\w:.\-]*"
_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)"
    r"|<!\[CDATA\[(?P<verbatim>.*?)(?:\]\]>|\Z)"
    rf"|<(?P<close>/?)(?P<name>{_NAME})"
    r"(?P<rest>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+|[^<>]*+)>",
    re.DOTALL,
)
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[<>]*(?:\[[^\]]*\]\s*)?>")
_ATTRIBUTE = re.compile(rf"(?<!\s)\s++({_NAME})\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)'|([^\s\"'<>/]+))")
_STRAY_AND = re.compile(rf"&(?!(?:#[0-9]+|#x[0-9A-Fa-f]+|{_NAME});)")
_NO_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6})|(amp|lt|gt|quot|apos));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class CannotOrder(ValueError):
    """Tags cannot be put in order without a loss; the message says why."""


@dataclass
class Ordered:
    """A text whose elements are nested.

    `words` counts those between its tags, `outside` is what stood around the root, `faults` the
    number of mended places, `unread` that of tags with attributes that could not be read.
    """

    text: str = ""
    words: Counter[str] = field(default_factory=Counter)
    outside: str = ""
    first_tag: str = ""
    faults: int = 0
    unread: int = 0

    def remark(self) -> str:
        """Describe the mends and the losses, to follow the first fault."""
        more = self.faults - 1
        parts = [f" and {more} more places" * (more > 0)]
        parts += [f"; its first tag, <{self.first_tag}>, was put in"] * bool(self.first_tag)
        if self.unread:
            parts.append(f"; attributes of {self.unread} tags could not be read")
        count = len(self.outside)
        lost = f"{count} characters around it were lost: `{self.outside}`"
        return "".join([*parts, f"; {lost if count else 'nothing was lost'}"])


def in_order(text: str) -> Ordered:
    """`text` with its tags in order and on the same lines, without comments and its DOCTYPE.

    An end tag closes what is open inside its element, and is passed over if that is not open. A
    name without any end tag is that of an empty element, as in SGML. Raises CannotOrder for a text
    that ends in the middle of its root, has several, is nested too deep, or has more than OUTSIDE
    characters around its root.
    """
    return _Order(text).run()


class _Order:
    """Goes through the tags of one text; `_open` are the elements around, outermost first."""

    def __init__(self, text: str) -> None:
        self._text = _without_doctype(text)
        self._tags = [match for match in _TOKEN.finditer(self._text) if match["name"]]
        self._closed = {tag["name"] for tag in self._tags if tag["close"]}
        self._open: list[str] = []
        self._has_root = False
        self._pieces: list[str] = []
        self._texts: list[str] = []
        self._result = Ordered()

    def run(self) -> Ordered:
        self._first_tag()
        at = 0
        for token in _TOKEN.finditer(self._text):
            self._characters(self._text[at : token.start()])
            self._token(token)
            at = token.end()
        self._characters(self._text[at:])
        self._check()
        self._result.text = "".join(self._pieces)
        self._result.words = Counter("".join(self._texts).split())
        self._result.outside = " ".join(self._result.outside.split())
        return self._result

    def _first_tag(self) -> None:
        """Puts in the tag of the root if only its end is there, at the end of the text."""
        begun = {tag["name"] for tag in self._tags if not tag["close"]}
        first, last = (self._tags[0], self._tags[-1]) if self._tags else (None, None)
        if first and last and first["name"] in self._closed and last["name"] not in begun:
            is_end = not self._text[last.end() :].strip()
            self._result.first_tag = last["name"] * is_end

    def _token(self, token: re.Match[str]) -> None:
        if token["verbatim"] is not None:
            self._put(token["verbatim"].replace("&", "&amp;").replace("<", "&lt;"))
        elif not token["name"]:
            self._pieces.append("\n" * token[0].count("\n"))
        elif token["close"]:
            self._end(token["name"])
        else:
            self._start(token["name"], token["rest"])

    def _start(self, name: str, rest: str) -> None:
        if self._result.first_tag and not self._has_root:
            self._push(self._result.first_tag, "")
            self._result.faults += 1
        if self._has_root and not self._open:
            raise CannotOrder(f"<{name}> stands after the end of the root; divide the file there")
        attributes = self._attributes(rest)
        is_empty = rest.endswith("/")
        if is_empty or (name not in self._closed and self._open):
            self._has_root = True
            self._result.faults += not is_empty
            self._tag(f"<{name}{attributes}/>")
        else:
            self._push(name, attributes)

    def _push(self, name: str, attributes: str) -> None:
        self._has_root = True
        self._open.append(name)
        if len(self._open) > DEEPEST:
            raise CannotOrder(f"elements are nested more than {DEEPEST} deep; flatten them")
        self._tag(f"<{name}{attributes}>")

    def _end(self, name: str) -> None:
        self._result.faults += not self._open or self._open[-1] != name
        while name in self._open:
            inner = self._open.pop()
            self._tag(f"</{inner}>")
            if inner == name:
                return

    def _attributes(self, rest: str) -> str:
        """Keep the attributes that can be read, each name once; line ends among them stay."""
        values: dict[str, str] = {}
        for match in _ATTRIBUTE.finditer(rest):
            value = match[2] or match[3] or match[4] or ""
            values.setdefault(match[1], self._escape(value).replace('"', "&quot;"))
        unread = _ATTRIBUTE.sub("", rest).rstrip().removesuffix("/")
        self._result.unread += bool(unread.strip())
        lines = "\n" * (rest.count("\n") - sum(value.count("\n") for value in values.values()))
        return "".join(f' {name}="{value}"' for name, value in values.items()) + lines

    def _tag(self, tag: str) -> None:
        self._pieces.append(tag)
        self._texts.append(" ")

    def _characters(self, text: str) -> None:
        if self._open:
            self._put(self._escape(text))
        else:
            self._result.outside += text
            self._pieces.append("\n" * text.count("\n"))

    def _put(self, escaped: str) -> None:
        clean = _NO_CHARACTER.sub(" ", escaped)
        self._pieces.append(clean)
        self._texts.append(_REFERENCE.sub(_character, clean))

    def _escape(self, text: str) -> str:
        self._result.faults += text.count("<") + len(_STRAY_AND.findall(text))
        return _STRAY_AND.sub("&amp;", text).replace("<", "&lt;").replace("]]>", "]]&gt;")

    def _check(self) -> None:
        if not self._has_root:
            raise CannotOrder("there is no element in it")
        if self._open:
            raise CannotOrder(
                f"it ends in the middle of <{self._open[-1]}>; get the whole file again"
            )
        if len(" ".join(self._result.outside.split())) > OUTSIDE:
            first = " ".join(self._result.outside.split()[:8])
            raise CannotOrder(f"text stands outside all elements (`{first} ...`); put it into one")


def _without_doctype(text: str) -> str:
    doctype = _DOCTYPE.match(text, max(0, text.find("<!DOCTYPE")))
    if not doctype:
        return text
    return text[: doctype.start()] + "\n" * doctype[0].count("\n") + text[doctype.end() :]


def _character(match: re.Match[str]) -> str:
    if match[3]:
        return _NAMED[match[3]]
    number = int(match[1]) if match[1] else int(match[2], 16)
    return chr(number) if number <= 0x10FFFF else match[0]


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
_MOST_ATTRIBUTES = 100
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
    name = root.tag.rpartition("}")[2]  # a namespace with a brace in it is no QName
    _make_plain(root)
    return Parsed(root, name, "; ".join(remarks))


class _NotXml(ValueError):
    """Bytes cannot be XML in the encoding of the file; the message says why."""


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
        raise _NotXml(
            f"its first line declares the encoding {declared}, but its bytes are UTF-8 or another "
            "encoding of single bytes; correct that declaration"
        )
    if not _ONE_BYTE.match(declared) or data.isascii() or data.startswith(_UTF8_MARK):
        return None
    with suppress(UnicodeDecodeError):
        data.decode()
        remarks.append(f"declared as {declared}, but read as UTF-8, which its bytes are")
        return "utf-8"
    if _LATIN_1.fullmatch(declared) and _CONTROLS.search(data):
        remarks.append(f"declared as {declared}, but read as windows-1252, of which it has marks")
        return "windows-1252"
    return None


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
    """Say if `fault` is one of order: with entities of its own no file is ever recovered."""
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
    lost = ordered.words - Counter(" ".join(root.itertext()).split()) if root is not None else None
    if lost is None or lost:
        loss = f"{lost.total()} words, the first `{next(iter(lost))}`" if lost else "everything"
        raise _NotXml(f"{_fault(fault)}: reading on would lose {loss}; correct it there")
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
            "UTF-8 if it declares none; declare the right one, or write it into the column "
            "`encoding` of a `metadata.csv`"
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
