"""A question with what is known about its answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from pydantic import ConfigDict, with_config

Decision = Literal["ANSWER", "ABSTAIN", "BLOCK"]
Value = str | float | bool
Filter = Value | tuple[Value, ...] | Mapping[str, Value | None]
"""As in a search: a value, several of which one must match, or `{"from": ..., "to": ...}`."""


class Split(StrEnum):
    """Weights and thresholds are tuned on DEV; figures are reported on TEST."""

    DEV = "dev"
    TEST = "test"


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Span:
    """A place that answers: characters of a document's text from `start` to before `end`."""

    document_id: str
    start: int
    end: int


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Label:
    """One question, and what is known about its answer.

    `answers` are references, any of which is right. What is relevant is known as documents,
    passages or places; `grades` says how relevant documents and passages are, by their id: 1 if it
    says nothing, 0 for what was looked at and is not.
    `should_answer` says whether the collection holds the answer where neither gold documents nor
    references do, and `expected_decision` what becomes of the question. `split` is empty where the
    set has none. `corpus_filter` and `filters` are asked with the question.
    """

    id: str
    split: str
    category: str
    question: str
    answers: tuple[str, ...] = ()
    gold_document_ids: frozenset[str] = frozenset()
    kind: str = ""
    should_answer: bool | None = None
    gold_passage_ids: frozenset[str] = frozenset()
    gold_spans: tuple[Span, ...] = ()
    grades: Mapping[str, int] = field(default_factory=dict)
    corpus_filter: tuple[str, ...] = ()
    filters: Mapping[str, Filter] = field(default_factory=dict)
    expected_decision: Decision | None = None

    @property
    def answerable(self) -> bool:
        """Whether the collection holds the answer."""
        if self.expected_decision is not None:
            return self.expected_decision == "ANSWER"
        if self.should_answer is not None:
            return self.should_answer
        return self.located or bool(self.answers)

    @property
    def located(self) -> bool:
        """Whether it is known where the answer stands."""
        return bool(self.gold_document_ids or self.gold_passage_ids or self.gold_spans)

    @property
    def relevance(self) -> Mapping[str, int]:
        """How relevant each gold document is, 1 or more, those of places among them."""
        return {id_: self.grades.get(id_, 1) for id_ in sorted(self.gold_names)}

    @property
    def gold_names(self) -> frozenset[str]:
        """The documents that answer, those of places among them."""
        return self.gold_document_ids | {span.document_id for span in self.gold_spans}
