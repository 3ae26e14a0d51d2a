"""The analyser: words with exact offsets, sentences."""

import unicodedata
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from atlas_search.core.domain import Document
from atlas_search.language.languages import FUNCTION_WORDS, fold
from atlas_search.language.text import (
    all_terms,
    content_terms,
    content_words,
    distinct,
    identifier_parts,
    sentences,
    starts_of,
    terms_and_parts,
    trim,
    words,
)
from tests.conftest import sample_documents

DOCUMENTS = sample_documents()
PIECES = [
    "consti-\ntution",
    "con\u00adsti-\n",
    "\u00ad",
    "\u2010 \r\n  ",
    "Roe v. Wade",
    "No. 45",
    "(s. 59)",
    "1) ",
    "a) ",
    '"Stop!"',
    "it’s",
    ". ",
    "\n",
    "  ",
    "é",
]
TEXTS = st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join)


def folded(text: str) -> list[str]:
    return [word.folded for word in words(text)]


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@given(TEXTS)
def test_word_offsets_are_exact_for_any_text(text: str) -> None:
    for word in words(text):
        assert fold(text[word.start : word.end]) == word.folded


@given(TEXTS, st.data(), st.sampled_from(["en", "fr"]))
def test_words_start_where_their_numbers_say(text: str, data: st.DataObject, language: str) -> None:
    found = words(text, language)
    numbers = sorted(data.draw(st.sets(st.sampled_from(range(len(found)))))) if found else []
    expected = [found[number].start for number in numbers]
    assert list(starts_of(numbers, text, language)) == expected


@given(TEXTS)
def test_every_letter_and_digit_is_in_exactly_one_word(text: str) -> None:
    found = words(text)
    covered = [position for word in found for position in range(word.start, word.end)]
    assert covered == sorted(set(covered))
    assert {at for at, character in enumerate(text) if character.isalnum()} <= set(covered)


def test_offsets_count_characters_not_bytes() -> None:
    (word,) = words("😀 Wade")
    assert (word.start, word.end) == (2, 6)


@pytest.mark.parametrize(
    ("surface", "same_as"),
    [
        ("WADE", "wade"),
        ("Café", "cafe"),
        ("STRASSE", "straße"),
        ("Congreſs", "congress"),
        ("State’s", "state's"),
        ("Māori", "Maori"),
        ("ﬁnding", "finding"),
        ("ﬂood", "flood"),
        ("Encyclopædia", "encyclopaedia"),
        ("Œuvre", "oeuvre"),
        ("Øresund", "oresund"),
        ("Łódź", "lodz"),
        ("con\u00adsti\u00adtu\u00adtion", "constitution"),
        ("Mc\u00adDonald", "mcdonald"),
    ],
)
def test_spellings_of_one_word_fold_alike(surface: str, same_as: str) -> None:
    assert folded(surface) == folded(same_as)
    assert len(folded(surface)) == 1


def test_combining_marks_belong_to_their_word() -> None:
    assert folded(unicodedata.normalize("NFD", "Māori résumé")) == ["maori", "resume"]


@given(st.text(max_size=20))
@example("ℋ")
def test_a_folded_word_folds_to_itself(word: str) -> None:
    assert fold(fold(word)) == fold(word)


def test_an_apostrophe_inside_a_word_does_not_end_it_and_a_quote_around_it_does() -> None:
    assert folded("‘Plaintiff’s’ 'don't'") == ["plaintiff's", "don't"]


@pytest.mark.parametrize(
    "broken",
    [
        "consti-\ntution",
        "consti-  \n\ttution",
        "consti-\r\ntution",
        "consti\u00ad\ntution",
        "consti\u2010\ntution",
        "conſti⸗\ntution",
        "con\u00adsti¬\n\u00a0tution",
        "con-\nsti-\ntu-\ntion",
    ],
)
def test_a_word_that_a_line_s_end_breaks_is_one_word_with_its_exact_span(broken: str) -> None:
    text = f"The {broken}s of old."
    found = words(text)
    assert [word.term for word in found] == ["the", "constitut", "of", "old"]
    assert text[found[1].start : found[1].end] == f"{broken}s"
    assert found[1].folded == "constitutions"


def test_a_decomposed_letter_before_the_hyphen_belongs_to_the_word() -> None:
    assert folded(unicodedata.normalize("NFD", "liberté-\nmême")) == ["libertememe"]


@pytest.mark.parametrize(
    "text",
    [
        "Anglo-\nSaxon",
        "Änder-\nÄnder",
        "1954-\nlater",
        "later-\n1954",
        "before-\n\nafter",
        "before-\n \nafter",
        "before -\nafter",
        "before--\nafter",
        "before\nafter",
        "before-after",
        "before\u00ad after",
        "before-\n(after",
        "snake_-\ncase",
    ],
)
def test_words_on_two_lines_that_no_hyphen_joins_stay_two(text: str) -> None:
    first, second = words(text)
    assert text[: first.end] + text[first.end : second.start] + text[second.start :] == text
    assert "\n" not in text[first.start : first.end] + text[second.start : second.end]


def test_the_halves_of_a_broken_word_are_parts_of_it() -> None:
    """The hyphen may be the word's own: `well-known` is still found by `known`."""
    (word,) = words("well-\nknown")
    assert word.term == "wellknown"
    assert identifier_parts("well-\nknown") == ["well", "known"]
    assert identifier_parts("con\u00adsti-  \n tut\u00adions") == ["consti", "tution"]
    assert all_terms("a well-\nknown camelCase") == {
        *("a", "wellknown", "well", "known"),
        *("camelcas", "camel", "case"),
    }


def test_an_invisible_hyphen_makes_no_parts() -> None:
    assert identifier_parts("con\u00adsti\u00adtution") == []


def test_words_of_scripts_whose_vowels_are_marks_are_whole() -> None:
    text = "संविधान की धारा; அரசியலமைப்பு; الدُّسْتُور"
    assert [text[w.start : w.end] for w in words(text)] == text.replace(";", "").split()
    assert [part for w in words(text) for part in identifier_parts(text[w.start : w.end])] == []


@given(TEXTS)
@example("ﷺ")
def test_a_folded_word_holds_no_blank_and_its_stem_is_not_empty(text: str) -> None:
    for word in words(text):
        assert word.folded.split() == [word.folded]
        assert word.term.split() == [word.term]


def test_inflections_share_a_stem() -> None:
    assert {word.term for word in words("appeal appeals appealed appealing")} == {"appeal"}


@pytest.mark.parametrize(
    ("surface", "parts"),
    [
        ("camelCase", ["camel", "case"]),
        ("snake_case", ["snake", "case"]),
        ("s59", ["s", "59"]),
        ("HTTPServer", ["http", "server"]),
        ("plain", []),
        ("ACT", []),
        ("1954", []),
        ("State’s", []),
    ],
)
def test_only_identifiers_have_parts(surface: str, parts: list[str]) -> None:
    assert identifier_parts(surface) == parts


@pytest.mark.parametrize("surface", ["Māori", "Zürich", "TĀMAKI", "Édouard"])
def test_a_plain_word_with_diacritics_has_no_parts(surface: str) -> None:
    assert identifier_parts(surface) == []


def test_function_words_are_dropped_from_a_question() -> None:
    assert [word.folded for word in content_words(words("What did the Court decide?"))] == [
        "court",
        "decide",
    ]


def test_a_question_of_function_words_keeps_them_all() -> None:
    assert [word.folded for word in content_words(words("Who is it?"))] == ["who", "is", "it"]


def test_function_words_are_written_as_words_are_folded() -> None:
    assert {fold(word) for word in FUNCTION_WORDS} == FUNCTION_WORDS


def test_content_terms_are_the_stems_of_informative_words() -> None:
    assert content_terms("The courts of appeal and the court") == {"court", "appeal"}


def test_distinct_keeps_the_first_of_equals_in_order() -> None:
    assert distinct(["b", "a", "b", "c", "a"]) == ("b", "a", "c")


@pytest.mark.parametrize("blank", ["\u00a0", "\u2009", "\u3000", "\u00a0 \u00a0"])
def test_a_wide_blank_before_a_full_stop_is_read(blank: str) -> None:
    text = f"See Part C{blank}. The court held so."
    assert [text[start:end] for start, end in sentences(text)][-1].endswith("held so.")


@given(TEXTS)
def test_sentences_are_trimmed_in_order_and_disjoint(text: str) -> None:
    spans = sentences(text)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()


@given(TEXTS)
def test_every_character_but_blanks_is_in_a_sentence(text: str) -> None:
    covered = {position for span in sentences(text) for position in range(*span)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= covered


@pytest.mark.parametrize(
    "sentence",
    [
        "Roe v. Wade was decided in 1973.",
        "Smith vs. Jones was settled.",
        "It is case No. 45 of that year.",
        "Nos. 3 and 4 were joined.",
        "The Crown ex rel. Smith brought the claim.",
        "It rests on s. 59 and ss. 60 to 62.",
        "See cl. 3, pt. 2 and ch. 1 of the Act.",
        "It cites paras. 4 and 5, para. 9 and art. 8.",
        "The Hon. Mr Justice Lee sat alone.",
        "Brown v. Board of Education, 347 U.S. 483, was unanimous.",
        "The Crimes (Substituted Section 59) Amendment Act 2007 removed it.",
        "He was 15 (his brother was 17) at the time.",
        "The sum is in 94 Stat. 3305 and was spent.",
        "It is Cap. 123 of the Laws, Sched. 2, Div. 3.",
        "Under Pub. L. No. 96-511 offices report, and Fed. R. Civ. P. 12 applies.",
        "See 3 Cal. App. 4th 12, 12 F. Supp. 2d 34, vol. 3 and Ex. 12.",
        "The owner keeps 1. boats, 2. nets and iv. sails in the shed.",
        "The owner keeps • boats • nets and • sails in the shed.",
    ],
)
def test_abbreviations_and_brackets_do_not_end_a_sentence(sentence: str) -> None:
    assert split(f"{sentence} {sentence}") == [sentence, sentence]


@pytest.mark.parametrize(
    ("ended", "next_one"),
    [
        ("He sat in Div.", "They left."),
        ("He said No.", "The next day he left."),
        ("They love the Arts.", "She does not."),
        ("He lost the Ex.", "I did not see him."),
        ("We saw Part II.", "The court agreed."),
        ("It was vitamin C.", "It helped."),
    ],
)
def test_an_abbreviation_before_no_number_may_end_a_sentence(ended: str, next_one: str) -> None:
    assert split(f"{ended} {next_one}") == [ended, next_one]


def test_a_roman_one_is_a_number_of_a_volume() -> None:
    assert len(split("It is in Vol. I of the reports, and in Ch. I, s. 3.")) == 1


def test_a_line_of_abbreviations_takes_no_quadratic_time() -> None:
    line = "94 Stat. 5 Pub. L. No. 3 " * 8_000
    started = process_time()
    assert len(split(line)) == 1
    assert process_time() - started < 3


def test_a_sentence_in_brackets_ends_with_them() -> None:
    assert split("(He left.) She stayed.") == ["(He left.)", "She stayed."]


def test_a_line_break_ends_a_sentence() -> None:
    assert split("Judgment\n\n  The appeal fails\nNo costs.") == [
        "Judgment",
        "The appeal fails",
        "No costs.",
    ]


def test_a_line_break_inside_a_word_ends_no_sentence() -> None:
    assert split("The consti-\ntution. It binds\nall.") == [
        "The consti-\ntution.",
        "It binds\nall.",
    ]


@pytest.mark.parametrize("text", ["", " \n\t\n "])
def test_a_blank_text_has_no_sentences(text: str) -> None:
    assert sentences(text) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.id)
def test_the_sentences_of_a_bundled_sentence_are_itself(document: Document) -> None:
    found = split(document.text)
    assert found
    assert [split(sentence) for sentence in found] == [[sentence] for sentence in found]


def test_the_sentences_of_a_numbered_sentence_are_itself() -> None:
    found = split("It has two parts. 1) A duty must exist. It must be owed. 2) It was broken.")
    assert [split(sentence) for sentence in found] == [[sentence] for sentence in found]


@given(st.text(alphabet=" \n\u3000ab"), st.data())
def test_trimming_keeps_what_stripping_keeps(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    span = trim(text, start, end)
    assert start <= span.start <= span.end <= end
    assert text[span.start : span.end] == text[start:end].strip()


@pytest.mark.parametrize("language", ["en", "fr", "de"])
@pytest.mark.parametrize(
    "text",
    ["", "§12 of 42_USC, camelCase and l'égalité d'un État.", "Regu-\nlations of the Lands.\n"],
)
def test_terms_and_parts_are_those_of_the_words(text: str, language: str) -> None:
    found = words(text, language)
    terms = tuple(word.term for word in found)
    parts = tuple(part for word in found for part in word.parts)
    assert terms_and_parts(text, language) == (terms, parts)
