"""The articles of a statute or a treaty in plain text: sections, where they are sure."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from atlas_search.readers.markup import Heading

_ARTICLE = re.compile(
    r"(?:\A|\n[^\S\n]*\n)[^\S\n]*((?:Article|ARTICLE) (\d{1,3})([a-z]?)\b"
    r"(?:\.?[^\S\n]*(?=\n|\Z)"
    r"|[.:]?(?: [–—-])? {1,3}[^\W\d_a-z][^\n]{0,148}[^\s.:;,]"
    r"[^\S\n]*(?=\n\s*(?:\n|[\d(])|\Z)))"
)
"""A line behind a blank one that ends as no sentence does, with a blank one or a number behind it:
`Article 42 Security of processing`. It is no paragraph (`Article 42(1)`), and no sentence that goes
on in small letters or on the next line."""

_ABOVE = re.compile(
    r"\n[^\S\n]*\n[^\S\n]*(?:Chapter|Part|Title|Section|Annex|Schedule|Appendix"
    r"|CHAPTER|PART|TITLE|SECTION|ANNEX|SCHEDULE|APPENDIX)"
    r"(?: (?:[–—-] |[A-Z]\b|[\dIVXLC]+\b)[^\n]{0,78}(?<![.;,]))?[^\S\n]*(?=\n|\Z)"
)
"""What stands above articles, or behind the last: an article ends there."""

_FEWEST = 3


class _Article(NamedTuple):
    start: int
    number: int
    letter: str
    title: str


def article_headings(text: str) -> Sequence[Heading]:
    """The headings of articles that are numbered upwards throughout, and where they end.

    A list of contents before them does not count. Where numbers begin anew, as those of an annex or
    of articles that are quoted, none is sure. Where one is missing, the article before may hold it,
    and is no section.
    """
    found = [
        _Article(match.start(1), int(match[2]), match[3], " ".join(match[1].split()))
        for match in _ARTICLE.finditer(text)
    ]
    runs = [run for run in _rising(found) if _are_filled(run, text)]
    if len(runs) != 1 or len(runs[0]) < _FEWEST:
        return []
    run = runs[0]
    articles = [
        Heading(article.start, 2, article.title if _is_next(article, after) else "")
        for article, after in pairwise(run)
    ]
    last = Heading(run[-1].start, 2, run[-1].title)
    ends = [Heading(match.end(), 2, "") for match in _ABOVE.finditer(text, run[0].start)]
    return sorted([*articles, last, *ends], key=lambda heading: heading.start)


def _is_next(before: _Article, after: _Article) -> bool:
    """Whether no number is missing between them: 4, 4a, 5."""
    return after.number == before.number + (not after.letter)


def _rising(found: Sequence[_Article]) -> list[list[_Article]]:
    """Runs of articles whose numbers rise: 4, 4a, 5, 7."""
    runs = [list(found[:1])]
    for before, after in pairwise(found):
        if (after.number, after.letter) > (before.number, before.letter):
            runs[-1].append(after)
        else:
            runs.append([after])
    return runs


def _are_filled(run: Sequence[_Article], text: str) -> bool:
    """Whether text stands between most of them, as it does not in a list of contents."""
    between = [text[before.start : after.start].strip() for before, after in pairwise(run)]
    return sum("\n" in part for part in between) >= len(between) / 2
