"""Scanned pages: their words in lines and blocks, in reading order, and the text made of them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

from lxml import etree

from atlas_search.core.domain import OCR_CONFIDENCE
from atlas_search.language.languages import UNSPACED
from atlas_search.readers import Read, ScanDraft, Skipped
from atlas_search.readers.markup import plain
from atlas_search.readers.print import labels_of_pages, page_label
from atlas_search.readers.xml.tree import NO_TEXT, TextWriter

_SOFT_HYPHEN = "\u00ad"
_NO_BLANK = re.compile(f"(?<=[{UNSPACED}]) (?=[{UNSPACED}])")
_GAP = 8  # characters; no more stand between two words of a text that is made here
SCAN: Mapping[str, object] = {"content_type": "scan"}
"""Metadata of what pictures of its pages can be shown for."""


Half = Literal["", "first", "second"]
Sides = tuple[float, float, float, float]
"""The left, upper, right and lower side of a word in units of its page; all 0 if not stated."""


class ScannedWord(NamedTuple):
    """A word, or a half of one that a line's end breaks: then `whole` is all of it, if known.

    `confidence` is that of its recognition, from 0 to 1, negative where none is stated.
    """

    text: str
    confidence: float = -1
    half: Half = ""
    whole: str = ""
    sides: Sides = (0, 0, 0, 0)


class Block(NamedTuple):
    """A paragraph of a page; `ids` are its own, of what is in it and of the blocks around it."""

    lines: Sequence[Sequence[ScannedWord]]
    ids: tuple[str, ...] = ()


class ScannedPage(NamedTuple):
    """A page with its blocks in reading order; `label` is the number printed on it, or empty.

    `width` and `height` are in the units of its words, `image` is the name of its picture,
    `section` the path of headings that it stands below, if anybody states one.
    """

    blocks: Sequence[Block]
    label: str = ""
    width: float = 0
    height: float = 0
    image: str = ""
    section: tuple[str, ...] = ()


def in_order(blocks: Sequence[etree._Element], order: Sequence[str]) -> Sequence[etree._Element]:
    """The blocks in the order in which they, or what is in them, are named.

    One that is not named stays behind the one before it.
    """
    places = {id_: place for place, id_ in reversed(list(enumerate(order)))}
    ranks: list[int] = []
    for block in blocks:
        own = (places[id_] for part in block.iter() if (id_ := part.get("id")) in places)
        ranks.append(min(own, default=ranks[-1] if ranks else 0))
    return [blocks[at] for at in sorted(range(len(blocks)), key=ranks.__getitem__)]


def confidence_of(stated: str | None, highest: float = 1) -> float:
    """The confidence of a word from 0 to 1, stated as a share of `highest`; -1 if it is none."""
    return number_of(stated, -highest) / highest


def number_of(stated: str | None, otherwise: float = 0) -> float:
    """A number as an attribute states it, or `otherwise` if it is none."""
    try:
        return float(stated or "")
    except ValueError:
        return otherwise


def marks(page: ScannedPage, text: str, start: int, end: int) -> list[list[float]]:
    """Find the boxes of the characters `start` to `end` of `text`, which was read from this page.

    One for each line: left, top, width and height, in shares of those of the page.
    """
    lines = [line for block in page.blocks for line in block.lines]
    halves = _Halves()
    places = _places(text, [halves.join(word) for line in lines for word in line])
    boxes = []
    for line in lines:
        at = [(next(places), word.sides) for word in line]
        own = [sides for (first, last), sides in at if first < end and last > start and any(sides)]
        if own and page.width > 0 and page.height > 0:
            left, top, right, bottom = (list(each) for each in zip(*own, strict=True))
            x, y, to, down = min(left), min(top), max(right), max(bottom)
            shares = x / page.width, y / page.height, to / page.width, down / page.height
            x, y, to, down = (min(1.0, max(0.0, share)) for share in shares)
            boxes.append([x, y, to - x, down - y])
    return boxes


def scan_draft(
    pages: Iterable[ScannedPage],
    metadata: Mapping[str, object],
    *,
    title: str = "",
    key: str = "",
    remark: str = "",
) -> Read:
    """The draft of a document on these pages, with the mean confidence of its words.

    A broken word stands whole on its first line, where the source says so; else its halves keep
    the hyphen and the line's end between them.
    """
    writer, halves = TextWriter(), _Halves()
    stated: list[tuple[str, float]] = []
    section: tuple[str, ...] = ()
    for page in pages:
        writer.page(page_label(page.label))
        if page.section != section:
            section = page.section
            writer.section(*section)
        for block in page.blocks:
            writer.block()
            for line in block.lines:
                writer.line()
                words = list(map(halves.join, line))
                writer.add(_NO_BLANK.sub("", " ".join(filter(None, words))))
                stated += zip(words, (word.confidence for word in line), strict=True)
    composed = writer.finish()
    if not composed.text:
        return Skipped(f"{NO_TEXT}: no word was recognised on it", key)
    places = _places(composed.text, (text for text, _ in stated))
    confidences = tuple(
        (start, sure)
        for (start, _), (_, sure) in zip(places, stated, strict=True)
        if 0 <= sure <= 1
    )
    mean = round(fmean(sure for _, sure in confidences), 3) if confidences else ""
    fields = {**metadata, OCR_CONFIDENCE: mean}
    return ScanDraft(
        composed.text,
        title,
        key,
        {name: value for name, value in fields.items() if value not in ("", [])},
        tuple(offset for _, offset in composed.marks),
        composed.segments if any(each.section for each in composed.segments) else (),
        remark=remark,
        printed_pages=labels_of_pages([label for label, _ in composed.marks]),
        confidences=confidences,
    )


def _places(text: str, words: Iterable[str]) -> Iterator[tuple[int, int]]:
    """The first and last offset of each word in the text, in which all come in this order.

    An empty one stands where the word before it does.
    """
    start = end = 0
    for word in words:
        if word:
            start = text.find(plain(word), end, end + _GAP + len(word))
            start, end = (end, end) if start < 0 else (start, start + len(word))
        yield start, end


class _Halves:
    """The halves of broken words, which may stand on two pages."""

    def __init__(self) -> None:
        self._begun = ""

    def join(self, word: ScannedWord) -> str:
        """The text of a word to write: nothing of a half of which the whole has been given."""
        if word.half == "second" and self._begun and word.whole in ("", self._begun):
            self._begun = ""
            return ""
        if word.half == "first" and word.whole:
            self._begun = word.whole
            return word.whole
        # nothing else is seen of a soft hyphen
        return f"{word.text[:-1]}-" if word.text.endswith(_SOFT_HYPHEN) else word.text
