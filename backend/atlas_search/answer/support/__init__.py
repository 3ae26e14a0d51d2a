"""Whether cited passages support what an answer says: what is asked of a judge, and what it says.

A judge is the target's language model (`by_model`) or an entailment model (`by_nli`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from atlas_search.core.domain import Citation, Passage

Verifier = Literal["citations", "model", "nli"]
"""Who checked an answer: the citation check alone, or a judge behind it."""

Verdict = Literal["supported", "unsupported", "contradicted"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer by its number from 1, its citations, and all passages they name."""

    number: int
    text: str
    citations: tuple[Citation, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says of one claim, and why."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class Judgements:
    """What a judge says of claims, by their numbers; `why_not` is said of those it left out."""

    of: Mapping[int, Judgement]
    why_not: str = ""


class Judge(Protocol):
    """Says whether claims are supported. Safe to use from several threads."""

    @property
    def verifier(self) -> Verifier:
        """The kind of judge."""

    @property
    def model(self) -> str:
        """The model that judges."""

    def judge(self, claims: Sequence[Claim]) -> Judgements:
        """Judge each claim by its own passages alone.

        Raises ModelRefused, ModelUnavailable and Cancelled.
        """


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence by its number from 1 that its passages do not support, or that nobody judged."""

    number: int
    sentence: str
    verdict: Literal["unsupported", "contradicted", "not_judged"]
    reason: str


@dataclass(frozen=True)
class Support:
    """What a judge found in one text. Of the `doubts` those in `struck` were taken out.

    Without a judge `verified_by` is `citations`, and all else is empty.
    """

    verified_by: Verifier = "citations"
    doubts: tuple[Doubt, ...] = field(default=())
    struck: tuple[Doubt, ...] = field(default=())
