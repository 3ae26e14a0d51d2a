"""The events of an answer as it is written, the judgement of its claims, and the Answer itself.

A judge says whether the passages that a claim cites support it. It is the target's language model
(`ModelJudge`) or an entailment model (`EntailmentJudge`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from atlas_search.answer.check.citations import Verification, Verifier
from atlas_search.answer.conflicts import Contradiction
from atlas_search.answer.decide import Counted, Outcome
from atlas_search.answer.quotes.scores import Confidence
from atlas_search.answer.readings import Reading
from atlas_search.answer.request import AnswerPlan
from atlas_search.answer.wire import AnswerDocument, Fallback, PointOut, SentenceOut
from atlas_search.core.domain import CheckedPassage, CheckedSentence, Citation, Passage
from atlas_search.core.notebook import answer_frame, answer_html
from atlas_search.providers.chat import Message, Usage
from atlas_search.search.result import SearchResult
from atlas_search.search.scope import Extent

if TYPE_CHECKING:
    from pandas import DataFrame


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
    """The verdict on one claim, and its reason."""

    verdict: Verdict
    reason: str


class Judge(Protocol):
    """Says whether claims are supported. Safe to use from several threads."""

    @property
    def verifier(self) -> Verifier:
        """The kind of judge."""

    @property
    def model(self) -> str:
        """The model that judges."""

    def judge(self, claims: Sequence[Claim]) -> Mapping[int, Judgement]:
        """Judge claims, by their numbers, each by its own passages alone.

        One on which the judge says neither yes nor no has none. Raises ModelRefused,
        ModelUnavailable and Cancelled.
        """


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

    reason: Literal["repair", "fallback", "struck"]


@dataclass(frozen=True)
class Section:
    """The beginning of the answer of one corpus; its sentences are counted from 1."""

    corpus: str


Event = References | Token | Checked | Restart | Section
Emit = Callable[[Event], None]
"""Called as the answer comes about; may raise Cancelled to stop it."""


@dataclass(frozen=True)
class Writer:
    """The provider and model of a text, the attempts it took, and their tokens and cost.

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
    """The messages given to a model, and how many passages and turns they hold.

    `passages_dropped` and `turns_dropped` count what did not fit; tokens are as `count_tokens` has
    them.
    """

    messages: tuple[Message, ...] = ()
    passages: int = 0
    passages_dropped: int = 0
    passage_tokens: int = 0
    turns: int = 0
    turns_dropped: int = 0
    turn_tokens: int = 0


@dataclass(frozen=True)
class ComparisonPoint:
    """Something that sources of several corpora agree or differ about, as text with markers."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True)
class CorpusAnswer:
    """The answer of one corpus alone. `text` is empty unless the decision is ANSWER."""

    corpus: str
    outcome: Outcome
    text: str
    verification: Verification
    writer: Writer
    confidence: Confidence | None = None


@dataclass(frozen=True)
class Comparison:
    """The answers of the corpora, and where they agree and differ."""

    answers: tuple[CorpusAnswer, ...] = ()
    agreements: tuple[ComparisonPoint, ...] = ()
    differences: tuple[ComparisonPoint, ...] = ()


@dataclass(frozen=True, repr=False)
class Answer:
    """The outcome of a question. `text` is empty unless the decision is ANSWER.

    `standalone` is the question a follow-up was rewritten into, empty if it was not;
    `standalone_note` says why it was not, and `read_as` is the question offered for it, empty if
    there is none. `result` is without its candidates. `conflicts`
    are those between the passages; `stated` is false for one whose other side is not cited.
    `closest` are quotes that come closest to what is asked where the decision is not ANSWER;
    `confidence` says how surely an answer in the sources' own words answers.
    `choices` are the ways in which the sources read the question, if there are several.
    `counted` is the exact count that the question asks for, None if it asks for none.
    One that is a `cache_hit` is shown `as_new` to who would learn by it what others asked.
    `span_id` is that of the trace's root, empty if no trace is kept.
    """

    request: AnswerPlan
    trace_id: str
    created: datetime
    outcome: Outcome
    text: str
    verification: Verification
    result: SearchResult
    standalone: str
    standalone_note: str
    context: Context
    conflicts: tuple[Contradiction, ...]
    comparison: Comparison
    writer: Writer
    timings_ms: Mapping[str, float]
    closest: tuple[Citation, ...] = ()
    confidence: Confidence | None = None
    collection: str = ""
    collection_version: str = ""
    cache_hit: bool = False
    as_new: bool = False
    read_as: str = ""
    choices: tuple[Reading, ...] = ()
    counted: Counted | None = None
    span_id: str = ""

    def __repr__(self) -> str:
        text = self.text or self.outcome.message
        return f"<Answer: {self.outcome.decision}: {text[:80]!r}>"

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The places it cites, each once, those of a comparison's points among them.

        None unless the decision is ANSWER.
        """
        if self.outcome.decision != "ANSWER":
            return ()
        points = (*self.comparison.agreements, *self.comparison.differences)
        cited = [*self.verification.citations, *(c for point in points for c in point.citations)]
        return tuple({citation.place: citation for citation in cited}.values())

    @property
    def scope(self) -> Extent:
        """The corpora and documents that were searched."""
        return self.result.scope

    def form(self, *, include_context: bool = True) -> AnswerDocument:
        """Its form, as POST /api/ask sends it; without `include_context` no passages."""
        request, checked, citations = self.request, self.verification, self.citations
        question = request.search.question
        compared = request.mode == "compare"
        return AnswerDocument.model_validate(
            {
                "qa_id": request.qa_id,
                "session_id": request.session_id,
                "trace_id": self.trace_id,
                "span_id": self.span_id,
                "target": request.target_name,
                "composite_target": request.run_name,
                "collection": self.collection,
                "collection_version": self.collection_version,
                "created": self.created.isoformat(timespec="seconds"),
                "question": question,
                "mode": request.mode,
                "standalone_question": self.standalone,
                "standalone_note": self.standalone_note,
                "read_as": self.read_as,
                "decision": self.outcome.decision,
                "reason": self.outcome,
                "answer": self.text,
                "sentences": _sentences(self.outcome, checked, citations),
                "citations": [citation.form() for citation in citations],
                "closest": [citation.form() for citation in self.closest],
                "confidence": self.confidence,
                "validation": {
                    "citation_valid": checked.valid,
                    "errors": checked.errors,
                    "warnings": checked.warnings,
                    "sentence_groundedness": checked.sentence_groundedness,
                    "answer_grounded": checked.answer_grounded,
                    "verified_by": checked.verified_by if checked.sentences else None,
                    "struck": checked.struck,
                },
                "conflicts": [_conflict(conflict) for conflict in self.conflicts],
                "choices": [_choice(way, self.standalone or question) for way in self.choices],
                "counted": self.counted,
                "comparison": _comparison(self.comparison, citations) if compared else None,
                "fallback": self.writer.fallback,
                "scope": self.scope,
                "retrieval": self.result.retrieval(citations),
                "passages": [item.form() for item in self.result.passages]
                if include_context
                else None,
                "context": self.context,
                "timings_ms": self.timings_ms,
                "usage": {
                    "provider": self.writer.provider,
                    "model": self.writer.model,
                    "attempts": self.writer.attempts,
                    "prompt_tokens": self.writer.usage.prompt_tokens,
                    "completion_tokens": self.writer.usage.completion_tokens,
                    "cost": self.writer.cost,
                },
                "cache_hit": self.cache_hit and not self.as_new,
            }
        )

    def to_dict(self, *, include_context: bool = True) -> dict[str, Any]:
        """Plain values, as POST /api/ask sends them; without `include_context` no passages."""
        return self.form(include_context=include_context).to_dict()

    def to_frame(self) -> "DataFrame":
        """A pandas table: a row for each citation of each sentence."""
        return answer_frame(self.to_dict())

    def _repr_html_(self) -> str:
        return answer_html(self.to_dict())


def _sentences(
    outcome: Outcome, checked: Verification, citations: Sequence[Citation]
) -> list[SentenceOut]:
    if outcome.decision != "ANSWER":
        return []
    return [
        SentenceOut(
            text=sentence.text,
            citations=_indices(sentence.citations, citations),
            grounded=sentence.grounded,
            caveat=sentence.caveat,
            support=sentence.support or None,
        )
        for sentence in checked.sentences
    ]


def _indices(of: Sequence[Citation], citations: Sequence[Citation]) -> list[int]:
    places = [citation.place for citation in citations]
    return [places.index(citation.place) for citation in of]


def _comparison(comparison: Comparison, citations: Sequence[Citation]) -> dict[str, object]:
    def points(of: Sequence[ComparisonPoint]) -> list[PointOut]:
        return [PointOut(text=p.text, citations=_indices(p.citations, citations)) for p in of]

    return {
        "answers": [
            {
                "corpus": part.corpus,
                "decision": part.outcome.decision,
                "reason": part.outcome,
                "answer": part.text,
                "sentences": _sentences(part.outcome, part.verification, citations),
                "provider": part.writer.provider if part.writer.attempts else None,
                "model": part.writer.model if part.writer.attempts else None,
                "fallback": part.writer.fallback,
                "confidence": part.confidence,
            }
            for part in comparison.answers
        ],
        "agreements": points(comparison.agreements),
        "differences": points(comparison.differences),
    }


def _choice(reading: Reading, question: str) -> dict[str, object]:
    return {
        "label": reading.label,
        "question": question,
        "corpus_filter": reading.corpora,
        "filters": reading.filters,
        "citation": reading.citation.form(),
    }


def _conflict(conflict: Contradiction) -> dict[str, object]:
    return {
        "kind": conflict.kind,
        "detail": conflict.detail,
        "stated": conflict.stated,
        "first": conflict.first.form(),
        "second": conflict.second.form(),
    }
