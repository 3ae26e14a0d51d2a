"""What came of writing one text, verified as a whole."""

from dataclasses import dataclass, field

from atlas_search.answer.answer import Context, Writer
from atlas_search.answer.check.citations import Verification
from atlas_search.answer.conflicts import find_concealed
from atlas_search.answer.decide import ANSWERED, Outcome, TextFault, after_writing
from atlas_search.answer.quotes.likelihood import Confidence
from atlas_search.answer.run import AnswerRun, Evidence
from atlas_search.answer.support import Judge, Support
from atlas_search.answer.support.judging import describe_judge, judge_sentences
from atlas_search.answer.write.relay import Relay
from atlas_search.core.domain import Citation

NOTHING = Verification((), (), ())


@dataclass(frozen=True)
class Written:
    """A text and the decision about it. `text` is empty unless the decision is ANSWER.

    `closest` are quotes that come closest where it is not. `confidence` says how surely quotes
    answer, and `notes` what they leave open; a model's text has neither.
    """

    text: str
    verification: Verification
    outcome: Outcome
    writer: Writer
    context: Context = field(default_factory=Context)
    closest: tuple[Citation, ...] = ()
    confidence: Confidence | None = None
    notes: tuple[str, ...] = ()
    support: Support = field(default_factory=Support)


def not_written(run: AnswerRun, outcome: Outcome) -> Written:
    """Nothing was written, and nobody asked to."""
    return Written("", NOTHING, outcome, run.writer())


def judge_text(
    run: AnswerRun,
    evidence: Evidence,
    relay: Relay,
    writer: Writer,
    fault: TextFault | None = None,
    judge: Judge | None = None,
) -> Written:
    """What was passed on, verified as a whole, with the decision about it.

    A `fault` makes a text unusable though it cannot be seen from it. A text that could be sent is
    put before the `judge`, whose doubts are left to the caller. Raises what `Judge.judge` does.
    """
    text = relay.text
    if not text.strip():
        return Written("", NOTHING, after_writing(text, NOTHING, (), None), writer)
    support = Support()
    with run.clock.measure("verify"), run.tracer.span("verify", "GUARDRAIL") as span:
        span.input(text)
        checked = relay.verification
        outcome = after_writing(text, checked, find_concealed(evidence.conflicts, checked), fault)
        if judge and outcome is ANSWERED:
            checked, support = judge_sentences(judge, checked, relay.given)
            describe_judge(span, judge, checked, support)
        span.output({"errors": list(checked.errors), "warnings": list(checked.warnings)})
        span.set(
            citation_valid=checked.valid,
            sentence_groundedness=checked.sentence_groundedness,
            citations=len(checked.citations),
            verifier=support.verified_by,
        )
    said = text.strip() if outcome is ANSWERED else ""
    return Written(said, checked, outcome, writer, support=support)
