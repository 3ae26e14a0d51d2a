"""Passing a text on while it is being written."""

import re
from collections.abc import Sequence

from backend.answer.answer import Checked, Emit, Token
from backend.answer.citations import Verification
from backend.answer.refusals import is_refusal, may_become_refusal
from backend.answer.watch import Watch
from backend.domain import MARKER, CheckedSentence, Passage

LONGEST_HELD = 4000  # characters; no refusal is so long
_GROWTH = 16  # a text that is held back is read again when it has grown by this part of itself

_DENIES = re.compile(
    r"n['’]t\b|\b(?:not|no|none|nothing|cannot|un(?:able|clear|known|available)|insufficient|"
    r"missing|absent|lack\w*)\b",
    re.IGNORECASE,
)


class Relay:
    """Emits pieces as they come, and every sentence once it is verified.

    What may turn out to be a model's refusal is held back, so that none is shown as if it were an
    answer: a beginning like one, and the first sentence from where it denies something on, until
    its citation token shows that it speaks of a source. `sent` says whether anything was emitted.
    """

    def __init__(
        self, emit: Emit, given: Sequence[Passage], citation_limit: int, *, may_refuse: bool
    ):
        self._emit = emit
        self._watch = Watch(given, citation_limit)
        self._settled = not may_refuse
        self._look_at = 0
        self._sent = 0
        self.text = ""

    @property
    def sent(self) -> bool:
        """Whether any of the text was passed on."""
        return self._sent > 0

    def add(self, piece: str) -> None:
        """Take the next piece of the text."""
        self.text += piece
        if self._settled or not self._holds():
            self._pass_on()

    def finish(self) -> None:
        """Pass on what is left: the text is whole, and is no refusal."""
        self._pass_on()
        self._report(self._watch.finish())

    @property
    def verification(self) -> Verification:
        """That of the whole text, once it is finished."""
        return self._watch.verification()

    def _holds(self) -> bool:
        """Whether the text may still be a refusal."""
        if len(self.text) < self._look_at:
            return True
        self._settled = len(self.text) > LONGEST_HELD or (
            MARKER.search(self.text) is not None and not is_refusal(self.text)
        )
        holds = not self._settled and (
            not self.text.strip()
            or may_become_refusal(self.text)
            or _DENIES.search(self.text) is not None
        )
        self._look_at = len(self.text) + len(self.text) // _GROWTH if holds else 0
        return holds

    def _pass_on(self) -> None:
        piece = self.text[self._sent :]
        if piece:
            self._emit(Token(piece))
            self._sent = len(self.text)
            self._report(self._watch.add(piece))

    def _report(self, sentences: Sequence[tuple[int, CheckedSentence]]) -> None:
        for number, sentence in sentences:
            self._emit(Checked(number, sentence))
