"""Where a text may be cut: paragraphs, lines, sentences, words, whole characters."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise

from atlas_search.language.lines import fill
from atlas_search.language.text import TextSpan, lines, sentences, trim

Starts = Callable[[str, TextSpan], Iterable[int]]
"""Where the parts of a span begin, in ascending order; the first may be left out."""

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
    """What lies between the boundaries in a span, trimmed, without the blank ones."""
    for left, right in pairwise(chain((span.start,), starts(text, span), (span.end,))):
        part = trim(text, left, right)
        if part.start < part.end:
            yield part


def paragraph_starts(text: str, span: TextSpan) -> Iterator[int]:
    """Where paragraphs begin, except after a heading: it belongs to what follows."""
    start = span.start
    for match in _PARAGRAPH.finditer(text, *span):
        if not _HEADING.fullmatch(text, start, match.start()):
            yield match.end()
        start = match.end()


def line_starts(text: str, span: TextSpan) -> Iterator[int]:
    """Where lines begin, but not those that go on with the sentence before.

    Nor does one begin between the header of a Markdown table and its first row.
    """
    under_header = False
    for line in lines(fill(text[span.start : span.end])):
        is_rule = _TABLE_RULE.fullmatch(text, span.start + line.start, span.start + line.end)
        if not (is_rule or under_header):
            yield span.start + line.start
        under_header = is_rule is not None


def leads_in(text: str, span: TextSpan) -> bool:
    """Whether a span ends with what says little without what follows: a question, a heading."""
    line = text.rfind("\n", 0, span.end) + 1
    return text[span.end - 1] in _LEADS_IN or (
        span.start <= line
        and text.startswith("\n", span.end)
        and _HEADING.fullmatch(text, line, span.end) is not None
    )


def word_starts(text: str, span: TextSpan) -> Iterator[int]:
    """Where words begin, that is, what stands between blanks."""
    return (match.end() for match in _BLANK.finditer(text, *span))


def sentence_starts(text: str, span: TextSpan) -> Iterator[int]:
    """Where sentences begin; in a line of more than 4,000 characters, found window by window."""
    at = span.start
    while at < span.end:
        end = min(at + _WINDOW, span.end)
        starts = [at + sentence.start for sentence in sentences(text[at:end])][1:]
        yield from (start for start in starts if not _is_one_character(text, start))
        # the last sentence may go on behind the window
        at = starts[-1] if starts and end < span.end else end


def last_cut(text: str, start: int, at: int) -> int:
    """The last place after `start`, up to `at`, that cuts no character from its marks.

    It is `at` if there is none, but never `start` itself.
    """
    at = max(at, start + 1)
    cut = at
    while cut > start and _is_one_character(text, cut):
        cut -= 1
    return cut if cut > start else at


def first_cut(text: str, at: int, end: int) -> int:
    """The first place from `at`, up to `end`, that cuts no character from its marks."""
    while at < end and _is_one_character(text, at):
        at += 1
    return at


def _is_one_character(text: str, at: int) -> bool:
    """Whether a reader sees what is before `at` and what follows as one character."""
    if not 0 < at < len(text):
        return False
    following = text[at]
    return (
        text[at - 1] == _JOINER
        or unicodedata.category(following).startswith("M")
        or _MODIFIER.match(following) is not None
    )
