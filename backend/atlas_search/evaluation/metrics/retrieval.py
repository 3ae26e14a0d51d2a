"""Whether the gold documents were found, and where."""

from collections.abc import Collection, Sequence

from atlas_search.evaluation.metrics.metric import Case, Metric

_OF = "answerable questions whose gold documents are known"

METRICS = (
    Metric("recall", "retrieval", _OF, "Share of the gold documents among the passages kept"),
    Metric("mrr", "retrieval", _OF, "1 / rank of the first gold document, 0 if none was found"),
)


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS."""
    gold = case.label.relevance
    if not (case.label.answerable and gold):
        return {}
    found = case.reply.documents
    return {"recall": recall(found, gold), "mrr": reciprocal_rank(found, gold)}


def recall(found: Collection[str], gold: Collection[str]) -> float:
    """Share of the gold documents that were found. Requires gold documents."""
    return len(set(found) & set(gold)) / len(set(gold))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / rank of the first gold document, 0 if none was found."""
    for rank, document in enumerate(ranked, start=1):
        if document in gold:
            return 1 / rank
    return 0.0
