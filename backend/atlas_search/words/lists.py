"""Lists of words: those near others, those that set some texts apart, and the most frequent."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import InvalidQuery, RequestError, shown
from atlas_search.core.stop import Stop
from atlas_search.language.text import is_function_word
from atlas_search.search.request import ScopePlan
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.words import WordTable
from atlas_search.words.hits import BoolArray, near_places
from atlas_search.words.query import AnyWord, WordMatching, forms_of, parse, slots
from atlas_search.words.request import (
    CollocatesRequest,
    FrequenciesRequest,
    KeywordsRequest,
    WordsScope,
)
from atlas_search.words.results import (
    Collocate,
    Collocates,
    Frequencies,
    Frequency,
    Keyword,
    Keywords,
)
from atlas_search.words.run import ReachRun, WordsRun, reach_of

FloatArray = NDArray[np.floating[Any]]

ZERO = 0.5
"""The frequency of what does not occur, where a ratio is wanted."""


def log_likelihood(joint: IntArray, near: int, frequency: IntArray, words: int) -> FloatArray:
    """G² of the four cells: a word near hits and elsewhere, other words near hits and elsewhere.

    `joint` of its `frequency` stand in the `near` places, of all `words`. Dunning, "Accurate
    methods for the statistics of surprise and coincidence", 1993; the windows of all hits are one
    sample, as in Evert, "Corpora and collocations", 2008, section 4.1.
    """
    share, others = near / max(words, 1), words - frequency
    total = (
        _deviation(joint, frequency * share)
        + _deviation(frequency - joint, frequency * (1 - share))
        + _deviation(near - joint, others * share)
        + _deviation(others - near + joint, others * (1 - share))
    )
    return np.maximum(2 * total, 0.0)


def log_dice(joint: IntArray, hits: int, frequency: IntArray) -> FloatArray:
    """14 + log2 of Dice's coefficient; does not depend on the size of the corpus.

    14 for words that stand near each other and nowhere else; 1 more is twice as often. Rychlý, "A
    lexicographer-friendly association score", 2008.
    """
    with np.errstate(divide="ignore"):
        result: FloatArray = 14 + np.log2(2 * joint / (hits + frequency))
    return result


def keyness(own: IntArray, words: int, other: IntArray, other_words: int) -> FloatArray:
    """G² of a word's frequencies in two corpora of so many words.

    Of the two cells of the word alone, as in Rayson and Garside, "Comparing corpora using
    frequency profiling", 2000.
    """
    share = (own + other) / (words + other_words)
    total = _deviation(own, words * share) + _deviation(other, other_words * share)
    return np.maximum(2 * total, 0.0)


def log_ratio(own: IntArray, words: int, other: IntArray, other_words: int) -> FloatArray:
    """Binary logarithm of the ratio of a word's shares of two corpora.

    1 is twice as frequent, -2 a quarter. A frequency of 0 counts as ZERO. Hardie, "Log Ratio: an
    informal introduction", 2014.
    """
    share = np.where(own == 0, ZERO, own) / words
    result: FloatArray = np.log2(share / (np.where(other == 0, ZERO, other) / other_words))
    return result


def _deviation(observed: IntArray, expected: FloatArray) -> FloatArray:
    """O ln(O/E), which is 0 where nothing is seen."""
    ratio = np.ones(observed.shape)
    np.divide(observed, expected, out=ratio, where=observed > 0)
    return observed.astype(np.float64) * np.log(ratio)


AT_ONCE = 1_000_000
"""Places that are looked at together: some tens of megabytes."""


@dataclass(frozen=True)
class Vocabulary:
    """The words of a table: form `f` is the word `labels[word_of[f]]`; `labels` ascend."""

    table: WordTable
    labels: Sequence[str]
    word_of: IntArray

    def sums(self, counts: IntArray) -> IntArray:
        """Counts of forms, by word."""
        # sums of integers below 2 ** 53 are exact
        totals = np.bincount(self.word_of, weights=counts, minlength=len(self.labels))
        return totals.astype(np.int64)

    def written(self, words: IntArray, counts: IntArray) -> list[str]:
        """Return the most frequent form of each word, by the counts of forms."""
        order = np.lexsort((-np.arange(len(counts)), counts, self.word_of))
        last = np.searchsorted(self.word_of[order], words, side="right") - 1
        return [self.table.forms[form] for form in order[last].tolist()]

    def documents_with(self, words: IntArray, counted: BoolArray, stop: Stop) -> IntArray:
        """In how many documents each word stands at a place that is counted."""
        if not len(words):
            return np.empty(0, dtype=np.int64)
        table = self.table
        document_of = np.repeat(np.arange(table.documents, dtype=np.int32), table.words_of)
        order = np.argsort(self.word_of, kind="stable")
        numbers = self.word_of[order]
        costs = self.sums(table.places.sizes)[words]
        counts = []
        for part in np.split(words, np.flatnonzero(np.diff(np.cumsum(costs) // AT_ONCE)) + 1):
            stop.check()
            low, high = (np.searchsorted(numbers, part, side=side) for side in ("left", "right"))
            forms = np.concatenate([order[a:b] for a, b in zip(low, high, strict=True)])
            places = table.places.take(forms)
            is_counted = counted[places.value]
            row = np.repeat(np.arange(len(part)), high - low)[places.row[is_counted]]
            pairs = row * table.documents + document_of[places.value[is_counted]]
            pairs.sort(kind="stable")  # those of each form ascend, which it makes use of
            distinct = pairs[np.diff(pairs, prepend=-1) > 0]
            counts.append(np.bincount(distinct // table.documents, minlength=len(part)))
        return np.concatenate(counts)


def vocabulary(table: WordTable, where: WordsScope) -> Vocabulary:
    """Words as a request compares them: by stem, as they are written, or folded."""
    if where.form == "stem":
        return Vocabulary(table, table.terms, np.asarray(table.term_of))
    if not where.exactly:
        return Vocabulary(table, table.folded, np.asarray(table.folded_of))
    # of two languages a form may stand twice, one directly after the other
    forms = table.forms
    is_new = [at > 0 and word != forms[at - 1] for at, word in enumerate(forms)]
    return Vocabulary(table, list(dict.fromkeys(forms)), np.cumsum(is_new, dtype=np.int64))


def informative(written: Iterable[str], languages: Collection[str]) -> BoolArray:
    """Mark the words that are function words in none of the languages."""
    return np.array(
        [not any(is_function_word(word, code) for code in languages) for word in written],
        dtype=bool,
    )


def collocates(run: WordsRun, request: CollocatesRequest) -> Collocates:
    """Count the words near the hits, each place once, and compare with all of their places."""
    hits, near = len(run.hits.starts), _near(run, request)
    run.stop.check()
    known = vocabulary(run.table, run.request)
    counts = np.bincount(run.table.tokens[near], minlength=len(run.table.forms))
    joint, frequency = known.sums(counts), known.sums(run.reach.counts)
    words_near, words = int(joint.sum()), int(frequency.sum())
    run.stop.check()
    is_drawn = (joint >= request.min_count) & (joint * words > frequency * words_near)
    drawn = np.flatnonzero(is_drawn)
    written = known.written(drawn, run.reach.counts)
    if not request.function_words:
        keep = informative(written, run.by_language)
        drawn, written = drawn[keep], [written[at] for at in np.flatnonzero(keep)]
    joint, frequency = joint[drawn], frequency[drawn]
    likelihood = log_likelihood(joint, words_near, frequency, words)
    dice = log_dice(joint, hits, frequency)
    score = dice if request.sort == "log_dice" else likelihood
    order = np.lexsort((np.arange(len(joint)), -joint, -score))[: request.limit]
    return Collocates(
        query=run.request.text,
        read_as=run.read_as,
        hits=hits,
        words=words,
        words_near=words_near,
        collocates=[
            Collocate(
                word=known.labels[drawn[at]],
                near=int(joint[at]),
                frequency=int(frequency[at]),
                log_likelihood=float(likelihood[at]),
                log_dice=float(dice[at]),
                query=_opening(run.request.text, written[at], request),
            )
            for at in order.tolist()
        ],
        left_out=len(drawn) - len(order),
    )


def _near(run: WordsRun, request: CollocatesRequest) -> BoolArray:
    """The places that are near a hit, and count."""
    if run.reach.whole:
        return near_places(run.table, run.hits, request.left, request.right)
    # as NEAR has it, which looks over the edges of passages
    return near_places(run.table, run.found, request.left, request.right) & run.reach.counted


def _opening(text: str, word: str, request: CollocatesRequest) -> str | None:
    """The query whose hits are the places of a word near those of another query."""
    left, right = request.left, request.right
    # what stands before a hit has the hit after it
    distance = left if left == right else f"{right},{left}"
    query = f'"{word}" NEAR/{distance} ({text})'
    try:
        parse(query)
    except InvalidQuery:
        return None
    return query


@dataclass(frozen=True)
class _Side:
    """One of two corpora: the places that are counted, the counts of forms, and of words."""

    counted: BoolArray
    forms: IntArray
    counts: IntArray
    documents: int

    @property
    def words(self) -> int:
        return int(self.counts.sum())


def keywords(run: ReachRun, request: KeywordsRequest) -> Keywords:
    """Compare how frequent each word is in what is looked through and in the reference."""
    known = vocabulary(run.table, run.request)
    own, other = _own(run, known), _reference(run, known, request)
    if not other.words:
        raise RequestError(
            "against: nothing is left to compare with, for all of it is looked through. Choose "
            "some corpora, or filters, or other corpora to compare with."
        )
    chosen = _chosen(run, known, request, own, other)
    run.stop.check()
    frequencies = own.counts[chosen], own.words, other.counts[chosen], other.words
    likelihood, ratio = keyness(*frequencies), log_ratio(*frequencies)
    score = np.abs(ratio) if request.sort == "log_ratio" else likelihood
    order = np.lexsort((chosen, -likelihood, -score))[: request.limit]
    return Keywords(
        words=own.words,
        documents=own.documents,
        reference_words=other.words,
        reference_documents=other.documents,
        keywords=_listed(run, known, own, other, chosen[order], likelihood[order], ratio[order]),
        left_out=len(chosen) - len(order),
    )


def _own(run: ReachRun, known: Vocabulary) -> _Side:
    reach = run.reach
    return _Side(reach.counted, reach.counts, known.sums(reach.counts), len(reach.documents))


def _reference(run: ReachRun, known: Vocabulary, request: KeywordsRequest) -> _Side:
    """All of the corpora to compare with, but what is looked through."""
    run.stop.check()
    every = reach_of(run.store, ScopePlan(corpora=tuple(request.against)), run.stop)
    own = run.reach.within(every.documents)
    forms = every.counts - own.counts
    documents = int(np.count_nonzero(every.words_of > own.words_of))
    return _Side(every.counted & ~own.counted, forms, known.sums(forms), documents)


def _chosen(
    run: ReachRun, known: Vocabulary, request: KeywordsRequest, own: _Side, other: _Side
) -> IntArray:
    """The words that are frequent enough on the side where they are more frequent."""
    ours, theirs = own.counts * other.words, other.counts * own.words
    parts = []
    if request.direction != "less":
        parts.append(_frequent(run, known, request, own, ours > theirs))
    if request.direction != "more":
        parts.append(_frequent(run, known, request, other, theirs > ours))
    chosen = np.sort(np.concatenate(parts))
    if request.function_words:
        return chosen
    return chosen[informative(known.written(chosen, own.forms + other.forms), run.by_language)]


def _frequent(
    run: ReachRun, known: Vocabulary, request: KeywordsRequest, side: _Side, is_more: BoolArray
) -> IntArray:
    # no word is in more documents than places
    least = max(request.min_count, request.min_documents)
    frequent = np.flatnonzero(is_more & (side.counts >= least))
    if request.min_documents <= 1:
        return frequent
    documents = known.documents_with(frequent, side.counted, run.stop)
    result: IntArray = frequent[documents >= request.min_documents]
    return result


def _listed(
    run: ReachRun,
    known: Vocabulary,
    own: _Side,
    other: _Side,
    words: IntArray,
    likelihood: np.ndarray,
    ratio: np.ndarray,
) -> list[Keyword]:
    written = known.written(words, own.forms + other.forms)
    documents, reference_documents = (
        known.documents_with(words, side.counted, run.stop).tolist() for side in (own, other)
    )
    return [
        Keyword(
            word=known.labels[word],
            frequency=int(own.counts[word]),
            per_million=int(own.counts[word]) * 1_000_000 / own.words,
            documents=documents[at],
            reference_frequency=int(other.counts[word]),
            reference_per_million=int(other.counts[word]) * 1_000_000 / other.words,
            reference_documents=reference_documents[at],
            log_likelihood=float(likelihood[at]),
            log_ratio=float(ratio[at]),
            query=f'"{written[at]}"',
        )
        for at, word in enumerate(words.tolist())
    ]


def frequencies(run: ReachRun, request: FrequenciesRequest) -> Frequencies:
    """List the words that are looked through, the most frequent first; ties by the word."""
    known = vocabulary(run.table, run.request)
    own = _own(run, known)
    run.stop.check()
    chosen = np.flatnonzero(own.counts >= request.min_count)
    if request.pattern:
        chosen = np.intersect1d(chosen, known.word_of[_forms_like(run, request.pattern)])
    if not request.function_words:
        chosen = chosen[informative(known.written(chosen, own.forms), run.by_language)]
    listed = chosen[np.lexsort((chosen, -own.counts[chosen]))][: request.limit]
    written = known.written(listed, own.forms)
    documents = known.documents_with(listed, own.counted, run.stop).tolist()
    return Frequencies(
        words=own.words,
        types=int(np.count_nonzero(own.counts)),
        documents=own.documents,
        frequencies=[
            Frequency(
                word=known.labels[word],
                frequency=int(own.counts[word]),
                per_million=int(own.counts[word]) * 1_000_000 / own.words,
                documents=documents[at],
                query=f'"{written[at]}"',
            )
            for at, word in enumerate(listed.tolist())
        ],
        left_out=len(chosen) - len(listed),
    )


def _forms_like(run: ReachRun, pattern: str) -> IntArray:
    """The forms looked through that a word of a query means. Raises RequestError for several."""
    words = slots(pattern)
    if len(words) != 1 or isinstance(words[0], AnyWord):
        raise RequestError(f"pattern={shown([pattern])}: give one word, such as strike* or wom?n.")
    where = run.request
    forms = [
        forms_of(words[0], run.table, WordMatching(language, where.form, where.exactly))
        for language in run.by_language
    ]
    every = np.concatenate(forms)
    looked_through: IntArray = every[run.reach.counts[every] > 0]
    return looked_through
