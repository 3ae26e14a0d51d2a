"""Passing a text on while it is being written."""

import re
from collections.abc import Sequence

from atlas_search.answer.answer import Checked, Emit, Token
from atlas_search.answer.check.citations import Verification
from atlas_search.answer.check.watch import Watch
from atlas_search.core.domain import MARKER, CheckedSentence, Passage

_OPENING = 3  # words; few refusals deny something later than that
_DENIES = re.compile(
    r"n['’]t\b|\b(?:i|we|not?|none|nothing|cannot|un(?:able|clear|known|available|fortunately)|"
    r"insufficient|sorry|lacks?)\b",
    re.IGNORECASE,
)


class Relay:
    """Emits pieces as they come, and every sentence once it is verified.

    Of a text that `may_refuse` the opening words are held back, and what denies something, until
    its first citation token shows that it speaks of a source: so no refusal is shown as if it were
    an answer. `sent` says whether anything was emitted.
    """

    def __init__(
        self, emit: Emit, given: Sequence[Passage], citation_limit: int, *, may_refuse: bool
    ):
        self.given = given
        self._emit = emit
        self._watch = Watch(given, citation_limit)
        self._held = may_refuse  # as long as nothing is cited
        self._denies = False
        self._read = 0
        self._sent = 0
        self.text = ""

    @property
    def sent(self) -> bool:
        """Whether any of the text was passed on."""
        return self._sent > 0

    def add(self, piece: str) -> None:
        """Take the next piece of the text."""
        start = self.text.rfind("[")
        self.text += piece
        self._held = self._held and not MARKER.search(self.text, max(start, 0))
        if not (self._held and self._may_refuse()):
            self._pass_on()

    def finish(self) -> None:
        """Pass on what is left: the text is whole, and is no refusal."""
        self._pass_on()
        self._report(self._watch.finish())

    @property
    def verification(self) -> Verification:
        """That of the whole text, once it is finished."""
        return self._watch.verification()

    def _may_refuse(self) -> bool:
        self._denies = self._denies or _DENIES.search(self.text, self._read) is not None
        self._read = max(self.text.rfind(" "), 0)
        return self._denies or len(self.text.split(None, _OPENING)) <= _OPENING

    def _pass_on(self) -> None:
        piece = self.text[self._sent :]
        if piece:
            self._emit(Token(piece))
            self._sent = len(self.text)
            self._report(self._watch.add(piece))

    def _report(self, sentences: Sequence[tuple[int, CheckedSentence]]) -> None:
        for number, sentence in sentences:
            self._emit(Checked(number, sentence))
