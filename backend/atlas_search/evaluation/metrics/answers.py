"""How near an answer comes to the reference answers."""

from atlas_search.evaluation.metrics.metric import Case, Metric
from atlas_search.evaluation.metrics.texts import (
    contains_reference,
    exact_match,
    similarity,
    token_f1,
)

_OF = "answerable questions with a reference; without an answer 0"
_OF_JUDGED = (
    "questions that were answered, and are unanswerable or have a reference or gold documents"
)
_OF_ANSWERED = "answerable questions with a reference that were answered"

METRICS = (
    Metric("exact_match", "answers", _OF, "Share of answers that are a reference (SQuAD's EM)"),
    Metric("f1", "answers", _OF, "Harmonic mean of word precision and recall (SQuAD's F1)"),
    Metric("contains", "answers", _OF, "Share of answers that hold all words of a reference"),
    Metric(
        "similarity",
        "answers",
        _OF_ANSWERED,
        "Cosine with the closest reference, in [-1, 1]",
    ),
    Metric(
        "right",
        "answers",
        _OF_JUDGED,
        "Share of answers that hold a reference; without one, that cite a gold document",
    ),
)


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS."""
    return _near(case) | _right(case)


def _near(case: Case) -> dict[str, float]:
    references, text = case.label.answers, case.reply.text
    if case.reply.answer is None or not (case.label.answerable and references):
        return {}
    near = (
        {"similarity": similarity(text, references, case.tools.embedder)}
        if case.reply.answered
        else {}
    )
    return near | {
        "exact_match": float(exact_match(text, references)),
        "f1": token_f1(text, references),
        "contains": float(contains_reference(text, references)),
    }


def _right(case: Case) -> dict[str, float]:
    label, answer = case.label, case.reply.answer
    if answer is None or not case.reply.answered:
        return {}
    if not label.answerable:
        return {"right": 0.0}
    if label.answers:
        return {"right": float(contains_reference(case.reply.text, label.answers))}
    cited = {citation.document_id for citation in answer.citations}
    return {"right": float(bool(cited & label.relevance.keys()))} if label.relevance else {}
