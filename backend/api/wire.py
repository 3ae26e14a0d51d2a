"""The shapes on the wire, and their translation from and to the nouns inside."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from backend.answer.flow import Answer, AskRequest
from backend.dates import bounds
from backend.domain import (
    LEGS,
    AnswerSentence,
    ChatTurn,
    CheckedPassage,
    Citation,
    Document,
    MetadataValue,
    Passage,
)
from backend.errors import InvalidQuestion, RequestError, UnknownFilterField
from backend.search.flow import SearchResult
from backend.search.request import SearchRequest
from backend.services import Services, known_corpora
from backend.stores.filters import Condition, Range
from backend.targets import MAX_DAYS

MAX_QUESTION = 4000  # characters; the embedding model reads the first 256 tokens anyway
MAX_HISTORY = 200
Identifier = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._:-]+$")]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RangeFilter(_Request):
    """Values from `from` to `to`, both included; dates may be partial (`1957`, `1957-06`)."""

    low: str | float | None = Field(None, alias="from")
    high: str | float | None = Field(None, alias="to")


FilterValue = bool | str | float | list[bool | str | float] | RangeFilter


class SearchBody(_Request):
    """What to search for, and where."""

    question: str = Field(description=f"1 to {MAX_QUESTION} characters")
    corpus_filter: str | list[str] = Field(
        "all", description='"all", the id of a corpus, or a list of ids'
    )
    filters: dict[str, FilterValue] = Field(
        default_factory=dict,
        description="Metadata every passage must have: a value, a list of which one must match, "
        'or {"from": ..., "to": ...}',
    )
    target: str | None = Field(None, description="Name of a target; the configured one if absent")
    k: int | None = Field(None, ge=1, le=100, description="Passages wanted; the target's SEARCH_K")
    freshness_days: int | None = Field(
        None, ge=0, le=MAX_DAYS, description="Older sources count as stale"
    )


class Turn(_Request):
    """An earlier message."""

    role: Literal["user", "assistant"]
    content: str


class AskBody(SearchBody):
    """A question to be answered."""

    chat_history: list[Turn] = Field(default_factory=list, max_length=MAX_HISTORY)
    session_id: Identifier | None = None
    qa_id: Identifier | None = None
    include_context: bool = False


class PassageOut(BaseModel):
    """A passage, with the score and signals that placed it."""

    passage_id: str
    document_id: str
    corpus: str
    title: str
    text: str
    start: int = Field(description="First character in the document's text")
    end: int = Field(description="Character after the last")
    page: int
    line: int
    section: str | None = Field(description="Path of headings where the passage begins")
    speaker: str | None = Field(description="Who speaks in it; several joined by `; `")
    date: str | None
    url: str | None
    metadata: dict[str, MetadataValue]
    marker: str = Field(description="Citation token of the passage")


class RankedPassageOut(PassageOut):
    """A passage in a result."""

    score: float
    signals: dict[str, float] = Field(description="Each in [0, 1]")
    valid: bool = Field(description="Whether it passed the evidence check")
    overlap: float = Field(description="Share of the question's words it holds")
    highlights: list[dict[str, int]] = Field(description="Spans in `text` that speak most to it")


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


class SentenceOut(BaseModel):
    """A sentence of the answer; `citations` are indices into the answer's citations."""

    text: str
    citations: list[int]
    grounded: bool


class ValidationOut(BaseModel):
    """The outcome of citation verification."""

    citation_valid: bool
    errors: list[str]
    warnings: list[str]
    sentence_groundedness: float
    answer_grounded: bool


class CorpusCountsOut(BaseModel):
    """Passages of one corpus at each stage."""

    candidates: int
    dense: int
    lexical: int
    kept: int
    cited: int


class ConfidenceOut(BaseModel):
    """Similarity of the kept passages, and how much of the question the collection speaks to."""

    max: float
    mean: float
    gap: float | None
    hit_count: int
    support: float
    low: bool


class FreshnessOut(BaseModel):
    """Dates of the kept passages."""

    oldest: str | None
    newest: str | None
    freshness_days: int
    violations: int
    stale: bool


class RetrievalOut(BaseModel):
    """How the passages were found."""

    legs: list[str]
    corpora: list[str]
    depth: int
    reranker: str
    balance: str
    per_corpus: dict[str, CorpusCountsOut]
    confidence: ConfidenceOut
    freshness: FreshnessOut
    warnings: list[str]


class ReasonOut(BaseModel):
    """Why the decision fell as it did."""

    code: str
    message: str


class UsageOut(BaseModel):
    """Who wrote, and the tokens it took."""

    provider: str
    model: str
    prompt_tokens: int
    completion_tokens: int


class AnswerOut(BaseModel):
    """The answer to a question; `answer` is null unless the decision is ANSWER."""

    qa_id: str
    session_id: str
    trace_id: str
    target: str
    composite_target: str
    question: str
    decision: Literal["ANSWER", "ABSTAIN", "BLOCK"]
    reason: ReasonOut
    answer: str | None
    sentences: list[SentenceOut]
    citations: list[CitationOut]
    validation: ValidationOut
    retrieval: RetrievalOut
    passages: list[RankedPassageOut] | None = Field(description="With include_context only")
    timings_ms: dict[str, float]
    usage: UsageOut
    cache_hit: bool


class SearchOut(BaseModel):
    """Ranked passages without an answer."""

    question: str
    target: str
    passages: list[RankedPassageOut]
    retrieval: RetrievalOut
    timings_ms: dict[str, float]


class DocumentOut(BaseModel):
    """A document with its whole text."""

    document_id: str
    corpus: str
    title: str
    text: str
    metadata: dict[str, MetadataValue]
    source: str
    passages: list[PassageOut]


def search_request(body: SearchBody, services: Services, today: date) -> SearchRequest:
    """Check a request against the collection. Raises RequestError."""
    question = body.question.strip()
    if not question or not any(character.isalnum() for character in question):
        raise InvalidQuestion("The question is empty. Ask something in words.")
    if len(question) > MAX_QUESTION:
        raise InvalidQuestion(
            f"The question has {len(question)} characters; at most {MAX_QUESTION} are read. "
            "Shorten it."
        )
    _, target = services.target(body.target)
    every = body.corpus_filter == "all"
    chosen = [body.corpus_filter] if isinstance(body.corpus_filter, str) else body.corpus_filter
    if not chosen:
        raise RequestError('corpus_filter is an empty list. Name a corpus, or give "all".')
    corpora = (
        services.default_corpora
        if every
        else tuple(corpus.id for corpus in known_corpora(services.store, chosen))
    )
    return SearchRequest(
        question=question,
        corpora=corpora,
        every_corpus=every,
        limit=body.k or target.search_k,
        today=today,
        filters=_filters(body.filters, services.store.manifest.fields),
        freshness_days=(
            target.freshness_days if body.freshness_days is None else body.freshness_days
        ),
    )


def ask_request(body: AskBody, services: Services, today: date) -> AskRequest:
    """Check a question against the collection. Raises RequestError."""
    name, target = services.target(body.target)
    return AskRequest(
        search=search_request(body, services, today),
        target_name=name,
        target=target,
        run_name=services.composite_target(name),
        qa_id=body.qa_id or uuid.uuid4().hex,
        session_id=body.session_id or uuid.uuid4().hex,
        history=tuple(ChatTurn(turn.role, turn.content) for turn in body.chat_history),
    )


def answer_out(answer: Answer, services: Services, *, include_context: bool) -> AnswerOut:
    """An answer as it is sent."""
    request = answer.request
    answered = answer.outcome.decision == "ANSWER"
    citations = answer.verification.citations if answered else ()
    sentences = answer.verification.sentences if answered else ()
    provider = services.providers[request.target.llm_provider]
    verification = answer.verification
    return AnswerOut(
        qa_id=request.qa_id,
        session_id=request.session_id,
        trace_id=answer.trace_id,
        target=request.target_name,
        composite_target=request.run_name,
        question=request.search.question,
        decision=answer.outcome.decision,
        reason=ReasonOut(code=answer.outcome.code, message=answer.outcome.message),
        answer=answer.text or None,
        sentences=[_sentence(sentence, citations) for sentence in sentences],
        citations=[_citation(citation) for citation in citations],
        validation=ValidationOut(
            citation_valid=verification.valid,
            errors=list(verification.errors),
            warnings=list(verification.warnings),
            sentence_groundedness=verification.sentence_groundedness,
            answer_grounded=verification.answer_grounded,
        ),
        retrieval=retrieval_out(answer.result, services, request.target_name, citations),
        passages=(
            [ranked_passage_out(item) for item in answer.result.passages]
            if include_context
            else None
        ),
        timings_ms=dict(answer.timings_ms),
        usage=UsageOut(provider=provider.name, model=provider.model, **asdict(answer.usage)),
        cache_hit=False,
    )


def search_out(
    result: SearchResult, body: SearchBody, services: Services, total_ms: float
) -> SearchOut:
    """A search result as it is sent."""
    name, _ = services.target(body.target)
    return SearchOut(
        question=result.query.text,
        target=name,
        passages=[ranked_passage_out(item) for item in result.passages],
        retrieval=retrieval_out(result, services, name, ()),
        timings_ms={**result.timings_ms, "total": total_ms},
    )


def retrieval_out(
    result: SearchResult, services: Services, target: str, citations: tuple[Citation, ...]
) -> RetrievalOut:
    """How the passages of `result` were found, and how many of each corpus were cited."""
    chosen = services.targets[target]
    return RetrievalOut(
        legs=list(LEGS),
        corpora=list(result.per_corpus),
        depth=result.depth,
        reranker=chosen.reranker,
        balance=chosen.balance,
        per_corpus={
            corpus: CorpusCountsOut(
                **asdict(counts),
                cited=len({c.passage.id for c in citations if c.passage.corpus == corpus}),
            )
            for corpus, counts in result.per_corpus.items()
        },
        confidence=ConfidenceOut(**asdict(result.confidence)),
        freshness=FreshnessOut(**asdict(result.freshness)),
        warnings=list(result.warnings),
    )


def passage_out(passage: Passage) -> PassageOut:
    """A passage as it is sent."""
    return PassageOut(**_passage_fields(passage))


def ranked_passage_out(item: CheckedPassage) -> RankedPassageOut:
    """A ranked passage as it is sent."""
    return RankedPassageOut(
        **_passage_fields(item.passage),
        score=item.ranked.score,
        signals=dict(item.ranked.signals),
        valid=item.valid,
        overlap=item.overlap,
        highlights=[asdict(highlight) for highlight in item.highlights],
    )


def document_out(document: Document, passages: list[Passage]) -> DocumentOut:
    """A document as it is sent."""
    return DocumentOut(
        document_id=document.id,
        corpus=document.corpus,
        title=document.title,
        text=document.text,
        metadata=dict(document.metadata),
        source=document.source,
        passages=[passage_out(passage) for passage in passages],
    )


def _passage_fields(passage: Passage) -> dict[str, Any]:
    return {
        "passage_id": passage.id,
        "document_id": passage.document_id,
        "corpus": passage.corpus,
        "title": passage.title,
        "text": passage.text,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page,
        "line": passage.line,
        "section": passage.section or None,
        "speaker": passage.speaker or None,
        "date": passage.date or None,
        "url": passage.url or None,
        "metadata": dict(passage.metadata),
        "marker": passage.marker,
    }


def _citation(citation: Citation) -> CitationOut:
    passage = citation.passage
    return CitationOut(
        marker=citation.marker,
        passage_id=passage.id,
        document_id=passage.document_id,
        corpus=passage.corpus,
        title=passage.title,
        page=passage.page,
        section=passage.section or None,
        speaker=passage.speaker or None,
        date=passage.date or None,
        url=passage.url or None,
        start=citation.start,
        end=citation.end,
        quote=citation.quote,
    )


def _sentence(sentence: AnswerSentence, citations: tuple[Citation, ...]) -> SentenceOut:
    return SentenceOut(
        text=sentence.text,
        citations=[citations.index(citation) for citation in sentence.citations],
        grounded=sentence.grounded,
    )


def _filters(filters: Mapping[str, FilterValue], fields: Collection[str]) -> dict[str, Condition]:
    unknown = [field for field in filters if field not in fields]
    if unknown:
        raise UnknownFilterField(
            f"Unknown filter field {', '.join(map(repr, unknown))}. "
            f"Known fields: {', '.join(fields)}."
        )
    return {field: _condition(field, value) for field, value in filters.items()}


def _condition(field: str, value: FilterValue) -> Condition:
    if isinstance(value, RangeFilter):
        if value.low is None and value.high is None:
            raise RequestError(f'filters.{field}: give "from", "to" or both.')
        first, low = _end(field, value.low, last=False)
        last, high = _end(field, value.high, last=True)
        return Range(first_day=first, last_day=last, low=low, high=high)
    values = value if isinstance(value, list) else [value]
    if not values:
        raise RequestError(f"filters.{field} is an empty list, which nothing can match.")
    return tuple(_text(item) for item in values)


def _end(field: str, value: str | float | None, *, last: bool) -> tuple[str | None, float | None]:
    """One end of a range as a day and as a number: `1957` can be meant as either."""
    if value is None:
        return None, None
    text = _text(value)
    days = bounds(text)
    try:
        number = float(text)
    except ValueError:
        number = None
    if days is None and number is None:
        raise RequestError(
            f"filters.{field}: {value!r} is neither a number nor a date "
            "like 1957, 1957-06 or 1957-06-30."
        )
    return days[last] if days else None, number


def _text(value: str | float | bool) -> str:
    """A value as the store compares it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
