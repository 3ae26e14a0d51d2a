"""Partial dates and the days they can mean."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.dates import bounds

DAYS = st.dates(min_value=date(1000, 1, 1))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1954-05-17", "1954-05-17", "1954-05-17"),
        ("1954-05", "1954-05-01", "1954-05-31"),
        ("1954", "1954-01-01", "1954-12-31"),
        ("2000-02", "2000-02-01", "2000-02-29"),
        ("1900-02", "1900-02-01", "1900-02-28"),
        ("9999", "9999-01-01", "9999-12-31"),
        (" 1954 ", "1954-01-01", "1954-12-31"),
    ],
)
def test_a_partial_date_stands_for_all_its_days(text: str, first: str, last: str) -> None:
    assert bounds(text) == (first, last)


@pytest.mark.parametrize(
    "text",
    ["", "May 1954", "54", "19545", "1954-5-17", "1954-13", "1954-02-30", "0000", "1954-05-17T10"],
)
def test_what_is_not_a_date_has_no_bounds(text: str) -> None:
    assert bounds(text) is None


@pytest.mark.parametrize("text", ["1954-00", "1954-05-00", "1954-00-17"])
def test_there_is_no_month_or_day_zero(text: str) -> None:
    assert bounds(text) is None


@given(DAYS)
def test_a_full_date_is_its_own_bounds(day: date) -> None:
    assert bounds(day.isoformat()) == (day.isoformat(), day.isoformat())


@given(DAYS)
def test_a_day_lies_within_its_month_and_the_month_within_its_year(day: date) -> None:
    text = day.isoformat()
    month, year = bounds(text[:7]), bounds(text[:4])
    assert month is not None
    assert year is not None
    assert year[0] <= month[0] <= text <= month[1] <= year[1]


@given(st.text())
def test_bounds_of_any_text_are_days_in_order(text: str) -> None:
    found = bounds(text) or ("0001-01-01", "9999-12-31")
    assert date.fromisoformat(found[0]) <= date.fromisoformat(found[1])
