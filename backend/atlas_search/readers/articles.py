"""The articles of a statute or a treaty in plain text: sections, where they are sure."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from atlas_search.readers.markup import Heading

_LATIN = "bis ter quater quinquies sexies septies octies novies decies".split()
_ARTICLE = re.compile(
    r"(?:\A|\n[^\S\n]*\n)[^\S\n]*((?:Article|ARTICLE) (\d{1,4})(?:er|ER)?"
    rf"([A-Za-z]|[-\u2011]\d{{1,3}}| ?(?i:{'|'.join(_LATIN)}))?\b"
    r"(?:\.?[^\S\n]*(?=\n|\Z)"
    r"|[.:]?(?: [–—-])? {1,3}[^\W\d_a-z][^\n]{0,148}[^\s.:;,]"
    r"[^\S\n]*(?=\n\s*(?:\n|[\d(])|\Z)))"
)
"""A line behind a blank one that ends as no sentence does, with a blank one or a number behind it:
`Article 42 Security of processing`. It is no paragraph (`Article 42(1)`), and no sentence that goes
on in small letters or on the next line."""

_ABOVE = re.compile(
    r"\n[^\S\n]*\n[^\S\n]*(Chapter|Part|Title|Section|Annex|Schedule|Appendix|Exhibit|Attachment"
    r"|Chapitre|Partie|Titre|Annexe|CHAPTER|PART|TITLE|SECTION|ANNEX|SCHEDULE|APPENDIX|EXHIBIT"
    r"|ATTACHMENT|CHAPITRE|PARTIE|TITRE|ANNEXE)"
    r"(?: (?:[–—-] |[A-Z]\b|[\dIVXLC]+\b)[^\n]{0,78}(?<![.;,]))?[^\S\n]*(?=\n|\Z)"
)
"""What stands above articles, or behind the last: an article ends there."""

_SENTENCE_END = re.compile(r"[.;:,][^\S\n]*$", re.MULTILINE)
_LONGEST_TITLE = 300  # characters between the number of a section and the first article in it
_FEWEST = 3


class _Article(NamedTuple):
    start: int
    number: int
    addition: int  # 0 for 4, 1 for 4a, 4-1 and 4 bis
    title: str


def article_headings(text: str) -> Sequence[Heading]:
    """The headings of articles that are numbered upwards throughout, and where they end.

    A list of contents before them does not count. Where numbers begin anew, as those of an annex or
    of articles that are quoted, none is sure. Where one is missing, the article before may hold it,
    and is no section.
    """
    found = [
        _Article(match.start(1), int(match[2]), _rank(match[3] or ""), " ".join(match[1].split()))
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
    ends = [Heading(end, 2, "") for end in _ends(run, text)]
    last = Heading(run[-1].start, 2, run[-1].title)
    behind = next((end.start for end in ends if end.start > last.start), len(text))
    if behind - last.start > last.start - run[0].start:  # something stands behind it
        last = Heading(last.start, 2, "")
    return sorted([*articles, last, *ends], key=lambda heading: heading.start)


def _ends(run: Sequence[_Article], text: str) -> list[int]:
    """Where what stands above articles, or behind the last, begins.

    Sections of articles, as by-laws have them, do not: text stands below those.
    """
    found = list(_ABOVE.finditer(text, run[0].start))
    sections = [match.end() for match in found if match[1].upper() == "SECTION"]
    starts = [*(article.start for article in run), len(text)]
    above = sum(_holds_no_sentence(text, end, starts[bisect_left(starts, end)]) for end in sections)
    is_above = 2 * above > len(sections)
    return [match.end() for match in found if is_above or match[1].upper() != "SECTION"]


def _holds_no_sentence(text: str, start: int, end: int) -> bool:
    return end - start < _LONGEST_TITLE and not _SENTENCE_END.search(text, start, end)


def _rank(addition: str) -> int:
    """The place of `a`, `-1` or ` bis` among what is added behind an article."""
    plain = addition.strip(" -\u2011").lower()
    if plain in _LATIN:
        return _LATIN.index(plain) + 1
    return int(plain) if plain.isdecimal() else ord(plain) - ord("a") + 1 if plain else 0


def _is_next(before: _Article, after: _Article) -> bool:
    """Whether no number is missing between them: 4, 4a, 5."""
    return after.number == before.number + (not after.addition)


def _rising(found: Sequence[_Article]) -> list[list[_Article]]:
    """Runs of articles whose numbers rise: 4, 4a, 5, 7."""
    runs = [list(found[:1])]
    for before, after in pairwise(found):
        if (after.number, after.addition) > (before.number, before.addition):
            runs[-1].append(after)
        else:
            runs.append([after])
    return runs


def _are_filled(run: Sequence[_Article], text: str) -> bool:
    """Whether text stands between most of them, as it does not in a list of contents."""
    between = [text[before.start : after.start].strip() for before, after in pairwise(run)]
    return sum("\n" in part for part in between) >= len(between) / 2
