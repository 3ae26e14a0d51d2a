"""Reading an answer: its sentences, and the citation tokens that belong to each.

An answer is read in stretches, each read on its own, that end at the end of a line or behind the
tokens of a finished sentence. What follows never changes how a stretch is read, so an answer can
be read while it is being written.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from atlas_search.core.domain import MARKER
from atlas_search.core.locator import BEGUN_PLACE
from atlas_search.language.text import TextSpan, lines, sentences

LONGEST = 5000  # characters read at once: sentencex takes quadratic time for open quotes

# all that str.isspace() knows, but the end of a line
_BLANKS = "".join(c for c in map(chr, range(0x3001)) if c.isspace() and c != "\n")
# tokens in a row, with what joins them and round brackets about them
_GROUP = re.compile(rf"(?P<open>\()?{MARKER.pattern}(?:[\s,;]*{MARKER.pattern})*(?(open)\))")
_BEGUN = re.compile(rf"\[[^\[\]\s]*(?: {BEGUN_PLACE})?")
_CLOSERS = re.compile(r"[.!?…。؟।]*[\"'”’»)\]*_]*")
_OPENERS = frozenset("\"'“‘«„([*_#")
_ITEM = re.compile(r"(?:\d{1,3}|[a-zA-Z])[.)]")
_TAIL = 200  # characters that tell an abbreviation from the end of a sentence


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence without its tokens, and the tokens in order, repeated ones repeatedly."""

    text: str
    markers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Sentences that are read together.

    The stretch begins at `start` of the answer, behind all tokens of the sentences before it.
    """

    start: int
    sentences: tuple[MarkedSentence, ...]


@dataclass(frozen=True, slots=True)
class Languages:
    """The language of the passages a token names, and the one of text without known tokens."""

    of: Mapping[str, str]
    usual: str


@dataclass(frozen=True, slots=True)
class _Plain:
    """An answer without its tokens.

    `tokens` stand at `offsets` of `text`. What begins at `pieces[i]` of `text` begins at
    `origins[i]` of the answer.
    """

    text: str
    tokens: Sequence[str]
    offsets: Sequence[int]
    pieces: Sequence[int]
    origins: Sequence[int]

    def origin(self, offset: int) -> int:
        """Where a character of `text` stands in the answer."""
        piece = bisect_right(self.pieces, offset) - 1
        return self.origins[piece] + offset - self.pieces[piece]

    def cited(self, start: int, end: int) -> range:
        """The tokens that stand behind a character from `start` to `end`, by index."""
        return range(bisect_right(self.offsets, start), bisect_right(self.offsets, end))


def stretches(answer: str, languages: Languages) -> list[Stretch]:
    """The stretches of an answer that hold a sentence, in order.

    A token behind a character of a stretch belongs to the last sentence there that begins before
    it, else to the first one there. Where a stretch holds no sentence, its tokens belong to the
    last one before, else to the first of all. What holds no letter and no digit is no sentence.
    """
    plain = _plain(answer)
    found = _find_sentences(plain, languages)
    begins = _begins(found)
    markers: list[list[str]] = [[] for _ in found]
    for token, offset in zip(plain.tokens, plain.offsets, strict=True):
        if found:
            markers[max(bisect_left(begins, offset) - 1, 0)].append(token)
    written = [
        (start, MarkedSentence(plain.text[span.start : span.end], tuple(own)))
        for (start, span), own in zip(found, markers, strict=True)
    ]
    return [
        Stretch(plain.origin(start), tuple(sentence for _, sentence in together))
        for start, together in groupby(written, key=lambda pair: pair[0])
    ]


def places(answer: str, languages: Languages) -> list[TextSpan]:
    """Where the sentences that `stretches` reads stand in the answer, each with its tokens.

    Each ends where the next begins, so the blanks between them are in it.
    """
    plain = _plain(answer)
    found = [plain.origin(begin) for begin in _begins(_find_sentences(plain, languages))]
    edges = [0, *found[1:], len(answer)]
    return [TextSpan(start, end) for start, end in pairwise(edges)] if found else []


def without_begun_token(text: str) -> str:
    """`text` up to where a token begins whose end has not come yet."""
    start = text.rfind("[")
    return text[:start] if start >= 0 and _BEGUN.fullmatch(text, start) else text


def _find_sentences(plain: _Plain, languages: Languages) -> list[tuple[int, TextSpan]]:
    """Each sentence behind the start of its stretch."""
    return [
        (start, span)
        for start, end, language in _cut(plain, languages)
        for span in _sentences(plain.text, start, end, language)
    ]


def _begins(found: Sequence[tuple[int, TextSpan]]) -> list[int]:
    """From where on each sentence's own tokens stand: the first of a stretch has all from there."""
    return [
        span.start if number and found[number - 1][0] == start else start
        for number, (start, span) in enumerate(found)
    ]


def _plain(answer: str) -> _Plain:
    parts: list[str] = []
    tokens: list[str] = []
    offsets: list[int] = []
    pieces, origins = [0], [0]
    length = last = written = 0  # `written` is where the last character that is no blank ends
    for group in _GROUP.finditer(answer):
        piece = answer[last : group.start()].rstrip(_BLANKS)
        if stripped := piece.rstrip():
            written = length + len(stripped)
        found = MARKER.findall(group.group())
        tokens += found
        offsets += [written] * len(found)
        parts.append(piece)
        length, last = length + len(piece), group.end()
        pieces.append(length)
        origins.append(last)
    return _Plain("".join([*parts, answer[last:]]), tokens, offsets, pieces, origins)


def _cut(plain: _Plain, languages: Languages) -> Iterator[tuple[int, int, str]]:
    """Start, end and language of each stretch, the language that of what it cites first.

    A stretch begins with no blank: a token could stand behind that, and belong to what is before.
    """
    for line in lines(plain.text):
        start, language = _behind_blanks(plain.text, line.start, line.end), ""
        for index in plain.cited(start, line.end):
            if plain.offsets[index] <= start:
                continue
            language = language or languages.of.get(plain.tokens[index], "")
            end = _CLOSERS.match(plain.text, plain.offsets[index], line.end)
            stop = end.end() if end else plain.offsets[index]
            glued = stop > plain.offsets[index] and not plain.text[stop : stop + 1].isspace()
            if not glued and _next_begins(plain.text, stop, line.end):
                tail = plain.text[max(start, stop - _TAIL) : stop]
                if _ends(tail, language or languages.usual):
                    yield start, stop, language or languages.usual
                    start, language = _behind_blanks(plain.text, stop, line.end), ""
        yield start, line.end, language or languages.usual


def _behind_blanks(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start


def _next_begins(text: str, start: int, end: int) -> bool:
    """Whether what comes next could begin a sentence."""
    start = _behind_blanks(text, start, end)
    first = text[start:end][:1]
    return first in _OPENERS or (first.isalnum() and not first.islower())


def _ends(tail: str, language: str) -> bool:
    """Whether a sentence ends where `tail` does, and not only an abbreviation."""
    tail = tail.rstrip("*_")
    found = sentences(f"{tail} The", language)
    return bool(found) and found[-1].start >= len(tail)


def _sentences(text: str, start: int, end: int, language: str) -> list[TextSpan]:
    """The sentences of a stretch; the number of a list item is no sentence."""
    found: list[TextSpan] = []
    item = -1
    for block in range(start, end, LONGEST):
        for inner in sentences(text[block : min(block + LONGEST, end)], language):
            span = TextSpan(block + inner.start, block + inner.end)
            written = text[span.start : span.end]
            if item >= 0:
                span = TextSpan(item, span.end)
            item = span.start if _ITEM.fullmatch(written) and span.end < end else -1
            if item < 0 and any(c.isalnum() for c in text[span.start : span.end]):
                found.append(span)
    return [*found, TextSpan(item, end)] if item >= 0 else found
