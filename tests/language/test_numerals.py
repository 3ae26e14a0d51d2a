"""Numbers in words and in digits meet: read, searched for, and highlighted."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.answer.quotes.scores import names_missing
from atlas_search.language.numerals import numerals
from atlas_search.language.text import places_of, terms_and_parts, words
from atlas_search.search.query import parse_query
from atlas_search.search.run import Searcher
from tests.finding import find, names, searching

FILES = {
    "a/spelt.txt": "The bank lent one hundred and seventy-five million dollars to the harbour.",
    "a/digits.txt": "The fee of $12,500 falls due within 30 days of the notice.",
    "a/other.txt": "The bank has one door, a hundred windows and five million bricks.",
}


def digits(text: str, language: str = "en") -> list[str]:
    surfaces = [text[word.start : word.end] for word in words(text, language)]
    return [numeral.digits for numeral in numerals(text, surfaces, language)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one hundred and seventy-five million dollars", ["175000000"]),
        ("3.5 million, 1,500 million", ["3500000", "1500000000"]),
        ("twenty-one days, a hundred years, nineteen hundred", ["21", "100", "1900"]),
        ("two hundred and five men and three women", ["205", "3"]),
        ("five six", ["5", "6"]),
        ("one thousand nine hundred and forty-five", ["1945"]),
        ("the Fifth Amendment, a third reading", ["5th", "3rd"]),
        ("THIRTY days", ["30"]),
        # no numbers, or written in digits
        ("$175,000,000 lent, 1’234’567", []),
        ("one says, the first and the second", []),
        ("21 days, 1993, 1914-18, 3.5, £1,500.50, 12, 300, 1,23", []),
        ("none often weighty hundreds attend", []),
    ],
)
def test_a_number_is_read_in_digits(text: str, expected: list[str]) -> None:
    assert digits(text) == expected


def test_other_languages_have_no_numbers_in_words() -> None:
    assert digits("five hundred", "de") == []


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "$175,000,000, £1,500.50, 12,34,567", "175000000 1500 50 1234567"),
        (
            "en",
            "1.310.500, 1.310, 1 400 000, 1 400, 2\u00a0500",
            "1310500 1 310 1400000 1 400 2500",
        ),
        ("en", "12, 300, 1,23, 2001,2002, v1.2.300", "12 300 1 23 2001 2002 v1 2 300"),
        ("de", "1.000.000, 1.000, 1,000, 1,000,000", "1000000 1000 1 000 1000000"),
        ("fr", "1 400 personnes en 1998 250 fois", "1400 personnes en 1998 250 fois"),
    ],
)
def test_groups_of_digits_are_one_word(language: str, text: str, expected: str) -> None:
    assert [word.folded for word in words(text, language)] == expected.split()


@given(st.integers(1000, 10**12), st.sampled_from([",", "’", "\u00a0", "\u202f"]))
def test_groups_of_digits_are_read_back(number: int, separator: str) -> None:
    (_, grouped, _) = words(f"some {number:,} sheep".replace(",", separator))
    assert (grouped.folded, grouped.term, grouped.parts) == (str(number), str(number), ())


def test_a_number_is_a_part_of_its_first_word_however_a_text_is_read() -> None:
    text = "Lent: one hundred and seventy-five million, within thirty days."
    parts = {word.term: word.parts for word in words(text) if word.parts}
    assert parts == {"one": ("175000000",), "thirti": ("30",)}
    assert terms_and_parts(text)[1] == ("175000000", "30")
    assert places_of({"175000000", "day"}, text) == [(6, "175000000"), (text.index("days"), "day")]


def test_a_question_asks_for_the_number_and_not_for_its_words() -> None:
    spelt = parse_query("a loan of one hundred and seventy-five million dollars")
    assert spelt.terms == ("loan", "175000000", "dollar")
    assert parse_query("a loan of $175,000,000").terms == ("loan", "175000000")
    assert parse_query("within thirty days").spellings == {"thirti": ("30",)}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with searching(tmp_path_factory.mktemp("numbers"), FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("Who lent $175,000,000?", "spelt"),
        ("What is due within thirty days?", "digits"),
        ("What is twelve thousand five hundred?", "digits"),
    ],
)
def test_words_find_digits_and_digits_find_words(
    opened: Searcher, question: str, document: str
) -> None:
    result = find(opened, question)
    assert (names(result)[0], result.unknown_words) == (document, ())
    assert result.passages[0].highlights


def test_no_number_is_called_missing_that_is_written_otherwise(opened: Searcher) -> None:
    held = [item.passage for each in ("a fee", "lent") for item in find(opened, each).passages]
    for amount in ("$175,000,000", "twelve thousand five hundred", "thirty days"):
        assert names_missing(f"Who got {amount}?", held) == ()
    assert names_missing("Who got $176,000,000?", held) == ("176,000,000",)
