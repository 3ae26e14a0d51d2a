"""Taking sentences out of an answer; the rest stays as it was."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from atlas_search.answer.answer import Restart
from atlas_search.answer.check.citations import Checker
from atlas_search.answer.check.markers import places
from atlas_search.answer.decide import Outcome
from atlas_search.answer.run import AnswerRun, Evidence
from atlas_search.answer.support import Doubt
from atlas_search.answer.support.judging import carry_over
from atlas_search.answer.write.relay import Relay
from atlas_search.answer.written import Written, judge_text
from atlas_search.core.domain import Passage


def strike_doubtful(
    run: AnswerRun, evidence: Evidence, written: Written, given: Sequence[Passage]
) -> Written:
    """What was written from `given` without the sentences that a judge doubts.

    It is declined if no other sentence cites anything. What is left is passed on and verified
    anew. Where there is no doubt all stays as it is.
    """
    doubts = written.support.doubts
    if not doubts:
        return written
    run.tell(Restart("struck"))
    support = replace(written.support, doubts=(), struck=doubts)
    numbers = {doubt.number for doubt in doubts}
    sentences = enumerate(written.verification.sentences, start=1)
    if not any(sentence.grounded and number not in numbers for number, sentence in sentences):
        return replace(written, text="", outcome=_decline(doubts), support=support)
    text = without_sentences(written.text, numbers, given)
    relay = Relay(run.tell, given, run.target.citation_limit, may_refuse=False)
    relay.add(text)
    relay.finish()
    rest = judge_text(run, evidence, relay, written.writer)
    verification = carry_over(written.verification.sentences, rest.verification)
    return replace(rest, verification=verification, support=support)


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


def without_sentences(answer: str, numbers: Collection[int], given: Sequence[Passage]) -> str:
    """`answer` without the sentences of these `numbers`, from 1, and without their tokens.

    Of the blanks on both sides of a gap those with more line ends stay, so paragraphs stay apart.
    """
    spans = places(answer, Checker(given, 0).languages)
    kept = ""
    for number, span in enumerate(spans, start=1):
        piece = answer[span.start : span.end]
        kept = _join_blanks(kept, piece) if number in numbers else kept + piece
    return kept.strip()


def _join_blanks(kept: str, struck: str) -> str:
    before, after = kept[len(kept.rstrip()) :], struck[len(struck.rstrip()) :]
    return kept.rstrip() + max(before, after, key=lambda blanks: blanks.count("\n"))
