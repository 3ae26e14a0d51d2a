"""Whether the passages were found that answer, where labels name them or their characters."""

from functools import partial

from atlas_search.evaluation.labels.label import Label, Span
from atlas_search.evaluation.metrics.metric import Case, Metric
from atlas_search.evaluation.metrics.places import gold_places, held_places
from atlas_search.evaluation.metrics.rankings import Ranking, figures

_OF = "answerable questions whose gold passages or spans are known"

METRICS = (
    Metric("passage_recall@", "retrieval", _OF, "Share of the gold places in the first k passages"),
    Metric("passage_precision@", "retrieval", _OF, "Share of the first k passages that hold one"),
    Metric("passage_mrr@", "retrieval", _OF, "1 / rank of the first that does, 0 if below k"),
    Metric(
        "passage_ndcg@",
        "retrieval",
        _OF,
        "Discounted gain of the first k passages, by the grades of the places they hold",
    ),
    Metric(
        "passage_map@", "retrieval", _OF, "Mean over relevant passages of the precision at each"
    ),
    Metric("passage_success@", "retrieval", _OF, "Share with a gold place in the first k passages"),
    Metric(
        "passage_rprec",
        "retrieval",
        _OF,
        "Precision at as many passages as are relevant, if so many were asked",
    ),
)


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS.

    A passage is relevant if it is named, or shares with a gold span at least half of the shorter
    one. Which passages hold a place that none of the kept ones does is not known: it counts as one
    relevant passage. Recall counts places, so that two passages of one place are no better than
    one. The gain of nDCG is the highest grade of the places held.
    """
    gold = gold_places(case.label)
    if not (case.label.answerable and gold):
        return {}
    held = [held_places(passage, case.label) for passage in case.reply.passages]
    missed = gold.difference(*held)
    grade = partial(_grade, case.label)
    ranking = Ranking(
        tuple(max(map(grade, places), default=0) for places in held),
        tuple(sorted(map(grade, missed))),
    )
    found = figures(ranking, case.tools.depths, case.limit)
    recalls = {
        f"recall@{depth}": len(frozenset[str | Span]().union(*held[:depth])) / len(gold)
        for depth in case.tools.depths
        if depth <= case.limit
    }
    return {f"passage_{name}": value for name, value in (found | recalls).items()}


def _grade(label: Label, place: str | Span) -> int:
    """That of a passage named by its id; a span has that of its document."""
    return label.grades.get(place.document_id if isinstance(place, Span) else place, 1)
