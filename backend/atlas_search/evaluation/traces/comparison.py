"""Two targets side by side, over the questions that both were asked."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from atlas_search.evaluation.traces.pairs import Pairs
from atlas_search.evaluation.traces.trace import Marks, Spent, Told, Trace


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One target over the common questions, by the last answer to each.

    Seconds are those of whole answers; percentiles are interpolated. Tokens and cost are sums,
    citations and imbalance means, and `marks` are of all annotations of a name.
    """

    name: str
    answers: int
    seconds_p50: float
    seconds_p95: float
    decisions: Mapping[str, int]
    spent: Spent
    citations: float
    imbalance: Mapping[str, float]
    marks: Mapping[str, Marks]


def compare_sides(pairs: Pairs, told: Iterable[Told]) -> tuple[Side, Side]:
    """Sum both sides up. `told` has every trace of the pairs, in any order."""
    by_id = {each.trace.trace_id: each for each in told}
    sides = [
        _side(name, [by_id[trace.trace_id] for trace in pairs.side(number)])
        for number, name in enumerate(pairs.names)
    ]
    return sides[0], sides[1]


def _side(name: str, answers: Sequence[Told]) -> Side:
    traces = [told.trace for told in answers]
    p50, p95 = np.percentile([trace.seconds for trace in traces], [50, 95]).tolist()
    return Side(
        name=name,
        answers=len(answers),
        seconds_p50=p50,
        seconds_p95=p95,
        decisions=dict(sorted(Counter(trace.decision for trace in traces).items())),
        spent=sum((told.spent for told in answers), Spent()),
        citations=_mean([trace.citations or 0 for trace in traces]),
        imbalance=_mean_imbalance(traces),
        marks=_join_marks(answers),
    )


def _mean_imbalance(traces: Sequence[Trace]) -> dict[str, float]:
    """By stage, over the answers that tell it."""
    stages = sorted({stage for trace in traces for stage in trace.imbalance})
    return {
        stage: _mean([trace.imbalance[stage] for trace in traces if stage in trace.imbalance])
        for stage in stages
    }


def _join_marks(answers: Sequence[Told]) -> dict[str, Marks]:
    given: dict[str, list[Marks]] = {}
    for told in answers:
        for name, marks in told.marks.items():
            given.setdefault(name, []).append(marks)
    return {name: _joint(marks) for name, marks in sorted(given.items())}


def _joint(marks: Sequence[Marks]) -> Marks:
    count = sum(each.count for each in marks)
    return Marks(count, sum(each.count * each.mean for each in marks) / count)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
