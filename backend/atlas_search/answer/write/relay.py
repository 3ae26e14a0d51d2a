"""Passing an answer on sentence by sentence, each once it is checked."""

from collections.abc import Sequence

from atlas_search.answer.answer import Checked, Emit, Token
from atlas_search.answer.check.citations import Checker, Verification, sum_up
from atlas_search.answer.check.markers import MarkedSentence
from atlas_search.answer.check.refusals import is_refusal
from atlas_search.core.domain import CheckedSentence, Passage


class Relay:
    """What is written from `given`, a line for each sentence.

    As long as all that was written may be a refusal it is held back.
    """

    def __init__(self, emit: Emit, given: Sequence[Passage], citation_limit: int):
        self.given = given
        self.text = ""
        self._emit = emit
        self._checker = Checker(given, citation_limit)
        self._held: list[MarkedSentence] = []
        self._checked: list[CheckedSentence] = []

    @property
    def is_refusal(self) -> bool:
        """Whether nothing was written but that there is no answer."""
        return not self._checked and is_refusal(self._held)

    def add(self, written: Sequence[MarkedSentence]) -> None:
        """Take the next sentences."""
        self._held += written
        if not self.is_refusal:
            self.finish()

    def finish(self) -> None:
        """Pass on what was held back: it is no refusal."""
        for sentence in self._held:
            line = " ".join([sentence.text, *sentence.markers])
            self.text += f"{line}\n"
            self._checked.append(self._checker.check(sentence))
            self._emit(Token(f"{line}\n"))
            self._emit(Checked(len(self._checked), self._checked[-1]))
        self._held = []

    @property
    def verification(self) -> Verification:
        """The verification of all that was passed on."""
        return sum_up(self._checked)
