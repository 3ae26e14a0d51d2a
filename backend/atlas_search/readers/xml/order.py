"""The tags of nearly well-formed XML, put in order without losing a word between them."""

import re
from collections import Counter
from dataclasses import dataclass, field

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
    """Why the tags of a text cannot be put in order without a loss."""


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
        """What was mended and lost, to follow the first fault."""
        more = self.faults - 1
        said = [f" and {more} more places" * (more > 0)]
        said += [f"; its first tag, <{self.first_tag}>, was put in"] * bool(self.first_tag)
        if self.unread:
            said.append(f"; attributes of {self.unread} tags could not be read")
        count = len(self.outside)
        lost = f"{count} characters around it were lost: `{self.outside}`"
        return "".join([*said, f"; {lost if count else 'nothing was lost'}"])


def in_order(text: str) -> Ordered:
    """`text` with its tags in order and on the same lines, without comments and its DOCTYPE.

    An end tag closes what is open inside its element, and is passed over if that is not open. A
    name without any end tag is that of an empty element, as in SGML. Raises CannotOrder for a text
    that ends in the middle of its root, has several, is nested too deep, or has more than OUTSIDE
    characters around its root.
    """
    return _Order(text).run()


def words_of(text: str) -> Counter[str]:
    """How often each word occurs."""
    return Counter(text.split())


class _Order:
    """Goes through the tags of one text; `_open` are the elements around, outermost first."""

    def __init__(self, text: str) -> None:
        self._text = _without_doctype(text)
        self._tags = [match for match in _TOKEN.finditer(self._text) if match["name"]]
        self._closed = {tag["name"] for tag in self._tags if tag["close"]}
        self._open: list[str] = []
        self._has_root = False
        self._pieces: list[str] = []
        self._said: list[str] = []
        self._found = Ordered()

    def run(self) -> Ordered:
        """See `in_order`."""
        self._first_tag()
        at = 0
        for token in _TOKEN.finditer(self._text):
            self._characters(self._text[at : token.start()])
            self._token(token)
            at = token.end()
        self._characters(self._text[at:])
        self._check()
        self._found.text = "".join(self._pieces)
        self._found.words = words_of("".join(self._said))
        self._found.outside = " ".join(self._found.outside.split())
        return self._found

    def _first_tag(self) -> None:
        """Puts in the tag of the root if only its end is there, at the end of the text."""
        begun = {tag["name"] for tag in self._tags if not tag["close"]}
        first, last = (self._tags[0], self._tags[-1]) if self._tags else (None, None)
        if first and last and first["name"] in self._closed and last["name"] not in begun:
            is_end = not self._text[last.end() :].strip()
            self._found.first_tag = last["name"] * is_end

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
        if self._found.first_tag and not self._has_root:
            self._push(self._found.first_tag, "")
            self._found.faults += 1
        if self._has_root and not self._open:
            raise CannotOrder(f"<{name}> stands after the end of the root; divide the file there")
        attributes = self._attributes(rest)
        is_empty = rest.endswith("/")
        if is_empty or (name not in self._closed and self._open):
            self._has_root = True
            self._found.faults += not is_empty
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
        self._found.faults += not self._open or self._open[-1] != name
        while name in self._open:
            inner = self._open.pop()
            self._tag(f"</{inner}>")
            if inner == name:
                return

    def _attributes(self, rest: str) -> str:
        """Those that can be read, each name once; line ends among them stay."""
        values: dict[str, str] = {}
        for found in _ATTRIBUTE.finditer(rest):
            value = found[2] or found[3] or found[4] or ""
            values.setdefault(found[1], self._escape(value).replace('"', "&quot;"))
        left = _ATTRIBUTE.sub("", rest).rstrip().removesuffix("/")
        self._found.unread += bool(left.strip())
        lines = "\n" * (rest.count("\n") - sum(value.count("\n") for value in values.values()))
        return "".join(f' {name}="{value}"' for name, value in values.items()) + lines

    def _tag(self, tag: str) -> None:
        self._pieces.append(tag)
        self._said.append(" ")

    def _characters(self, text: str) -> None:
        if self._open:
            self._put(self._escape(text))
        else:
            self._found.outside += text
            self._pieces.append("\n" * text.count("\n"))

    def _put(self, escaped: str) -> None:
        clean = _NO_CHARACTER.sub(" ", escaped)
        self._pieces.append(clean)
        self._said.append(_REFERENCE.sub(_character, clean))

    def _escape(self, text: str) -> str:
        self._found.faults += text.count("<") + len(_STRAY_AND.findall(text))
        return _STRAY_AND.sub("&amp;", text).replace("<", "&lt;").replace("]]>", "]]&gt;")

    def _check(self) -> None:
        if not self._has_root:
            raise CannotOrder("there is no element in it")
        if self._open:
            raise CannotOrder(
                f"it ends in the middle of <{self._open[-1]}>; get the whole file again"
            )
        if len(" ".join(self._found.outside.split())) > OUTSIDE:
            first = " ".join(self._found.outside.split()[:8])
            raise CannotOrder(f"text stands outside all elements (`{first} ...`); put it into one")


def _without_doctype(text: str) -> str:
    found = _DOCTYPE.match(text, max(0, text.find("<!DOCTYPE")))
    if not found:
        return text
    return text[: found.start()] + "\n" * found[0].count("\n") + text[found.end() :]


def _character(match: re.Match[str]) -> str:
    if match[3]:
        return _NAMED[match[3]]
    number = int(match[1]) if match[1] else int(match[2], 16)
    return chr(number) if number <= 0x10FFFF else match[0]
