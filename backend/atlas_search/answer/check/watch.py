"""Verifying an answer while it is being written, sentence by sentence."""

from collections.abc import Sequence

from atlas_search.answer.check.citations import Checker, Verification, sum_up
from atlas_search.answer.check.markers import Stretch, stretches, without_begun_token
from atlas_search.core.domain import CheckedSentence, Passage

_GROWTH = 16  # the text is read again when it has grown by this part of itself


class Watch:
    """Reads a stream and checks each sentence once it is finished.

    The sentences are those that `verify` gives for the whole text, with the same findings,
    numbered from 1. One is finished when text of the next begins behind its tokens; those that
    only the next token or line can tell apart are given together.
    """

    def __init__(self, given: Sequence[Passage], citation_limit: int):
        self._checker = Checker(given, citation_limit)
        self._text = ""
        self._look_at = 0
        self._found: list[CheckedSentence] = []

    def add(self, piece: str) -> list[tuple[int, CheckedSentence]]:
        """The sentences that a further piece of the stream finishes."""
        self._text += piece
        if len(self._text) < self._look_at:
            return []
        read = stretches(without_begun_token(self._text), self._checker.languages)
        if len(read) > 1:
            self._text = self._text[read[-1].start :]
        # looking at every piece would take quadratic time for a sentence without an end
        self._look_at = len(self._text) + len(self._text) // _GROWTH
        return self._check_from(read[:-1])

    def finish(self) -> list[tuple[int, CheckedSentence]]:
        """The rest of the sentences, when the stream has ended."""
        text, self._text = self._text, ""
        return self._check_from(stretches(text, self._checker.languages))

    def verification(self) -> Verification:
        """That of the whole text, once it is finished."""
        return sum_up(self._found)

    def _check_from(self, read: Sequence[Stretch]) -> list[tuple[int, CheckedSentence]]:
        first = len(self._found)
        for written in (sentence for stretch in read for sentence in stretch.sentences):
            self._found.append(self._checker.check(written))
        return [(number + 1, self._found[number]) for number in range(first, len(self._found))]
