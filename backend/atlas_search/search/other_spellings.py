"""Other spellings of a question's words: misprints of old and scanned texts, and typing errors."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property, lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from atlas_search.language.text import words
from atlas_search.stores.tokens import TokenTable

SHORTEST = 4  # letters; below it most neighbours are other words
TWO_ERRORS_FROM = 8  # letters
RARER = 10  # times: a misprint is rarer than the word itself
MOST = 20  # spellings of one word


class Spellings:
    """The words of a collection, by how they are spelt."""

    def __init__(self, table: TokenTable):
        self._table = table
        self.of = lru_cache(4096)(self._of)

    def _of(self, term: str) -> tuple[str, ...]:
        """Stems that are likely to be `term` spelt otherwise, closest first.

        They differ by one letter (inserted, left out, changed, or two exchanged; Damerau 1964),
        or two in long words. Next to a known word they must be RARER than it; of an unknown one
        only the closest are taken. A long s that was read as f counts as no difference.
        """
        if len(term) < SHORTEST or not term.isalpha():
            return ()
        errors = 2 if len(term) >= TWO_ERRORS_FROM else 1
        found = process.extract(
            term, self._terms, scorer=OSA.distance, score_cutoff=errors, limit=None
        )
        known = self._frequency(term)
        close = [(distance, other) for other, distance, _ in found if other != term]
        if known:
            close = [pair for pair in close if self._frequency(pair[1]) * RARER <= known]
        else:
            least = min((distance for distance, _ in close), default=0)
            close = [pair for pair in close if pair[0] == least]
        close.sort(key=lambda pair: (pair[0], -self._frequency(pair[1]), pair[1]))
        spellings = [*self._read_with_f.get(term, ()), *(other for _, other in close)]
        return tuple(dict.fromkeys(spellings))[:MOST]

    def _frequency(self, term: str) -> int:
        number = self._table.vocabulary.get(term, -1)
        return int(self._table.passage_frequency[number]) if number >= 0 else 0

    @cached_property
    def _terms(self) -> list[str]:
        return [term for term in self._table.vocabulary if term.isalpha()]

    @cached_property
    def _read_with_f(self) -> Mapping[str, list[str]]:
        """Stems with an f by what they are with an s: `houf` by `hous`."""
        found: dict[str, list[str]] = defaultdict(list)
        for term in self._terms:
            if "f" in term:
                for word in words(term.replace("f", "s")):
                    found[word.term].append(term)
        return found
