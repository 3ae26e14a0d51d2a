"""Reading Rich Text (.rtf): one document a file; Rich Text Format Specification 1.9.1.

striprtf drops footnotes, text boxes, headings and pages, writes halves of characters and the
hexadecimal digits of some pictures, and knows no code page of a Macintosh.
"""

import codecs
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.docx import EXPLICIT, Paragraph, Text
from atlas_search.readers.markup import Heading, header_of, plain, sections, write_row
from atlas_search.readers.print import raised
from atlas_search.readers.titles import title_of_file

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?[0-9]{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n\0]+"
    rb"|([^\\{}\r\n\0]+)|(?s:.)"
)
_UNREAD = frozenset(
    "fonttbl colortbl stylesheet listtable info pict nonshppict objdata xe tc rxe txe header "
    "headerl headerr headerf footer footerl footerr footerf ftnsep ftnsepc ftncn".split()
)
_BOXES = frozenset({"shptxt", "dptxbxtext"})
_FACTS = {"title": "title", "author": "author", "subject": "subject", "keywords": "tags"}
_SIGNS = dict.fromkeys(("tab", "emspace", "enspace", "qmspace", "~"), " ") | {
    **dict(zip(("emdash", "endash", "bullet"), "—–•", strict=True)),
    **dict(zip(("lquote", "rquote", "ldblquote", "rdblquote"), "‘’“”", strict=True)),
    **dict(zip("{}\\_", "{}\\-", strict=True)),
    **dict(zip(("line", "page"), ("\n", EXPLICIT), strict=True)),
}
_CREATED = re.compile(rb"\\creatim\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
_PAGE_CODES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850", "ansicpg10000": "mac_roman"}
_CHARSETS = dict(
    each.split(":")
    for each in (
        "0:cp1252 77:mac_roman 78:cp932 79:cp950 80:cp949 81:mac_arabic 83:mac_greek "
        "84:mac_cyrillic 85:cp936 86:mac_romanian 89:mac_latin2 128:cp932 129:cp949 130:johab "
        "134:cp936 136:cp950 161:cp1253 162:cp1254 163:cp1258 177:cp1255 178:cp1256 186:cp1257 "
        "204:cp1251 222:cp874 238:cp1250 254:cp437 255:cp850"
    ).split()
)
"""Encodings of the character sets of fonts."""

_SETTINGS: Mapping[str, Callable[[int | None], dict[str, Any]]] = {
    "plain": lambda _: {"is_raised": False, "is_hidden": False},
    "super": lambda number: {"is_raised": number != 0},
    "nosupersub": lambda _: {"is_raised": False},
    "v": lambda number: {"is_hidden": number != 0},
    "deleted": lambda number: {"is_hidden": number != 0},
    "uc": lambda number: {"fallback": number or 0},
    "pard": lambda _: {"level": 0, "in_table": False},
    "intbl": lambda _: {"in_table": True},
    "outlinelevel": lambda number: {"level": ((number or 0) + 1) % 10},
}
"""Words that change the settings of a group."""


@dataclass(slots=True)
class _Flow:
    """Paragraphs of the text, or of a note, and the one being read."""

    paragraphs: list[Paragraph] = field(default_factory=list)
    inline: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    header: tuple[str, ...] = ()
    is_header: bool = False

    def take(self) -> str:
        text = "".join(self.inline)
        self.inline.clear()
        return text

    def end_row(self) -> None:
        cells = [" ".join(cell.split()) for cell in self.cells]
        self.cells.clear()
        if any(cells):
            header = () if self.is_header else self.header
            self.paragraphs.append(Paragraph(write_row(cells, header)))
        self.header = header_of(cells) if self.is_header and cells else self.header


@dataclass(frozen=True, slots=True)
class _State:
    """The settings of a group; without a `flow` its text is not read."""

    flow: _Flow | None
    encoding: str
    fallback: int = 1
    level: int = 0
    in_table: bool = False
    is_raised: bool = False
    is_hidden: bool = False


class _Rtf:
    """Goes through the tokens of a file; `notes` are in their order, `boxes` those of text."""

    def __init__(self, encoding: str) -> None:
        self.text = _Flow()
        self.notes: list[_Flow] = []
        self.boxes: list[_Flow] = []
        self.facts: dict[str, _Flow] = {}
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._default = encoding
        self._bytes = bytearray()
        self._skip = 0
        self._state = _State(self.text, encoding)
        self._above: list[_State] = []

    def read(self, data: bytes) -> None:
        at = 0
        is_first = is_star = False
        while match := _TOKEN.match(data, at):
            at = match.end()
            word, number, hexes, sign, brace, characters = match.groups()
            if hexes or characters:
                self._bytes += self._unskipped(
                    bytes.fromhex(hexes.decode()) if hexes else characters
                )
                continue
            self._flush()
            if brace == b"{":
                self._above.append(self._state)
            elif brace and self._above:
                self._state = self._above.pop()
            elif word == b"bin":
                at += int(number or 0)
            elif word:
                name = word.decode()
                if is_first:
                    self._open(name, is_star=is_star)
                self._word(name, int(number) if number else None)
            elif sign:
                self._sign(sign.decode("latin-1"))
            is_star = sign == b"*"
            is_first = brace == b"{" or (is_first and (is_star or not match.lastindex))
            self._skip = 0 if brace else self._skip
        self._flush()

    def _unskipped(self, characters: bytes) -> bytes:
        """The characters behind those that stand for one in Unicode."""
        skipped = min(self._skip, len(characters))
        self._skip -= skipped
        return characters[skipped:]

    def _flush(self) -> None:
        if self._bytes:
            self._put(self._bytes.decode(self._state.encoding, "replace"))
            self._bytes.clear()

    def _put(self, text: str) -> None:
        state = self._state
        if state.flow is not None and not state.is_hidden:
            before = state.flow.inline[-1] if state.flow.inline else ""
            state.flow.inline.append(raised(text, before) if state.is_raised else text)

    def _open(self, name: str, *, is_star: bool) -> None:
        """The first word of a group says what is in it."""
        flow = self._state.flow
        if name == "footnote" and flow is self.text:
            self.notes.append(_Flow())
            self._put(f"[{len(self.notes)}]")
            flow = self.notes[-1]
        elif name in _BOXES:
            self.boxes.append(_Flow())
            flow = self.boxes[-1]
        elif name in _FACTS:
            flow = self.facts[_FACTS[name]] = _Flow()  # the last is the one in Unicode
        elif is_star or name in _UNREAD:
            flow = None
        if flow is not self._state.flow:
            self._state = replace(self._state, flow=flow, is_raised=False, in_table=False)

    def _word(self, name: str, number: int | None) -> None:
        state, flow = self._state, self._state.flow
        if name in ("ansicpg", "mac", "pc", "pca"):
            stated = _PAGE_CODES.get(f"{name}{number or ''}", f"cp{number}")
            self._default = stated if _is_known(stated) else self._default
            self._state = replace(state, encoding=self._default)
        elif name == "f":
            self._font = number or 0
            encoding = self._fonts.get(self._font, self._default)
            self._state = replace(state, encoding=encoding)
        elif name == "fcharset" and str(number) in _CHARSETS:
            self._fonts[self._font] = _CHARSETS[str(number)]
        elif name in _SETTINGS:
            self._state = replace(state, **_SETTINGS[name](number))
        elif name == "u":
            self._put(chr((number or 0) & 0xFFFF))
            self._skip = state.fallback
        elif name in _SIGNS:
            self._put(_SIGNS[name])
        elif flow is not None:
            self._break(flow, name)

    def _break(self, flow: _Flow, name: str) -> None:
        if name in ("par", "sect") and not self._state.in_table:
            flow.paragraphs.append(Paragraph(flow.take(), self._state.level))
            flow.header = ()
        elif name in ("par", "nestcell", "nestrow"):
            flow.inline.append(" | " if name == "nestcell" else " ")
        elif name == "cell":
            flow.cells.append(flow.take())
        elif name == "row":
            flow.end_row()
        elif name in ("trowd", "trhdr"):
            flow.is_header = name == "trhdr"

    def _sign(self, sign: str) -> None:
        if sign in "\r\n":
            self._word("par", None)
        elif sign in _SIGNS:
            self._put(_SIGNS[sign])


def _is_known(encoding: str) -> bool:
    try:
        codecs.lookup(encoding)
    except LookupError:
        return False
    return True


def _read(flow: _Flow) -> Iterator[Paragraph]:
    for paragraph in (*flow.paragraphs, Paragraph(" ".join([*flow.cells, flow.take()]))):
        text = paragraph.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        yield replace(paragraph, text=EXPLICIT.join(map(plain, text.split(EXPLICIT))))


@dataclass(frozen=True)
class RtfReader:
    """Reads Rich Text in the code page of each font.

    Sections are headings, pages the author's own breaks. Text boxes follow the text, and then the
    notes, in a section `Notes`; `[1]` marks their place. Headers, footers and comments are not
    read.
    """

    suffixes: ClassVar[frozenset[str]] = frozenset({".rtf"})
    options: ClassVar[Mapping[str, object]] = {"version": 1}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The one document of the file; `encoding` counts where it states no code page."""
        data = path.read_bytes()
        if not data.strip():
            yield Skipped("the file is empty")
        elif not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf"):
            yield Skipped("it is not an RTF file, whatever its name says")
        else:
            rtf = _Rtf(encoding if encoding and _is_known(encoding) else "cp1252")
            rtf.read(data)
            yield _draft(rtf, _CREATED.search(data))


def rtf_reader() -> RtfReader:
    """Build a collection from Rich Text files (.rtf)."""
    return RtfReader()


def _draft(rtf: _Rtf, created: re.Match[bytes] | None) -> Read:
    text = Text()
    # Word writes a box twice, once for programs that know no shapes
    for paragraphs in dict.fromkeys(tuple(_read(flow)) for flow in (rtf.text, *rtf.boxes)):
        text.write(paragraphs)
    if not text.length:
        return Skipped("it holds no text")
    if rtf.notes:
        text.headings.append(Heading(text.length + 2, 1, "Notes"))
    text.breaks = 0
    for number, note in enumerate(rtf.notes, start=1):
        lines = [each.words for each in _read(note) if each.words]
        text.write(
            Paragraph(f"[{number}] {line}" if not n else line) for n, line in enumerate(lines)
        )
    day = "-".join(part.decode().zfill(2) for part in created.groups()) if created else ""
    facts = {"created": day}
    facts |= {name: " ".join(p.words for p in _read(flow)) for name, flow in rtf.facts.items()}
    metadata = {name: value.strip() for name, value in facts.items() if value.strip()}
    return Draft(
        text="".join(text.pieces),
        title=title_of_file(metadata.get("title", "")),
        metadata=metadata,
        pages=tuple(text.pages),
        segments=sections(text.headings),
    )
