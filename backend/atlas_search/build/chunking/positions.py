"""Where passages stand in their document, as a citation says it."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from atlas_search.core.domain import Document, Located, Segment
from atlas_search.language.text import TextSpan


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
    """The position of each span, in one walk through the text; spans in order of `start`."""
    starts = [segment.start for segment in document.segments]
    found = []
    line = 1
    walked = 0
    for span in spans:
        line += document.text.count("\n", walked, span.start)
        walked = span.start
        page = max(bisect_right(document.pages, span.start), 1)
        segments = _segments(document.segments, starts, span)
        found.append(
            Position(
                page,
                line,
                _section(segments, span),
                _speaker(segments),
                _locators(segments, span),
                document.printed_pages[page - 1] if document.printed_pages else "",
            )
        )
    return found


def _segments(
    segments: Sequence[Segment], starts: Sequence[int], span: TextSpan
) -> Sequence[Segment]:
    """Those the span touches."""
    first = max(bisect_right(starts, span.start) - 1, 0)
    return segments[first : max(bisect_right(starts, span.end - 1), first)]


def _section(segments: Sequence[Segment], span: TextSpan) -> str:
    return segments[0].section if segments and segments[0].start <= span.start else ""


def _locators(segments: Sequence[Segment], span: TextSpan) -> tuple[Located, ...]:
    """Each where it begins in the passage; the first may have begun before it.

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


def _speaker(segments: Sequence[Segment]) -> str:
    return "; ".join(dict.fromkeys(segment.speaker for segment in segments if segment.speaker))
