"""Words that are spelt otherwise: misprints, scans, and typing errors."""

from dataclasses import replace

import numpy as np
import pytest

from atlas_search.search.flow import search
from atlas_search.search.query import parse_query
from atlas_search.search.run import SearchRun
from atlas_search.search.unknown import Spellings
from atlas_search.services import Services
from tests.conftest import request_for
from tests.three_passages import signals_of, table_of

COMMON = "the parliament of silence"
TEXTS = (*[COMMON] * 20, "the parliamemt of filence", "the parlament", "the solence of poffeffion")


def spellings(term: str) -> tuple[str, ...]:
    return Spellings(table_of(TEXTS, [""] * len(TEXTS), ())).of(term)


def test_a_word_that_the_sources_know_is_spelt_one_way() -> None:
    assert spellings("parliament") == ()
    assert Spellings(table_of(["a right", "a bright light"], ["", ""], ())).of("right") == ()


def test_an_unknown_word_stands_for_the_closest_known_ones() -> None:
    assert spellings("parliamant") == ("parliament",)


def test_a_long_s_that_was_read_as_f_is_no_difference() -> None:
    assert spellings("possess") == ("poffeffion",)


def test_the_stem_of_a_misspelt_word_is_found_by_the_beginning_of_the_word() -> None:
    found = Spellings(table_of(["capital", "a captain", "accommodation"], [""] * 3, ()))
    assert found.of("captial") == ()
    assert found.of_words_like("captial", "captial", 2, 9)[0] == "capit"
    assert found.of_words_like("accomodatoin", "accomodatoin", 2, 9) == ["accommod"]


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
    as_written = request_for(services, '"privecy" of a telephone cal')
    fuzzy = request_for(services, "privecy of a telephone cal", fuzzy=True)
    found, widened = (
        search(SearchRun(services.searcher, request, target)) for request in (as_written, fuzzy)
    )
    assert found.query.spellings == {}
    assert "privaci" in widened.query.spellings["priveci"]
    assert "telephon" not in widened.query.spellings
    assert sum(c.lexical for c in found.per_corpus.values()) < sum(
        c.lexical for c in widened.per_corpus.values()
    )
