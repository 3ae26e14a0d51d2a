"""Words of a question that no source holds, and words of the sources that are spelt nearly so."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated

import numpy as np
from pydantic import Field
from rapidfuzz import process
from rapidfuzz.distance import OSA

from atlas_search.core.stop import Stop
from atlas_search.core.wire import sent
from atlas_search.language.text import (
    UNSPACED_LETTER,
    Word,
    content_words,
    numerals_by_place,
    words,
)
from atlas_search.language.word_pieces import is_english
from atlas_search.search.query import Query
from atlas_search.stores.store import Store
from atlas_search.stores.terms import TokenTable
from atlas_search.stores.words import find

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
        likenesses: dict[str, tuple[int, int]] = {}
        for start in [stem, *starts]:
            # of a short beginning nearly every stem is two letters away
            within = min(errors, 1 if len(start) < 6 else 2)
            for other, distance in self._close(start, within).items():
                likeness = (distance, len(word) - len(start))
                likenesses[other] = min(likenesses.get(other, likeness), likeness)
        ordered = sorted(
            likenesses, key=lambda other: (likenesses[other], -self.frequency(other), other)
        )
        return ordered[:limit]

    def frequency(self, term: str) -> int:
        """In how many passages a stem occurs."""
        number = self._table.vocabulary.get(term, -1)
        return int(self._table.passage_frequency[number]) if number >= 0 else 0

    def _close(self, term: str, errors: int) -> dict[str, int]:
        """The stems at most so many errors away, with their distance."""
        if len(term) > self._longest + errors:
            return {}  # comparing takes as long as the term is
        neighbours = process.extract(
            term, self._terms, scorer=OSA.distance, score_cutoff=errors, limit=None
        )
        return {other: int(distance) for other, distance, _ in neighbours}

    @cached_property
    def _terms(self) -> list[str]:
        return [term for term in self._table.vocabulary if term.isalpha()]

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._terms), default=0)

    @cached_property
    def _read_with_f(self) -> Mapping[str, list[str]]:
        """Stems with an f by what they are with an s: `houf` by `hous`."""
        by_stem: dict[str, list[str]] = defaultdict(list)
        for term in self._terms:
            if "f" in term:
                for word in words(term.replace("f", "s")):
                    by_stem[word.term].append(term)
        return by_stem


REPLACED_FROM = 5  # letters; a shorter word has too many neighbours to be looked for as one of them
MOST_SUGGESTIONS = 3
MOST_LOOKED_UP = 20
"""Words of a question that are compared with all of the sources, the first. Of 200,000 words that
takes 0.2 s each, and a question of 4,000 characters can have hundreds that nobody knows."""
STEMS_READ = 30  # whose words are looked up

_HOW = re.compile(r"\bhow\s+\Z", re.IGNORECASE)
"""Before a word that says which kind of answer is wanted: `how many`."""


@sent
@dataclass(frozen=True)
class UnknownWord:
    """A word of the question that no searched source holds.

    `suggestions` are words of the sources that are spelt nearly so, the likeliest first; a common
    English word has none, for it is no error: of the 184 bundled questions 14 would be searched as
    `politician` for `political` or the like without this rule, and one is with it.
    `searched_as` is the one that was looked for in its place; None if the word itself was.
    """

    word: str
    suggestions: Annotated[
        tuple[str, ...], Field(description="Words of the sources that are spelt nearly so")
    ] = ()
    searched_as: Annotated[
        str | None, Field(description="The one that was searched for instead")
    ] = None


def unknown_words(
    query: Query,
    by_language: Mapping[str, Sequence[int]],
    store: Store,
    spellings: Spellings,
    stop: Stop,
    *,
    replace: bool,
) -> tuple[UnknownWord, ...]:
    """The informative words of `query` that no searched source holds, in order, each once.

    `by_language` are the indices of the searched corpora. The first MOST_LOOKED_UP have
    suggestions. With `replace` the best is looked for instead of a word that no corpus of the
    collection holds; but a name (a word with a capital), a quoted or short word stays, and so does
    one whose first letter differs.
    """
    corpora = [number for numbers in by_language.values() for number in numbers]
    unknown: dict[str, UnknownWord] = {}
    looked_up = 0
    content = content_words(words(query.text, query.language))
    numbers = numerals_by_place(query.text, content, query.language)
    for word in content:
        stop.check()
        surface = query.text[word.start : word.end]
        readings = [reading for code in by_language for reading in words(surface, code)]
        if surface in unknown or not surface.isalpha() or _HOW.search(query.text, 0, word.start):
            continue
        if UNSPACED_LETTER.match(surface):  # which says little alone
            continue
        number = numbers.get(word.start)
        if number and number.digits in query.terms:  # of several words: it is looked for as one
            continue
        if _is_known(readings, store.tokens, corpora):
            continue
        right = len(surface) < SHORTEST or is_english(words(surface)[0].term)
        compared = not right and looked_up < MOST_LOOKED_UP
        looked_up += compared
        likely = _suggestions(word, corpora, store, spellings) if compared else ()
        instead = replace and _is_misspelt(surface, word, readings, query, store.tokens)
        alike = [other for other in likely if other[0].lower() == word.folded[0]]
        unknown[surface] = UnknownWord(surface, likely, alike[0] if instead and alike else None)
    return tuple(unknown.values())


def reworded(question: str, unknown: Iterable[UnknownWord]) -> str:
    """The question with what is looked for in the place of unknown words."""
    for each in unknown:
        if each.searched_as:
            question = re.sub(rf"\b{re.escape(each.word)}\b", each.searched_as, question)
    return question


def _is_known(readings: Iterable[Word], table: TokenTable, corpora: Sequence[int]) -> bool:
    ids = np.array([table.vocabulary[term] for term in _terms(readings, table)], dtype=np.int64)
    # a word of titles or metadata is in no passage
    known = (table.passage_frequency[ids] == 0) | (table.frequency(ids, corpora) > 0)
    return bool(known.any())


def _is_misspelt(
    surface: str, word: Word, readings: Iterable[Word], query: Query, table: TokenTable
) -> bool:
    """Check that a word may be a misspelling: long, no name, not quoted, nowhere in the store."""
    quoted = {stem for phrase in (*query.preferred, *query.required) for stem in phrase.stems}
    elsewhere = _terms(readings, table)
    long_enough = len(surface) >= REPLACED_FROM
    return long_enough and not (surface[0].isupper() or elsewhere or word.term in quoted)


def _terms(readings: Iterable[Word], table: TokenTable) -> list[str]:
    """The stems of a word and its parts that the collection holds."""
    terms = (term for word in readings for term in (word.term, *word.parts))
    return [term for term in terms if term in table.vocabulary]


def _suggestions(
    word: Word, corpora: Sequence[int], store: Store, spellings: Spellings
) -> tuple[str, ...]:
    """The closest words of the searched sources, by their passages where equally close."""
    errors = 2 if len(word.folded) >= TWO_ERRORS_FROM else 1
    candidates: list[tuple[int, int, str]] = []
    for stem in spellings.of_words_like(word.folded, word.term, errors, STEMS_READ):
        forms = _forms(stem, corpora, store)
        near = {form: OSA.distance(word.folded, form.lower()) for form in forms}
        if near and min(near.values()) <= errors:
            best = min(near, key=lambda form: (near[form], -forms[form], form.lower(), form))
            candidates.append((near[best], -spellings.frequency(stem), best))
    candidates.sort()
    closest = [form for distance, _, form in candidates if distance == candidates[0][0]]
    return tuple(dict.fromkeys(closest))[:MOST_SUGGESTIONS]


def _forms(stem: str, corpora: Sequence[int], store: Store) -> Counter[str]:
    """The words of a stem as documents of these corpora write them, and how often."""
    table = store.words
    forms: Counter[str] = Counter()
    for form in np.flatnonzero(table.term_of == find(stem, table.terms)).tolist():
        documents = np.searchsorted(table.ends, table.places.row(form), side="right") - 1
        in_corpora = np.isin(store.corpus_of_documents(documents), corpora)
        forms[table.forms[form]] += int(in_corpora.sum())
    return +forms
