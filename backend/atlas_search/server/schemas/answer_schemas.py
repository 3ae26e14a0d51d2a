"""What answers look like."""

from typing import Literal

from pydantic import BaseModel, Field

from atlas_search.core.domain import MetadataValue
from atlas_search.server.schemas.schemas import RankedPassageOut, RetrievalOut


class CitationOut(BaseModel):
    """A verified citation: `quote` is the document's text from `start` to `end`."""

    marker: str
    passage_id: str
    document_id: str
    corpus: str
    title: str
    page: int
    section: str | None
    speaker: str | None
    date: str | None
    url: str | None
    start: int
    end: int
    quote: str
    metadata: dict[str, MetadataValue] = Field(description="The document's")


class CheckedSentenceOut(BaseModel):
    """A sentence and its verification, with the citation tokens that hold."""

    text: str
    markers: list[str]
    grounded: bool
    caveat: bool = Field(description="It only says what the passages do not hold")
    errors: list[str]
    warnings: list[str]


class SentenceOut(BaseModel):
    """A sentence of the answer; `citations` are indices into the answer's citations."""

    text: str
    citations: list[int]
    grounded: bool
    caveat: bool = Field(description="It only says what the passages do not hold")


class ValidationOut(BaseModel):
    """The outcome of citation verification."""

    citation_valid: bool
    errors: list[str]
    warnings: list[str]
    sentence_groundedness: float
    answer_grounded: bool


class ReasonOut(BaseModel):
    """Why the decision fell as it did."""

    code: str
    message: str
    numbers: dict[str, float] = Field(description="What was measured, and what was needed")


class UsageOut(BaseModel):
    """Who wrote, in how many attempts, and the tokens it took."""

    provider: str
    model: str
    attempts: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = Field(description="In the currency of the target's prices")


class FallbackOut(BaseModel):
    """Why the sources' own sentences stand in for a language model's."""

    code: Literal["model_refused", "model_unavailable", "model_unusable"]
    message: str


class ContextOut(BaseModel):
    """What the language model was given, and what did not fit; zeros if none was asked."""

    passages: int
    passages_dropped: int
    passage_tokens: int
    turns: int
    turns_dropped: int
    turn_tokens: int


class SideOut(BaseModel):
    """One place of a contradiction: `quote` is the document's text from `start` to `end`."""

    passage_id: str
    document_id: str
    corpus: str
    title: str
    date: str | None
    marker: str
    start: int
    end: int
    quote: str


class ConflictOut(BaseModel):
    """Two places of the passages that contradict each other."""

    kind: Literal["polarity", "number", "repealed"]
    detail: str
    stated: bool = Field(description="Whether the answer cites both")
    first: SideOut
    second: SideOut


class PointOut(BaseModel):
    """Something several corpora agree or differ about; indices into the answer's citations."""

    text: str
    citations: list[int]


class CorpusAnswerOut(BaseModel):
    """What one corpus answers for itself."""

    corpus: str
    decision: Literal["ANSWER", "ABSTAIN", "BLOCK"]
    reason: ReasonOut
    answer: str | None
    sentences: list[SentenceOut]


class ComparisonOut(BaseModel):
    """The answers of the corpora, and what they agree and differ about."""

    answers: list[CorpusAnswerOut]
    agreements: list[PointOut]
    differences: list[PointOut]


class AnswerOut(BaseModel):
    """The answer to a question; `answer` is null unless the decision is ANSWER."""

    qa_id: str
    session_id: str
    trace_id: str
    target: str
    composite_target: str
    collection: str
    collection_version: str
    created: str = Field(description="When it was answered first, in UTC (ISO 8601)")
    question: str
    mode: Literal["answer", "compare"]
    standalone_question: str | None = Field(
        description="What a follow-up was rewritten into; this was searched for"
    )
    standalone_note: str | None = Field(description="Why a follow-up was not rewritten")
    decision: Literal["ANSWER", "ABSTAIN", "BLOCK"]
    reason: ReasonOut
    answer: str | None
    sentences: list[SentenceOut]
    citations: list[CitationOut]
    validation: ValidationOut
    conflicts: list[ConflictOut]
    comparison: ComparisonOut | None = Field(description="In the mode `compare` only")
    fallback: FallbackOut | None
    retrieval: RetrievalOut
    passages: list[RankedPassageOut] | None = Field(description="With include_context only")
    context: ContextOut
    timings_ms: dict[str, float]
    usage: UsageOut
    cache_hit: bool
