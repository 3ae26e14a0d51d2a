"""Reading a text: its sentences, and the citation tokens that belong to each."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atlas_search.core.domain import MARKER, Passage
from atlas_search.core.locator import TOKEN_PLACE
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import TextSpan, lines, sentences

LONGEST = 5000  # characters read at once: sentencex takes quadratic time for open quotes

# all that str.isspace() knows, but the end of a line
_BLANKS = "".join(c for c in map(chr, range(0x3001)) if c.isspace() and c != "\n")
# tokens in a row, with what joins them and round brackets about them
_GROUP = re.compile(rf"(?P<open>\()?{MARKER.pattern}(?:[\s,;]*{MARKER.pattern})*(?(open)\))")
_TOKENS = re.compile(rf"(?<!\[)\[++[^\[\]\s]++ {TOKEN_PLACE}\]+")
ROUND = str.maketrans("[]［］【】", "()()()")
_ITEM = re.compile(r"(?:\d{1,3}|[a-zA-Z])[.)]")


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence without its tokens, and the tokens in order, repeated ones repeatedly."""

    text: str
    markers: tuple[str, ...]


def as_quoted(text: str) -> str:
    """A text of equal length with its citation tokens in round brackets: quoted, they cite nothing.

    Checks compare quotes with round brackets for square ones, so that they still find them.
    """
    return _TOKENS.sub(lambda found: found[0].translate(ROUND), text)


def read_marked(text: str, given: Sequence[Passage] = ()) -> list[MarkedSentence]:
    """The sentences of a text written from `given` passages, in order.

    A token belongs to the last sentence that begins before it, else to the first. What holds no
    letter and no digit is no sentence. A line is read in the language of what it cites first, else
    in that of the first passage.
    """
    plain, tokens, offsets = _without_tokens(text)
    languages = {passage.marker: passage.language for passage in given}
    usual = given[0].language if given else DEFAULT_LANGUAGE
    spans: list[TextSpan] = []
    for line in lines(plain):
        first, last = bisect_left(offsets, line.start + 1), bisect_left(offsets, line.end + 1)
        known = (languages[token] for token in tokens[first:last] if token in languages)
        spans += _sentences(plain, line, next(known, usual))
    starts = [span.start for span in spans]
    markers: list[list[str]] = [[] for _ in spans]
    for token, offset in zip(tokens, offsets, strict=True):
        if spans:
            markers[max(bisect_left(starts, offset) - 1, 0)].append(token)
    return [
        MarkedSentence(plain[span.start : span.end], tuple(own))
        for span, own in zip(spans, markers, strict=True)
    ]


def _without_tokens(text: str) -> tuple[str, list[str], list[int]]:
    """A text without its tokens, the tokens, and where the character before each ends in it."""
    parts: list[str] = []
    tokens: list[str] = []
    offsets: list[int] = []
    length = last = written = 0  # `written` is where the last character that is no blank ends
    for group in _GROUP.finditer(text):
        piece = text[last : group.start()].rstrip(_BLANKS)
        if stripped := piece.rstrip():
            written = length + len(stripped)
        markers = MARKER.findall(group.group())
        tokens += markers
        offsets += [written] * len(markers)
        parts.append(piece)
        length, last = length + len(piece), group.end()
    return "".join([*parts, text[last:]]), tokens, offsets


def _sentences(text: str, line: TextSpan, language: str) -> Iterator[TextSpan]:
    """The sentences of a line; the number of a list item is none."""
    item, block = -1, line.start
    while block < line.end:
        begun, block = block, _block_ends(text, block, line.end)
        for inner in sentences(text[begun:block], language):
            start, end = begun + inner.start, begun + inner.end
            is_item = _ITEM.fullmatch(text, start, end) and end < line.end
            start = item if item >= 0 else start
            item = start if is_item else -1
            if item < 0 and any(c.isalnum() for c in text[start:end]):
                yield TextSpan(start, end)
    if item >= 0:
        yield TextSpan(item, line.end)


def _block_ends(text: str, start: int, end: int) -> int:
    if end - start <= LONGEST:
        return end
    stop = text.rfind(". ", start, start + LONGEST)
    return stop + 2 if stop >= 0 else start + LONGEST
