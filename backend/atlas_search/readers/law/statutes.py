"""The headings that are open while a law is written, and how the place is cited."""

import re
from collections.abc import Callable

from lxml import etree

from atlas_search.core.locator import is_locator
from atlas_search.readers.markup import plain
from atlas_search.readers.print import letters, roman
from atlas_search.readers.xml.tree import Writer

_INSERTED = r"(?:\s(?:bis|ter|quater|quinquies|sexies|septies|octies)\b)?"
_TOKEN = rf"[A-Za-z]{{0,3}}\d+[A-Za-z\d]*(?:[.:/-]\d*[A-Za-z\d]+)*{_INSERTED}"
_JOINT = r"\s*(?:\b(?:to|à|through|and|et|or|ou)\b|,|-)\s*"
_NUMBERS = re.compile(rf"(?<![^\W\d_]){_TOKEN}(?:{_JOINT}{_TOKEN})*")
_LETTERED = re.compile(r"\b(?:[IVXLC]+|[A-Z])\b")
_SCHEDULE = re.compile(r"(?i)\W*(?:schedules?|annexe?|appendix|anexo)\s+([^\W_][\w.-]*)")
_LEVEL = re.compile(r"[A-Za-z\d]+(?:[.-][A-Za-z\d]+)*")
_TO = re.compile(r"\b(?:to|à|through)\b|\s-\s")
_JOINTS = frozenset({"to", "à", "through", "and", "et", "or", "ou"})


def number(label: str) -> str:
    """The number in a label, as a citation has it: `2`, `5 bis`, `9-11`, `I`; empty without one.

    Dashes are hyphens. Several numbers are joined by a comma, both ends of a row by a hyphen.
    What is in brackets after a number is not its own: `Article 4 (ex Article 2)`.
    """
    text = _plain(label)
    if found := _NUMBERS.search(text):
        return _join(re.findall(_TOKEN, found[0]), found[0])
    letters: list[str] = _LETTERED.findall(text)
    return letters[-1] if letters else ""


def schedule_number(label: str) -> str:
    """The number of a schedule, `I` of `SCHEDULE I / ANNEXE I`; empty for `SCHEDULE TO PART IV`."""
    text = _plain(label)
    found = _SCHEDULE.match(text)
    if found:
        return number(found[1])
    return "" if " " in text else number(text)


def level(label: str) -> str:
    """A label as the level of a citation: `(1)` of `1.` or `(1)`; empty without one."""
    text = _plain(label)
    found = [part for part in _LEVEL.findall(text) if part not in _JOINTS]
    return f"({_join(found, text)})" if found else ""


def _join(numbers: list[str], text: str) -> str:
    if len(numbers) > 1 and _TO.search(text):
        return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(numbers)


def _plain(label: str) -> str:
    return re.sub("[\u2010-\u2014\u2212]", "-", " ".join(label.split()))


_MARKS = {"parens": "({})", "parenright": "{})", "period": "{}.", "brackets": "[{}]"}


def item_label(place: int, kind: str, decoration: str) -> str:
    """The label of the item at `place`, from 1, in a list of this kind and decoration."""
    text = _KINDS.get(kind.lower(), str)(place)
    return _MARKS.get(decoration.lower(), "{}").format(text)


_KINDS: dict[str, Callable[[int], str]] = {
    "arabic": str,
    "alpha": letters,
    "alphaupper": lambda place: letters(place).upper(),
    "roman": roman,
    "romanupper": lambda place: roman(place).upper(),
}


_NOTES = frozenset({"authorialnote", "footnote", "sidenote"})
_BREAKS = frozenset({"br", "eol", "linebreak"})


class Outline:
    """Tells a writer under which headings it stands and in which provision."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._open: list[tuple[int, str]] = []
        self._cited: list[str] = []

    def open(self, depth: int, title: str) -> None:
        """A heading; it closes those of its depth and deeper ones. Nothing without a title."""
        if title:
            self._open = [each for each in self._open if each[0] < depth]
            self._open.append((depth, title))
            self._name()

    def close(self, depth: int) -> None:
        """Ends the headings of this depth and deeper ones."""
        still_open = [each for each in self._open if each[0] < depth]
        if len(still_open) < len(self._open):
            self._open = still_open
            self._name()

    def enter(self, locator: str, *, first: str = "") -> None:
        """A provision; `first` is the level at which its text begins, `(1)`, if it has one.

        What no citation can hold, such as a number in small letters, is no locator.
        """
        self._cited.append(locator if is_locator(locator) else "")
        self._writer.locate(self.locator and self.locator + first)

    def leave(self) -> None:
        """Back to the provision around it."""
        self._cited.pop()
        self._writer.locate(self.locator)

    @property
    def locator(self) -> str:
        """The provision that is open, or empty."""
        return self._cited[-1] if self._cited else ""

    def _name(self) -> None:
        self._writer.section(*(title for _, title in self._open))


def line_of(*elements: etree._Element | None) -> str:
    """The texts of `elements` on one line with blanks between, as a writer puts them: without the
    notes inside them."""
    texts = (plain(_text(element)) for element in elements if element is not None)
    return " ".join(" ".join(filter(None, texts)).split())


def _text(root: etree._Element) -> str:
    pieces: list[str | None] = []
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "end":
            pieces.append(element.tail if element is not root else None)
        elif element.tag in _NOTES:
            walker.skip_subtree()
        else:
            pieces += (" " if element.tag in _BREAKS else None, element.text)
    return "".join(filter(None, pieces))
