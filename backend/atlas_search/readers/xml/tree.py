"""The text of one document while it is composed: its paragraphs, pages, sections and speeches."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Protocol

from lxml import etree

from atlas_search.core.domain import Segment
from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.markup import plain
from atlas_search.readers.print import labels_of_pages, page_label

LAST = 40_000
"""The highest number that is taken as printed: a year of the Australian Hansard stays below."""

MISPRINTS = 0.1
"""The share of labels that may fall out of the sequence before the others are not believed."""

Mark = tuple[str, int]
"""The label of a page break, empty if it has none, and the offset at which its page begins."""

_NUMBER = re.compile(r"[\[(]?(?:p\.|pp\.|col\.)?\s*0*([0-9]{1,6})[\])]?", re.IGNORECASE)
_ROMAN = re.compile(r"[\[(]?[ivxlcdm]+[\])]?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Printed:
    """Offsets of pages 1, 2, ... that bear their printed numbers; empty if they cannot.

    `labels` are what is printed on each, `out_of_order` those of them that did not fit.
    """

    pages: tuple[int, ...]
    labels: tuple[str, ...]
    out_of_order: tuple[str, ...]


@dataclass(slots=True)
class _Pages:
    """Pages as they are found: the offset of each, and the labels of the breaks on it."""

    offsets: list[int] = field(default_factory=list)
    printed: list[list[str]] = field(default_factory=list)

    def open(self, offset: int, up_to: int) -> None:
        """All pages up to that number begin here."""
        missing = range(up_to - len(self.offsets))
        self.offsets += [offset for _ in missing]
        self.printed += [[] for _ in missing]

    def label(self, label: str) -> None:
        """Label the last page, or on one of the several that it stands for."""
        if label:
            self.printed[-1].append(label)


def printed_pages(marks: Sequence[Mark]) -> Printed:
    """The pages by the numbers of `marks`, which come in order of their offsets.

    The longest row of whole numbers that ascend is believed, unless more than MISPRINTS of the
    labels are outside it, roman ones at the beginning aside. A number that is left out is an
    empty page. A break with no label, or one that is not believed, begins the next page if there
    is room for one before the number that follows. Where there is none, as before a page 1, one
    page has the labels of several: `i–1`.
    """
    numbers = [_number(label) for label, _ in marks]
    believed = _longest_row(numbers)
    outside = [at for at, (label, _) in enumerate(marks) if label and at not in believed]
    first = min(believed, default=len(marks))
    misprints = [at for at in outside if at > first or not _ROMAN.fullmatch(marks[at][0])]
    out_of_order = tuple(marks[at][0] for at in outside)
    labels = len(believed) + len(misprints)
    if not believed or len(misprints) > MISPRINTS * labels:
        return Printed((), (), out_of_order)
    pages = _pages(marks, numbers, believed)
    ends = ((on_page[0], on_page[-1]) if on_page else () for on_page in pages.printed)
    printed = tuple("–".join(dict.fromkeys(each)) for each in ends)  # `i–iv` for several
    return Printed(tuple(pages.offsets), printed, out_of_order)


def counted_pages(marks: Sequence[Mark]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the offsets and printed labels of all pages; text before the first break is one."""
    pages = marks if marks and not marks[0][1] else [("", 0), *marks]
    return tuple(offset for _, offset in pages), tuple(page_label(label) for label, _ in pages)


def _number(label: str) -> int:
    """The number of a label, 0 if it is none."""
    match = _NUMBER.fullmatch(label)
    return int(match[1]) if match and int(match[1]) <= LAST else 0


def _longest_row(numbers: Sequence[int]) -> set[int]:
    """The places of the longest ascending subsequence of positive numbers.

    Patience sorting: `tops[n]` is the smallest number with which a row of n + 1 can end so far.
    Of two places with the same number the one is taken that is as far from the place before.
    """
    tops: list[int] = []
    ends: list[int] = []
    before: dict[int, int] = {}
    for at, number in enumerate(numbers):
        length = bisect_left(tops, number)
        is_repeated = length < len(tops) and tops[length] == number
        if number and not (is_repeated and _is_consecutive(tops, ends, length)):
            tops[length : length + 1] = [number]
            ends[length : length + 1] = [at]
            before[at] = ends[length - 1] if length else -1
    row: set[int] = set()
    at = ends[-1] if ends else -1
    while at >= 0:
        row.add(at)
        at = before[at]
    return row


def _is_consecutive(tops: Sequence[int], ends: Sequence[int], length: int) -> bool:
    """Say if a row grew by as many numbers as places when it came to end with this number."""
    return not length or tops[length] - tops[length - 1] == ends[length] - ends[length - 1]


def _pages(marks: Sequence[Mark], numbers: Sequence[int], believed: set[int]) -> _Pages:
    first = min(believed)
    pages = _before(marks[:first], numbers[first])
    following = _following(numbers, believed)
    for at, (label, offset) in enumerate(marks[first:], start=first):
        number = numbers[at] if at in believed else min(len(pages.offsets) + 1, following[at])
        pages.open(offset, number)
        pages.label(str(number) if at in believed else page_label(label))
    return pages


def _before(marks: Sequence[Mark], first: int) -> _Pages:
    """The pages before the first number, back from it; page 1 has the labels that have no room."""
    pages = _Pages()
    room = max(1, first - 1)
    pages.open(0, max(1, room - len(marks)))
    for place, (label, offset) in enumerate(marks, start=room - len(marks) + 1):
        pages.open(offset, place)
        pages.label(page_label(label))
    pages.open(0, room)
    return pages


def _following(numbers: Sequence[int], believed: set[int]) -> list[int]:
    """For every place the last number that leaves room for the believed one after it."""
    room = [LAST] * len(numbers)
    for at in range(len(numbers) - 2, -1, -1):
        room[at] = numbers[at + 1] - 1 if at + 1 in believed else room[at + 1]
    return room


_NOTHING, _BLANK, _LINE, _PARAGRAPH = range(4)
_GAPS = ("", " ", "\n", "\n\n")
LONGEST = 1_000
"""Characters of a title, of a path of them, or of the name of a speaker: thousands of segments may
have the same."""

_HYPHENS = ("-", "\u2010", "\u00ac")


@dataclass(frozen=True, slots=True)
class Composed:
    """A finished text; `marks` are the labels of its page breaks and the offsets they stand at."""

    text: str
    marks: tuple[tuple[str, int], ...]
    segments: tuple[Segment, ...]


class TextWriter:
    """Takes a document piece by piece in reading order; `finish` gives its text.

    White space is collapsed. A page, a section, a place or a speech begins at the first word that
    follows its announcement: none begins in a gap, and no two segments begin at one place.
    """

    def __init__(self) -> None:
        self.speaker = ""
        self._parts: list[str] = []
        self._length = 0
        self._gap = _NOTHING
        self._glued = False
        self._running_in = False
        self._cells = 0
        self._path: list[str] = []
        self._section = ""
        self._locator = ""
        self._is_new = False
        self._breaks: list[str] = []
        self._notes: list[str] = []
        self._marks: list[tuple[str, int]] = []
        self._segments: list[Segment] = []

    @property
    def before(self) -> str:
        """The text to which the next piece is joined without white space; empty without one."""
        return self._parts[-1] if self._parts and self._gap == _NOTHING else ""

    def add(self, text: str | None) -> None:
        """Running text. White space at its ends separates it from its neighbours."""
        words = plain(text).split() if text else []
        if not text or not words:
            self._widen(_BLANK if text else _NOTHING)
            return
        self._widen(_BLANK if text[0].isspace() else _NOTHING)
        self._put(" ".join(words))
        self._widen(_BLANK if text[-1].isspace() else _NOTHING)

    def blank(self) -> None:
        """White space, unless the words on both sides were glued together."""
        self._widen(_BLANK)

    def line(self) -> None:
        """A new line of the same paragraph."""
        self._widen(_LINE)

    def block(self) -> None:
        """A new paragraph, after the notes on the one that ends."""
        self._widen(_PARAGRAPH)
        if self._notes and not self._cells:
            notes, self._notes = self._notes, []
            for note in notes:
                self._put(note)
                self._widen(_PARAGRAPH)

    def run_in(self) -> None:
        """Continue the line, whatever begins there: the label of a speech."""
        self._gap = min(self._gap, _BLANK)
        self._widen(_BLANK)
        self._running_in = True

    def glue(self) -> None:
        """No white space before the next word, if it is on the same line."""
        if self._gap <= _BLANK:
            self._gap, self._glued = _NOTHING, True

    def rejoin(self) -> None:
        """The next piece belongs to the word before on the line, which may end in a hyphen."""
        if self._gap <= _BLANK and self._parts and self._parts[-1].endswith(_HYPHENS):
            self._parts[-1] = self._parts[-1][:-1]
            self._length -= 1
        self.glue()

    def note(self, text: str) -> None:
        """A paragraph of its own after the one that is being written."""
        self._notes.append(" ".join(plain(text).split()))

    def open_cell(self, *, is_first: bool) -> None:
        """A cell of a table row; what would be a paragraph in it stays on the line."""
        self._cells += 1
        if not is_first:
            self.add(" | ")

    def close_cell(self) -> None:
        self._cells -= 1

    def page(self, label: str) -> None:
        """A page break; the page that begins has this number or none."""
        self._breaks.append(label.strip())

    def open_section(self, title: str) -> None:
        """A section inside the present one; without a title it has the same name. Ends a speech."""
        self._path.append(_short(title))
        self._name_section()
        # two petitions can follow each other with one title
        self._is_new = bool(title)

    def close_section(self) -> None:
        """Back to the section around it. Ends a speech."""
        self._path.pop()
        self._name_section()

    def section(self, *titles: str) -> None:
        """A section of this path, whatever was open. Ends a speech."""
        self._path = [_short(title) for title in titles]
        self._name_section()
        self._is_new = True

    def locate(self, locator: str) -> None:
        """Begin a place, by its citation in the source (`s 10(1)`); empty where it has none."""
        self._locator = locator

    def speech(self, speaker: str) -> None:
        """A new speech, even if `speaker` spoke before."""
        self.speaker, self._is_new = speaker[:LONGEST], True

    def voice(self, speaker: str) -> None:
        """Change the speaker within a speech that goes on; empty for nobody."""
        self.speaker, self._is_new = speaker, False

    def finish(self) -> Composed:
        """The text so far, without blanks at its ends."""
        self._cells = 0
        self.block()
        return Composed("".join(self._parts), tuple(self._marks), tuple(self._segments))

    def _name_section(self) -> None:
        self._section = " > ".join(filter(None, self._path))[-LONGEST:]
        self.voice("")

    def _widen(self, gap: int) -> None:
        if self._cells or self._running_in:
            gap = min(gap, _BLANK)
        if gap > _BLANK:
            self._glued = False
        if not self._glued:
            self._gap = max(self._gap, gap)

    def _put(self, words: str) -> None:
        self._append(_GAPS[self._gap] if self._length else "")
        self._begin()
        self._append(words)
        self._gap, self._glued, self._running_in = _NOTHING, False, False

    def _append(self, piece: str) -> None:
        self._parts.append(piece)
        self._length += len(piece)

    def _begin(self) -> None:
        """Fixes here what was announced to begin."""
        self._marks += ((label, self._length) for label in self._breaks)
        self._breaks.clear()
        last = self._segments[-1] if self._segments else Segment(0)
        place = self._section, self.speaker, self._locator
        if self._is_new or (last.section, last.speaker, last.locator) != place:
            self._segments.append(Segment(self._length, *place))
            self._is_new = False


def _short(title: str) -> str:
    return " ".join(title[:LONGEST].split())


NO_TEXT = "it holds no text"
_LINE_BREAKS = ("lb", "br", "break")
PAGES, COLUMNS = "pages", "columns"


def draft(
    composed: Composed,
    metadata: Mapping[str, object],
    *,
    title: str = "",
    key: str = "",
    breaks: str = PAGES,
    remarks: Iterable[str] = (),
    speeches_known: bool = True,
) -> Read:
    """The draft of a document whose breaks begin `breaks`; Skipped if it has no text.

    Empty metadata are left out; `speakers`, and `pages_are` if that is not pages, are added.
    `speeches_known` is as in Draft.
    """
    if not composed.text:
        return Skipped(NO_TEXT, key)
    numbering = _numbering(composed.marks, breaks)
    speakers = distinct(segment.speaker for segment in composed.segments)
    unit = breaks if numbering.is_printed and breaks != PAGES else ""
    found = {**metadata, "speakers": speakers, "pages_are": unit}
    return Draft(
        composed.text,
        title,
        key,
        {name: value for name, value in found.items() if value not in ("", [], None)},
        numbering.pages,
        composed.segments,
        "; ".join(filter(None, [*remarks, numbering.remark])),
        labels_of_pages(numbering.labels),
        speeches_known=speeches_known,
    )


def starts_of(unit: str) -> str:
    """Breaks of which only those are known at which a speech or a heading begins."""
    return f"{unit} where speeches begin"


def distinct(values: Iterable[str]) -> list[str]:
    """Each text once and none empty, in the order of its first occurrence."""
    return list(dict.fromkeys(filter(None, values)))


def first_address(stated: Iterable[str]) -> str:
    """The first of these that is an address in the web, or empty."""
    return next((url for url in stated if url.startswith(("http://", "https://"))), "")


def first(root: etree._Element, *paths: str) -> etree._Element | None:
    """The first element at the first of these paths that leads to one."""
    return next((element for path in paths for element in root.iterfind(path)), None)


def text_of(element: etree._Element | None) -> str:
    """All text inside `element` on one line, broken lines joined by blanks; empty for None."""
    if element is None:
        return ""
    if next(element.iter(*_LINE_BREAKS), None) is not None:
        element = deepcopy(element)
        for found in element.iter(*_LINE_BREAKS):
            found.tail = f" {found.tail or ''}"
    return " ".join("".join(element.itertext()).split())


def unique_keys(keys: Sequence[str]) -> list[str]:
    """`keys`, repeated ones with a number: `a`, `a-2`. An empty one becomes its place from 1."""
    counts: dict[str, int] = {}
    for place, key in enumerate(keys, start=1):
        base = name = key or str(place)
        while name in counts:
            counts[base] += 1
            name = f"{base}-{counts[base]}"
        counts[name] = 1
    return list(counts)


@dataclass(frozen=True, slots=True)
class _Numbering:
    """The pages of a document, whether by their printed numbers, and what is amiss with those.

    `labels` are what is printed on each, or none.
    """

    pages: tuple[int, ...]
    labels: tuple[str, ...] = ()
    is_printed: bool = False
    remark: str = ""


def _numbering(marks: Sequence[Mark], breaks: str) -> _Numbering:
    are_breaks = breaks in (PAGES, COLUMNS)
    marks = marks if are_breaks else _changes(marks)
    if not any(label for label, _ in marks):
        return _Numbering(counted_pages(marks)[0] if are_breaks else (0,))
    printed = printed_pages(marks)
    odd = printed.out_of_order
    wrong = f"{', '.join(odd[:3])}{' ...' if len(odd) > 3 else ''}"
    if printed.pages:
        remark = f"page numbers out of order are kept as labels: {wrong}"
        return _Numbering(printed.pages, printed.labels, True, remark if wrong else "")
    if are_breaks:
        remark = (
            "pages are counted from 1, as their numbers are out of order and kept as labels: "
            f"{wrong}"
        )
        return _Numbering(*counted_pages(marks), remark=remark)
    return _Numbering((0,), remark=f"no page numbers: the {breaks} are out of order: {wrong}")


def _changes(marks: Sequence[Mark]) -> list[Mark]:
    """Only the marks with another label than the one before."""
    before = ["", *(label for label, _ in marks)]
    return [mark for mark, label in zip(marks, before, strict=False) if mark[0] != label]


@dataclass(frozen=True)
class Layout:
    """The elements of a format by their form on the page. Elements not named are inline."""

    blocks: frozenset[str]
    lines: frozenset[str]
    cells: frozenset[str]
    breaks: frozenset[str]
    left_out: frozenset[str]


class Shape(Protocol):
    """The treatment of elements beyond their layout."""

    layout: Layout
    writer: TextWriter

    def enter(self, element: etree._Element) -> bool:
        """Say if to read what is inside; its own paragraph or line has begun."""

    def leave(self, element: etree._Element) -> None:
        """After its content, before its paragraph or line ends. Not if `enter` said no."""


def names(text: str) -> frozenset[str]:
    """A set of element names, written as one text."""
    return frozenset(text.split())


def walk(root: etree._Element, shape: Shape) -> None:
    """Writes the text of `root`, and of what is in it, as `shape` says."""
    writer, layout = shape.writer, shape.layout
    passed_over = None
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "start":
            _begin(element, layout, writer)
            if element.tag not in layout.left_out and shape.enter(element):
                writer.add(element.text)
            else:
                walker.skip_subtree()
                passed_over = element
            continue
        if element is not passed_over:
            shape.leave(element)
        _end(element, layout, writer)
        if element is not root:
            writer.add(element.tail)


def _begin(element: etree._Element, layout: Layout, writer: TextWriter) -> None:
    if element.tag in layout.blocks:
        writer.block()
    elif element.tag in layout.lines:
        writer.line()
    elif element.tag in layout.breaks:
        writer.blank()
    elif element.tag in layout.cells:
        before = element.itersiblings(*layout.cells, preceding=True)
        writer.open_cell(is_first=next(before, None) is None)


def _end(element: etree._Element, layout: Layout, writer: TextWriter) -> None:
    if element.tag in layout.blocks:
        writer.block()
    elif element.tag in layout.lines:
        writer.line()
    elif element.tag in layout.cells:
        writer.close_cell()
