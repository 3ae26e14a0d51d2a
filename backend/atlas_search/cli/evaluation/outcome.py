"""What is said of a run that has come to its end, and the status of the command."""

from atlas_search.evaluation.runs.carry_out import Outcome
from atlas_search.evaluation.runs.operations import operations

INTERRUPTED = 130  # as shells say of a command that Ctrl-C ended


def remarks_on(outcome: Outcome) -> list[str]:
    """What a run lacks, a sentence for each."""
    remarks = []
    if outcome.failed:
        remarks.append(f"{len(outcome.failed)} questions failed, the first: {outcome.failed[0]}")
    if outcome.fallbacks:
        remarks.append(f"{outcome.fallbacks} answers are not the language model's (fallback).")
    if outcome.lacking:
        remarks.append(
            f"{len(outcome.lacking)} questions lack figures, the first: {outcome.lacking[0]}"
        )
    remarks += outcome.troubles
    if outcome.missing:
        remarks.append(f"{outcome.missing} questions were not asked.")
    if outcome.changed:
        remarks.append(
            f"Not as before when all were asked: {'; '.join(outcome.changed)}. The answers may be "
            "of both: begin a new run."
        )
    if kept := operations(outcome.run).cache_hits:
        remarks.append(f"{kept:.0%} of the answers were kept ones: their seconds say little.")
    return remarks


def status_of(outcome: Outcome, *, require_llm: bool) -> int:
    """0 for a run that has all it was to have."""
    if outcome.stopped:
        return INTERRUPTED
    lacks = not outcome.complete or (require_llm and outcome.fallbacks > 0)
    return int(lacks or bool(outcome.changed or outcome.troubles))
