"""The analyser: words with exact offsets and their stems, and sentences, in every language."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from atlas_search.language.languages import FUNCTION_WORDS, LANGUAGES, fold
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

PIECES = [
    *("consti-\ntution", "con\u00adsti-\n", "\u00ad", "\u2010 \r\n  ", "Roe v. Wade", "No. 45"),
    *("(s. 59)", "1) ", "a) ", '"Stop!"', "it’s", ". ", "\n", "  ", "é"),
]
SCRIPTS = "aZ9 .-\n\u00ad'’_éßœæıİſﬁ Ωσς йЁ ɑ́ क्‍या கொ الدُّ لا وو ײַ ﷺ"
TEXTS = (
    st.text()
    | st.text(alphabet=SCRIPTS)
    | st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join)
)
CODES = st.sampled_from(list(LANGUAGES))


def folded(text: str) -> list[str]:
    return [word.folded for word in words(text)]


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@given(TEXTS, CODES)
@example("क्‍या है", "hi")
@example("ﷺ", "ar")
@example("ﷺ", "en")
def test_words_are_exact_and_in_order_and_hold_every_letter(text: str, language: str) -> None:
    result = words(text, language)
    assert all(before.end <= after.start for before, after in pairwise(result))
    for word in result:
        assert word.start < word.end
        assert fold(text[word.start : word.end]) == word.folded
        for term in (word.folded, word.term, *word.parts):
            assert term.split() == [term]
    covered = {position for word in result for position in range(word.start, word.end)}
    assert {at for at, character in enumerate(text) if character.isalnum()} <= covered


@given(TEXTS, CODES)
def test_sentences_are_trimmed_and_in_order_and_hold_every_character(
    text: str, language: str
) -> None:
    spans = sentences(text, language)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    covered = {position for span in spans for position in range(*span)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= covered


@given(TEXTS, st.data(), st.sampled_from(["en", "fr"]))
def test_words_start_where_their_numbers_say(text: str, data: st.DataObject, language: str) -> None:
    result = words(text, language)
    numbers = sorted(data.draw(st.sets(st.sampled_from(range(len(result)))))) if result else []
    expected = [result[number].start for number in numbers]
    assert list(starts_of(numbers, text, language)) == expected


@given(st.text(max_size=20))
@example("ℋ")
def test_a_folded_word_folds_to_itself(word: str) -> None:
    assert fold(fold(word)) == fold(word)


@given(st.text(alphabet=" \n\u3000ab"), st.data())
def test_trimming_keeps_what_stripping_keeps(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    span = trim(text, start, end)
    assert start <= span.start <= span.end <= end
    assert text[span.start : span.end] == text[start:end].strip()


@pytest.mark.parametrize("language", ["en", "fr", "de"])
@pytest.mark.parametrize(
    "text", ["", "§12 of 42_USC, camelCase and l'égalité d'un État.", "Regu-\nlations of Lands.\n"]
)
def test_terms_and_parts_are_those_of_the_words(text: str, language: str) -> None:
    result = words(text, language)
    terms = tuple(word.term for word in result)
    parts = tuple(part for word in result for part in word.parts)
    assert terms_and_parts(text, language) == (terms, parts)


def test_offsets_count_characters_not_bytes() -> None:
    (word,) = words("😀 Wade")
    assert (word.start, word.end) == (2, 6)


@pytest.mark.parametrize(
    "pair",
    [
        *("WADE wade", "Café cafe", "STRASSE straße", "Congreſs congress", "State’s state's"),
        *("Māori Maori", "ﬁnding finding", "ﬂood flood", "Encyclopædia encyclopaedia"),
        *("Œuvre oeuvre", "Øresund oresund", "Łódź lodz", "Mc\u00adDonald mcdonald"),
        *("con\u00adsti\u00adtu\u00adtion constitution", "Ma\u0304ori maori"),
    ],
)
def test_spellings_of_one_word_fold_alike(pair: str) -> None:
    one, other = folded(pair)
    assert one == other


def test_an_apostrophe_inside_a_word_does_not_end_it_and_a_quote_around_it_does() -> None:
    assert folded("‘Plaintiff’s’ 'don't'") == ["plaintiff's", "don't"]


def test_words_of_scripts_whose_vowels_are_marks_are_whole() -> None:
    text = "संविधान की धारा; அரசியலமைப்பு; الدُّسْتُور"
    assert [text[w.start : w.end] for w in words(text)] == text.replace(";", "").split()
    assert [part for w in words(text) for part in identifier_parts(text[w.start : w.end])] == []


@pytest.mark.parametrize(
    "broken",
    [
        *("consti-\ntution", "consti-  \n\ttution", "consti-\r\ntution", "consti\u00ad\ntution"),
        *("consti\u2010\ntution", "conſti⸗\ntution", "con\u00adsti¬\n\u00a0tution"),
        "con-\nsti-\ntu-\ntion",
    ],
)
def test_a_word_that_a_line_s_end_breaks_is_one_word_with_its_exact_span(broken: str) -> None:
    text = f"The {broken}s of old."
    result = words(text)
    assert [word.term for word in result] == ["the", "constitut", "of", "old"]
    assert text[result[1].start : result[1].end] == f"{broken}s"
    assert result[1].folded == "constitutions"


def test_a_decomposed_letter_before_the_hyphen_belongs_to_the_word() -> None:
    assert folded(unicodedata.normalize("NFD", "liberté-\nmême")) == ["libertememe"]


@pytest.mark.parametrize(
    "text",
    [
        *("Anglo-\nSaxon", "Änder-\nÄnder", "1954-\nlater", "later-\n1954", "before-\n\nafter"),
        *("before-\n \nafter", "before -\nafter", "before--\nafter", "before\nafter"),
        *("before-after", "before\u00ad after", "before-\n(after", "snake_-\ncase"),
    ],
)
def test_words_on_two_lines_that_no_hyphen_joins_stay_two(text: str) -> None:
    first, second = words(text)
    assert "\n" not in text[first.start : first.end] + text[second.start : second.end]


@pytest.mark.parametrize(
    ("surface", "parts"),
    [
        ("camelCase", "camel case"),
        ("snake_case", "snake case"),
        ("s59", "s 59"),
        ("HTTPServer", "http server"),
        # the hyphen may be the word's own: `well-known` is still found by `known`
        ("well-\nknown", "well known"),
        ("con\u00adsti-  \n tut\u00adions", "consti tution"),
        *((plain, "") for plain in "plain ACT 1954 State’s con\u00adsti\u00adtution".split(" ")),
        *((plain, "") for plain in "Māori Zürich TĀMAKI Édouard".split()),
    ],
)
def test_only_identifiers_and_broken_words_have_parts(surface: str, parts: str) -> None:
    assert identifier_parts(surface) == parts.split()


def test_a_word_is_found_by_its_stem_and_its_parts() -> None:
    assert {word.term for word in words("appeal appeals appealed appealing")} == {"appeal"}
    assert all_terms("a well-\nknown camelCase") == {
        *("a", "wellknown", "well", "known"),
        *("camelcas", "camel", "case"),
    }


def test_function_words_are_dropped_unless_there_are_no_others() -> None:
    def content(question: str) -> list[str]:
        return [word.folded for word in content_words(words(question))]

    assert content("What did the Court decide?") == ["court", "decide"]
    assert content("Who is it?") == ["who", "is", "it"]
    assert content_terms("The courts of appeal and the court") == {"court", "appeal"}
    assert {fold(word) for word in FUNCTION_WORDS} == FUNCTION_WORDS


def test_distinct_keeps_the_first_of_equals_in_order() -> None:
    assert distinct(["b", "a", "b", "c", "a"]) == ("b", "a", "c")


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
        "It is in Vol. I of the reports, and in Ch. I, s. 3.",
        "The owner keeps 1. boats, 2. nets and iv. sails in the shed.",
        "The owner keeps • boats • nets and • sails in the shed.",
    ],
)
def test_abbreviations_and_brackets_do_not_end_a_sentence(sentence: str) -> None:
    assert split(f"{sentence} {sentence}") == [sentence, sentence]


@pytest.mark.parametrize(
    "expected",
    [
        # before no number, an abbreviation may end one
        "He sat in Div.|They left.",
        "He said No.|The next day he left.",
        "They love the Arts.|She does not.",
        "He lost the Ex.|I did not see him.",
        "We saw Part II.|The court agreed.",
        "It was vitamin C.|It helped.",
        "(He left.)|She stayed.",
        *(f"See Part C{blank}.|It held so." for blank in ("\u00a0", "\u2009", "\u3000", "\u00a0 ")),
    ],
)
def test_a_sentence_ends_with_its_last_mark(expected: str) -> None:
    assert split(expected.replace("|", " ")) == expected.split("|")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Judgment\n\n  The appeal fails\nNo costs.", "Judgment|The appeal fails|No costs."),
        ("The consti-\ntution. It binds\nall.", "The consti-\ntution.|It binds\nall."),
        ("", ""),
        (" \n\t\n ", ""),
    ],
)
def test_a_line_break_ends_a_sentence_unless_it_breaks_a_word(text: str, expected: str) -> None:
    assert "|".join(split(text)) == expected


def test_the_sentences_of_a_sentence_are_itself() -> None:
    numbered = "It has two parts. 1) A duty must exist. It must be owed. 2) It was broken."
    for text in (numbered, *(document.text for document in sample_documents())):
        result = split(text)
        assert result
        assert [split(sentence) for sentence in result] == [[sentence] for sentence in result]
