"""Words that no source holds: named, with what is spelt nearly so, and searched as that."""

from collections.abc import Iterator

import pytest

from atlas_search.answer.compare import search_each, together
from atlas_search.search.run import Searcher
from atlas_search.search.unknown import UnknownWord, reworded
from tests.finding import find, names, search_of, searching


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with searching(tmp_path_factory.mktemp("unknown")) as opened:
        yield opened


def test_misspelt_words_are_searched_as_what_the_sources_hold(searcher: Searcher) -> None:
    found = find(searcher, "captial gians tax")
    assert found.unknown_words == (
        UnknownWord("captial", ("capital",), "capital"),
        UnknownWord("gians", ("gains",), "gains"),
    )
    assert found.searched_as == "capital gains tax"
    assert found.question == "captial gians tax"
    right = find(searcher, "capital gains tax")
    assert [i.ranked for i in found.passages] == [i.ranked for i in right.passages]
    said = found.to_dict()
    assert said["question"] == "captial gians tax"
    assert said["retrieval"]["searched_as"] == "capital gains tax"
    assert said["retrieval"]["unknown_words"][0] == {
        "word": "captial",
        "suggestions": ["capital"],
        "searched_as": "capital",
    }
    assert said["retrieval"]["warnings"][0] == (
        'No source holds "captial"; "capital" was searched for instead.'
    )


def test_a_question_whose_words_are_known_is_searched_as_it_is(searcher: Searcher) -> None:
    found = find(searcher, "Is the tax on capital gains high?")
    assert (found.unknown_words, found.searched_as) == ((), "")
    assert found.retrieval()["searched_as"] is None
    assert find(searcher, "mayor Penderry").unknown_words == ()


def test_the_spellings_are_not_asked_for_known_words(tmp_path_factory) -> None:
    with searching(tmp_path_factory.mktemp("known")) as opened:
        find(opened, "Is the tax on capital gains high?")
        assert "spellings" not in vars(opened) or "_terms" not in vars(opened.spellings)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # two letters of a long word; the ending is wrong, so the stem is too
        ("concillros", UnknownWord("concillros", ("councillors",), "councillors")),
        # a name stays what it is, and the source's own spelling of a name is told
        ("Pendery", UnknownWord("Pendery", ("Penderry",), "")),
        ("pendery", UnknownWord("pendery", ("Penderry",), "Penderry")),
        # short words and other first letters have too many neighbours
        ("wolo", UnknownWord("wolo", ("wool",), "")),
        ("fapital", UnknownWord("fapital", ("capital",), "")),
        ("jurisprudense", UnknownWord("jurisprudense", (), "")),
        # these are words, and no errors for "income" and "right"
        ("incomes-welcome", UnknownWord("welcome", (), "")),
        ("night", UnknownWord("night", (), "")),
        ("zep", UnknownWord("zep", (), "")),
    ],
)
def test_what_is_suggested_and_what_is_searched(
    searcher: Searcher, question: str, expected: UnknownWord
) -> None:
    found = find(searcher, f"tax {question}")
    assert found.unknown_words == (expected,)
    assert found.query.text == f"tax {expected.searched_as or question}"


@pytest.mark.parametrize("question", ['tax "captial"', 'tax +"captial"', "tax +captial"])
def test_a_quoted_word_is_searched_as_it_is_written(searcher: Searcher, question: str) -> None:
    found = find(searcher, question)
    assert found.unknown_words == (UnknownWord("captial", ("capital",), ""),)
    assert found.searched_as == ""


def test_of_equally_close_words_the_more_frequent_comes_first(tmp_path_factory) -> None:
    files = {
        "a/one.txt": "The bekkar sings.", "a/two.txt": "A mekkar sings.",
        "a/three.txt": "A mekkar of bread.",
    }  # fmt: skip
    with searching(tmp_path_factory.mktemp("ties"), files) as opened:
        (found,) = find(opened, "zekkar bread").unknown_words
        assert found == UnknownWord("zekkar", ("mekkar", "bekkar"), "")


def test_a_word_that_only_another_corpus_holds_is_named_and_left_as_it_is(
    searcher: Searcher,
) -> None:
    found = find(searcher, "bridge tax", corpora=("tax",), every_corpus=False)
    assert [each.word for each in found.unknown_words] == ["bridge"]
    assert found.searched_as == ""


def test_corpora_that_are_compared_name_what_none_of_them_holds(searcher: Searcher) -> None:
    run = search_of(searcher, "captial bridge")
    result = together(search_each(run), run.request)
    assert result.unknown_words == (UnknownWord("captial", ("capital",), "capital"),)
    assert result.warnings.count('No source holds "captial"; "capital" was searched for instead.')


def test_a_word_of_a_title_alone_is_known(tmp_path_factory) -> None:
    files = {"a/one.txt": "---\ntitle: Saltmarsh\n---\nSheep graze there."}
    with searching(tmp_path_factory.mktemp("title"), files) as opened:
        assert find(opened, "saltmarsh").unknown_words == ()


def test_fuzzy_widens_unknown_words_and_no_known_one(searcher: Searcher) -> None:
    known = find(searcher, "right", fuzzy=True)
    assert known.query.spellings == {}
    assert sum(counts.lexical for counts in known.per_corpus.values()) == 2
    assert known.passages[0].passage.text.count("right")
    misspelt = find(searcher, "incone", fuzzy=True)
    assert misspelt.query.spellings == {"incon": ("incom",)}
    assert misspelt.searched_as == ""
    assert set(names(misspelt)[:2]) == {"income", "losses"}


def test_what_how_asks_for_is_not_looked_for_in_the_sources(searcher: Searcher) -> None:
    found = find(searcher, "How many zebras cross, and how often? Many do.")
    assert [each.word for each in found.unknown_words] == ["zebras", "cross", "Many"]


def test_a_word_is_replaced_where_it_stands_alone() -> None:
    unknown = [UnknownWord("gian", ("gain",), "gain"), UnknownWord("of", ("on",))]
    assert reworded("gian of gians, gian", unknown) == "gain of gians, gain"
