"""What requests look like, and the questions they become."""

import uuid
from dataclasses import replace
from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from atlas_search.answer.request import AskRequest, Mode
from atlas_search.core.domain import ChatTurn
from atlas_search.core.errors import InvalidQuestion, RequestError
from atlas_search.core.targets import MAX_DAYS
from atlas_search.search.query import parse_query
from atlas_search.search.request import SearchRequest
from atlas_search.server.schemas.conditions import FilterValue, conditions, known_fields
from atlas_search.services import Services, known_corpora

MAX_QUESTION = 4000  # characters; the embedding model reads the first 256 tokens anyway
MAX_HISTORY = 200
Identifier = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._:-]+$")]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SearchBody(_Request):
    """What to search for, and where."""

    question: str = Field(description=f"1 to {MAX_QUESTION} characters")
    corpus_filter: str | list[str] = Field(
        "all", description='"all", the id of a corpus, or a list of ids'
    )
    filters: dict[str, FilterValue] = Field(
        default_factory=dict,
        description="Metadata every passage must have: a value, a list of which one must match, "
        'or {"from": ..., "to": ...}; `document_id`, `speaker` and `section` can be asked for too',
    )
    target: str | None = Field(None, description="Name of a target; the configured one if absent")
    k: int | None = Field(None, ge=1, le=100, description="Passages wanted; the target's SEARCH_K")
    freshness_days: int | None = Field(
        None, ge=0, le=MAX_DAYS, description="Older sources count as stale"
    )
    fuzzy: bool | None = Field(
        None, description="Also find words spelt a little otherwise; the target's FUZZY"
    )
    as_of: date | None = Field(None, description="The day their age is counted from; today")


class FindBody(SearchBody):
    """A search for passages alone."""

    facets: bool | list[str] = Field(
        False, description="Count the metadata of the documents found: some fields, or all"
    )
    exact: bool = Field(False, description="Compare every vector instead of asking the index")
    explain: bool = Field(False, description="List every candidate with its legs and signals")


class Turn(_Request):
    """An earlier message."""

    role: Literal["user", "assistant"]
    content: str


class AskBody(SearchBody):
    """A question to be answered."""

    mode: Mode = Field(
        "answer", description="`compare`: every corpus answers for itself, then they are compared"
    )
    chat_history: list[Turn] = Field(default_factory=list, max_length=MAX_HISTORY)
    session_id: Identifier | None = None
    qa_id: Identifier | None = None
    include_context: bool = False


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
    if not parse_query(question).words:
        raise InvalidQuestion("The question only says what to leave out. Say what to look for.")
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
        today=body.as_of or today,
        filters=conditions(body.filters, services.store.manifest.fields),
        fuzzy=target.fuzzy if body.fuzzy is None else body.fuzzy,
        freshness_days=(
            target.freshness_days if body.freshness_days is None else body.freshness_days
        ),
    )


def find_request(body: FindBody, services: Services, today: date) -> SearchRequest:
    """Check a search against the collection. Raises RequestError."""
    return replace(search_request(body, services, today), exact=body.exact)


def facet_fields(body: FindBody, services: Services) -> list[str]:
    """The fields to count. Raises UnknownFilterField."""
    known = list(services.store.manifest.fields)
    if isinstance(body.facets, bool):
        return known if body.facets else []
    return known_fields(body.facets, known)


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
        mode=body.mode,
    )
