"""What is reported of the rankings: metrics with intervals, and comparisons with the default."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atlas_search.stores.terms import FloatArray
from benchmarks.quality.asking import Rankings
from benchmarks.quality.measures import MAIN, Values, measured
from benchmarks.quality.runs import DEFAULT
from benchmarks.quality.scopes import Section
from benchmarks.quality.statistics import Estimate, estimate, p_value

MEAN = "mean of sets"


@dataclass(frozen=True)
class Comparison:
    """How much more of the first metric one ranking has than another, question by question."""

    difference: Estimate
    p: float


@dataclass(frozen=True)
class Figure:
    """One run on one set. `gain` is the default's over this run; of itself there is none."""

    section: Section
    set_name: str
    run: str
    queries: int
    metrics: Mapping[str, Estimate]
    gain: Comparison | None


@dataclass(frozen=True)
class Cost:
    """What it costs the default on one set to search all of them: alone minus pooled."""

    set_name: str
    loss: Comparison


def figures(rankings: Sequence[Rankings]) -> tuple[list[Figure], list[Cost]]:
    """Figures by section, set and run, each section ending in the mean of its sets."""
    values = {(found.section, found.set_name): measured(found) for found in rankings}
    rows = []
    for section in dict.fromkeys(found.section for found in rankings):
        of_sets = {name: runs for (where, name), runs in values.items() if where == section}
        for name, runs in of_sets.items():
            rows += _rows(section, name, [runs])
        if len(of_sets) > 1:
            rows += _rows(section, MEAN, list(of_sets.values()))
    names = [name for section, name in values if section == "alone"]
    return rows, _costs(values, names)


def _rows(section: Section, name: str, sets: Sequence[Mapping[str, Values]]) -> list[Figure]:
    return [
        Figure(
            section=section,
            set_name=name,
            run=run,
            queries=sum(len(runs[run][MAIN]) for runs in sets),
            metrics={metric: estimate([runs[run][metric] for runs in sets]) for metric in first},
            gain=None if run == DEFAULT else _compared(_of(sets, DEFAULT), _of(sets, run)),
        )
        for run, first in sets[0].items()
    ]


def _costs(
    values: Mapping[tuple[Section, str], Mapping[str, Values]], names: Sequence[str]
) -> list[Cost]:
    alone = {name: values["alone", name] for name in names}
    pooled = {name: values["pooled", name] for name in names}
    groups = [*([name] for name in names), *([names] if len(names) > 1 else [])]
    return [
        Cost(
            group[0] if len(group) == 1 else MEAN,
            _compared(
                _of([alone[name] for name in group], DEFAULT),
                _of([pooled[name] for name in group], DEFAULT),
            ),
        )
        for group in groups
    ]


def _of(sets: Sequence[Mapping[str, Values]], run: str) -> list[FloatArray]:
    return [runs[run][MAIN] for runs in sets]


def _compared(better: Sequence[FloatArray], worse: Sequence[FloatArray]) -> Comparison:
    differences = [a - b for a, b in zip(better, worse, strict=True)]
    return Comparison(estimate(differences), p_value(differences))
