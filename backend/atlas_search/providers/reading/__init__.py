"""Finding the words of a text that answer a question: the `ReaderModel` protocol."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class AnswerSpan(NamedTuple):
    """The words of a text that answer best: `text[start:end]`.

    `score` in [0, 1] is how probable the model finds them against "the text does not say". A text
    without a word has the empty span 0 to 0 with the score 0.
    """

    start: int
    end: int
    score: float


class AnswerSpans(NamedTuple):
    """The best span of each of the first texts, as many as were read. `note` says why some were
    not, and is empty if all were."""

    spans: Sequence[AnswerSpan]
    note: str


class ReaderModel(Protocol):
    """A model that reads a question and a text together. Safe to use from several threads.

    Constructing one finds the model, and is cheap beside loading it. Raises MissingModel.
    """

    @property
    def name(self) -> str:
        """The model, as traces and notes show it."""

    def load(self) -> None:
        """Make it ready, so that a server can do so before it serves. Raises MissingModel."""

    def read(self, question: str, texts: Sequence[str], seconds: float) -> AnswerSpans:
        """The words of each of `texts`, best first, that answer, as far as `seconds` suffice.

        Raises ReaderUnavailable.
        """
