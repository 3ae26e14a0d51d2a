"""The bodies of requests, and their translation into what the library takes."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from atlas_search.answer.request import AskRequest, Mode
from atlas_search.asking import MAX_QUESTION, Where, ask_request
from atlas_search.core.domain import ChatTurn
from atlas_search.core.targets import MAX_DAYS
from atlas_search.counting import (
    COLLOCATES_FROM,
    KEYWORDS_FROM,
    MOST_CONTEXT,
    MOST_LINES,
    MOST_OFFSET,
    MOST_WINDOW,
    WordsWhere,
)
from atlas_search.search.query import MOST_PHRASES
from atlas_search.search.request import MOST_VALUES, Filter, too_many
from atlas_search.services import Services
from atlas_search.words.query import MAX_QUERY, Form
from atlas_search.words.request import (
    ALL,
    YEAR,
    Direction,
    Keyness,
    Point,
    Sort,
    Strength,
)

MAX_HISTORY = 200
MAX_NAMES = 1000  # corpora or facets
Identifier = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._:-]+$")]


class RangeFilter(BaseModel):
    """Values from `from` to `to`, both included; dates may be partial (`1957`, `1957-06`)."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    low: str | float | None = Field(None, alias="from")
    high: str | float | None = Field(None, alias="to")


def _few(filters: object) -> object:
    """Refuse too much before each value is looked at, and each of its faults reported."""
    if isinstance(filters, dict) and (fault := too_many(filters)):
        raise PydanticCustomError("too_many", "{fault}", {"fault": fault})
    return filters


def _read_day(text: object) -> date:
    """A day as `2024-05-31`: of numbers and times pydantic would make days too."""
    if isinstance(text, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return date.fromisoformat(text)
    raise ValueError("give a day as YYYY-MM-DD")


Day = Annotated[
    date, BeforeValidator(_read_day), WithJsonSchema({"type": "string", "format": "date"})
]
Names = Annotated[list[str], Field(max_length=MAX_NAMES)]
FilterValue = bool | str | float | list[bool | str | float] | RangeFilter
Filters = Annotated[dict[str, FilterValue], BeforeValidator(_few)]


class StrictBody(BaseModel):
    """A request body: no other fields, and no values of other types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Telemetry = Field(
    True, description="`false`: nothing of the request is traced, nor its text noted elsewhere"
)


class FacetsBody(StrictBody):
    """A scope, without a question."""

    corpus_filter: str | Names = Field(
        "all", description='"all", the id of a corpus, or a list of ids'
    )
    filters: Filters = Field(default_factory=dict, description="As in a search")
    collection: str | None = Field(
        None, description="Name of a collection that is served; the configured one if absent"
    )
    require: list[str] = Field(
        default_factory=list, max_length=MOST_PHRASES, description="Phrases every passage holds"
    )
    exclude: list[str] = Field(
        default_factory=list, max_length=MOST_PHRASES, description="Phrases no passage holds"
    )
    fields: bool | Names = Field(
        default=True, description="Count the values of some fields, of all, or of none"
    )
    telemetry: bool = Telemetry


class SearchBody(StrictBody):
    """A question, and where to search."""

    question: str = Field(
        description=f"1 to {MAX_QUESTION} characters, with a word to look for",
        json_schema_extra={"minLength": 1, "maxLength": MAX_QUESTION},
    )
    corpus_filter: str | Names = Field(
        "all", description='"all", the id of a corpus, or a list of ids'
    )
    filters: Filters = Field(
        default_factory=dict,
        description="Metadata every passage must have: a value, a list of which one must match, "
        'or {"from": ..., "to": ...}; `document_id`, `passage_id`, `speaker` and `section` can be '
        "asked for too; "
        f"of all lists together at most {MOST_VALUES:,} values",
    )
    target: str | None = Field(None, description="Name of a target; the configured one if absent")
    collection: str | None = Field(
        None, description="Name of a collection that is served; the configured one if absent"
    )
    k: int | None = Field(None, ge=1, le=100, description="Passages wanted; the target's SEARCH_K")
    freshness_days: int | None = Field(
        None, ge=0, le=MAX_DAYS, description="Older sources count as stale"
    )
    fuzzy: bool | None = Field(
        None,
        description="Let words that no source holds count as those spelt nearly so; the target's "
        "FUZZY",
    )
    require: list[str] = Field(
        default_factory=list,
        max_length=MOST_PHRASES,
        description="Phrases every passage must hold; if fewer than `k` do, others follow them",
    )
    exclude: list[str] = Field(
        default_factory=list, max_length=MOST_PHRASES, description="Phrases no passage may hold"
    )
    max_per_document: int | None = Field(
        None,
        ge=1,
        le=100,
        description="Passages of one document, unless no other is nearly as good; any number in a "
        "search, the target's MAX_PASSAGES_PER_DOCUMENT in an answer",
    )
    as_of: Day | None = Field(None, description="The day their age is counted from; today")
    telemetry: bool = Telemetry


class FindBody(SearchBody):
    """A search for passages alone."""

    facets: bool | Names = Field(
        False, description="Count the metadata of the documents found: some fields, or all"
    )
    exact: bool = Field(False, description="Compare every vector instead of asking the index")
    explain: bool = Field(False, description="List every candidate with its legs and signals")


class Turn(StrictBody):
    """An earlier message."""

    role: Literal["user", "assistant"]
    content: str


class AskBody(SearchBody):
    """A question to be answered."""

    mode: Mode = Field(
        "answer", description="`compare`: every corpus answers for itself, then they are compared"
    )
    clarify: bool = Field(
        False,
        description="Do not answer what the sources read in several ways; give the `choices`",
    )
    chat_history: list[Turn] = Field(default_factory=list, max_length=MAX_HISTORY)
    read_follow_ups: bool | None = Field(
        None,
        description="Whether a follow-up that points back to `chat_history` is searched for as it "
        "was read (`read_as`), or as it was asked; the target's CONDENSE_FOLLOWUPS",
    )
    session_id: Identifier | None = None
    qa_id: Identifier | None = None
    include_context: bool = False


def plain_filters(filters: Mapping[str, FilterValue]) -> dict[str, Filter]:
    """Turn filters into those that a search takes."""
    return {
        field: value.model_dump(by_alias=True) if isinstance(value, RangeFilter) else value
        for field, value in filters.items()
    }


def where(body: SearchBody) -> Where:
    """Read from a body where and how to search."""
    return Where(
        corpora=body.corpus_filter,
        filters=plain_filters(body.filters),
        k=body.k,
        target=body.target,
        fuzzy=body.fuzzy,
        require=body.require,
        exclude=body.exclude,
        max_per_document=body.max_per_document,
        freshness_days=body.freshness_days,
        as_of=body.as_of,
    )


def read_question(body: AskBody, services: Services) -> AskRequest:
    """Check a question against the collection. Raises RequestError."""
    return ask_request(
        services,
        body.question,
        history=[ChatTurn(turn.role, turn.content) for turn in body.chat_history],
        mode=body.mode,
        clarify=body.clarify,
        session_id=body.session_id,
        qa_id=body.qa_id,
        read_follow_ups=body.read_follow_ups,
        **where(body),
    )


MAX_NAME = 1000  # characters of a field, or of its value


class WhereBody(StrictBody):
    """The texts in which words are looked for."""

    corpus_filter: str | Names = Field(
        "all", description='"all", the id of a corpus, or a list of ids'
    )
    filters: Filters = Field(
        default_factory=dict,
        description=f"As in a search; of all lists together at most {MOST_VALUES:,} values",
    )
    collection: str | None = Field(
        None, description="Name of a collection that is served; the configured one if absent"
    )
    require: list[str] = Field(
        default_factory=list,
        max_length=MOST_PHRASES,
        description="Phrases a passage must hold, all of them, for its words to count",
    )
    exclude: list[str] = Field(
        default_factory=list, max_length=MOST_PHRASES, description="Phrases it may not hold"
    )
    form: Form = Field(
        "surface",
        description="`stem`: words without a wildcard count in all forms of their stem",
    )
    case_sensitive: bool = Field(
        False, description="Whether capitals and accents count; only with `surface`"
    )
    telemetry: bool = Telemetry


class WordsBody(WhereBody):
    """Words to look for, and where."""

    query: str = Field(
        max_length=MAX_QUERY,
        description='Words, "a phrase", strike*, wom?n, strike* NEAR/5 wage*, a OR b, brackets',
    )


class PointBody(StrictBody):
    """One point of a trend."""

    by: str = Field(max_length=MAX_NAME, description="What the trend was counted by")
    value: str | None = Field(max_length=MAX_NAME, description="The `value` of the cell")
    corpus: str | None = Field(
        None, max_length=MAX_NAME, description="The `corpus` of the cell, if it has one"
    )


class ConcordanceBody(WordsBody):
    """Words to be shown in their context."""

    limit: int = Field(50, ge=0, le=MOST_LINES, description="Lines wanted")
    offset: int = Field(0, ge=0, le=MOST_OFFSET, description="Lines before them")
    context: int = Field(10, ge=0, le=MOST_CONTEXT, description="Words on either side")
    sort: Sort = Field(
        "document",
        description="By the words beside the hit, the nearest first (`left`, `right`), by the hit, "
        "by date or by corpus and date; ties, as `document`, in the order of the collection",
    )
    sample: int | None = Field(
        None, ge=1, le=MOST_OFFSET, description="List so many hits alone, drawn by lot"
    )
    seed: int = Field(0, ge=0, lt=2**32, description="The same draws the same hits")
    point: PointBody | None = Field(None, description="The hits of one point of a trend alone")


_BY = "`year`, `decade`, `corpus`, `all`, or a metadata field"


class TrendsBody(WordsBody):
    """Words to be counted over time, or by a field."""

    by: str = Field(YEAR, max_length=MAX_NAME, description=_BY)
    by_corpus: bool = Field(False, description="Count every corpus for itself, too")


class CountsBody(TrendsBody):
    """Words to be counted at once, or by a field."""

    by: str = Field(ALL, max_length=MAX_NAME, description=_BY)


_FUNCTION_WORDS = Field(
    True, description="False leaves out `the`, `of` and the like, as the languages list them"
)


class CollocatesBody(WordsBody):
    """Words whose neighbours are wanted."""

    left: int = Field(5, ge=0, le=MOST_WINDOW, description="Words before a hit that are near")
    right: int = Field(
        5, ge=0, le=MOST_WINDOW, description="Words after a hit; not 0 where `left` is 0"
    )
    sort: Strength = Field("log_likelihood", description="The strongest first")
    min_count: int = Field(COLLOCATES_FROM, ge=1, le=MOST_OFFSET, description="Places near a hit")
    limit: int = Field(50, ge=0, le=MOST_LINES, description="Collocates wanted")
    function_words: bool = _FUNCTION_WORDS


class KeywordsBody(WhereBody):
    """Texts whose words are compared with those of other texts."""

    against: str | Names = Field(
        "all",
        description='"all", the id of a corpus, or a list of ids: compared with all of their text '
        "that is not looked through",
    )
    direction: Direction = Field(
        "more", description="Words that are more frequent than there, less, or both"
    )
    sort: Keyness = Field("log_likelihood", description="Those that differ most first")
    min_count: int = Field(
        KEYWORDS_FROM, ge=1, le=MOST_OFFSET, description="Places, where it is more frequent"
    )
    min_documents: int = Field(
        1, ge=1, le=MOST_OFFSET, description="Documents, where it is more frequent"
    )
    limit: int = Field(50, ge=0, le=MOST_LINES, description="Keywords wanted")
    function_words: bool = _FUNCTION_WORDS


def words_where(body: WhereBody) -> WordsWhere:
    """Read from a body where and how to look for words."""
    return WordsWhere(
        corpora=body.corpus_filter,
        filters=plain_filters(body.filters),
        require=body.require,
        exclude=body.exclude,
        form=body.form,
        case_sensitive=body.case_sensitive,
    )


def point_of(body: ConcordanceBody) -> Point | None:
    """The point it asks for."""
    point = body.point
    return Point(point.by, point.value, point.corpus) if point else None
