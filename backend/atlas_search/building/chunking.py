"""Cutting documents into passages with exact character spans.

Spans are computed, never searched for afterwards: a library that returns strings has to look
them up again, and finds the wrong place where a text repeats itself.

Headings are context of the text under them, not passages. A section path names them already, so a
passage begins behind its headings and does not end with those of the next. A heading with no text
under it is in the path of none; it stays in the passage after it, or at the end of the last.
"""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal, NamedTuple, Protocol

from atlas_search.core.domain import CONTEXT_JOINT, Document, Located, Segment
from atlas_search.core.errors import SourceError
from atlas_search.core.locator import root
from atlas_search.language.lines import fill
from atlas_search.language.text import TextSpan, lines, sentences, trim

_ENDS = (".", "!", "?", ":", ";", ",")
_UNDERLINE = re.compile(r"\n[=~-]{3,}[^\S\n]*(?=\n|\Z)")
_MARKS = re.compile(r"\A(?:#+\s|\*\*|__)|(?:\s#+|\*\*|__)\Z")
_CUT = 200
"""Characters at which readers cut the name of a section."""
_LONGEST = 10 * _CUT
"""Characters of a line or a paragraph that can be a heading. Else each section of a text without
blank lines would be looked for in all that follows."""


def is_title(title: str, text: str) -> bool:
    """Return whether a title taken from `text` is one, and not only how the text begins.

    It is if it stands elsewhere, or alone on the first line with more text to follow, and ends like
    one.
    """
    first, _, rest = text.strip().partition("\n")
    begins = _plain(text.strip()[: 2 * len(title)]).startswith(_plain(title.removesuffix("…")))
    stands_alone = _plain(first) == _plain(title) and bool(rest)
    return not begins or (stands_alone and not title.endswith(_ENDS))


def heading_spans(document: Document) -> list[TextSpan]:
    """Return the places of the title and of the headings of sections in the text, in order.

    A segment begins with its heading if its first line, or its first paragraph, is the last part
    of its section path. A section may be followed by one of the same name, which nobody speaks yet.
    """
    text = document.text
    starts = {trim(text, 0, len(text)).start: document.title} if document.is_titled else {}
    before = ""
    for segment in document.segments:
        if segment.section != before or not segment.speaker:
            before = segment.section
            starts[segment.start] = before.rpartition(CONTEXT_JOINT)[2]
    result: list[TextSpan] = []
    for start, name in sorted(starts.items()):
        span = _heading_at(text, start, name)
        if span and (not result or start >= result[-1].end):
            result.append(span)
    return result


def without_headings(document: Document, spans: Sequence[TextSpan]) -> list[TextSpan]:
    """Return `spans` without the headings at their ends that a section path names.

    None is empty, and no character that is not a heading gets lost. Of a document of headings
    alone, all is left as it is.
    """
    headings = heading_spans(document)
    if not headings:
        return list(spans)
    result: list[TextSpan] = []
    waiting: list[TextSpan] = []  # headings between the last passage and the next
    for span in spans:
        body = _without(document.text, span, headings)
        waiting += _between(headings, span.start, body.start)
        if body.start == body.end:
            continue
        named = _names(document, body.start)
        unnamed = [h.start for h in waiting if _plain(document.text[slice(*h)]) not in named]
        result.append(TextSpan(min([body.start, *unnamed]), body.end))
        waiting = _between(headings, body.end, span.end)
    if not result:
        return list(spans)
    if waiting:
        result[-1] = TextSpan(result[-1].start, waiting[-1].end)
    return result


def _heading_at(text: str, start: int, name: str) -> TextSpan | None:
    """Return the line or paragraph at `start` if it reads `name`, with a line drawn under it."""
    wanted = _plain(name)
    for mark in ("\n", "\n\n"):
        end = text.find(mark, start, start + _LONGEST)
        if end < 0 and start + _LONGEST < len(text):
            return None
        span = trim(text, start, end if end >= 0 else len(text))
        read = _plain(text[slice(*span)])
        if wanted and (read == wanted or (len(name) >= _CUT and read.startswith(wanted))):
            drawn = _UNDERLINE.match(text, span.end)
            return TextSpan(span.start, drawn.end() if drawn else span.end)
    return None


def _plain(line: str) -> str:
    """Return a heading as it is compared."""
    return " ".join(_UNDERLINE.sub("", _MARKS.sub("", line.strip())).casefold().split())


def _without(text: str, span: TextSpan, headings: Sequence[TextSpan]) -> TextSpan:
    """Return the span without the headings at both ends, which may leave nothing."""
    start, end = span
    # by number: of a text of a hundred thousand headings, a copy for each passage takes minutes
    for number in range(bisect_left(headings, (start, 0)), len(headings)):
        heading = headings[number]
        if heading.start != start or heading.end > end:
            break
        start = trim(text, heading.end, end).start
    for number in reversed(range(bisect_left(headings, (end, 0)))):
        heading = headings[number]
        if heading.end != end or heading.start < start:
            break
        end = trim(text, start, heading.start).end
    return TextSpan(start, end)


def _between(headings: Sequence[TextSpan], start: int, end: int) -> list[TextSpan]:
    """Return headings from `start` to `end`; none overlaps another, so their ends ascend, too."""
    first = bisect_left(headings, (start, 0))
    return list(headings[first : bisect_right(headings, end, key=lambda heading: heading.end)])


def _names(document: Document, at: int) -> set[str]:
    """Return what stands above the text at a place: the title, and the parts of its section
    path."""
    index = bisect_right(document.segments, at, key=lambda segment: segment.start) - 1
    section = document.segments[index].section if index >= 0 else ""
    names = (document.title, *section.split(CONTEXT_JOINT))
    # a longer one is no heading, and each passage would read it
    return {_plain(name) for name in names if 0 < len(name) <= _LONGEST}


TokenSpans = Callable[[str], Sequence[tuple[int, int]]]
"""The character spans of the embedding model's tokens of a text, in ascending order."""

# blanks have no token, and a word unknown to the model has one, be it a page of base64
_CHARACTERS_PER_TOKEN = 20


class Measure(Protocol):
    """Length in units, without a walk through the text; an end may lie outside of it."""

    def reach(self, start: int, count: int) -> int:
        """Return the last end of a span from `start` of at most `count` units."""

    def back(self, end: int, count: int) -> int:
        """Return the first start of a span to `end` of at most `count` units."""


class Characters:
    """Measure of one unit a character."""

    def reach(self, start: int, count: int) -> int:
        return start + count

    def back(self, end: int, count: int) -> int:
        return end - count


class Tokens:
    """Measure of one unit a token that the span touches, and at most 20 characters for each."""

    def __init__(self, spans: Sequence[tuple[int, int]]):
        self._starts = array("q", (start for start, _ in spans))
        self._ends = array("q", (end for _, end in spans))

    def reach(self, start: int, count: int) -> int:
        beyond = bisect_right(self._ends, start) + count
        limit = start + count * _CHARACTERS_PER_TOKEN
        if beyond < len(self._starts):
            limit = min(self._starts[beyond], limit)
        return max(limit, start)  # where one character alone has more tokens

    def back(self, end: int, count: int) -> int:
        before = bisect_left(self._starts, end) - count
        limit = end - count * _CHARACTERS_PER_TOKEN
        if before > 0:
            limit = max(self._ends[before - 1], limit)
        return min(limit, end)  # where a token goes on behind the end


Splitter = Literal["recursive", "fixed", "paragraph", "sentence", "structural", "whole"]
Unit = Literal["characters", "tokens"]

LIMITS: Mapping[Unit, tuple[int, int]] = {"characters": (50, 20_000), "tokens": (16, 8192)}
_SIZES: Mapping[Unit, int] = {"characters": 1000, "tokens": 200}  # a token has about 5 characters
_FIXED_SIZES: Mapping[Unit, int] = {"characters": 800, "tokens": 160}
_OVERLAP_PERCENT: Mapping[Splitter, int] = {"recursive": 10, "structural": 10, "fixed": 15}


@dataclass(frozen=True)
class Chunking:
    """Choice of cuts without contradictions; make it with `chunking`.

    `size` and `overlap` are in `unit`, both 0 where documents are left whole. Every splitter but
    `whole` keeps pages and speakers apart, so that words are never given to somebody else, and the
    sections of statutes; the structural one keeps all sections apart. `across_pages` and
    `across_sections` let passages run over the end of a page, or of a speech or section.
    """

    splitter: Splitter = "recursive"
    size: int = 1000
    overlap: int = 100
    unit: Unit = "characters"
    across_pages: bool = False
    across_sections: bool = False


def chunking(
    splitter: Splitter = "recursive",
    size: int | None = None,
    overlap: int | None = None,
    unit: Unit = "characters",
    across_pages: bool = False,
    across_sections: bool = False,
) -> Chunking:
    """Return the choice, with the splitter's own size and overlap where none is given.

    A fixed window has 800 characters, 15 % of them overlap; others 1000 and 10 %; in tokens a
    fifth of it. Single paragraphs and sentences overlap only on demand, where a long one is cut.
    Raises SourceError that names the option.
    """
    if splitter == "whole":
        for option, value in (("--chunk-size", size), ("--chunk-overlap", overlap)):
            if value is not None:
                raise SourceError(f"{option} {value}: whole documents are not cut; leave it out.")
        return Chunking(splitter, 0, 0, unit, across_pages, across_sections)
    if size is None:
        size = (_FIXED_SIZES if splitter == "fixed" else _SIZES)[unit]
    if overlap is None:
        overlap = size * _OVERLAP_PERCENT.get(splitter, 0) // 100
    least, most = LIMITS[unit]
    if not least <= size <= most:
        raise SourceError(f"--chunk-size {size}: give {least} to {most} {unit}.")
    if not 0 <= overlap <= size // 2:
        raise SourceError(f"--chunk-overlap {overlap}: give 0 to half the chunk size ({size}).")
    return Chunking(splitter, size, overlap, unit, across_pages, across_sections)


Starts = Callable[[str, TextSpan], Iterable[int]]
"""Function that gives the starts of the parts of a span, ascending; it may leave out the first."""

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_HEADING = re.compile(r"#{1,6} [^\n]+|[A-Z][A-Z0-9 ,.'’&()-]{1,80}")
# blanks are taken once and never given back, or a long run of them takes quadratic time
_TABLE_RULE = re.compile(r"(?:[ \t]*+\|)?(?:[ \t]*+:?-+:?[ \t]*+\|)+(?:[ \t]*+:?-+:?[ \t]*+)?")
_BLANK = re.compile(r"\s+")
# a question, a name and its body, an introduction and its list; "—" as in "In this Act—"
_LEADS_IN = "?:({[—？：؟（"
_JOINER = "\u200d"
# skin tones and the letters of subdivision flags; variation selectors are marks by category
_MODIFIER = re.compile("[\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
# sentencex takes quadratic time on sentences without blanks between them, as in Chinese:
# 0.01 s for 4,000 characters, 22 s for 200,000
_WINDOW = 4000


def parts(text: str, span: TextSpan, starts: Starts) -> Iterator[TextSpan]:
    """Return what lies between the boundaries in a span, trimmed, without the blank ones."""
    for left, right in pairwise(chain((span.start,), starts(text, span), (span.end,))):
        part = trim(text, left, right)
        if part.start < part.end:
            yield part


def paragraph_starts(text: str, span: TextSpan) -> Iterator[int]:
    """Return the starts of paragraphs, except after a heading: it belongs to what follows."""
    start = span.start
    for match in _PARAGRAPH.finditer(text, *span):
        if not _HEADING.fullmatch(text, start, match.start()):
            yield match.end()
        start = match.end()


def line_starts(text: str, span: TextSpan) -> Iterator[int]:
    """Return the starts of lines, but of none that goes on with the sentence before.

    Nor does one begin between the header of a Markdown table and its first row.
    """
    under_header = False
    for line in lines(fill(text[span.start : span.end])):
        is_rule = _TABLE_RULE.fullmatch(text, span.start + line.start, span.start + line.end)
        if not (is_rule or under_header):
            yield span.start + line.start
        under_header = is_rule is not None


def leads_in(text: str, span: TextSpan) -> bool:
    """Return whether a span ends with what says little without what follows: a question, a
    heading."""
    line = text.rfind("\n", 0, span.end) + 1
    return text[span.end - 1] in _LEADS_IN or (
        span.start <= line
        and text.startswith("\n", span.end)
        and _HEADING.fullmatch(text, line, span.end) is not None
    )


def word_starts(text: str, span: TextSpan) -> Iterator[int]:
    """Return the starts of words, that is, of what stands between blanks."""
    return (match.end() for match in _BLANK.finditer(text, *span))


def sentence_starts(text: str, span: TextSpan) -> Iterator[int]:
    """Return the starts of sentences; in a line of more than 4,000 characters, window by window."""
    at = span.start
    while at < span.end:
        end = min(at + _WINDOW, span.end)
        starts = [at + sentence.start for sentence in sentences(text[at:end])][1:]
        yield from (start for start in starts if not _is_one_character(text, start))
        # the last sentence may go on behind the window
        at = starts[-1] if starts and end < span.end else end


def last_cut(text: str, start: int, at: int) -> int:
    """Return the last place after `start`, up to `at`, that cuts no character from its marks.

    It is `at` if there is none, but never `start` itself.
    """
    at = max(at, start + 1)
    cut = at
    while cut > start and _is_one_character(text, cut):
        cut -= 1
    return cut if cut > start else at


def first_cut(text: str, at: int, end: int) -> int:
    """Return the first place from `at`, up to `end`, that cuts no character from its marks."""
    while at < end and _is_one_character(text, at):
        at += 1
    return at


def _is_one_character(text: str, at: int) -> bool:
    """Return whether a reader sees what is before `at` and what follows as one character."""
    if not 0 < at < len(text):
        return False
    following = text[at]
    return (
        text[at - 1] == _JOINER
        or unicodedata.category(following).startswith("M")
        or _MODIFIER.match(following) is not None
    )


_WORD_START = re.compile(r"(?<=\s)\S")
LEVELS: tuple[Starts, ...] = (paragraph_starts, line_starts, sentence_starts, word_starts)


@dataclass(frozen=True)
class _Cutter:
    """Cuts spans of a text into pieces of at most `size` units, of which neighbours share at most
    `overlap`."""

    text: str
    size: int
    overlap: int
    measure: Measure

    def _limit(self, start: int) -> int:
        """Return the last end of a piece from `start`."""
        return self.measure.reach(start, self.size)

    def fixed(self, span: TextSpan) -> Iterator[TextSpan]:
        """Return windows; each begins `overlap` units before the last one's end.

        A window ends between words if it can in its last fifth, and begins with a word if one
        begins in its overlap; else both are cut hard. Requires 0 <= overlap <= size // 2 and a
        trimmed span.
        """
        start = covered = span.start
        while covered < span.end:
            end = self._window_end(start, span.end)
            if end > covered:
                yield TextSpan(start, end)
                covered = end
                start = self._overlap_start(TextSpan(start, end))
            else:  # a long run of blanks follows: the overlap leaves no room for anything new
                start = covered
            start = trim(self.text, start, span.end).start

    def _window_end(self, start: int, last: int) -> int:
        limit = self._limit(start)
        if limit >= last:
            return last
        earliest = self.measure.reach(start, self.size * 4 // 5)
        for at in range(limit, earliest, -1):
            if self.text[at].isspace():
                return trim(self.text, start, at).end
        return last_cut(self.text, start, limit)

    def _overlap_start(self, window: TextSpan) -> int:
        earliest = max(self.measure.back(window.end, self.overlap), window.start + 1)
        word = _WORD_START.search(self.text, earliest, window.end)
        return word.start() if word else first_cut(self.text, earliest, window.end)

    def recursive(self, span: TextSpan, levels: tuple[Starts, ...] = LEVELS) -> Iterator[TextSpan]:
        """Return spans cut at the coarsest boundary that fits.

        Boundaries are those of `levels`, then characters. What leads in, a question or a function's
        name, stays with what it leads to. Neighbouring pieces are joined while they fit. A span
        repeats whole pieces of up to `overlap` units from the end of the one before: sentences
        where a paragraph had to be cut, nothing where two paragraphs part. Of 1000 characters with
        an overlap of 200, 84 % of the neighbours in running prose overlap (200 whole words would be
        repeated always, but four passages in five would begin inside a sentence, and so would the
        quotations from them). Requires 0 <= overlap < size.
        """
        if span.end <= self._limit(span.start):
            return iter((span,))
        return self._join(self._led(self._pieces(span, levels)))

    def _join(self, pieces: Iterable[TextSpan]) -> Iterator[TextSpan]:
        held: list[TextSpan] = []
        limit = 0
        for piece in pieces:
            if held and piece.end > limit:
                yield TextSpan(held[0].start, held[-1].end)
                held = self._repeated(held, piece) if self.overlap else []
            held.append(piece)
            limit = self._limit(held[0].start)
        if held:
            yield TextSpan(held[0].start, held[-1].end)

    def _repeated(self, held: list[TextSpan], following: TextSpan) -> list[TextSpan]:
        """Return the last pieces, within the overlap, that still fit with the piece to follow."""
        earliest = self.measure.back(held[-1].end, self.overlap)
        first = len(held)
        while (
            first > 0
            and held[first - 1].start >= earliest
            and following.end <= self._limit(held[first - 1].start)
        ):
            first -= 1
        return held[first:]

    def _pieces(self, span: TextSpan, levels: tuple[Starts, ...]) -> Iterator[TextSpan]:
        """Cut a span that is too long into pieces that fit."""
        if not levels:
            yield from self._cut_word(span)
            return
        for part in parts(self.text, span, levels[0]):
            if part.end <= self._limit(part.start):
                yield part
            else:
                yield from self._pieces(part, levels[1:])

    def _led(self, pieces: Iterable[TextSpan]) -> Iterator[TextSpan]:
        """Join each piece that leads in with the next, or the sentences where they meet."""
        before: TextSpan | None = None
        for piece in pieces:
            if before:
                *earlier, piece = self._meet(before, piece)
                yield from earlier
            before = piece if leads_in(self.text, piece) else None
            if not before:
                yield piece
        if before:
            yield before

    def _meet(self, before: TextSpan, after: TextSpan) -> Sequence[TextSpan]:
        """Return two pieces as one, or the last sentence of one with the first line or sentence of
        the other, or both as they are, where nothing fits."""
        if after.end <= self._limit(before.start):
            return (TextSpan(before.start, after.end),)
        *earlier, last = parts(self.text, before, sentence_starts)
        limit = self._limit(last.start)
        if after.end <= limit:
            return (*earlier, TextSpan(last.start, after.end))
        first, *later = self._lines_or_sentences(after)
        if first.end <= limit:
            return (*earlier, TextSpan(last.start, first.end), *later)
        return (before, after)

    def _lines_or_sentences(self, span: TextSpan) -> list[TextSpan]:
        """Return the lines, or the sentences of the only one: not of a table's header with its
        first row."""
        result = list(parts(self.text, span, line_starts))
        whole = len(result) > 1 or self.text.find("|", *span) >= 0
        return result if whole else list(parts(self.text, span, sentence_starts))

    def _cut_word(self, word: TextSpan) -> Iterator[TextSpan]:
        start = word.start
        while start < word.end:
            limit = self._limit(start)
            end = last_cut(self.text, start, limit) if limit < word.end else word.end
            yield TextSpan(start, end)
            start = end


_Split = Callable[[TextSpan], Iterator[TextSpan]]


def passage_spans(
    document: Document, chunking: Chunking, token_spans: TokenSpans | None
) -> list[TextSpan]:
    """Return the passages of a document, trimmed, in order, none inside another.

    Every character but blanks and headings is in one of them. None is longer than the size, except
    a single character of more tokens, and one with headings that have no text under them.
    `token_spans` is asked once, and only if the unit is tokens.
    """
    text = document.text
    if chunking.splitter == "whole":
        span = trim(text, 0, len(text))
        return [span] if span.start < span.end else []
    split = _splitter(document, chunking, token_spans)
    regions = (trim(text, *region) for region in pairwise(_bounds(document, chunking)))
    spans = [span for region in regions if region.start < region.end for span in split(region)]
    return without_headings(document, spans)


def _bounds(document: Document, chunking: Chunking) -> Sequence[int]:
    """Return where no passage may run on, with both ends of the text."""
    bounds = {0, len(document.text)}
    if not chunking.across_pages:
        bounds.update(document.pages)
    if not chunking.across_sections:
        structural = chunking.splitter == "structural"
        bounds.update(
            segment.start
            for before, segment in pairwise((Segment(0), *document.segments))
            if structural
            or segment.speaker != before.speaker
            or root(segment.locator) != root(before.locator)
        )
    return sorted(bounds)


def _splitter(document: Document, chunking: Chunking, token_spans: TokenSpans | None) -> _Split:
    text = document.text
    measure: Measure = Characters()
    if chunking.unit == "tokens":
        if token_spans is None:
            raise ValueError("passages measured in tokens need the token spans of the model")
        measure = Tokens(token_spans(text))
    cutter = _Cutter(text, chunking.size, chunking.overlap, measure)
    if chunking.splitter == "fixed":
        return cutter.fixed
    if chunking.splitter == "structural":
        segments = [segment.start for segment in document.segments]

        def segment_starts(_: str, span: TextSpan) -> Sequence[int]:
            return segments[bisect_right(segments, span.start) : bisect_left(segments, span.end)]

        return lambda region: cutter.recursive(region, (segment_starts, *LEVELS))
    if chunking.splitter == "recursive":
        return cutter.recursive
    starts = paragraph_starts if chunking.splitter == "paragraph" else sentence_starts
    return lambda region: chain.from_iterable(map(cutter.recursive, parts(text, region, starts)))


class Position(NamedTuple):
    """Page, line (both from 1) and section at a passage's start, who speaks in it, how the source
    cites its parts and in which sections they are, and how it numbers its page.

    `speaker` names everybody who does, in order, with `; ` between; words of nobody in particular
    (a heading, a note of the reporter) add no name. Empty if unknown.
    """

    page: int
    line: int
    section: str
    speaker: str
    locators: tuple[Located, ...] = ()
    printed_page: str = ""


def positions(document: Document, spans: Sequence[TextSpan]) -> list[Position]:
    """Return the position of each span, in one walk through the text; spans in order of `start`."""
    starts = [segment.start for segment in document.segments]
    result = []
    line = 1
    walked = 0
    for span in spans:
        line += document.text.count("\n", walked, span.start)
        walked = span.start
        page = max(bisect_right(document.pages, span.start), 1)
        first = max(bisect_right(starts, span.start) - 1, 0)  # of the segments that it touches
        segments = document.segments[first : max(bisect_right(starts, span.end - 1), first)]
        result.append(
            Position(
                page,
                line,
                _section(segments, span),
                "; ".join(dict.fromkeys(each.speaker for each in segments if each.speaker)),
                _locators(segments, span),
                document.printed_pages[page - 1] if document.printed_pages else "",
            )
        )
    return result


def _section(segments: Sequence[Segment], span: TextSpan) -> str:
    return segments[0].section if segments and segments[0].start <= span.start else ""


def _locators(segments: Sequence[Segment], span: TextSpan) -> tuple[Located, ...]:
    """Return each locator where it begins in the passage; the first may have begun before it.

    Sections are told where there are several.
    """
    has_several = any(segment.section != _section(segments, span) for segment in segments)
    return tuple(
        Located(
            max(segment.start - span.start, 0),
            segment.locator,
            segment.section if has_several else None,
        )
        for segment in segments
        if segment.locator or has_several
    )
