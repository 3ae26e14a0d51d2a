"""What an answer cites."""

from atlas_search.evaluation.metrics.metric import Case, Metric

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
    return figures
