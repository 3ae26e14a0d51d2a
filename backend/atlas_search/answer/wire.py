"""The one form of an answer: what the API sends and its description says, what is exported."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationError

from atlas_search.answer.check.citations import Verifier
from atlas_search.answer.decide import Counted, Outcome
from atlas_search.answer.quotes.scores import Confidence
from atlas_search.core.domain import MARKER, Decision
from atlas_search.core.errors import RequestError
from atlas_search.core.locator import place_in_words
from atlas_search.core.notebook import answer_frame, answer_html
from atlas_search.core.wire import CitationOut, RankedPassageOut, Sent, Stated
from atlas_search.search.result import RetrievalOut
from atlas_search.search.scope import ScopeOut

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Fallback:
    """The reason why the sources' own sentences stand in for a model's: a fixed word and a text."""

    code: Literal["model_refused", "model_blocked", "model_unavailable", "model_unusable"]
    message: str


class SentenceOut(Sent):
    """A sentence of the answer; `citations` are indices into the answer's citations."""

    text: str
    citations: list[int]
    grounded: bool
    caveat: bool = Field(False, description="It only says what the passages do not hold")
    support: Literal["supported", "not_judged"] | None = Field(
        None, description="What the judge says of it; null if none was asked"
    )


class StruckOut(Sent):
    """A sentence that was taken out, because its passages do not support it."""

    sentence: str
    verdict: Literal["unsupported", "contradicted", "not_judged"] = "unsupported"
    reason: str = ""


class ValidationOut(Sent):
    """The outcome of verification: of the citations, and of what they support."""

    citation_valid: bool = False
    errors: list[str] = []
    warnings: list[str] = []
    sentence_groundedness: float = 0.0
    answer_grounded: bool = False
    verified_by: Verifier | None = Field(
        None, description="Who checked last; null if nothing was written"
    )
    struck: list[StruckOut] = []


class ReasonOut(Sent):
    """The reason of a decision."""

    code: str
    message: str
    numbers: dict[str, float] = Field(
        default_factory=dict, description="What was measured, and what was needed"
    )
    missing: list[str] = Field([], description="What the closest quotes lack, a sentence each")


class UsageOut(Sent):
    """The writer, the number of attempts, and the tokens that all calls took.

    Several who wrote a comparison are joined by ` + `. Without an attempt nobody wrote for this
    question: it was declined before, or the answer was kept.
    """

    provider: str
    model: str
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = Field(None, description="In the currency of the target's prices")


class ContextOut(Sent):
    """Sizes of what the language model was given, and of what did not fit; zeros without one."""

    passages: int = 0
    passages_dropped: int = 0
    passage_tokens: int = 0
    turns: int = 0
    turns_dropped: int = 0
    turn_tokens: int = 0


class SideOut(Sent):
    """One place of a contradiction: `quote` is the document's text from `start` to `end`."""

    passage_id: str
    document_id: str = ""
    corpus: str = ""
    title: str
    date: str | None = None
    marker: str = ""
    locator: str | None = None
    start: int = 0
    end: int = 0
    quote: str


class ConflictOut(Sent):
    """Two places of the passages that contradict each other."""

    kind: Literal["polarity", "number", "repealed"] = "number"
    detail: str
    stated: bool = Field(False, description="Whether the answer cites both")
    first: SideOut
    second: SideOut


class ChoiceOut(Sent):
    """One way to read the question: asked again with these filters it has no other.

    `citation` is what a source says of it.
    """

    label: str
    question: str
    corpus_filter: list[str]
    filters: dict[str, list[str]] = {}
    citation: CitationOut


class PointOut(Sent):
    """Something several corpora agree or differ about; indices into the answer's citations."""

    text: str
    citations: list[int]


class CorpusAnswerOut(Sent):
    """The answer of one corpus."""

    corpus: str
    decision: Literal["ANSWER", "ABSTAIN", "BLOCK"]
    reason: ReasonOut
    answer: Stated
    sentences: list[SentenceOut]
    provider: str | None = Field(None, description="Who wrote it; null if nobody did")
    model: str | None = None
    fallback: Fallback | None = None
    confidence: Confidence | None = Field(
        None, description="Of an answer in the sources' own sentences"
    )

    @property
    def text(self) -> str:
        """The answer, empty unless the decision is ANSWER."""
        return self.answer or ""

    @property
    def outcome(self) -> Outcome:
        """The decision and its reason."""
        return _outcome(self.decision, self.reason)


def _outcome(decision: Decision, why: ReasonOut) -> Outcome:
    return Outcome(decision, why.code, why.message, why.numbers, tuple(why.missing))


class ComparisonOut(Sent):
    """The answers of the corpora, and what they agree and differ about."""

    answers: list[CorpusAnswerOut] = []
    agreements: list[PointOut] = []
    differences: list[PointOut] = []


def _moment(text: str) -> str:
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("a time zone is missing")
    return text


class AnswerDocument(Sent):
    """The answer to a question; `answer` is null unless the decision is ANSWER."""

    model_config = Sent.model_config | ConfigDict(title="AnswerOut")

    qa_id: str
    session_id: str
    trace_id: str = Field("", description="Empty if no trace is kept, and for who may not see it")
    span_id: str = Field("", description="The root span of the trace; empty like it")
    target: str
    composite_target: str = ""
    collection: str
    collection_version: str
    created: Annotated[str, AfterValidator(_moment)] = Field(
        description="When it was answered first, in UTC (ISO 8601)"
    )
    question: str
    mode: Literal["answer", "compare"] = "answer"
    standalone_question: Stated = Field(
        None, description="What a follow-up was rewritten into; this was searched for"
    )
    standalone_note: Stated = Field(None, description="Why a follow-up was not rewritten")
    read_as: Stated = Field(
        None,
        description="The question a follow-up is read as by rule; offered, and searched for only "
        "if `standalone_question` says so",
    )
    decision: Literal["ANSWER", "ABSTAIN", "BLOCK"]
    reason: ReasonOut
    answer: Stated
    sentences: list[SentenceOut]
    citations: list[CitationOut]
    closest: list[CitationOut] = Field(
        default=[], description="Quotes that come closest where there is no answer; none is one"
    )
    confidence: Confidence | None = Field(
        None, description="Of an answer in the sources' own sentences"
    )
    validation: ValidationOut = ValidationOut()
    conflicts: list[ConflictOut] = []
    choices: list[ChoiceOut] = Field(
        default_factory=list, description="How the sources read the question, if in several ways"
    )
    counted: Counted | None = Field(
        None, description="What a question for a count asks for, counted exactly"
    )
    comparison: ComparisonOut | None = Field(None, description="In the mode `compare` only")
    fallback: Fallback | None = None
    scope: ScopeOut | None = Field(
        None, description="What was searched; null only in answers of earlier versions"
    )
    retrieval: RetrievalOut = Field(default_factory=RetrievalOut)
    passages: list[RankedPassageOut] | None = Field(None, description="With include_context only")
    context: ContextOut = ContextOut()
    timings_ms: dict[str, float] = {}
    usage: UsageOut
    cache_hit: bool = False

    @property
    def text(self) -> str:
        """The answer, empty unless the decision is ANSWER."""
        return self.answer or ""

    @property
    def outcome(self) -> Outcome:
        """The decision and its reason."""
        return _outcome(self.decision, self.reason)

    @property
    def written_by(self) -> tuple[str, str]:
        """Provider and model, both empty if nobody wrote: it was declined before."""
        wrote = self.answer is not None or self.usage.attempts > 0
        return (self.usage.provider, self.usage.model) if wrote else ("", "")

    @property
    def said(self) -> tuple[SentenceOut | PointOut, ...]:
        """All that cites something, in reading order."""
        points = self.comparison
        if points is None:
            return tuple(self.sentences)
        return (*self.sentences, *points.agreements, *points.differences)

    def to_frame(self) -> "DataFrame":
        """A pandas table: a row for each citation of each sentence."""
        return answer_frame(self.to_dict())

    def _repr_html_(self) -> str:
        return answer_html(self.to_dict())


_MARKER = re.compile(rf"(?<!\s)\s*+{MARKER.pattern}")


def without_markers(text: str) -> str:
    """A text without its citation tokens."""
    return _MARKER.sub("", text)


def place_of(cited: CitationOut) -> str:
    """The place of a citation as its source says it: `s 10(1)`, `p. xii (page 12 of the file)`."""
    return place_in_words(cited.locator, cited.page, cited.printed_page, cited.metadata)


def read_answer(document: Mapping[str, Any], number: int) -> AnswerDocument:
    """The answer in `document`, the `number`th given. Raises RequestError if it is none."""
    try:
        # half a character or NaN, which Python reads from JSON, could not be written again
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise RequestError(f"Document {number} is not JSON in UTF-8: {error}.") from error
    try:
        answer = AnswerDocument.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "as a whole"
        raise RequestError(
            f"Document {number} is not an answer: {field}: {first['msg']}. "
            "Export what POST /api/ask returned, unchanged."
        ) from error
    beyond = [
        index
        for part in answer.said
        for index in part.citations
        if not 0 <= index < len(answer.citations)
    ]
    if beyond:
        raise RequestError(
            f"Document {number} is not an answer: it refers to citation {beyond[0]}, and "
            f"there are {len(answer.citations)} from 0. "
            "Export what POST /api/ask returned, unchanged."
        )
    return answer
