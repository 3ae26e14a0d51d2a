"""Whether a question was answered or declined, and whether rightly."""

from collections import Counter
from collections.abc import Iterable, Mapping

from atlas_search.evaluation.labels.label import Decision, Label
from atlas_search.evaluation.metrics.metric import Case, Metric
from atlas_search.evaluation.reply import Reply

METRICS = (
    Metric("answered", "decisions", "answerable questions", "Share that got an answer"),
    Metric("rejected", "decisions", "unanswerable questions", "Share that got none"),
    Metric("decided", "decisions", "all questions", "Share answered or declined, rightly"),
    Metric("false_refusal", "decisions", "answerable questions", "Share that got none", "lower"),
    Metric(
        "false_accept", "decisions", "unanswerable questions", "Share that got an answer", "lower"
    ),
    Metric(
        "as_expected",
        "decisions",
        "questions whose expected decision is known",
        "Share of which it was taken",
    ),
)


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS."""
    answer, label = case.reply.answer, case.label
    if answer is None:
        return {}
    answered, answerable = case.reply.answered, label.answerable
    own = (
        {"answered": float(answered), "false_refusal": float(not answered)}
        if answerable
        else {"rejected": float(not answered), "false_accept": float(answered)}
    )
    expected = label.expected_decision
    known = {"as_expected": float(answer.decision == expected)} if expected else {}
    return own | known | {"decided": float(answered is answerable)}


def confusion(asked: Iterable[tuple[Label, Reply]]) -> Mapping[tuple[Decision, Decision], int]:
    """How many questions with each pair of expected and taken decision.

    ANSWER is expected of an answerable question, ABSTAIN of another, unless its label says it.
    """
    return Counter(
        (label.expected_decision or _expected(label), reply.answer.decision)
        for label, reply in asked
        if reply.answer is not None
    )


def _expected(label: Label) -> Decision:
    return "ANSWER" if label.answerable else "ABSTAIN"
