"""Scanned pages: their words in lines and blocks, in reading order, and the text made of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

from lxml import etree

from atlas_search.core.domain import OCR_CONFIDENCE
from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.markup import plain
from atlas_search.readers.print import labels_of_pages, page_label
from atlas_search.readers.xml.tree import NO_TEXT, TextWriter

_SOFT_HYPHEN = "\u00ad"


Half = Literal["", "first", "second"]


class ScannedWord(NamedTuple):
    """A word, or a half of one that a line's end breaks: then `whole` is all of it, if known.

    `confidence` is that of its recognition, from 0 to 1, negative where none is stated.
    """

    text: str
    confidence: float = -1
    half: Half = ""
    whole: str = ""


class Block(NamedTuple):
    """A paragraph of a page; `ids` are its own, of what is in it and of the blocks around it."""

    lines: Sequence[Sequence[ScannedWord]]
    ids: tuple[str, ...] = ()


class ScannedPage(NamedTuple):
    """A page with its blocks in reading order; `label` is the number printed on it, or empty."""

    blocks: Sequence[Block]
    label: str = ""


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
    try:
        return float(stated or "") / highest
    except ValueError:
        return -1


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
    for page in pages:
        writer.page(page_label(page.label))
        for block in page.blocks:
            writer.block()
            for line in block.lines:
                writer.line()
                words = list(halves.join(line))
                writer.add(" ".join(text for text, _ in words if text))
                stated += ((text, sure) for text, sure in words if 0 <= sure <= 1)
    composed = writer.finish()
    if not composed.text:
        return Skipped(f"{NO_TEXT}: no word was recognised on it", key)
    confidences = tuple(_places(composed.text, stated))
    mean = round(fmean(sure for _, sure in confidences), 3) if confidences else ""
    fields = {**metadata, OCR_CONFIDENCE: mean}
    return Draft(
        composed.text,
        title,
        key,
        {name: value for name, value in fields.items() if value not in ("", [])},
        tuple(offset for _, offset in composed.marks),
        remark=remark,
        printed_pages=labels_of_pages([label for label, _ in composed.marks]),
        confidences=confidences,
    )


def _places(text: str, words: Iterable[tuple[str, float]]) -> Iterator[tuple[int, float]]:
    """The offset of each word in the text, in which all come in this order, with its confidence."""
    start = end = 0
    for word, confidence in words:
        if word:
            start = max(text.find(plain(word), end), end)
            end = start + len(word)
        yield start, confidence


class _Halves:
    """The halves of broken words, which may stand on two pages."""

    def __init__(self) -> None:
        self._begun = ""

    def join(self, line: Sequence[ScannedWord]) -> Iterator[tuple[str, float]]:
        """The words of a line and their confidences; of a half whose whole was given no word."""
        for word in line:
            if word.half == "second" and self._begun and word.whole in ("", self._begun):
                self._begun = ""
                yield "", word.confidence
            elif word.half == "first" and word.whole:
                self._begun = word.whole
                yield word.whole, word.confidence
            elif word.text.endswith(_SOFT_HYPHEN):  # else nothing is seen of it
                yield f"{word.text[:-1]}-", word.confidence
            else:
                yield word.text, word.confidence
