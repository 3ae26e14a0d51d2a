"""Writing a law: its headings and provisions, and how each is cited.

`Law` does what the schemas of all publishers have in common. A publisher is a subclass: its class
attributes name the elements, its methods hold its exceptions.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from lxml import etree

from atlas_search.core.locator import is_locator
from atlas_search.readers import Read
from atlas_search.readers.markup import plain
from atlas_search.readers.print import letters, roman
from atlas_search.readers.xml.tree import Layout, TextWriter, draft, names, text_of, walk

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
    if match := _NUMBERS.search(text):
        return _join(re.findall(_TOKEN, match[0]), match[0])
    letters: list[str] = _LETTERED.findall(text)
    return letters[-1] if letters else ""


def schedule_number(label: str) -> str:
    """The number of a schedule, `I` of `SCHEDULE I / ANNEXE I`; empty for `SCHEDULE TO PART IV`."""
    text = _plain(label)
    match = _SCHEDULE.match(text)
    if match:
        return number(match[1])
    return "" if " " in text else number(text)


def level(label: str) -> str:
    """A label as the level of a citation: `(1)` of `1.` or `(1)`; empty without one."""
    text = _plain(label)
    parts = [part for part in _LEVEL.findall(text) if part not in _JOINTS]
    return f"({_join(parts, text)})" if parts else ""


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
    """The headings and the provision in which a writer stands."""

    def __init__(self, writer: TextWriter) -> None:
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
        self._cited.pop()
        self._writer.locate(self.locator)

    @property
    def locator(self) -> str:
        """The provision that is open, or empty."""
        return self._cited[-1] if self._cited else ""

    def _name(self) -> None:
        self._writer.section(*(title for _, title in self._open))


@dataclass(frozen=True, slots=True)
class Place:
    """The citation of a provision, and `first`, the level at which its text begins (`(1)`).

    `schedule` is how provisions inside cite a schedule: `sch 2`, or `sch` for one without a number.
    """

    locator: str
    first: str = ""
    schedule: str = ""


class Law:
    """Writes a law. What it quotes to amend another law is text of the provision that quotes it."""

    layout: Layout
    headed: ClassVar[frozenset[str]] = frozenset()
    """Elements under a heading, which ends with them."""

    lasting: ClassVar[frozenset[str]] = frozenset()
    """Headings on their own, which end at the next one of their depth."""

    quotations: ClassVar[frozenset[str]] = frozenset()
    provisions: ClassVar[frozenset[str]] = frozenset()
    """Paragraphs of their own whose first stands on the line below the heading around it."""

    labels: ClassVar[frozenset[str]] = names("num heading")
    """Elements before the text of a provision."""

    def __init__(self, root: etree._Element) -> None:
        self.root = root
        self.writer = TextWriter()
        self.outline = Outline(self.writer)
        self.quoted = 0
        # elements with the depth of their heading, None without one, and their place, if any
        self._places: list[tuple[etree._Element, int | None, Place | None]] = []

    def _title(self) -> str:
        """The title of the law; empty if the file has none."""
        raise NotImplementedError

    def _facts(self) -> Mapping[str, object]:
        """Metadata; one that the file lacks may be empty."""
        raise NotImplementedError

    def _heading(self, element: etree._Element) -> str:
        """The line of the heading of a `headed` or `lasting` element, or empty."""
        raise NotImplementedError

    def _depth(self, element: etree._Element) -> int:
        """The depth of the heading of an element."""
        return sum(1 for _ in element.iterancestors())

    def _place(self, element: etree._Element) -> Place | None:
        """The place of an element that is cited, or that cannot be, as its locator is empty.

        None for an element inside the place around it.
        """
        raise NotImplementedError

    def _is_part(self, element: etree._Element) -> bool:
        """Say if it is a subsection, whose label follows the citation of its section."""
        return bool(element.tag == "subsection")

    def _label(self, element: etree._Element) -> str:
        return text_of(element.find("num"))

    def _begin(self, element: etree._Element) -> bool | None:
        """Write an element of its own kind; say if to read what is in it. None for all others."""
        return None

    def _end(self, element: etree._Element) -> bool:
        """End an element of its own kind; false for all others."""
        return False

    def _finish(self) -> None:
        """Write what is left at the end of the law."""

    def read(self) -> Read:
        walk(self.root, self)
        self._finish()
        return draft(self.writer.finish(), self._facts(), title=self._title())

    def enter(self, element: etree._Element) -> bool:
        if element.tag in self.quotations:
            self.quoted += 1
            return True
        inside = self._begin(element)
        if inside is not None:
            return inside
        if element.tag in self.provisions:
            self.writer.line() if self._is_below_heading(element) else self.writer.block()
        if not self.quoted:
            self._open(element)
        return True

    def leave(self, element: etree._Element) -> None:
        if element.tag in self.quotations:
            self.quoted -= 1
        elif not self._end(element):
            if element.tag in self.provisions:
                self.writer.block()
            if not self.quoted:
                self._close(element)

    def _open(self, element: etree._Element) -> None:
        """Open the heading and the place of an element that is not quoted."""
        depth = None
        if element.tag in self.headed or element.tag in self.lasting:
            depth = self._depth(element)
            self.outline.open(depth, self._heading(element))
        place = self._place(element)
        if place is None and self._is_part(element):
            around = self.outline.locator
            place = Place(around and around + level(self._label(element)))
        if place is not None:
            self.outline.enter(place.locator, first=place.first)
        if element.tag in self.headed or place is not None:
            self._places.append((element, depth, place))

    def _close(self, element: etree._Element) -> None:
        """Close the heading and the place of an element. Notes that wait are of the provision."""
        if not self._places or self._places[-1][0] is not element:
            return
        _, depth, place = self._places.pop()
        if place is not None:
            self.writer.block()
            self.outline.leave()
        if depth is not None:
            self.outline.close(depth)

    def _is_below_heading(self, provision: etree._Element) -> bool:
        before = provision.getprevious()
        return before is not None and before.tag == "heading"

    def _first_level(self, provision: etree._Element) -> str:
        """The level of the subsection with which the text of a provision begins, or empty."""
        first = next((part for part in provision if part.tag not in self.labels), None)
        return level(self._label(first)) if first is not None and self._is_part(first) else ""

    @property
    def schedule(self) -> str:
        """The schedule that is open, as provisions cite it; empty outside of any."""
        schedules = (place.schedule for _, _, place in reversed(self._places) if place)
        return next(filter(None, schedules), "")


def attribute(element: etree._Element | None, name: str) -> str:
    """An attribute; empty without it or without the element."""
    return "" if element is None else element.get(name, "")


def note_text(element: etree._Element) -> str:
    """The texts of a note with blanks between its number and its paragraphs."""
    return " ".join(" ".join(element.itertext()).split())


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
