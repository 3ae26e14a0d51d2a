"""Questions of words that nobody knows: few of them are compared with all words of the sources."""

from dataclasses import replace
from string import ascii_lowercase

import pytest

from atlas_search import Atlas
from atlas_search.core.errors import Cancelled
from atlas_search.core.stop import Stop
from atlas_search.search.unknown import MOST_LOOKED_UP, Spellings

MISSPELT = [f"merchant{first}{last}" for first in ascii_lowercase for last in "qxz"]


def test_the_first_unknown_words_have_suggestions(farm: Atlas) -> None:
    found = farm.search(" ".join(MISSPELT), fuzzy=False).unknown_words
    assert [each.word for each in found] == MISSPELT
    suggested = [bool(each.suggestions) for each in found]
    assert suggested.count(True) > 10
    assert not any(suggested[MOST_LOOKED_UP:])


def test_the_first_unknown_words_are_looked_for_in_other_spellings(farm: Atlas) -> None:
    searcher = replace(farm.services.searcher)
    searcher.__dict__["spellings"] = spellings = Spellings(searcher.store.tokens)
    answerer = replace(farm.services.answerer, searcher=searcher)
    Atlas(replace(farm.services, answerer=answerer)).search(" ".join(MISSPELT), fuzzy=True)
    assert 0 < spellings.of.cache_info().misses <= MOST_LOOKED_UP


def test_looking_up_words_ends_when_nobody_waits(farm: Atlas) -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(Cancelled):
        farm.search(" ".join(MISSPELT), fuzzy=True, stop=stop)
