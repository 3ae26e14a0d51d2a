"""Dates as archives write them, and the days they can mean."""

from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from atlas_search.language.dates import OPEN_END, OPEN_START, bounds

DAYS = st.dates(min_value=date(1000, 1, 1))
PIECES = (
    "1954 1901 0000 32 12 1-1 May 17th 19th century 1890s XX X T10:00 c. ca. circa about early the "
    "before not after between and from to or present - – / .. ? ~ % [ ] © \x00 \ud800"
).split(" ")
TEXTS = st.text() | st.lists(st.sampled_from([*PIECES, " "])).map("".join)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1954-05-17", "1954-05-17", "1954-05-17"),
        ("1954-05", "1954-05-01", "1954-05-31"),
        ("1954", "1954-01-01", "1954-12-31"),
        ("2000-02", "2000-02-01", "2000-02-29"),
        ("1900-02", "1900-02-01", "1900-02-28"),
        ("0476", "0476-01-01", "0476-12-31"),
        ("9999", "9999-01-01", "9999-12-31"),
        (" 1954 ", "1954-01-01", "1954-12-31"),
    ],
)
def test_a_partial_date_stands_for_all_its_days(text: str, first: str, last: str) -> None:
    assert bounds(text) == (first, last)


@pytest.mark.parametrize(
    "text",
    ["", "54", "19545", "1954-5-17", "1954-13", "1954-02-30", "0000", "1954-05-17T10", "1954-42"],
)
def test_what_is_not_a_date_has_no_bounds(text: str) -> None:
    assert bounds(text) is None


@pytest.mark.parametrize("text", ["1954-00", "1954-05-00", "1954-00-17", "0 May 1954"])
def test_there_is_no_month_or_day_zero(text: str) -> None:
    assert bounds(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "17 May 1954",
        "17th May 1954",
        "17th of May, 1954",
        "17-May-1954",
        "May 17, 1954",
        "may 17th, 1954",
        "1954 May 17",
        "Mon, 17 May 1954",
        "Monday, May 17, 1954",
        "Mon, 17 May 1954 10:00:00 +0000 (UTC)",
        "17/05/1954",
        "05/17/1954",
        "17.5.1954",
        "17-05-1954",
        "1954/05/17",
        "1954-05-17T10:00:00Z",
        "1954-05-17T10:00:00.5+02:00",
        "1954-05-17 10:00",
        "[17 May 1954]",
        "17 May 1954.",
        "17 May 1954?",
    ],
)
def test_a_day_is_one_day_however_it_is_written(text: str) -> None:
    assert bounds(text) == ("1954-05-17", "1954-05-17")


@pytest.mark.parametrize(
    "text", ["May 1954", "May, 1954", "May-1954", "1954 May", "1954-05-XX", "early May 1954"]
)
def test_a_month_is_all_its_days_however_it_is_written(text: str) -> None:
    assert bounds(text) == ("1954-05-01", "1954-05-31")


@pytest.mark.parametrize(
    "text",
    ["[1954]", "[1954?]", "19[54]", "1954?", "1954 (?)", "1954.", "1954-XX", "early 1954", "©1954"],
)
def test_a_year_is_all_its_days_however_it_is_written(text: str) -> None:
    assert bounds(text) == ("1954-01-01", "1954-12-31")


def test_every_english_month_is_known_in_full_and_short() -> None:
    full = "January February March April May June July August September October November December"
    for number, month in enumerate(full.split(), start=1):
        for name in (month, month[:3], f"{month[:3]}."):
            assert bounds(f"3 {name} 1954") == (f"1954-{number:02}-03",) * 2
    assert bounds("Sept. 1954") == ("1954-09-01", "1954-09-30")
    assert bounds("3 mai 1954") is None


@pytest.mark.parametrize("text", ["03/04/1954", "3.4.1954", "03-04-1954", "1901/02", "05/1954"])
def test_numbers_that_can_be_read_two_ways_are_not_guessed(text: str) -> None:
    assert bounds(text) is None


def test_equal_day_and_month_can_be_read_only_one_way() -> None:
    assert bounds("5/5/1954") == ("1954-05-05", "1954-05-05")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("189X", "1890", "1899"),
        ("[189-?]", "1890", "1899"),
        ("1890s", "1890", "1899"),
        ("the 1890's", "1890", "1899"),
        ("late 1890s", "1890", "1899"),
        ("19XX", "1900", "1999"),
        ("[19--]", "1900", "1999"),
        ("1900s", "1900", "1999"),
        ("19th century", "1800", "1900"),
        ("the early 19th century", "1800", "1900"),
        ("18th–19th centuries", "1700", "1900"),
        ("1st century", "0001", "0100"),
    ],
)
def test_decades_and_centuries_are_all_their_years(text: str, first: str, last: str) -> None:
    assert bounds(text) == (f"{first}-01-01", f"{last}-12-31")


@pytest.mark.parametrize(
    "text",
    (
        "1901~|1901%|~1901|c. 1901|c1901|ca. 1901|ca1901|circa 1901|Circa 1901|[ca. 1901]|"
        "[c. 1901?]|about 1901|around 1901|approx. 1901|probably c. 1901"
    ).split("|"),
)
def test_about_a_year_is_five_years_either_way(text: str) -> None:
    assert bounds(text) == ("1896-01-01", "1906-12-31")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1954-05~", "1954-04-01", "1954-06-30"),
        ("c. January 1954", "1953-12-01", "1954-02-28"),
        ("about 17 May 1954", "1954-05-10", "1954-05-24"),
        ("c. 1890s", "1890-01-01", "1899-12-31"),
        ("0003~", "0001-01-01", "0008-12-31"),
    ],
)
def test_about_a_month_is_a_month_and_about_a_day_a_week_either_way(
    text: str, first: str, last: str
) -> None:
    assert bounds(text) == (first, last)


@pytest.mark.parametrize(
    "text",
    (
        "1901/1903|1901-1903|1901–1903|1901 — 1903|1901 - 1903|1901 to 1903|"
        "between 1901 and 1903|[between 1901 and 1903?]|from 1901 to 1903|[1901]-1903."
    ).split("|"),
)
def test_an_interval_is_from_its_first_to_its_last_day(text: str) -> None:
    assert bounds(text) == ("1901-01-01", "1903-12-31")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1901-03/1901-07", "1901-03-01", "1901-07-31"),
        ("17–19 May 1954", "1954-05-17", "1954-05-19"),
        ("May 17–19, 1954", "1954-05-17", "1954-05-19"),
        ("1954 May 17-19", "1954-05-17", "1954-05-19"),
        ("May-July 1954", "1954-05-01", "1954-07-31"),
        ("17 May – 3 June 1954", "1954-05-17", "1954-06-03"),
        ("May 17 to June 3, 1954", "1954-05-17", "1954-06-03"),
        ("c. 1901–1903", "1896-01-01", "1903-12-31"),
        ("1901 or 1902", "1901-01-01", "1902-12-31"),
        ("1898-99", "1898-01-01", "1899-12-31"),
        ("1909–10", "1909-01-01", "1910-12-31"),
        ("1954/55", "1954-01-01", "1955-12-31"),
    ],
)
def test_an_end_of_an_interval_may_be_short(text: str, first: str, last: str) -> None:
    assert bounds(text) == (first, last)


@pytest.mark.parametrize("text", ["1903/1901", "May 1954 – April 1954", "5-4 May 1954"])
def test_an_interval_that_ends_before_it_begins_is_no_date(text: str) -> None:
    assert bounds(text) is None


@pytest.mark.parametrize("text", ["2019-45", "2019/45", "2006/42", "1234-5678", "555-1234"])
def test_the_number_of_a_case_is_not_an_interval(text: str) -> None:
    assert bounds(text) is None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1901/..", "1901-01-01", OPEN_END),
        ("../1903", OPEN_START, "1903-12-31"),
        ("1901-", "1901-01-01", OPEN_END),
        ("1990–present", "1990-01-01", OPEN_END),
        ("since May 1901", "1901-05-01", OPEN_END),
        ("after 1901", "1902-01-01", OPEN_END),
        ("[not after 1901]", OPEN_START, "1901-12-31"),
        ("before 1901", OPEN_START, "1900-12-31"),
        ("before 17 May 1954", OPEN_START, "1954-05-16"),
    ],
)
def test_a_date_may_be_open_at_one_end(text: str, first: str, last: str) -> None:
    assert bounds(text) == (first, last)


@pytest.mark.parametrize("text", ["../..", "/", "-1901", "–1901", "before 0001", "before c. 1901"])
def test_an_open_date_needs_one_known_end(text: str) -> None:
    assert bounds(text) is None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1954-21", "1954-03-01", "1954-05-31"),
        ("Spring 1954", "1954-03-01", "1954-05-31"),
        ("1954-24", "1954-12-01", "1955-02-28"),
        ("Winter of 1954", "1954-12-01", "1955-02-28"),
        ("1954-29", "1954-09-01", "1954-11-30"),
        ("1954-36", "1954-10-01", "1954-12-31"),
        ("1954-39", "1954-09-01", "1954-12-31"),
        ("1954-41", "1954-07-01", "1954-12-31"),
    ],
)
def test_a_season_is_the_part_of_the_year_that_edtf_numbers(
    text: str, first: str, last: str
) -> None:
    assert bounds(text) == (first, last)


def test_what_can_be_a_season_or_two_years_is_both() -> None:
    assert bounds("1923-24") == ("1923-01-01", "1924-12-31")


@pytest.mark.parametrize(
    "text",
    (
        "12|59|May|June|5 May|1.2.3|2020.01.02|20.12.11|347 U.S. 483|[1932] AC 562|"
        "Brown v. Board of Education 1954|1954 Act|Accident Act 2001|Easter 1916|Apollo 11|"
        "1984 (novel)|the 19th hole|C1901|C 1901|c. 5000|19540517|ISBN 978-0-14-1954|05/1954|"
        "1954, 1955|n.d.|between 5000 and 6000|/2020/01/02/"
    ).split("|"),
)
def test_numbers_identifiers_names_and_titles_are_no_dates(text: str) -> None:
    assert bounds(text) is None


def test_a_long_text_is_no_date_even_if_it_begins_like_one() -> None:
    assert bounds("17 May 1954, " + "the day on which the court decided, " * 3) is None


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


@given(DAYS.filter(lambda day: day.year < 3000))
def test_a_day_in_words_is_the_day_in_numbers(day: date) -> None:
    assert bounds(f"{day:%A, %d %B %Y}") == bounds(day.isoformat())


@given(DAYS, DAYS)
def test_an_interval_of_days_has_them_for_its_bounds(one: date, other: date) -> None:
    first, last = sorted((one, other))
    if last.year < 3000:
        assert bounds(f"{first}/{last}") == (first.isoformat(), last.isoformat())


@given(TEXTS)
@example("1954-05~/")
@example("9999-12-31~")
@example("c. 0001-01-01")
@example("١٩٥٤")
def test_bounds_of_any_text_are_days_in_order_and_of_themselves(text: str) -> None:
    first, last = bounds(text) or (OPEN_START, OPEN_END)
    assert date.fromisoformat(first) <= date.fromisoformat(last)
    assert (bounds(first), bounds(last)) == ((first, first), (last, last))
    assert first <= last
