"""Whether a question was answered or declined, and whether rightly."""

from atlas_search.evaluation.metrics.metric import Case, Metric

METRICS = (
    Metric("answered", "decisions", "answerable questions", "Share that got an answer"),
    Metric("rejected", "decisions", "unanswerable questions", "Share that got none"),
    Metric("decided", "decisions", "all questions", "Share answered or declined, rightly"),
)


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS."""
    if case.reply.answer is None:
        return {}
    answered, answerable = case.reply.answered, case.label.answerable
    own = {"answered": float(answered)} if answerable else {"rejected": float(not answered)}
    return own | {"decided": float(answered is answerable)}
