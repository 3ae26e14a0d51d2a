"""Words that are spelt otherwise: misprints, scans, and typing errors."""

from dataclasses import replace

import numpy as np
import pytest

from atlas_search.search.flow import search
from atlas_search.search.other_spellings import Spellings
from atlas_search.search.query import parse_query
from atlas_search.search.run import SearchRun
from atlas_search.services import Services
from tests.conftest import request_for
from tests.three_passages import signals_of, table_of

COMMON = "the parliament of silence"
TEXTS = (*[COMMON] * 20, "the parliamemt of filence", "the parlament", "the solence of poffeffion")


def spellings(term: str) -> tuple[str, ...]:
    return Spellings(table_of(TEXTS, [""] * len(TEXTS), ())).of(term)


def test_misprints_that_are_much_rarer_than_the_word_count_as_it() -> None:
    assert set(spellings("parliament")) == {"parliamemt", "parlament"}
    assert spellings("silenc") == ("filenc", "solenc")


def test_words_as_frequent_as_the_word_are_other_words() -> None:
    texts = ["the house", "the horse", "the house", "the horse"]
    assert Spellings(table_of(texts, [""] * 4, ())).of("hous") == ()


def test_an_unknown_word_stands_for_the_closest_known_ones() -> None:
    assert spellings("parliamant") == ("parliament",)


def test_a_long_s_that_was_read_as_f_is_no_difference() -> None:
    assert spellings("possess") == ("poffeffion",)


@pytest.mark.parametrize("term", ["of", "law", "s59", "1966", ""])
def test_short_words_and_numbers_are_spelt_one_way(term: str) -> None:
    assert spellings(term) == ()


def test_a_spelling_counts_as_the_term_in_every_signal() -> None:
    table = table_of(("Police must warn.", "Polise must warn."), ("Police", "Polise"), ())
    query = replace(parse_query("police warn"), spellings={"polic": ("polis",)})
    found = signals_of(query, table, vectors=np.ones((2, 3), dtype=np.float32)).signals
    for name, values in found.items():
        if name not in {"exact", "metadata"}:
            assert values[0] == pytest.approx(values[1]), name


def test_fuzzy_search_finds_what_is_misspelt_and_says_so(services: Services) -> None:
    target = services.targets["k10_extractive"]
    question = "privecy of a telephone cal"
    plain, fuzzy = (
        search(SearchRun(services.searcher, request_for(services, question, fuzzy=fuzzy), target))
        for fuzzy in (False, True)
    )
    assert plain.query.spellings == {}
    assert "privaci" in fuzzy.query.spellings["priveci"]
    assert sum(c.lexical for c in plain.per_corpus.values()) < sum(
        c.lexical for c in fuzzy.per_corpus.values()
    )
