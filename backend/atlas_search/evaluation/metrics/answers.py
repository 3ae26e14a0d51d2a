"""How near an answer comes to the reference answers."""

from atlas_search.evaluation.metrics.metric import Case, Metric
from atlas_search.evaluation.metrics.texts import (
    contains_reference,
    exact_match,
    similarity,
    token_f1,
)

_OF = "answerable questions with a reference; without an answer 0"
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
)


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS."""
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
