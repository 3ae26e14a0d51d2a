"""What an answer cites."""

from atlas_search.documents.answer import AnswerDocument
from atlas_search.evaluation.metrics.metric import Case, Metric
from atlas_search.evaluation.metrics.places import gold_of, held_gold

_ANSWERED = "questions that were answered"

METRICS = (
    Metric("citation_valid", "citations", "all questions", "Share whose citations are all valid"),
    Metric(
        "sentence_groundedness",
        "citations",
        _ANSWERED,
        "Share of an answer's sentences with a valid citation (SentG)",
    ),
    Metric(
        "grounded",
        "citations",
        _ANSWERED,
        "Share of answers of which every sentence has one (Gnd)",
    ),
    Metric(
        "cites_gold",
        "citations",
        "answerable questions whose gold documents are known; without an answer 0",
        "Share of answers that cite a gold document",
    ),
    Metric(
        "citation_precision",
        "citations",
        "answerable questions that were answered, with gold documents or places",
        "Share of the citations that hold a gold place; where none is known, of a gold document",
    ),
    Metric(
        "citation_recall",
        "citations",
        "answerable questions with gold documents or places; without an answer 0",
        "Share of the gold places that are cited; of the gold documents where no place is known",
    ),
)


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS."""
    answer, gold = case.reply.answer, case.label.relevance
    if answer is None:
        return {}
    checked = answer.validation
    figures = {"citation_valid": float(checked.citation_valid)}
    if case.reply.answered:
        figures["sentence_groundedness"] = checked.sentence_groundedness
        figures["grounded"] = float(checked.sentence_groundedness == 1)
    if case.label.answerable and gold:
        cited = {citation.document_id for citation in answer.citations}
        figures["cites_gold"] = float(bool(cited & gold.keys()))
    return figures | _of_gold(case, answer)


def _of_gold(case: Case, answer: AnswerDocument) -> dict[str, float]:
    """Precision and recall of the citations, after ALCE (Gao et al. 2023), by what is gold.

    There an entailment model judges; here labels do.
    """
    gold = gold_of(case.label)
    if not (case.label.answerable and gold):
        return {}
    held = held_gold(answer.citations, case.label)
    figures = {"citation_recall": len(frozenset().union(*held)) / len(gold)}
    if case.reply.answered:
        figures["citation_precision"] = sum(map(bool, held)) / len(held) if held else 0.0
    return figures
