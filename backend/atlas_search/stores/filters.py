"""Conditions on metadata, and the SQL that checks them."""

from collections.abc import Mapping
from dataclasses import dataclass

from atlas_search.language.dates import bounds


@dataclass(frozen=True)
class Range:
    """Values from a low to a high end, both included; None leaves a side open.

    Dates are compared with the days (ISO), numbers with the numbers.
    """

    first_day: str | None = None
    last_day: str | None = None
    low: float | None = None
    high: float | None = None


Condition = Range | tuple[str, ...]
Filter = Mapping[str, Condition]
"""For each field either a range, or the values of which one must match."""


DOCUMENT_ID = "document_id"
PASSAGE_FIELDS = ("section", "speaker")
"""Of a passage, not of its whole document; metadata of these names counts as well."""


def where(filters: Filter) -> tuple[str, list[str | float]]:
    """The SQL condition on table `documents` for all of `filters`, and the values it binds.

    For PASSAGE_FIELDS the table `passages` must be there too.
    """
    clauses, values = ["1"], list[str | float]()
    for field, condition in filters.items():
        clause, bound = _condition(condition)
        alternatives = [
            "EXISTS (SELECT 1 FROM metadata m WHERE m.document = documents.document "
            f"AND m.field = ? AND {clause})"
        ]
        values += [field, *bound]
        if not isinstance(condition, Range):
            if field == DOCUMENT_ID:
                alternatives += ["documents.id = ?"] * len(condition)
                values += condition
            elif field in PASSAGE_FIELDS:
                # several speakers are joined by `; `, the headings of a section by ` > `
                alternatives += [f"{_NAMES[field]} LIKE ? ESCAPE '!'"] * len(condition)
                values += [_PATTERNS[field].format(_literal(value)) for value in condition]
        clauses.append(f"({' OR '.join(alternatives)})")
    return " AND ".join(clauses), values


_NAMES = {"speaker": "'; ' || passages.speaker || ';'", "section": "passages.section"}
_PATTERNS = {"speaker": "%; {};%", "section": "%{}%"}


def _literal(value: str) -> str:
    """Without the characters that mean something to LIKE."""
    return value.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _condition(condition: Condition) -> tuple[str, list[str | float]]:
    if not isinstance(condition, Range):
        # `1954` means every day of 1954
        spans = [span for value in condition if (span := bounds(value))]
        clauses = ["CAST(m.value AS TEXT) = ? COLLATE NOCASE"] * len(condition)
        clauses += ["(m.first_day >= ? AND m.last_day <= ?)"] * len(spans)
        limits = [day for span in spans for day in span]
        return f"({' OR '.join(clauses)})", [*condition, *limits]
    # a date meets a range if any day it can mean lies in it
    days = _within(
        ("m.last_day >= ?", condition.first_day), ("m.first_day <= ?", condition.last_day)
    )
    numbers = _within(("m.value >= ?", condition.low), ("m.value <= ?", condition.high))
    return (
        f"(m.first_day IS NOT NULL AND {days[0]} "
        f"OR typeof(m.value) IN ('integer', 'real') AND {numbers[0]})",
        [*days[1], *numbers[1]],
    )


def _within(*ends: tuple[str, str | float | None]) -> tuple[str, list[str | float]]:
    """The conditions of the ends that are given; none of them given holds for nothing."""
    given = [(clause, value) for clause, value in ends if value is not None]
    return " AND ".join(clause for clause, _ in given) or "0", [value for _, value in given]
