"""Numbers in words and in digits meet: read, searched for, and highlighted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.answer.quotes.scores import names_missing
from atlas_search.language.numerals import numerals
from atlas_search.language.text import places_of, terms_and_parts, words
from atlas_search.search.query import parse_query
from tests.finding import find, names, searching


def read(text: str, language: str = "en") -> list[tuple[str, str]]:
    """What is written, and its digits."""
    surfaces = [text[word.start : word.end] for word in words(text, language)]
    return [(text[n.start : n.end], n.digits) for n in numerals(text, surfaces, language)]


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("$175,000,000 lent", ["175000000"]),
        ("one hundred and seventy-five million dollars", ["175000000"]),
        ("3.5 million, 1,500 million", ["3500000", "1500000000"]),
        ("twenty-one days, a hundred years, nineteen hundred", ["21", "100", "1900"]),
        ("two hundred and five men and three women", ["205", "3"]),
        ("five six", ["5", "6"]),
        ("one thousand nine hundred and forty-five", ["1945"]),
        ("the Fifth Amendment, a third reading", ["5th", "3rd"]),
        ("THIRTY days", ["30"]),
        ("1’234’567", ["1234567"]),
        # no numbers, or written in digits as it is
        ("one says, the first and the second", []),
        ("21 days, 1993, 1914-18, 3.5, £1,500.50, 12, 300, 1,23", []),
        ("none often weighty hundreds attend", []),
    ],
)
def test_a_number_is_read_in_digits(text: str, digits: list[str]) -> None:
    assert [number for _, number in read(text)] == digits


def test_other_languages_group_digits_by_full_stops_and_blanks() -> None:
    assert read("1.000.000 Euro, 2\u00a0500", "de") == [
        ("1.000.000", "1000000"),
        ("2\u00a0500", "2500"),
    ]
    assert read("five hundred", "de") == []


@given(st.integers(2, 999_999))
def test_groups_of_digits_are_read_back(number: int) -> None:
    expected = [str(number)] if number > 999 else []
    assert [digits for _, digits in read(f"some {number:,} sheep")] == expected


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


def test_no_number_is_called_missing_that_is_written_otherwise(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    files = {"a/spelt.txt": "Lent were one hundred and seventy-five million dollars.",
             "a/digits.txt": "The fee is $12,500, due in 30 days."}  # fmt: skip
    with searching(tmp_path_factory.mktemp("missing"), files) as opened:
        found = [item.passage for item in find(opened, "a fee").passages]
        found += [item.passage for item in find(opened, "dollars lent").passages]
        for asked in ("$175,000,000", "twelve thousand five hundred", "thirty days"):
            assert names_missing(f"Who got {asked}?", found) == ()
            assert find(opened, f"Which fee is {asked}?").unknown_words == ()
        assert names_missing("Who got $176,000,000?", found) == ("176,000,000",)


def test_words_find_digits_and_digits_find_words(tmp_path_factory: pytest.TempPathFactory) -> None:
    files = {
        "a/spelt.txt": "The bank lent one hundred and seventy-five million dollars to the harbour.",
        "a/digits.txt": "The fee of $12,500 falls due within 30 days of the notice.",
        "a/other.txt": "The bank has one door, a hundred windows and five million bricks.",
    }
    with searching(tmp_path_factory.mktemp("numbers"), files) as opened:
        found = find(opened, "Who got $175,000,000?")
        assert names(found)[0] == "spelt"
        assert found.passages[0].highlights
        assert names(find(opened, "What is due within thirty days?"))[0] == "digits"
        assert names(find(opened, "What is twelve thousand five hundred?"))[0] == "digits"
