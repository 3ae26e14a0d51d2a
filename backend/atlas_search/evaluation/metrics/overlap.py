"""Estimates by shared words of what a judge would say, as offline evaluations of RAG make them.

Compared are the stems of informative words, each once: function words are shared by any two texts.
Only `answer_correctness` counts all words but articles, and repeats, for it is the F1 of SQuAD.
"""

from collections.abc import Sequence
from functools import lru_cache

from atlas_search.evaluation.metrics.metric import Case, Metric
from atlas_search.evaluation.metrics.texts import token_f1
from atlas_search.language.text import content_terms

_ANSWERABLE = "answerable questions"
_REFERENCE = "answerable questions with a reference"
_ANSWERED = "questions that were answered"

METRICS = (
    Metric(
        "context_precision",
        "overlap",
        _ANSWERABLE,
        "Mean over the passages of the Jaccard overlap with the closest reference; without one, "
        "with the question",
    ),
    Metric("context_recall", "overlap", _REFERENCE, "Share of a reference's words in the passages"),
    Metric("faithfulness", "overlap", _ANSWERED, "Share of the answer's words in the passages"),
    Metric("answer_relevancy", "overlap", _ANSWERED, "Share of the question's words in the answer"),
    Metric(
        "answer_correctness",
        "overlap",
        f"{_REFERENCE}; without an answer 0",
        "Harmonic mean of word precision and recall (F1) with the closest reference",
    ),
)

Terms = frozenset[str]


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS."""
    label, reply = case.label, case.reply
    passages = [_terms(passage.text) for passage in reply.passages]
    context = Terms().union(*passages)
    references = [_terms(answer) for answer in label.answers]
    figures: dict[str, float] = {}
    if label.answerable:
        figures["context_precision"] = _mean_jaccard(
            passages, references or [_terms(label.question)]
        )
    if label.answerable and references:
        figures["context_recall"] = max(share(reference, context) for reference in references)
    if reply.answered:
        answer = _terms(reply.text)
        figures["faithfulness"] = share(answer, context)
        figures["answer_relevancy"] = share(_terms(label.question), answer)
    if label.answerable and references and reply.answer is not None:
        figures["answer_correctness"] = token_f1(reply.text, label.answers)
    return figures


def share(of: Terms, within: Terms) -> float:
    """The share of some words that are among others; 0 of none."""
    return len(of & within) / len(of) if of else 0.0


def jaccard(first: Terms, second: Terms) -> float:
    """Words that both have / words that either has; 0 if neither has any."""
    either = first | second
    return len(first & second) / len(either) if either else 0.0


def _mean_jaccard(passages: Sequence[Terms], wanted: Sequence[Terms]) -> float:
    closest = [max(jaccard(passage, each) for each in wanted) for passage in passages]
    return sum(closest) / len(closest) if closest else 0.0


@lru_cache(maxsize=1 << 12)  # the same passages are found again and again
def _terms(text: str) -> Terms:
    return content_terms(text)
