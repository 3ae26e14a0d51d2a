"""Whether to answer: each outcome with a reason a program and a person can read."""

from dataclasses import dataclass

from backend.answer.citations import Verification
from backend.domain import Decision
from backend.search.flow import SearchResult
from backend.targets import Target


@dataclass(frozen=True)
class Outcome:
    """The decision, a fixed `code` for programs, and a sentence for people."""

    decision: Decision
    code: str
    message: str


ANSWERED = Outcome("ANSWER", "answered", "The passages support an answer.")


def before_writing(result: SearchResult, target: Target) -> Outcome:
    """Whether the evidence is worth writing from."""
    if not result.query.has_subject:
        return Outcome("ABSTAIN", "no_subject", "The question does not say what it is about.")
    if not result.passages:
        return Outcome("ABSTAIN", "no_passages", "No passage was found under this filter.")
    if result.unknown_names:
        return Outcome(
            "ABSTAIN",
            "unknown_name",
            f"The question is about {', '.join(result.unknown_names)}, "
            "which no passage found speaks of.",
        )
    if result.confidence.low:
        return Outcome(
            "ABSTAIN",
            "no_evidence",
            "No passage is similar enough to the question or shares enough of its words.",
        )
    # the mean tells absent subjects from paraphrased questions better than either alone
    evidence = (result.confidence.max + result.confidence.support) / 2
    if evidence < target.answer_threshold:
        return Outcome(
            "ABSTAIN",
            "weak_evidence",
            f"The evidence is {evidence:.2f} (the mean of the best similarity, "
            f"{result.confidence.max:.2f}, and the best score, {result.confidence.support:.2f}); "
            f"{target.answer_threshold:.2f} is needed.",
        )
    if result.freshness.stale:
        return Outcome(
            "ABSTAIN",
            "stale_evidence",
            f"Every passage is older than {result.freshness.freshness_days} days.",
        )
    return ANSWERED


def after_writing(answer: str, verification: Verification) -> Outcome:
    """Whether what was written may be sent."""
    if not answer.strip():
        return Outcome("ABSTAIN", "no_answer", "The passages hold no sentence that answers.")
    if not verification.valid:
        return Outcome("BLOCK", "invalid_citations", " ".join(verification.errors))
    return ANSWERED
