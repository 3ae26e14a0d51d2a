"""What comes of a question: the events on the way, and the answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from atlas_search.answer.check.citations import Verification
from atlas_search.answer.conflicts import Conflict
from atlas_search.answer.decide import Outcome
from atlas_search.answer.request import AskRequest
from atlas_search.core.domain import CheckedPassage, CheckedSentence, Citation
from atlas_search.providers.chat import Message, Usage
from atlas_search.search.flow import SearchResult


@dataclass(frozen=True)
class References:
    """The passages an answer will be written from; sent before any text."""

    passages: tuple[CheckedPassage, ...]


@dataclass(frozen=True)
class Token:
    """A piece of the answer as it came from who writes it."""

    text: str


@dataclass(frozen=True)
class Checked:
    """A sentence of the text so far, from 1, after its verification."""

    number: int
    sentence: CheckedSentence


@dataclass(frozen=True)
class Restart:
    """The text so far, of this section if there are any, is withdrawn; more may come.

    `reason` is a fixed word that says why.
    """

    reason: Literal["repair", "refused", "fallback"]


@dataclass(frozen=True)
class Section:
    """What follows is the answer of one corpus; its sentences are counted from 1."""

    corpus: str


Event = References | Token | Checked | Restart | Section
Emit = Callable[[Event], None]
"""Called as the answer comes about; may raise Cancelled to stop it."""


@dataclass(frozen=True)
class Fallback:
    """Why the sources' own sentences stand in for a model's: a fixed word, and a sentence."""

    code: Literal["model_refused", "model_unavailable", "model_unusable"]
    message: str


@dataclass(frozen=True)
class Writer:
    """Who wrote, in how many attempts, and what it took.

    `cost` is in the currency of the target's prices, None where they are unknown.
    """

    provider: str
    model: str
    attempts: int = 1
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    fallback: Fallback | None = None


@dataclass(frozen=True)
class Context:
    """What a model was given: the messages, and what did not fit.

    `passages_dropped` and `turns_dropped` are counts; tokens are counted by `count_tokens`.
    """

    messages: tuple[Message, ...] = ()
    passages: int = 0
    passages_dropped: int = 0
    passage_tokens: int = 0
    turns: int = 0
    turns_dropped: int = 0
    turn_tokens: int = 0


@dataclass(frozen=True)
class Point:
    """Something that sources of several corpora agree or differ about, as text with markers."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True)
class CorpusAnswer:
    """What one corpus answers for itself. `text` is empty unless the decision is ANSWER."""

    corpus: str
    outcome: Outcome
    text: str
    verification: Verification


@dataclass(frozen=True)
class Comparison:
    """The answers of the corpora, and where they agree and differ."""

    answers: tuple[CorpusAnswer, ...] = ()
    agreements: tuple[Point, ...] = ()
    differences: tuple[Point, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The outcome of a question. `text` is empty unless the decision is ANSWER.

    `standalone` is the question a follow-up was rewritten into, empty if it was not;
    `standalone_note` says why it was not. `result` is without its candidates. `conflicts`
    are those between the passages; `stated` is false for one whose other side is not cited.
    """

    request: AskRequest
    trace_id: str
    created: datetime
    outcome: Outcome
    text: str
    verification: Verification
    result: SearchResult
    standalone: str
    standalone_note: str
    context: Context
    conflicts: tuple[Conflict, ...]
    comparison: Comparison
    writer: Writer
    timings_ms: Mapping[str, float]
    cache_hit: bool = False

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The places it cites, each once, those of a comparison's points among them.

        None unless the decision is ANSWER.
        """
        if self.outcome.decision != "ANSWER":
            return ()
        points = (*self.comparison.agreements, *self.comparison.differences)
        said = [*self.verification.citations, *(c for point in points for c in point.citations)]
        return tuple({(c.marker, c.start, c.end): c for c in said}.values())
