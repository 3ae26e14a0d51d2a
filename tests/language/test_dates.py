"""Dates as archives write them, and the days they can mean."""

from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from atlas_search.language.dates import OPEN_END, OPEN_START, bounds, iso_day, year_name

DATES = """
# A day, month or year is all its days, however it is written.
1954-05-17 1954-05-17: 1954-05-17 | 17 May 1954 | 17th May 1954 | 17th of May, 1954 | 17-May-1954
1954-05-17 1954-05-17: May 17, 1954 | may 17th, 1954 | 1954 May 17 | Mon, 17 May 1954
1954-05-17 1954-05-17: Monday, May 17, 1954 | Mon, 17 May 1954 10:00:00 +0000 (UTC) | 17/05/1954
1954-05-17 1954-05-17: 05/17/1954 | 17.5.1954 | 17-05-1954 | 1954/05/17 | 1954-05-17T10:00:00Z
1954-05-17 1954-05-17: 1954-05-17T10:00:00.5+02:00 | 1954-05-17 10:00 | [17 May 1954]
1954-05-17 1954-05-17: 17 May 1954. | 17 May 1954?
1954-05-05 1954-05-05: 5/5/1954
1954-05-01 1954-05-31: 1954-05 | May 1954 | May, 1954 | May-1954 | 1954 May | 1954-05-XX
1954-05-01 1954-05-31: early May 1954
1954-01-01 1954-12-31: 1954 | [1954] | [1954?] | 19[54] | 1954? | 1954 (?) | 1954. | 1954-XX
1954-01-01 1954-12-31: early 1954 | ©1954
1954-09-01 1954-09-30: Sept. 1954
2000-02-01 2000-02-29: 2000-02
1900-02-01 1900-02-28: 1900-02
0476-01-01 0476-12-31: 0476
9999-01-01 9999-12-31: 9999

# Decades and centuries are all their years.
1890-01-01 1899-12-31: 189X | [189-?] | 1890s | the 1890's | late 1890s | c. 1890s
1900-01-01 1999-12-31: 19XX | [19--] | 1900s
1800-01-01 1900-12-31: 19th century | the early 19th century
1700-01-01 1900-12-31: 18th–19th centuries
0000-01-01 0100-12-31: 1st century

# About a year is five years either way, about a month a month, about a day a week.
1896-01-01 1906-12-31: 1901~ | 1901% | ~1901 | c. 1901 | c1901 | ca. 1901 | ca1901 | circa 1901
1896-01-01 1906-12-31: Circa 1901 | [ca. 1901] | [c. 1901?] | about 1901 | around 1901
1896-01-01 1906-12-31: approx. 1901 | probably c. 1901
1954-04-01 1954-06-30: 1954-05~
1953-12-01 1954-02-28: c. January 1954
1954-05-10 1954-05-24: about 17 May 1954
-0002-01-01 0008-12-31: 0003~

# An interval is from its first to its last day, and its end may be short.
1901-01-01 1903-12-31: 1901/1903 | 1901-1903 | 1901–1903 | 1901 — 1903 | 1901 - 1903
1901-01-01 1903-12-31: 1901 to 1903 | between 1901 and 1903 | [between 1901 and 1903?]
1901-01-01 1903-12-31: from 1901 to 1903 | [1901]-1903.
1901-03-01 1901-07-31: 1901-03/1901-07
1954-05-17 1954-05-19: 17–19 May 1954 | May 17–19, 1954 | 1954 May 17-19
1954-05-01 1954-07-31: May-July 1954
1954-05-17 1954-06-03: 17 May – 3 June 1954 | May 17 to June 3, 1954
1896-01-01 1903-12-31: c. 1901–1903
1901-01-01 1902-12-31: 1901 or 1902
1898-01-01 1899-12-31: 1898-99
1909-01-01 1910-12-31: 1909–10
1954-01-01 1955-12-31: 1954/55
1923-01-01 1924-12-31: 1923-24

# A date may be open at one end.
1901-01-01 ..: 1901/.. | 1901-
1990-01-01 ..: 1990–present
1901-05-01 ..: since May 1901
1902-01-01 ..: after 1901
.. 1903-12-31: ../1903
.. 1901-12-31: [not after 1901]
.. 1900-12-31: before 1901
.. 1954-05-16: before 17 May 1954

# Days in the words of seven languages.
1954-05-12 1954-05-12: 12. Mai 1954 | 12.V.1954 | 12. V. 1954 | Mittwoch, 12. Mai 1954 | 12 mai 1954
1954-05-12 1954-05-12: le 12 mai 1954 | 12 de mayo de 1954 | mercoledì 12 maggio 1954 | 12 mei 1954
1954-05-12 1954-05-12: 12 de maio de 1954
1900-01-01 1900-01-01: 1er janvier 1900 | 1º de janeiro de 1900 | 1.º de enero de 1900
1901-01-01 1901-01-01: 1. Jänner 1901
1903-05-04 1903-05-04: May 4th, 1903
1910-10-03 1910-10-03: 1910 Oct 3 | 3 ott. 1910 | 3. Okt. 1910 | 3 out. 1910
1885-11-01 1885-12-31: novembre - décembre 1885
1944-03-01 1944-05-31: printemps 1944 | Frühjahr 1944 | primavera de 1944 | voorjaar 1944
1903-01-01 1913-12-31: ca. 1908? | um 1908 | [vers 1908] | hacia 1908 | verso il 1908
1903-01-01 1913-12-31: cerca de 1908 | alrededor de 1908 | omstreeks 1908
1900-01-01 1910-12-31: zwischen 1900 und 1910 | entre 1900 et 1910 | tra il 1900 e il 1910
1900-01-01 1910-12-31: tussen 1900 en 1910 | desde 1900 hasta 1910 | de 1900 à 1910
.. 1899-12-31: vor 1900 | avant 1900 | antes de 1900 | prima del 1900 | voor 1900
1500-01-01 1600-12-31: 16. Jh. | XVIe siècle | siglo XVI | s. XVI | XVI secolo | séc. XVI
1500-01-01 1600-12-31: 16de eeuw | Ende 16. Jh. | first half of the 16th century
1500-01-01 1600-12-31: seconda metà del XVI secolo
1700-01-01 1900-12-31: 18./19. Jh. | XVIIIe-XIXe siècles
1950-01-01 1959-12-31: 1950er Jahre | années 1950 | 195u

# Forms of catalogues and of machines.
1776-01-01 1776-12-31: MDCCLXXVI | M.DCC.LXXVI
1604-01-01 1604-12-31: Anno Domini 1604 | A.D. 1604 | anno 1604 | MDCIIII
1905-01-01 1906-12-31: 1905/06 | 1905/6
1907-01-01 1907-12-31: n.d. [1907] | o.D. [1907] | 1907, undated | 1907, c1905 | 1917 [i.e. 1907]
1907-01-01 1907-12-31: 1917 [recte 1907] | 1907年
1910-01-01 1950-12-31: 1910-1950, bulk 1920-1930 | 1910-1950 (bulk 1920-1930) | 1910, 1915-1950
1998-01-01 2002-12-31: 1998, 1999, and 2002 | 1998,2002
2024-01-29 2024-02-04: 2024-W05
2024-01-31 2024-01-31: 20240131 | 2024-W05-3 | 20240131T101500Z | 2024-01-31T23:30:00-05:00
2024-01-31 2024-01-31: Wed, 31 Jan 2024 10:00:00 GMT | 2024年1月31日
2024-01-01 2024-01-31: 2024年1月

# Neighbours: other words around them, other signs between them, other scripts.
1954-05-12 1954-05-12: am 12. Mai 1954 | den 12. Mai 1954 | 1954년 5월 12일
1954-05-01 1954-05-31: im Mai 1954 | 1954년 5월 | Anfang Mai 1954 | mayo de 1954
1954-12-01 1955-02-28: Winter 1954/55 | Winter 1954/5 | hiver 1954/55
1954-01-01 1955-12-31: 1954 & 1955 | 1954; 1955 | 1954 through 1955 | 1954, 1955
1954-01-01 1960-12-31: 1954; 1956; 1958-1960 | [between 1954 and 1960?]
1954-01-01 ..: 1954 onwards | 1954-date | 1954 onward | 1954- present
.. 1955-12-31: up to 1955 | until 1955 | bis 1955
1600-01-01 1700-12-31: XVIIe s. | late 17th c. | 17th c | 2. Hälfte 17. Jh. | sec. XVII
1954-05-12 1954-06-03: 12 May–3 June 1954 | 12 May to 3 June 1954

# Years before our era count down, and there was no year 0.
-0043-01-01 -0043-12-31: 44 BC | 44 B.C. | 44 BCE | 44 v. Chr. | 44 av. J.-C. | -0043
-0043-03-15 -0043-03-15: 15 March 44 BC | -0043-03-15
0000-01-01 0000-12-31: 1 BC
-0299-01-01 -0199-12-31: 300-200 BC | 300 B.C. to 200 B.C. | -0299/-0199
-0026-01-01 0014-12-31: 27 BC–AD 14 | 27 BC to 14 AD
-0499-01-01 -0400-12-31: 5th century BC | 5. Jh. v. Chr.
-0304-01-01 -0294-12-31: c. 300 BC
0079-01-01 0079-12-31: AD 79 | 79 CE | 79 n. Chr.
.. -0044-12-31: before 44 BC
.. 0000-12-31: before 0001

# A year that began in March is that of historians; years of the French Republic in September.
1724-02-10 1724-02-10: 10 February 1723/4 | February 10, 1723/24
1640-05-03 1640-05-03: 3 May 1640 (O.S.)
1799-11-03 1799-11-03: 12 brumaire an VIII
1794-03-21 1794-04-19: germinal an II
1795-09-23 1804-09-22: an IV-an XII

# A season is the part of the year that EDTF numbers.
1954-03-01 1954-05-31: 1954-21 | Spring 1954
1954-12-01 1955-02-28: 1954-24 | Winter of 1954
1954-09-01 1954-11-30: 1954-29
1954-10-01 1954-12-31: 1954-36
1954-09-01 1954-12-31: 1954-39
1954-07-01 1954-12-31: 1954-41
"""

NO_DATES = """
# There is no such day, or month zero.
54 | 19545 | 1954-5-17 | 1954-13 | 1954-02-30 | 0000 | 1954-05-17T10 | 1954-42
1954-00 | 1954-05-00 | 1954-00-17 | 0 May 1954 | 19541317 | 2024-W54 | an XV | 3 jui 1954
# Numbers that can be read two ways are not guessed.
03/04/1954 | 3.4.1954 | 03-04-1954 | 05/1954
# An interval does not end before it begins, and needs one known end.
1903/1901 | May 1954 – April 1954 | 5-4 May 1954 | ../.. | / | –1901
before c. 1901 | between 5000 and 6000 | 1955, 1954 | 1954, Smith
# Numbers of cases, identifiers, names and titles are no dates.
2019-45 | 2019/45 | 2006/42 | 1234-5678 | 555-1234 | 12 | 59 | May | June | 5 May | 1.2.3
2020.01.02 | 20.12.11 | 347 U.S. 483 | [1932] AC 562 | Brown v. Board of Education 1954 | 1954 Act
Accident Act 2001 | Easter 1916 | Apollo 11 | 1984 (novel) | the 19th hole | C1901 | C 1901
c. 5000 | ISBN 978-0-14-1954 | n.d. | /2020/01/02/ | MIX | Directive 2004/48/CE
"""

DAYS = st.dates(min_value=date(1000, 1, 1))
PIECES = (
    "1954 1901 0000 32 12 1-1 May 17th 19th century 1890s XX X T10:00 c. ca. circa about early the "
    "before not after between and from to or present - – / .. ? ~ % [ ] © \x00 \ud800"
).split(" ")
TEXTS = st.text() | st.lists(st.sampled_from([*PIECES, " "])).map("".join)


def rows(table: str) -> list[str]:
    return [line for line in table.split("\n") if line and not line.startswith("#")]


@pytest.mark.parametrize("row", rows(DATES))
def test_a_date_stands_for_all_the_days_it_can_mean(row: str) -> None:
    days, _, texts = row.partition(": ")
    first, last = days.split()
    expected = (first.replace("..", iso_day(OPEN_START)), last.replace("..", OPEN_END))
    found = {text: tuple(map(iso_day, bounds(text) or ())) for text in texts.split(" | ")}
    assert found == dict.fromkeys(texts.split(" | "), expected)


@pytest.mark.parametrize("row", rows(NO_DATES))
def test_what_is_no_date_has_no_bounds(row: str) -> None:
    assert [text for text in row.split(" | ") if bounds(text)] == []


def test_blanks_around_a_date_are_no_part_of_it_and_long_texts_are_none() -> None:
    assert bounds(" 1954 ") == ("1954-01-01", "1954-12-31")
    assert bounds("") is None
    assert bounds("17 May 1954, " + "the day on which the court decided, " * 3) is None


def test_every_english_month_is_known_in_full_and_short() -> None:
    full = "January February March April May June July August September October November December"
    for number, month in enumerate(full.split(), start=1):
        for name in (month, month[:3], f"{month[:3]}."):
            assert bounds(f"3 {name} 1954") == (f"1954-{number:02}-03",) * 2


@given(DAYS)
def test_a_day_lies_within_its_month_and_the_month_within_its_year(day: date) -> None:
    text = day.isoformat()
    month, year = bounds(text[:7]), bounds(text[:4])
    assert bounds(text) == (text, text)
    assert month is not None
    assert year is not None
    assert year[0] <= month[0] <= text <= month[1] <= year[1]


@given(DAYS.filter(lambda day: day.year < 3000), DAYS.filter(lambda day: day.year < 3000))
def test_words_and_intervals_mean_the_days_they_name(one: date, other: date) -> None:
    first, last = sorted((one, other))
    assert bounds(f"{one:%A, %d %B %Y}") == bounds(one.isoformat())
    assert bounds(f"{first}/{last}") == (first.isoformat(), last.isoformat())


@given(TEXTS)
@example("1954-05~/")
@example("9999-12-31~")
@example("c. 0001-01-01")
@example("١٩٥٤")
def test_bounds_of_any_text_are_days_in_order_and_of_themselves(text: str) -> None:
    first, last = bounds(text) or (OPEN_START, OPEN_END)
    assert (bounds(iso_day(first)), bounds(iso_day(last))) == ((first, first), (last, last))
    assert first <= last


@given(st.integers(-9998, 2999).filter(bool), st.integers(-9998, 2999).filter(bool))
def test_days_sort_as_texts_in_every_era(one: int, other: int) -> None:
    days = [bounds(year_name(year)) for year in sorted((one, other))]
    assert days == sorted(filter(None, days))
    assert (
        iso_day(days[0][0] if days[0] else "")[:-6]
        == f"{min(one, other):0{4 + (min(one, other) < 0)}}"
    )
