"""Passing a text on while it is being written."""

from collections.abc import Sequence

from backend.answer.answer import Checked, Emit, Token
from backend.answer.citations import Verification
from backend.answer.refusals import may_become_refusal
from backend.answer.watch import Watch
from backend.domain import CheckedSentence, Passage


class Relay:
    """Emits pieces as they come, and every sentence once it is verified.

    The beginning of a model's text is held back while it may turn out to be a refusal, so that
    none is shown as if it were an answer. `sent` says whether anything was emitted.
    """

    def __init__(
        self, emit: Emit, given: Sequence[Passage], citation_limit: int, *, may_refuse: bool
    ):
        self._emit = emit
        self._watch = Watch(given, citation_limit)
        self._holding = may_refuse
        self._sent = 0
        self.text = ""

    @property
    def sent(self) -> bool:
        """Whether any of the text was passed on."""
        return self._sent > 0

    def add(self, piece: str) -> None:
        """Take the next piece of the text."""
        self.text += piece
        self._holding = self._holding and may_become_refusal(self.text)
        if not self._holding:
            self._pass_on()

    def finish(self) -> None:
        """Pass on what is left: the text is whole, and is no refusal."""
        self._holding = False
        self._pass_on()
        self._report(self._watch.finish())

    @property
    def verification(self) -> Verification:
        """That of the whole text, once it is finished."""
        return self._watch.verification()

    def _pass_on(self) -> None:
        piece = self.text[self._sent :]
        if piece:
            self._emit(Token(piece))
            self._sent = len(self.text)
            self._report(self._watch.add(piece))

    def _report(self, sentences: Sequence[tuple[int, CheckedSentence]]) -> None:
        for number, sentence in sentences:
            self._emit(Checked(number, sentence))
