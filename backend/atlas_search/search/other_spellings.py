"""Other spellings of words that the sources do not know: typing errors, scans and old prints."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property, lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from atlas_search.language.text import words
from atlas_search.stores.terms import TokenTable

SHORTEST = 4  # letters; below it most neighbours are other words
TWO_ERRORS_FROM = 8  # letters
LONGEST_ENDING = 5  # letters that a stem may lack of its word
MOST = 20  # spellings of one word


class Spellings:
    """The stems of a collection, by how they are spelt."""

    def __init__(self, table: TokenTable):
        self._table = table
        self.of = lru_cache(4096)(self._of)

    def _of(self, term: str) -> tuple[str, ...]:
        """Stems that are likely to be `term` spelt otherwise, closest first; none of a known one.

        They differ by one letter (inserted, left out, changed, or two exchanged; Damerau 1964),
        or two in long words, and only the closest are taken. A long s that was read as f counts as
        no difference.
        """
        if len(term) < SHORTEST or not term.isalpha() or term in self._table.vocabulary:
            return ()
        close = self._close(term, 2 if len(term) >= TWO_ERRORS_FROM else 1)
        least = min(close.values(), default=0)
        nearest = [other for other, distance in close.items() if distance == least]
        nearest.sort(key=lambda other: (-self.frequency(other), other))
        return tuple(dict.fromkeys([*self._read_with_f.get(term, ()), *nearest]))[:MOST]

    def of_words_like(self, word: str, stem: str, errors: int, limit: int) -> list[str]:
        """At most `limit` stems whose words may be `word` with so many errors, likeliest first.

        `stem` is that of `word`. An error in the ending leaves a wrong stem, so the beginnings of
        the word are compared too: the stem of `capital` is near `capti`, not `captial`.
        """
        shortest = max(SHORTEST - 1, len(word) - LONGEST_ENDING)
        starts = [word[:end] for end in range(len(word), shortest - 1, -1)]
        found: dict[str, tuple[int, int]] = {}
        for start in [stem, *starts]:
            # of a short beginning nearly every stem is two letters away
            within = min(errors, 1 if len(start) < 6 else 2)
            for other, distance in self._close(start, within).items():
                likeness = (distance, len(word) - len(start))
                found[other] = min(found.get(other, likeness), likeness)
        ordered = sorted(found, key=lambda other: (found[other], -self.frequency(other), other))
        return ordered[:limit]

    def frequency(self, term: str) -> int:
        """In how many passages a stem occurs."""
        number = self._table.vocabulary.get(term, -1)
        return int(self._table.passage_frequency[number]) if number >= 0 else 0

    def _close(self, term: str, errors: int) -> dict[str, int]:
        """The stems at most so many errors away, with their distance."""
        if len(term) > self._longest + errors:
            return {}  # comparing takes as long as the term is
        found = process.extract(
            term, self._terms, scorer=OSA.distance, score_cutoff=errors, limit=None
        )
        return {other: int(distance) for other, distance, _ in found}

    @cached_property
    def _terms(self) -> list[str]:
        return [term for term in self._table.vocabulary if term.isalpha()]

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._terms), default=0)

    @cached_property
    def _read_with_f(self) -> Mapping[str, list[str]]:
        """Stems with an f by what they are with an s: `houf` by `hous`."""
        found: dict[str, list[str]] = defaultdict(list)
        for term in self._terms:
            if "f" in term:
                for word in words(term.replace("f", "s")):
                    found[word.term].append(term)
        return found
