"""Words, sentences and function words of every language."""

import unicodedata
from itertools import pairwise

import pytest
import Stemmer
from hypothesis import example, given
from hypothesis import strategies as st

from atlas_search.language.languages import LANGUAGES, fold, language_of
from atlas_search.language.text import content_words, sentences, words
from atlas_search.search.query import parse_query
from tests.languages.german_sources import stems

CODES = st.sampled_from(list(LANGUAGES))

SCRIPTS = "aZ9 .-\n\u00ad'’_éßœæıİſﬁ Ωσς йЁ ɑ́ क्‍या கொ الدُّ لا وو ײַ ﷺ"

TEXTS = st.text() | st.text(alphabet=SCRIPTS)


def test_every_stemmer_of_snowball_has_a_language() -> None:
    assert set(Stemmer.algorithms()) - set(LANGUAGES.values()) == {"porter", "dutch_porter"}
    assert set(LANGUAGES.values()) <= set(Stemmer.algorithms())


@given(TEXTS, CODES)
@example("क्‍या है", "hi")
@example("ﷺ", "ar")
def test_spans_are_exact_and_ascending_in_every_language(text: str, language: str) -> None:
    found = words(text, language)
    assert all(before.end <= after.start for before, after in pairwise(found))
    for word in found:
        assert word.start < word.end
        assert fold(text[word.start : word.end]) == word.folded
        assert [term.split() for term in (word.term, *word.parts)] == [
            [term] for term in (word.term, *word.parts)
        ]
    covered = {position for word in found for position in range(word.start, word.end)}
    assert {at for at, character in enumerate(text) if character.isalnum()} <= covered


@given(TEXTS, CODES)
def test_sentences_are_exact_and_ascending_in_every_language(text: str, language: str) -> None:
    spans = sentences(text, language)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    covered = {position for span in spans for position in range(*span)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= covered
    for start, end in spans:
        assert text[start:end] == text[start:end].strip() != ""


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("de", "Haus Häuser Häusern HÄUSER Hauser Haeuser"),
        ("de", "Straße Strassen STRASSE Straſſe"),
        ("de", "Bücher Buch Bucher Buecher"),
        ("fr", "université universités UNIVERSITÉ"),
        ("fr", "étudiant étudiantes etudiants Étudiant"),
        ("es", "nación naciones Nacion NACIÓN"),
        ("es", "jurídico jurídicas juridico"),
        ("sv", "flicka flickorna"),
        ("tr", "ISPARTA Isparta ısparta"),
        ("tr", "İstanbul istanbul İSTANBUL"),
        ("el", "ΛΌΓΟΣ λόγος λογος"),
        ("ru", "закон законы Законов"),
        ("ar", "الدستور الدُّسْتُور"),
        ("hi", "लड़का लड़के"),
    ],
)
def test_forms_of_one_word_share_a_stem_of_their_language(language: str, forms: str) -> None:
    decomposed = unicodedata.normalize("NFD", forms)
    assert len({*stems(forms, language), *stems(decomposed, language)}) == 1


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("fr", "égalité université nécessité assemblée évidemment Français élevé œuvre"),
        ("de", "Häuser für größere Städte während möglicher Änderungen"),
        ("es", "nación jurídicamente corazón años españoles rápido política"),
        ("pt", "constituição nações eleições cidadão público"),
        ("it", "libertà città perché università società"),
        ("pl", "sąd sądy prawo łódź źródło"),
        ("cs", "zákon soud příslušný řízení"),
    ],
)
def test_a_question_typed_without_accents_finds_every_word(language: str, text: str) -> None:
    for word in words(text, language):
        surface = text[word.start : word.end]
        typed = parse_query(fold(surface), language).terms
        assert {word.term, *word.parts} & set(typed), surface


def test_an_ending_with_an_accent_is_stemmed_with_it_and_found_without() -> None:
    (word,) = words("égalité", "fr")
    assert (word.folded, word.term, word.parts) == ("egalite", "egal", ("egalit",))
    assert stems("égal", "fr") == ["egal"]
    assert parse_query("egalite", "fr").terms == ("egalit",)
    assert parse_query("égalité", "fr").terms == ("egal", "egalit")


def test_english_knows_no_accents() -> None:
    assert [word.parts for word in words("résumé café")] == [(), ()]
    assert stems("Café", "en") == stems("cafe", "en") == ["cafe"]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("fr", "l'état d’une", ["l", "état", "d", "une"]),
        ("it", "dell'arte", ["dell", "arte"]),
        ("ca", "l'estat", ["l", "estat"]),
        ("en", "o'clock", ["o'clock"]),
        ("tr", "Atatürk'ün", ["Atatürk'ün"]),
    ],
)
def test_an_apostrophe_ends_a_word_where_articles_are_elided(
    language: str, text: str, expected: list[str]
) -> None:
    assert [text[word.start : word.end] for word in words(text, language)] == expected


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("en", "When were the houses built?", ["houses", "built"]),
        ("de", "Wann wurden die Häuser am Markt gebaut?", ["Häuser", "Markt", "gebaut"]),
        ("de", "Was ist die Würde des Menschen?", ["Würde", "Menschen"]),
        ("fr", "Qu'est-ce que l'égalité ?", ["égalité"]),
        ("fr", "Où est l'État ?", ["État"]),
        ("es", "¿Qué es el Estado de derecho?", ["Estado", "derecho"]),
        ("sv", "Vad hände år 1809?", ["hände", "år", "1809"]),
        ("nl", "Wanneer werd de wet aangenomen?", ["wet", "aangenomen"]),
        ("it", "Quali sono i diritti?", ["diritti"]),
        ("pt", "Quais são os direitos?", ["direitos"]),
        ("ru", "Почему этот закон был принят?", ["закон", "принят"]),
        ("el", "Ποιος έγραψε τι;", ["έγραψε"]),
        ("yi", "ווער איז", ["ווער", "איז"]),
    ],
)
def test_function_words_are_those_of_the_language(
    language: str, question: str, expected: list[str]
) -> None:
    informative = content_words(words(question, language))
    assert [question[word.start : word.end] for word in informative] == expected


def test_function_words_are_written_in_small_letters_as_they_are_compared() -> None:
    assert language_of("el").is_function("ποιοσ")
    assert language_of("tr").is_function("kaç")


def test_sentences_end_as_they_do_in_the_language() -> None:
    text = "Das Haus steht z. B. am Markt. Es gehört ihm."
    assert [text[start:end] for start, end in sentences(text, "de")] == [
        "Das Haus steht z. B. am Markt.",
        "Es gehört ihm.",
    ]


def test_a_question_can_be_read_in_another_language() -> None:
    query = parse_query('die +"alten Häuser" -"Mieter"')
    german = query.in_language("de")
    assert (query.language, german.language) == ("en", "de")
    assert (german.terms, german.required, german.excluded) == (
        ("alt", "haus"),
        (("alten Häuser", ("alt", "haus")),),
        (("Mieter", ("miet",)),),
    )
    assert german.in_language("de") is german
    assert query.in_language("en") is query
    assert not parse_query("Wer ist das?", "de").has_subject
