"""Filters as people write them, and the conditions they mean."""

from collections.abc import Collection, Iterable, Mapping

from atlas_search.core.errors import RequestError, UnknownFilterField
from atlas_search.language.dates import bounds
from atlas_search.stores.filters import DOCUMENT_ID, PASSAGE_FIELDS, Condition, Range

Value = str | float | bool
Filter = Value | Iterable[Value] | Mapping[str, Value | None]
"""A value, several of which one must match, or `{"from": ..., "to": ...}` with both included."""

_ENDS = frozenset({"from", "to"})


def conditions(filters: Mapping[str, Filter], fields: Collection[str]) -> dict[str, Condition]:
    """The conditions that `filters` mean; dates may be partial (`1957`, `1957-06`).

    Raises RequestError; a field must be one of `fields`, or of every passage.
    """
    asked = check_fields(filters, {*fields, DOCUMENT_ID, *PASSAGE_FIELDS})
    return {field: _condition(field, filters[field]) for field in asked}


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
            f"Unknown field {', '.join(map(repr, unknown))}. "
            f"Known fields: {', '.join(sorted(known))}."
        )
    return list(asked)


def _condition(field: str, value: Filter) -> Condition:
    if isinstance(value, Mapping):
        return _range(field, value)
    values = [value] if isinstance(value, str | float | int) else list(value)
    if not values:
        raise RequestError(f"filters.{field} is an empty list, which nothing can match.")
    return tuple(_text(item) for item in values)


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


def _written_end(number: float | None, day: str | None) -> str:
    """`1957`, which can be a year or a number, is both in a Range."""
    return (day or "") if number is None else _text(number)


def _text(value: Value) -> str:
    """A value as the store compares it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
