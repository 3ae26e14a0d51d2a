"""Windows that slide over the text."""

import re
from collections.abc import Iterator

from atlas_search.build.chunking.boundaries import first_cut, last_cut
from atlas_search.build.chunking.measure import Measure
from atlas_search.language.text import TextSpan, trim

_WORD_START = re.compile(r"(?<=\s)\S")


def fixed_spans(
    text: str, span: TextSpan, size: int, overlap: int, measure: Measure
) -> Iterator[TextSpan]:
    """Windows of at most `size` units; each begins `overlap` units before the last one's end.

    A window ends between words if it can in its last fifth, and begins with a word if one begins
    in its overlap; else both are cut hard. Requires 0 <= overlap <= size // 2 and a trimmed span.
    """
    start = covered = span.start
    while covered < span.end:
        end = _end(text, TextSpan(start, span.end), size, measure)
        if end > covered:
            yield TextSpan(start, end)
            covered = end
            start = _overlap_start(text, TextSpan(start, end), overlap, measure)
        else:  # a long run of blanks follows: the overlap leaves no room for anything new
            start = covered
        start = trim(text, start, span.end).start


def _end(text: str, rest: TextSpan, size: int, measure: Measure) -> int:
    limit = measure.reach(rest.start, size)
    if limit >= rest.end:
        return rest.end
    earliest = measure.reach(rest.start, size * 4 // 5)
    for at in range(limit, earliest, -1):
        if text[at].isspace():
            return trim(text, rest.start, at).end
    return last_cut(text, rest.start, limit)


def _overlap_start(text: str, window: TextSpan, overlap: int, measure: Measure) -> int:
    earliest = max(measure.back(window.end, overlap), window.start + 1)
    word = _WORD_START.search(text, earliest, window.end)
    return word.start() if word else first_cut(text, earliest, window.end)
