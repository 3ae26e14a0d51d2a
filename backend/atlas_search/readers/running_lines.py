"""Running heads and feet: lines that are printed again at the top or the bottom of other pages."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

_FEWEST, _WITHIN = 3, 6
"""A line runs if it stands on three of six pages in a row: left and right pages may differ."""

_DEPTH = 4
"""Lines at either end of a page that may run."""

_NUMBER = re.compile(r"\d{1,6}")
_PAGE = "\0"  # stands for a number that counts the pages
_MOST_NUMBERS = 20
"""In a line that may hold that of its page. With more it is a row of figures, and a copy of it for
each of them would take memory that grows with the square of its length."""

Form = tuple[str, int]
"""A line with its page number put as a distance from the number of the page."""


def running_lines(pages: Sequence[Sequence[str]]) -> list[frozenset[int]]:
    """The numbers, from 0, of the lines of each page that run; the lines are from top to bottom.

    Lines are the same if nothing but the number of the page differs. Its first page keeps one,
    unless it holds numbers only, and no page loses all it has. A line further in runs only if
    those outside of it do.
    """
    found = [
        _at_top(pages, [range(len(page))[:_DEPTH] for page in pages]),
        _at_top(pages, [range(len(page))[::-1][:_DEPTH] for page in pages]),
    ]
    both = (top | bottom for top, bottom in zip(*found, strict=True))
    return [
        lines if len(lines) < len(page) else frozenset()
        for page, lines in zip(pages, both, strict=True)
    ]


def _at_top(
    pages: Sequence[Sequence[str]], edges: Sequence[Sequence[int]]
) -> Iterator[frozenset[int]]:
    """The running lines of each page among those of its edge, the outermost first."""
    forms = [
        [set(_forms(page[line], number)) for line in edge]
        for number, (page, edge) in enumerate(zip(pages, edges, strict=True))
    ]
    first = _first_pages(forms)
    for number, (page, edge) in enumerate(zip(pages, edges, strict=True)):
        found = set()
        for line, own in zip(edge, forms[number], strict=True):
            if not (own & first.keys()):
                break
            kept = any(letter.isalpha() for letter in page[line])
            if not (kept and all(first.get(form, number) == number for form in own)):
                found.add(line)
        yield frozenset(found)


def _forms(line: str, page: int) -> Iterator[Form]:
    """The line as it is, and with each of its numbers in turn as that of the page.

    Of more than _MOST_NUMBERS none is.
    """
    words = " ".join(line.casefold().split())
    if any(letter.isalpha() for letter in words):
        yield words, 0
    numbers = list(islice(_NUMBER.finditer(words), _MOST_NUMBERS + 1))
    for number in numbers if len(numbers) <= _MOST_NUMBERS else ():
        yield f"{words[: number.start()]}{_PAGE}{words[number.end() :]}", int(number[0]) - page


def _first_pages(pages: Sequence[Sequence[set[Form]]]) -> Mapping[Form, int]:
    """The forms that run, and the first page of each."""
    found: defaultdict[Form, list[int]] = defaultdict(list)
    for number, page in enumerate(pages):
        for form in set().union(*page):
            found[form].append(number)
    return {form: on[0] for form, on in found.items() if _runs(on)}


def _runs(pages: Sequence[int]) -> bool:
    spans = zip(pages, pages[_FEWEST - 1 :], strict=False)
    return any(last - first < _WITHIN for first, last in spans)
