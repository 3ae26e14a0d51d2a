"""Page numbers from page breaks: those that are printed, where the sequence allows it."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from atlas_search.readers.page_labels import page_label

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
        """What is printed on the last page, or on one of the several that it stands for."""
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
    misprints = [at for at in outside if at > first or not _is_roman(marks[at])]
    out_of_order = tuple(marks[at][0] for at in outside)
    labels = len(believed) + len(misprints)
    if not believed or len(misprints) > MISPRINTS * labels:
        return Printed((), (), out_of_order)
    pages = _pages(marks, numbers, believed)
    printed = tuple(_in_one(on_page) for on_page in pages.printed)
    return Printed(tuple(pages.offsets), printed, out_of_order)


def counted_pages(marks: Sequence[Mark]) -> tuple[int, ...]:
    """Where pages begin, whatever their labels. Text before the first break is a page too."""
    return tuple(offset for _, offset in _from_the_start(marks))


def counted_labels(marks: Sequence[Mark]) -> tuple[str, ...]:
    """What is printed on each of the `counted_pages`."""
    return tuple(page_label(label) for label, _ in _from_the_start(marks))


def _from_the_start(marks: Sequence[Mark]) -> Sequence[Mark]:
    return marks if marks and not marks[0][1] else [("", 0), *marks]


def _number(label: str) -> int:
    """The number of a label, 0 if it is none."""
    match = _NUMBER.fullmatch(label)
    return int(match[1]) if match and int(match[1]) <= LAST else 0


def _is_roman(mark: Mark) -> bool:
    return _ROMAN.fullmatch(mark[0]) is not None


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
    """Whether a row grew by as many numbers as places when it came to end with this number."""
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


def _in_one(labels: Sequence[str]) -> str:
    """`i–iv` for several."""
    return "–".join(dict.fromkeys((labels[0], labels[-1]))) if labels else ""


def _following(numbers: Sequence[int], believed: set[int]) -> list[int]:
    """For every place the last number that leaves room for the believed one after it."""
    room = [LAST] * len(numbers)
    for at in range(len(numbers) - 2, -1, -1):
        room[at] = numbers[at + 1] - 1 if at + 1 in believed else room[at + 1]
    return room
