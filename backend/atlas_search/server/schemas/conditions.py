"""Filters as they are sent, and the conditions they mean."""

from collections.abc import Collection, Iterable, Mapping

from pydantic import BaseModel, ConfigDict, Field

from atlas_search.core.errors import RequestError, UnknownFilterField
from atlas_search.language.dates import bounds
from atlas_search.stores.filters import DOCUMENT_ID, PASSAGE_FIELDS, Condition, Range


class RangeFilter(BaseModel):
    """Values from `from` to `to`, both included; dates may be partial (`1957`, `1957-06`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    low: str | float | None = Field(None, alias="from")
    high: str | float | None = Field(None, alias="to")


FilterValue = bool | str | float | list[bool | str | float] | RangeFilter


def conditions(filters: Mapping[str, FilterValue], fields: Collection[str]) -> dict[str, Condition]:
    """The conditions that `filters` mean. Raises RequestError; a field must be one of `fields`."""
    asked = known_fields(filters, {*fields, DOCUMENT_ID, *PASSAGE_FIELDS})
    return {field: _condition(field, filters[field]) for field in asked}


def known_fields(asked: Iterable[str], known: Collection[str]) -> list[str]:
    """`asked`, if all are `known`. Raises UnknownFilterField."""
    unknown = [field for field in asked if field not in known]
    if unknown:
        raise UnknownFilterField(
            f"Unknown field {', '.join(map(repr, unknown))}. "
            f"Known fields: {', '.join(sorted(known))}."
        )
    return list(asked)


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
