"""The request of a search, one model for HTTP, Python and commands, and its plan once checked.

A request says what somebody wants; a plan is a request that was checked against a collection
(`planning.py`), which no stage checks again.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from math import isfinite
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from atlas_search.core.errors import RequestError, UnknownFilterField, faults_of, shown
from atlas_search.core.targets import MAX_DAYS
from atlas_search.language.dates import bounds, iso_day
from atlas_search.search.query import MOST_PHRASES
from atlas_search.stores.filters import DOCUMENT_ID, PASSAGE_FIELDS, Condition, Range

MAX_QUESTION = 4000  # characters; the embedding model reads the first 256 tokens anyway
MAX_NAMES = 1000  # corpora or fields of a list
MAX_PASSAGES = 100
MOST_FIELDS = 100
MOST_VALUES = 1000
"""In the lists of all filters of a request."""
LONGEST_VALUE = 1000
"""Characters of a value."""


def _few(filters: object) -> object:
    """Refuse too much before each value is looked at, and each of its faults reported."""
    if isinstance(filters, dict) and (fault := too_many(filters)):
        raise PydanticCustomError("too_many", "{fault}", {"fault": fault})
    return filters


def _read_day(day: object) -> date:
    """A day as `2024-05-31`: of numbers and times pydantic would make days too."""
    if type(day) is date:
        return day
    if isinstance(day, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", day):
        return date.fromisoformat(day)
    raise ValueError("give a day as YYYY-MM-DD")


Day = Annotated[
    date, BeforeValidator(_read_day), WithJsonSchema({"type": "string", "format": "date"})
]
Names = Annotated[list[str], Field(max_length=MAX_NAMES)]
Value = bool | str | float
RangeFilter = TypedDict(
    "RangeFilter", {"from": str | float | None, "to": str | float | None}, total=False
)
"""Values from `from` to `to`, both included; dates may be partial (`1957`, `1957-06`)."""
Filter = Value | list[Value] | RangeFilter
"""A value, several of which one must match, or a range."""
Filters = Annotated[dict[str, Filter], BeforeValidator(_few)]
Phrases = Annotated[list[str], Field(max_length=MOST_PHRASES)]


class ScopeRequest(BaseModel):
    """The passages that are looked through."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_name=True)

    corpora: str | Names = Field(
        "all",
        validation_alias="corpus_filter",
        serialization_alias="corpus_filter",
        description='"all", the id of a corpus, or a list of ids',
    )
    filters: Filters = Field(
        default_factory=dict,
        description="Metadata every passage must have: a value, a list of which one must match, "
        'or {"from": ..., "to": ...}; `document_id`, `passage_id`, `speaker` and `section` can be '
        f"asked for too; of all lists together at most {MOST_VALUES:,} values",
    )
    require: Phrases = Field(default_factory=list, description="Phrases every passage must hold")
    exclude: Phrases = Field(default_factory=list, description="Phrases no passage may hold")


class FacetsRequest(ScopeRequest):
    """A scope whose documents are counted."""

    fields: bool | Names = Field(
        True, description="Count the values of some fields, of all, or of none"
    )


class QuestionRequest(ScopeRequest):
    """A question, and where and how to search."""

    question: str = Field(
        description=f"1 to {MAX_QUESTION} characters, with a word to look for",
        json_schema_extra={"minLength": 1, "maxLength": MAX_QUESTION},
    )
    require: Phrases = Field(
        default_factory=list,
        description="Phrases every passage must hold; if fewer than `k` do, others follow them",
    )
    target: str | None = Field(None, description="Name of a target; the configured one if absent")
    k: int | None = Field(
        None, ge=1, le=MAX_PASSAGES, description="Passages wanted; the target's SEARCH_K"
    )
    freshness_days: int | None = Field(
        None,
        ge=0,
        le=MAX_DAYS,
        description="Older sources count as stale; 0 never, the target's FRESHNESS_DAYS",
    )
    fuzzy: bool | None = Field(
        None,
        description="Let words that no source holds count as those spelt nearly so; the target's "
        "FUZZY",
    )
    max_per_document: int | None = Field(
        None,
        ge=1,
        le=MAX_PASSAGES,
        description="Passages one document may have, and no more even if fewer than `k` are kept; "
        "the target's MAX_PASSAGES_PER_DOCUMENT",
    )
    as_of: Day | None = Field(None, description="The day their age is counted from; today")


class SearchRequest(QuestionRequest):
    """A search for passages."""

    facets: bool | Names = Field(
        False, description="Count the metadata of the documents found: some fields, or all"
    )
    exact: bool = Field(False, description="Compare every vector instead of asking the index")
    explain: bool = Field(False, description="List every candidate with its legs and signals")


R = TypeVar("R", bound=BaseModel)


def request_of(kind: type[R], text: str | R | None, options: dict[str, Any]) -> R:
    """A request from its text, or a request, with `options` as (other) fields of it.

    Raises RequestError for an option that there is not, or a value that it cannot have.
    """
    if isinstance(text, BaseModel):
        if not options:
            return text
        options = {name: getattr(text, name) for name in text.model_fields_set} | options
    elif text is not None:
        options = {"query" if "query" in kind.model_fields else "question": text} | options
    try:
        return kind.model_validate(options, by_alias=False, by_name=True)
    except ValidationError as error:
        raise RequestError(faults_of(error)) from error


@dataclass(frozen=True, kw_only=True)
class ScopePlan:
    """The passages to look through.

    `every_corpus` says that no corpus was chosen, which decides the retrieval depth.
    """

    corpora: tuple[str, ...]
    every_corpus: bool = False
    filters: Mapping[str, Condition] = field(default_factory=dict)
    require: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @property
    def corpus_filter(self) -> str:
        """The corpora as attributes of traces name them."""
        return "all" if self.every_corpus else ",".join(self.corpora)

    @property
    def corpora_in_words(self) -> str:
        """The corpora as lists of traces name them: up to three, or how many."""
        if self.every_corpus:
            return "all corpora"
        return ", ".join(self.corpora) if len(self.corpora) < 4 else f"{len(self.corpora)} corpora"

    def without(self, name: str) -> Self:
        """Return a copy without the filters of one field."""
        own = {name, _ALSO_OF.get(name, name)}
        filters = {field: of for field, of in self.filters.items() if field not in own}
        return replace(self, filters=filters)


_ALSO_OF: Mapping[str, str] = {"speakers": "speaker"}
"""The filter that chooses passages by what a field of documents lists."""


@dataclass(frozen=True, kw_only=True)
class SearchPlan(ScopePlan):
    """A question to some corpora.

    `limit` is the number of passages wanted. A source older than `freshness_days` before `today`
    is stale; 0 means never. With `exact` every vector is compared instead of asking the index;
    with `fuzzy` words that no source holds count as those that are spelt nearly so. Where too few
    passages hold what is required, others follow them. Of one document `max_per_document` passages
    are kept, and with a `soft_cap` more where no other is nearly as good; None for any number.
    """

    question: str
    limit: int
    today: date
    freshness_days: int = 0
    exact: bool = False
    fuzzy: bool = False
    max_per_document: int | None = None
    soft_cap: bool = False


def conditions(filters: Mapping[str, Filter], fields: Collection[str]) -> dict[str, Condition]:
    """The conditions that `filters` mean; dates may be partial (`1957`, `1957-06`).

    Raises RequestError; a field must be one of `fields`, or of every passage.
    """
    if fault := too_many(filters):
        raise RequestError(f"filters: {fault}.")
    names = check_fields(filters, {*fields, DOCUMENT_ID, *PASSAGE_FIELDS})
    return {field: _condition(field, filters[field]) for field in names}


def too_many(filters: Mapping[str, object]) -> str:
    """Describe an excess of filters, or of values in them; empty if there is none."""
    if len(filters) > MOST_FIELDS:
        return f"{len(filters):,} fields are given; at most {MOST_FIELDS} are taken"
    lists = {
        f: v
        for f, v in filters.items()
        if isinstance(v, Collection) and not isinstance(v, str | Mapping)
    }
    count = sum(map(len, lists.values()))
    if count > MOST_VALUES:
        return (
            f"the lists of filters {shown(list(lists))} hold {count:,} values; at most "
            f"{MOST_VALUES:,} are taken. Narrow by another field, or search several times"
        )
    return ""


def written(condition: Condition) -> list[str] | dict[str, str]:
    """A condition as it can be asked for: values, or the ends of a range; a number as itself."""
    if not isinstance(condition, Range):
        return list(condition)
    ends = {
        "from": _written_end(condition.low, condition.first_day),
        "to": _written_end(condition.high, condition.last_day),
    }
    return {name: end for name, end in ends.items() if end}


def check_fields(asked: Iterable[str], known: Collection[str]) -> list[str]:
    """`asked`, if all are `known`. Raises UnknownFilterField."""
    unknown = [field for field in asked if field not in known]
    if unknown:
        raise UnknownFilterField(
            f"Unknown field {shown(unknown)}. Known fields: {', '.join(sorted(known))}."
        )
    return list(asked)


def _condition(field: str, value: Filter) -> Condition:
    if isinstance(value, Mapping):
        return _range(field, value)
    values = value if isinstance(value, list) else [value]
    if not values:
        raise RequestError(f"filters.{field} is an empty list, which nothing can match.")
    return tuple(_text(field, item) for item in values)


def _range(field: str, ends: RangeFilter) -> Range:
    low, high = ends.get("from"), ends.get("to")
    if low is None and high is None:
        raise RequestError(f'filters.{field}: give "from", "to" or both.')
    first_day, low_number = _end(field, low, last=False)
    last_day, high_number = _end(field, high, last=True)
    return Range(first_day=first_day, last_day=last_day, low=low_number, high=high_number)


def _end(field: str, value: Value | None, *, last: bool) -> tuple[str | None, float | None]:
    """One end of a range as a day and as a number: `1957` can be meant as either."""
    if value is None:
        return None, None
    text = _text(field, value)
    number = _number(text)
    # 476 and -44 are years, too
    days = bounds(text) or (bounds(text.zfill(4 + text.startswith("-"))) if number else None)
    if days is None and number is None:
        raise RequestError(
            f"filters.{field}: {shown([value])} is neither a number nor a date "
            "like 1957, 1957-06 or 1957-06-30."
        )
    return days[last] if days else None, number


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _written_end(number: float | None, day: str | None) -> str:
    """`1957`, which can be a year or a number, is both in a Range."""
    return iso_day(day or "") if number is None else _plain(number)


def _text(field: str, value: Value) -> str:
    """A value as the store compares it. Raises RequestError for one that no source can hold."""
    text = _plain(value)
    if len(text) > LONGEST_VALUE:
        raise RequestError(
            f"filters.{field}: a value has {len(text):,} characters; at most {LONGEST_VALUE:,} "
            "are compared."
        )
    if "\0" in text:
        raise RequestError(f"filters.{field}: {shown([text])} holds a NUL character.")
    return text


def _plain(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
