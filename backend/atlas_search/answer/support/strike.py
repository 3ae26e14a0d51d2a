"""Taking sentences out of an answer; the rest stays as it was."""

from collections.abc import Sequence
from dataclasses import replace

from atlas_search.answer.answer import Checked, Restart, Token
from atlas_search.answer.check.citations import sum_up
from atlas_search.answer.conflicts import find_concealed
from atlas_search.answer.decide import ANSWERED, Outcome, after_writing
from atlas_search.answer.run import AnswerRun, Evidence
from atlas_search.answer.support import Doubt
from atlas_search.answer.written import Written


def strike_doubtful(run: AnswerRun, evidence: Evidence, written: Written) -> Written:
    """What was written without the sentences that a judge doubts; what is left is passed on again.

    It is declined if no other sentence cites anything. Where there is no doubt all stays as it is.
    """
    doubts = written.support.doubts
    if not doubts:
        return written
    run.tell(Restart("struck"))
    support = replace(written.support, doubts=(), struck=doubts)
    numbers = {doubt.number for doubt in doubts}
    sentences = enumerate(written.verification.sentences, start=1)
    kept = [sentence for number, sentence in sentences if number not in numbers]
    if not any(sentence.grounded for sentence in kept):
        return replace(written, text="", outcome=_decline(doubts), support=support)
    for number, sentence in enumerate(kept, start=1):
        run.tell(Token(f"{sentence.line}\n"))
        run.tell(Checked(number, sentence))
    text, checked = "\n".join(sentence.line for sentence in kept), sum_up(kept)
    outcome = after_writing(text, checked, find_concealed(evidence.conflicts, checked), None)
    said = text if outcome is ANSWERED else ""
    return replace(written, text=said, verification=checked, outcome=outcome, support=support)


def _decline(doubts: Sequence[Doubt]) -> Outcome:
    """The outcome of a text of which nothing is supported."""
    contradicted = sum(doubt.verdict == "contradicted" for doubt in doubts)
    reasons = " ".join(dict.fromkeys(doubt.reason for doubt in doubts))
    return Outcome(
        "ABSTAIN",
        "unsupported",
        f"The sources do not support what was written. {reasons}",
        {"struck": len(doubts), "contradicted": contradicted},
    )
