"""Whether useful passages come before others (RAGAS' context precision)."""

from collections.abc import Sequence

from atlas_search.evaluation.judge.panel import Panel
from atlas_search.evaluation.judge.quoting import join, quote, quote_each, quote_passages
from atlas_search.evaluation.judge.verdict import Decision, Judged
from atlas_search.evaluation.metrics.metric import Case


def judge(panel: Panel, case: Case) -> Judged:
    """A verdict on each passage, given the references where there are any. Raises NotJudged."""
    asked = (quote("question", case.label.question), quote_each("reference", case.label.answers))
    groups = panel.groups(case.reply.passages)
    decisions: list[Decision] = []
    for group in groups:
        material = join((*asked, quote_passages(group)))
        decisions += panel.decide("useful", material, [one.passage_id for one in group])
    found = average_precision([one.verdict > 0 for one in decisions])
    return Judged(found, tuple(decisions), max(1, len(groups)))


def average_precision(useful: Sequence[bool]) -> float:
    """The mean, over the useful passages, of the precision down to each; 0 if none is."""
    precisions = [
        sum(useful[:place]) / place for place, is_useful in enumerate(useful, start=1) if is_useful
    ]
    return sum(precisions) / len(precisions) if precisions else 0.0
