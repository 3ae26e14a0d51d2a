"""Passing an answer on sentence by sentence, each once it is checked."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from atlas_search.answer.answer import Checked, Context, Emit, Judge, Token, Writer
from atlas_search.answer.check.citations import Checker, Verification, sum_up
from atlas_search.answer.check.markers import MarkedSentence
from atlas_search.answer.check.phrases import is_refusal
from atlas_search.answer.conflicts import find_concealed
from atlas_search.answer.decide import ANSWERED, Outcome, after_writing
from atlas_search.answer.judge import judge_sentences
from atlas_search.answer.quotes.scores import Confidence
from atlas_search.answer.run import AnswerRun, Evidence
from atlas_search.core.domain import CheckedSentence, Citation, Passage


class Relay:
    """A text that is written from `given` passages and passed on, a line for each sentence.

    It is held back as long as all of it may be a refusal.
    """

    def __init__(self, emit: Emit, given: Sequence[Passage], citation_limit: int):
        self.given = given
        self.text = ""
        self._emit = emit
        self._checker = Checker(given, citation_limit)
        self._pending: list[MarkedSentence] = []
        self._checked: list[CheckedSentence] = []

    @property
    def is_refusal(self) -> bool:
        """True if the text so far only says that there is no answer."""
        return not self._checked and is_refusal(self._pending)

    def add(self, written: Sequence[MarkedSentence]) -> None:
        """Take the next sentences."""
        self._pending += written
        if not self.is_refusal:
            self.finish()

    def finish(self) -> None:
        """Pass on what was held back: it is no refusal."""
        for sentence in self._pending:
            line = " ".join([sentence.text, *sentence.markers])
            self.text += f"{line}\n"
            self._checked.append(self._checker.check(sentence))
            self._emit(Token(f"{line}\n"))
            self._emit(Checked(len(self._checked), self._checked[-1]))
        self._pending = []

    @property
    def verification(self) -> Verification:
        """The verification of all that was passed on."""
        return sum_up(self._checked)


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


def not_written(run: AnswerRun, outcome: Outcome) -> Written:
    """Return an outcome for which no writer was asked."""
    return Written("", NOTHING, outcome, run.writer())


def judge_text(
    run: AnswerRun,
    evidence: Evidence,
    relay: Relay,
    writer: Writer,
    fault: Outcome | None = None,
    judge: Judge | None = None,
) -> Written:
    """Verify as a whole the text that was passed on, and decide about it.

    A `fault` makes a text unusable though it cannot be seen from it. A text that could be sent is
    put before the `judge`, whose doubts are left to the caller. Raises what `Judge.judge` does.
    """
    text = relay.text
    if not text.strip():
        return Written("", NOTHING, after_writing(text, NOTHING, ()), writer)
    with run.clock.measure("verify"), run.stage("verify", text) as stage:
        checked = relay.verification
        outcome = after_writing(text, checked, find_concealed(evidence.conflicts, checked), fault)
        if judge and outcome is ANSWERED:
            checked = judge_sentences(judge, checked, relay.given)
        stage.done(checked, judge if outcome is ANSWERED else None)
    said = text.strip() if outcome is ANSWERED else ""
    return Written(said, checked, outcome, writer)
