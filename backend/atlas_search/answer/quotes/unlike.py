"""Which quotes say something that others do not."""

from collections.abc import Iterable, Sequence

from atlas_search.answer.quotes.quotable import Quote
from atlas_search.language.english import NUMBERS, SCALES, stems

SAME_WORDS = 0.6  # Jaccard similarity from which two quotes say the same
_SPELLED = stems(" ".join(word for word in (*NUMBERS, *SCALES) if len(word) > 2))


def unlike(chosen: Sequence[Quote], found: Sequence[Quote]) -> list[Quote]:
    """Those of `found`, in order, that say something the ones before them do not."""
    new: list[Quote] = []
    for quote in found:
        if not any(_are_alike(quote.terms, other.terms) for other in (*chosen, *new)):
            new.append(quote)
    return new


def _are_alike(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether most of their words are the same, and no figures are others."""
    other_figures = _has_figure(a - b) and _has_figure(b - a)
    return not other_figures and len(a & b) >= SAME_WORDS * len(a | b)


def _has_figure(terms: Iterable[str]) -> bool:
    return any(term in _SPELLED or term[:1].isdigit() for term in terms)
