"""Whether the gold documents were found, and where."""

from collections.abc import Collection, Sequence

from atlas_search.evaluation.metrics.metric import Case, Metric
from atlas_search.evaluation.metrics.rankings import figures, rank

_OF = "answerable questions whose gold documents are known"

METRICS = (
    Metric("recall", "retrieval", _OF, "Share of the gold documents among the passages kept"),
    Metric("mrr", "retrieval", _OF, "1 / rank of the first gold document, 0 if none was found"),
    Metric("recall@", "retrieval", _OF, "Share of the gold documents among the first k documents"),
    Metric("precision@", "retrieval", _OF, "Gold documents among the first k documents, / k"),
    Metric("mrr@", "retrieval", _OF, "1 / rank of the first gold document, 0 if it is below k"),
    Metric("ndcg@", "retrieval", _OF, "Discounted gain of the first k documents, by their grades"),
    Metric("map@", "retrieval", _OF, "Mean over all gold documents of the precision at each"),
    Metric("success@", "retrieval", _OF, "Share with a gold document among the first k"),
    Metric(
        "rprec",
        "retrieval",
        _OF,
        "Precision at as many documents as are gold, if so many were asked",
    ),
)


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS. A document is ranked at its first passage."""
    gold = case.label.relevance
    if not (case.label.answerable and gold):
        return {}
    found = case.reply.documents
    ranked = figures(rank(found, gold), case.tools.depths, case.limit)
    return {"recall": recall(found, gold), "mrr": reciprocal_rank(found, gold)} | ranked


def recall(found: Collection[str], gold: Collection[str]) -> float:
    """Share of the gold documents that were found. Requires gold documents."""
    return len(set(found) & set(gold)) / len(set(gold))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / rank of the first gold document, 0 if none was found."""
    for rank_, document in enumerate(ranked, start=1):
        if document in gold:
            return 1 / rank_
    return 0.0
