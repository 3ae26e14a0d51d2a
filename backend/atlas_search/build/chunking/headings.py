"""Headings: they are context of the text under them, not passages.

A section path names them already, so a passage begins behind its headings and does not end with
those of the next. A heading with no text under it is in the path of none; it stays in the passage
after it, or at the end of the last.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from atlas_search.core.domain import CONTEXT_JOINT, Document
from atlas_search.language.text import TextSpan, trim

_ENDS = (".", "!", "?", ":", ";", ",")
_UNDERLINE = re.compile(r"\n[=~-]{3,}[^\S\n]*(?=\n|\Z)")
_MARKS = re.compile(r"\A(?:#+\s|\*\*|__)|(?:\s#+|\*\*|__)\Z")
_CUT = 200
"""Characters at which readers cut the name of a section."""
_LONGEST = 10 * _CUT
"""Characters of a line or a paragraph that can be a heading. Else each section of a text without
blank lines would be looked for in all that follows."""


def is_title(title: str, text: str) -> bool:
    """Whether a title that was taken from `text` is one, and not only how the text begins.

    It is if it stands elsewhere, or alone on the first line with more text to follow, and ends like
    one.
    """
    first, _, rest = text.strip().partition("\n")
    begins = _plain(text.strip()[: 2 * len(title)]).startswith(_plain(title.removesuffix("…")))
    stands_alone = _plain(first) == _plain(title) and bool(rest)
    return not begins or (stands_alone and not title.endswith(_ENDS))


def heading_spans(document: Document) -> list[TextSpan]:
    """Where the title and the headings of sections stand in the text, in order.

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
    found: list[TextSpan] = []
    for start, name in sorted(starts.items()):
        span = _heading_at(text, start, name)
        if span and (not found or start >= found[-1].end):
            found.append(span)
    return found


def without_headings(document: Document, spans: Sequence[TextSpan]) -> list[TextSpan]:
    """`spans` without the headings at their ends that a section path names.

    None is empty, and no character that is not a heading gets lost. Of a document of headings
    alone, all is left as it is.
    """
    headings = heading_spans(document)
    if not headings:
        return list(spans)
    found: list[TextSpan] = []
    waiting: list[TextSpan] = []  # headings between the last passage and the next
    for span in spans:
        body = _without(document.text, span, headings)
        waiting += _between(headings, span.start, body.start)
        if body.start == body.end:
            continue
        named = _names(document, body.start)
        unnamed = [h.start for h in waiting if _plain(document.text[slice(*h)]) not in named]
        found.append(TextSpan(min([body.start, *unnamed]), body.end))
        waiting = _between(headings, body.end, span.end)
    if not found:
        return list(spans)
    if waiting:
        found[-1] = TextSpan(found[-1].start, waiting[-1].end)
    return found


def _heading_at(text: str, start: int, name: str) -> TextSpan | None:
    """The line or the paragraph at `start` if it reads `name`, with a line drawn under it."""
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
    """A heading as it is compared."""
    return " ".join(_UNDERLINE.sub("", _MARKS.sub("", line.strip())).casefold().split())


def _without(text: str, span: TextSpan, headings: Sequence[TextSpan]) -> TextSpan:
    """The span without the headings at both ends, which may leave nothing."""
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
    """The headings from `start` to `end`; none overlaps another, so their ends ascend, too."""
    first = bisect_left(headings, (start, 0))
    return list(headings[first : bisect_right(headings, end, key=lambda heading: heading.end)])


def _names(document: Document, at: int) -> set[str]:
    """What stands above the text at this place: the title, and the parts of its section path."""
    index = bisect_right(document.segments, at, key=lambda segment: segment.start) - 1
    section = document.segments[index].section if index >= 0 else ""
    names = (document.title, *section.split(CONTEXT_JOINT))
    # a longer one is no heading, and each passage would read it
    return {_plain(name) for name in names if 0 < len(name) <= _LONGEST}
