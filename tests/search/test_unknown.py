"""Words that no source holds, named, replaced, or widened: misprints, scans, typing errors."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from atlas_search import Atlas
from atlas_search.search.query import parse_query
from atlas_search.search.unknown import Spellings, UnknownWord, reworded
from tests.finding import aimed, find, names, searching
from tests.search.three_passages import signals_of, table_of

INSTEAD = 'No source holds "captial"; "capital" was searched for instead.'


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    with searching(tmp_path_factory.mktemp("unknown")) as opened:
        yield opened


def test_misspelt_words_are_searched_as_what_the_sources_hold(atlas: Atlas) -> None:
    result = find(atlas, "captial gians tax")
    assert result.unknown_words == (
        UnknownWord("captial", ("capital",), "capital"),
        UnknownWord("gians", ("gains",), "gains"),
    )
    assert (result.question, result.searched_as) == ("captial gians tax", "capital gains tax")
    right = find(atlas, "capital gains tax")
    assert [i.ranked for i in result.passages] == [i.ranked for i in right.passages]
    retrieval = result.to_dict()["retrieval"]
    assert retrieval["searched_as"] == "capital gains tax"
    assert retrieval["unknown_words"][0] == {
        "word": "captial",
        "suggestions": ["capital"],
        "searched_as": "capital",
    }
    assert retrieval["warnings"][0] == INSTEAD


@pytest.mark.parametrize("question", ["Is the tax on capital gains high?", "mayor Penderry"])
def test_a_question_whose_words_are_known_is_searched_as_it_is(atlas: Atlas, question: str) -> None:
    result = find(atlas, question)
    assert (result.unknown_words, result.searched_as) == ((), "")
    assert result.retrieval().searched_as is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # two letters of a long word; the ending is wrong, so the stem is too
        ("concillros", UnknownWord("concillros", ("councillors",), "councillors")),
        # a name stays as it is; the spelling of a source has its capital
        ("Pendery", UnknownWord("Pendery", ("Penderry",))),
        ("pendery", UnknownWord("pendery", ("Penderry",), "Penderry")),
        # short words and other first letters have too many neighbours
        ("wolo", UnknownWord("wolo", ("wool",))),
        ("fapital", UnknownWord("fapital", ("capital",))),
        ("jurisprudense", UnknownWord("jurisprudense", ())),
        # these are words, and no errors for "income" and "right"
        ("incomes-welcome", UnknownWord("welcome", ())),
        ("night", UnknownWord("night", ())),
        ("zep", UnknownWord("zep", ())),
        # a quoted or required word is searched as it is written
        ('"captial"', UnknownWord("captial", ("capital",))),
        ('+"captial"', UnknownWord("captial", ("capital",))),
        ("+captial", UnknownWord("captial", ("capital",))),
    ],
)
def test_an_unknown_word_has_suggestions_and_perhaps_a_replacement(
    atlas: Atlas, question: str, expected: UnknownWord
) -> None:
    result = find(atlas, f"tax {question}")
    assert result.unknown_words == (expected,)
    written = f"tax {question.strip('+').strip(chr(34))}"
    assert result.query.text == (f"tax {expected.searched_as}" if expected.searched_as else written)


def test_of_equally_close_words_the_more_frequent_comes_first(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    files = {
        "a/one.txt": "---\ntitle: Saltmarsh\n---\nThe bekkar sings.",
        "a/two.txt": "A mekkar sings.",
        "a/three.txt": "A mekkar of bread.",
    }
    with searching(tmp_path_factory.mktemp("ties"), files) as opened:
        (unknown,) = find(opened, "zekkar bread").unknown_words
        assert unknown == UnknownWord("zekkar", ("mekkar", "bekkar"))
        # a word of a title alone is known
        assert find(opened, "saltmarsh").unknown_words == ()


def test_a_word_that_only_another_corpus_holds_is_named_and_not_replaced(atlas: Atlas) -> None:
    result = find(atlas, "bridge tax", corpora=["tax"])
    assert [each.word for each in result.unknown_words] == ["bridge"]
    assert result.searched_as == ""


def test_compared_corpora_name_what_none_of_them_holds(atlas: Atlas) -> None:
    compared = aimed(atlas).compare("captial bridge", target="test").to_dict()["retrieval"]
    (unknown,) = compared["unknown_words"]
    assert (unknown["word"], unknown["searched_as"]) == ("captial", "capital")
    assert compared["warnings"].count(INSTEAD) == 1


def test_fuzzy_widens_unknown_words_and_no_known_one(atlas: Atlas) -> None:
    known = find(atlas, "right", fuzzy=True)
    assert known.query.spellings == {}
    assert sum(counts.lexical for counts in known.per_corpus.values()) == 2
    misspelt = find(atlas, "incone", fuzzy=True)
    assert misspelt.query.spellings == {"incon": ("incom",)}
    assert misspelt.searched_as == ""
    assert sum(counts.lexical for counts in misspelt.per_corpus.values()) == 2
    assert set(names(misspelt)[:2]) == {"income", "losses"}
    as_written = find(atlas, '"incone"')
    assert as_written.query.spellings == {}
    assert sum(counts.lexical for counts in as_written.per_corpus.values()) == 0


def test_the_word_after_how_is_not_looked_for_in_the_sources(atlas: Atlas) -> None:
    result = find(atlas, "How many zebras cross, and how often? Many do.")
    assert [each.word for each in result.unknown_words] == ["zebras", "cross", "Many"]


def test_a_word_is_replaced_where_it_stands_alone() -> None:
    unknown = [UnknownWord("gian", ("gain",), "gain"), UnknownWord("of", ("on",))]
    assert reworded("gian of gians, gian", unknown) == "gain of gians, gain"


TEXTS = [
    *["the parliament of silence"] * 20,
    *("the parliamemt of filence", "the parlament", "the solence of poffeffion"),
    *("a right", "a bright light"),
]


@pytest.mark.parametrize(
    ("term", "spellings"),
    [
        ("parliament", ()),
        ("right", ()),
        ("parliamant", ("parliament",)),
        ("possess", ("poffeffion",)),  # a long s that was read as f is no difference
        # short words and numbers
        *((term, ()) for term in ("of", "law", "s59", "1966", "")),
    ],
)
def test_an_unknown_term_stands_for_the_closest_known_ones(
    term: str, spellings: tuple[str, ...]
) -> None:
    assert Spellings(table_of(TEXTS)).of(term) == spellings


def test_the_stem_of_a_misspelt_word_is_found_by_the_beginning_of_the_word() -> None:
    spellings = Spellings(table_of(["capital", "a captain", "accommodation"]))
    assert spellings.of("captial") == ()
    assert spellings.of_words_like("captial", "captial", 2, 9)[0] == "capit"
    assert spellings.of_words_like("accomodatoin", "accomodatoin", 2, 9) == ["accommod"]


def test_a_spelling_counts_as_the_term_in_every_signal() -> None:
    table = table_of(("Police must warn.", "Polise must warn."), ("Police", "Polise"))
    query = replace(parse_query("police warn"), spellings={"polic": ("polis",)})
    signals = signals_of(query, table, vectors=np.ones((2, 3), dtype=np.float32)).signals
    for name, values in signals.items():
        if name not in {"exact", "metadata"}:
            assert values[0] == pytest.approx(values[1]), name
