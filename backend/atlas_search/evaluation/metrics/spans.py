"""How many characters of the gold spans were found, and of what was found are gold.

After Smith & Troynikov, Evaluating Chunking Strategies for Retrieval (Chroma, 2024), who count
tokens; here characters are counted, and those in several passages once.
"""

from collections.abc import Sequence

from atlas_search.evaluation.metrics.metric import Case, Metric
from atlas_search.evaluation.metrics.places import Extent, shared_size, size, union

_OF = "answerable questions whose gold spans are known"
_CITED = f"{_OF}, that were answered"

METRICS = (
    Metric("span_recall", "spans", _OF, "Share of the gold characters that the passages hold"),
    Metric("span_precision", "spans", _OF, "Share of the passages' characters that are gold"),
    Metric("span_iou", "spans", _OF, "Characters that are both / characters that are either"),
    Metric("cited_span_recall", "spans", _CITED, "Share of the gold characters that are quoted"),
    Metric(
        "cited_span_precision", "spans", _CITED, "Share of the quotes' characters that are gold"
    ),
    Metric(
        "cited_span_iou", "spans", _CITED, "Characters that are both / characters that are either"
    ),
)


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS, of the kept passages and of the quotes."""
    gold, answer = case.label.gold_spans, case.reply.answer
    if not (case.label.answerable and gold):
        return {}
    of_passages = overlap(case.reply.passages, gold)
    cited = overlap(answer.citations, gold) if answer and case.reply.answered else {}
    return {f"span_{name}": value for name, value in of_passages.items()} | {
        f"cited_span_{name}": value for name, value in cited.items()
    }


def overlap(found: Sequence[Extent], gold: Sequence[Extent]) -> dict[str, float]:
    """`recall`, `precision` and `iou` of characters; 0 where nothing was found."""
    ours, theirs = union(found), union(gold)
    both, many, wanted = shared_size(ours, theirs), size(ours), size(theirs)
    return {
        "recall": both / wanted if wanted else 0.0,
        "precision": both / many if many else 0.0,
        "iou": both / (many + wanted - both) if many + wanted else 0.0,
    }
