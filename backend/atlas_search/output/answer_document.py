"""The one form of an answer: what the API sends and its description says, what is exported."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from atlas_search.core.domain import MetadataValue
from atlas_search.core.errors import RequestError
from atlas_search.output.search_document import RankedPassageOut, RetrievalOut


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


def _moment(text: str) -> str:
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("a time zone is missing")
    return text


class AnswerDocument(BaseModel):
    """The answer to a question; `answer` is null unless the decision is ANSWER."""

    model_config = ConfigDict(title="AnswerOut")

    qa_id: str
    session_id: str
    trace_id: str
    target: str
    composite_target: str
    collection: str
    collection_version: str
    created: Annotated[str, AfterValidator(_moment)] = Field(
        description="When it was answered first, in UTC (ISO 8601)"
    )
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

    @property
    def said(self) -> tuple[SentenceOut | PointOut, ...]:
        """All that cites something, in reading order."""
        points = self.comparison
        if points is None:
            return tuple(self.sentences)
        return (*self.sentences, *points.agreements, *points.differences)


# what answers of earlier versions may lack, and what that means
_ANSWER_LACKS: Mapping[str, object] = {
    "mode": "answer",
    "standalone_question": None,
    "standalone_note": None,
    "comparison": None,
    "conflicts": [],
    "fallback": None,
    "passages": None,
}
_CITATION_LACKS: Mapping[str, object] = {
    "section": None,
    "speaker": None,
    "date": None,
    "url": None,
    "metadata": {},
}


def permalink(base_url: str, passage_id: str) -> str:
    """Where the server at `base_url` shows a passage."""
    return f"{base_url}/?passage={quote(passage_id, safe='')}"


def read_answer(document: Mapping[str, Any], number: int) -> AnswerDocument:
    """The answer in `document`, the `number`th given. Raises RequestError if it is none."""
    try:
        # half a character or NaN, which Python reads from JSON, could not be written again
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise RequestError(f"Document {number} is not JSON in UTF-8: {error}.") from error
    try:
        answer = AnswerDocument.model_validate(_completed(document))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "as a whole"
        raise RequestError(
            f"Document {number} is not an answer: {field}: {first['msg']}. "
            "Export what POST /api/ask returned, unchanged."
        ) from error
    beyond = [
        index
        for said in answer.said
        for index in said.citations
        if not 0 <= index < len(answer.citations)
    ]
    if beyond:
        raise RequestError(
            f"Document {number} is not an answer: it refers to citation {beyond[0]}, and "
            f"there are {len(answer.citations)} from 0. "
            "Export what POST /api/ask returned, unchanged."
        )
    return answer


def _completed(document: Mapping[str, Any]) -> dict[str, Any]:
    citations = document.get("citations")
    if isinstance(citations, list):
        citations = [{**_CITATION_LACKS, **c} if isinstance(c, dict) else c for c in citations]
    return {**_ANSWER_LACKS, **document, "citations": citations}
