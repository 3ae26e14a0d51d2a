"""The questions that two runs have in common."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from atlas_search.evaluation.comparison.figures import QuestionFigures, RunFigures

SAME = 1e-5
"""Figures of a question that differ by less are the same: other threads or batches add numbers in
another order, and a million questions of such differences would be significant."""


@dataclass(frozen=True)
class Pairs:
    """The ids of labels whose question both runs were asked in the same words, in order.

    `only_a`, `only_b` and `reworded` are numbers of questions that are left out.
    """

    common: tuple[str, ...]
    only_a: int
    only_b: int
    reworded: int


NO_PAIRS = Pairs((), 0, 0, 0)


def pairs(a: RunFigures, b: RunFigures) -> Pairs:
    """What can be compared."""
    both = [id_ for id_ in a if id_ in b]
    common = tuple(id_ for id_ in both if a[id_].digest == b[id_].digest)
    return Pairs(common, len(a) - len(both), len(b) - len(both), len(both) - len(common))


def paired_values(
    a: RunFigures, b: RunFigures, ids: Iterable[str], figure: str
) -> list[tuple[float, float]]:
    """The figure in both runs, of those questions that have it in both from the same source."""
    like = (id_ for id_ in ids if _same_source(a[id_], b[id_], figure))
    known = ((a[id_].figures.get(figure), b[id_].figures.get(figure)) for id_ in like)
    return [(before, after) for before, after in known if before is not None and after is not None]


def unlike_sources(a: RunFigures, b: RunFigures, ids: Iterable[str]) -> dict[str, int]:
    """How many questions have a figure in both runs, but not from the same source; by name."""
    counts = Counter(
        name
        for id_ in ids
        for name in a[id_].figures.keys() & b[id_].figures.keys()
        if not _same_source(a[id_], b[id_], name)
    )
    return dict(sorted(counts.items()))


def paired_differences(values: Iterable[tuple[float, float]]) -> list[float]:
    """What was added to each figure; 0 if it is less than SAME."""
    changes = (after - before for before, after in values)
    return [change if abs(change) >= SAME else 0.0 for change in changes]


def _same_source(a: QuestionFigures, b: QuestionFigures, figure: str) -> bool:
    """What a judge says is another measure than what shared words do, under one name."""
    return a.sources.get(figure) == b.sources.get(figure)
