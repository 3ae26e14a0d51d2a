"""Whether sources are out of date, or contradict each other and the answer says so."""

from atlas_search.documents.answer import AnswerDocument
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.metrics.metric import Case, Metric

_DATED = "questions asked with FRESHNESS_DAYS that brought valid passages"
_ANSWERED = "questions that were answered"

METRICS = (
    Metric(
        "freshness_violations",
        "sources",
        _DATED,
        "Share of the valid passages that are older than it allows",
        "lower",
    ),
    Metric("stale", "sources", _DATED, "Share whose valid passages are all older", "lower"),
    Metric(
        "superseded",
        "sources",
        f"{_ANSWERED} with citations, whose category or kind is `stale` or `conflicting`",
        "Share of answers that cite only sources with a `superseded_by`, and not all that is gold",
        "lower",
    ),
    Metric(
        "conflict_stated",
        "sources",
        f"{_ANSWERED} and whose category or kind is `conflicting`",
        "Share of answers that state a contradiction",
    ),
    Metric(
        "false_conflict",
        "sources",
        f"{_ANSWERED} and whose category or kind is neither `conflicting` nor `stale`",
        "Share of answers that state a contradiction other than with what supersedes a source",
        "lower",
    ),
)


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS."""
    answer = case.reply.answer
    figures = _ages(case)
    if answer is None or not case.reply.answered:
        return figures
    return figures | _superseded(case.label, answer) | _conflicts(case.label, answer)


def _ages(case: Case) -> dict[str, float]:
    freshness = case.reply.retrieval.freshness
    valid = sum(passage.valid for passage in case.reply.passages)
    if not (freshness.freshness_days and valid):
        return {}
    return {
        "freshness_violations": freshness.violations / valid,
        "stale": float(freshness.stale),
    }


def _superseded(label: Label, answer: AnswerDocument) -> dict[str, float]:
    """Elsewhere a question may be about what was: who decided an overruled case."""
    if not (answer.citations and {label.category, label.kind} & {"stale", "conflicting"}):
        return {}
    old = all("superseded_by" in citation.metadata for citation in answer.citations)
    cited = {citation.document_id for citation in answer.citations}
    return {"superseded": float(old and bool(label.relevance.keys() - cited))}


def _conflicts(label: Label, answer: AnswerDocument) -> dict[str, float]:
    stated = [conflict.kind for conflict in answer.conflicts if conflict.stated]
    said = {label.category, label.kind}
    if "conflicting" in said:
        return {"conflict_stated": float(bool(stated))}
    # that a source was superseded is true whatever is asked
    false = any(kind != "repealed" for kind in stated)
    return {} if "stale" in said else {"false_conflict": float(false)}
