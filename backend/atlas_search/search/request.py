"""The request of a search, after the edge has checked it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from math import isfinite

from atlas_search.core.errors import RequestError, UnknownFilterField, shown
from atlas_search.language.dates import bounds
from atlas_search.stores.filters import DOCUMENT_ID, PASSAGE_FIELDS, Condition, Range

Value = str | float | bool
Filter = Value | Iterable[Value] | Mapping[str, Value | None]
"""A value, several of which one must match, or `{"from": ..., "to": ...}` with both included."""

MOST_FIELDS = 100
MOST_VALUES = 1000
"""In the lists of all filters of a request."""
LONGEST_VALUE = 1000
"""Characters of a value."""

_ENDS = frozenset({"from", "to"})


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
    lists = {f: v for f, v in filters.items() if isinstance(v, Collection) and not _is_one(v)}
    count = sum(map(len, lists.values()))
    if count > MOST_VALUES:
        return (
            f"the lists of filters {shown(list(lists))} hold {count:,} values; at most "
            f"{MOST_VALUES:,} are taken. Narrow by another field, or search several times"
        )
    return ""


def _is_one(value: object) -> bool:
    return isinstance(value, str | Mapping)


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
    values = [value] if isinstance(value, str | float | int) else list(value)
    if not values:
        raise RequestError(f"filters.{field} is an empty list, which nothing can match.")
    return tuple(_text(field, item) for item in values)


def _range(field: str, ends: Mapping[str, Value | None]) -> Range:
    low, high = ends.get("from"), ends.get("to")
    if not ends.keys() <= _ENDS or (low is None and high is None):
        raise RequestError(f'filters.{field}: give "from", "to" or both.')
    first_day, low_number = _end(field, low, last=False)
    last_day, high_number = _end(field, high, last=True)
    return Range(first_day=first_day, last_day=last_day, low=low_number, high=high_number)


def _end(field: str, value: Value | None, *, last: bool) -> tuple[str | None, float | None]:
    """One end of a range as a day and as a number: `1957` can be meant as either."""
    if value is None:
        return None, None
    text = _text(field, value)
    days = bounds(text)
    number = _number(text)
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
    return (day or "") if number is None else _plain(number)


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


@dataclass(frozen=True)
class SearchRequest:
    """A question to some corpora.

    `every_corpus` says that no corpus was chosen, which decides the retrieval depth. `limit` is
    the number of passages wanted. A source older than `freshness_days` before `today` is stale;
    0 means never. With `exact` every vector is compared instead of asking the index;
    with `fuzzy` words that no source holds count as those that are spelt nearly so. `require` and
    `exclude` are phrases that every passage must hold, or none may. Of one document at most
    `max_per_document` passages are kept (see `balance.choose`); None for any number.
    """

    question: str
    corpora: tuple[str, ...]
    every_corpus: bool
    limit: int
    today: date
    filters: Mapping[str, Condition] = field(default_factory=dict)
    freshness_days: int = 0
    exact: bool = False
    fuzzy: bool = False
    require: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_per_document: int | None = None

    @property
    def corpus_filter(self) -> str:
        """The corpora as traces name them."""
        return "all" if self.every_corpus else ",".join(self.corpora)
