"""How near an answer comes to the reference answers."""

from atlas_search.evaluation.metrics.metric import Case, Metric
from atlas_search.evaluation.metrics.places import held_gold
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
        "right",
        "answers",
        _OF_JUDGED,
        "Share of answers that hold a reference; if no passage does so word for word, that cite "
        "a gold place, or document where no place is known",
    ),
)

OF_MEANING = (
    Metric("similarity", "answers", _OF_ANSWERED, "Cosine with the closest reference, in [-1, 1]"),
)
"""By themselves: they need the embedding model, and the others do not fail with it."""


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS."""
    return _near(case) | _right(case)


def measure_meaning(case: Case) -> dict[str, float]:
    """The figures of OF_MEANING. Raises EmbeddingUnavailable."""
    references = case.label.answers
    if not (case.label.answerable and references and case.reply.answered):
        return {}
    return {"similarity": similarity(case.reply.text, references, case.tools.embedder)}


def _near(case: Case) -> dict[str, float]:
    references, text = case.label.answers, case.reply.text
    if case.reply.answer is None or not (case.label.answerable and references):
        return {}
    return {
        "exact_match": float(exact_match(text, references)),
        "f1": token_f1(text, references),
        "contains": float(contains_reference(text, references)),
    }


def _right(case: Case) -> dict[str, float]:
    """Whether an answer is right, as far as labels tell.

    A reference that a passage holds word for word could have been given. Any other is a paraphrase,
    which no right answer need hold: there the answer is right if it cites what is gold.
    """
    label, answer, text = case.label, case.reply.answer, case.reply.text
    if answer is None or not case.reply.answered:
        return {}
    if not label.answerable or not (label.answers or label.located):
        return {} if label.answerable else {"right": 0.0}
    if contains_reference(text, label.answers):
        return {"right": 1.0}
    literal = any(contains_reference(one.text, label.answers) for one in case.reply.passages)
    return {"right": float(not literal and any(held_gold(answer.citations, label)))}
