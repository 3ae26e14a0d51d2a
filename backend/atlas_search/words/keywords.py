"""Words that set some texts apart from others."""

from dataclasses import dataclass

import numpy as np

from atlas_search.core.errors import RequestError
from atlas_search.stores.arrays import IntArray
from atlas_search.words.association import keyness, log_ratio
from atlas_search.words.hits import BoolArray
from atlas_search.words.reach import reach_of_corpora
from atlas_search.words.request import KeywordsRequest
from atlas_search.words.run import ReachRun
from atlas_search.words.vocabulary import Vocabulary, informative, vocabulary
from atlas_search.words.word_lists import Keyword, Keywords


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


def keywords(run: ReachRun, asked: KeywordsRequest) -> Keywords:
    """Compare how frequent each word is in what is looked through and in the reference."""
    known = vocabulary(run.table, run.request)
    own, other = _own(run, known), _reference(run, known, asked)
    if not other.words:
        raise RequestError(
            "against: nothing is left to compare with, for all of it is looked through. Choose "
            "some corpora, or filters, or other corpora to compare with."
        )
    found = _chosen(run, known, asked, own, other)
    run.stop.check()
    frequencies = own.counts[found], own.words, other.counts[found], other.words
    likelihood, ratio = keyness(*frequencies), log_ratio(*frequencies)
    score = np.abs(ratio) if asked.sort == "log_ratio" else likelihood
    order = np.lexsort((found, -likelihood, -score))[: asked.limit]
    return Keywords(
        words=own.words,
        documents=own.documents,
        reference_words=other.words,
        reference_documents=other.documents,
        keywords=_listed(run, known, own, other, found[order], likelihood[order], ratio[order]),
        left_out=len(found) - len(order),
    )


def _own(run: ReachRun, known: Vocabulary) -> _Side:
    reach = run.reach
    return _Side(reach.counted, reach.counts, known.sums(reach.counts), len(reach.documents))


def _reference(run: ReachRun, known: Vocabulary, asked: KeywordsRequest) -> _Side:
    """All of the corpora to compare with, but what is looked through."""
    run.stop.check()
    every = reach_of_corpora(run.store, asked.against)
    own = run.reach.within(every.documents)
    forms = every.counts - own.counts
    documents = int(np.count_nonzero(every.words_of > own.words_of))
    return _Side(every.counted & ~own.counted, forms, known.sums(forms), documents)


def _chosen(
    run: ReachRun, known: Vocabulary, asked: KeywordsRequest, own: _Side, other: _Side
) -> IntArray:
    """The words that are frequent enough on the side where they are more frequent."""
    ours, theirs = own.counts * other.words, other.counts * own.words
    parts = []
    if asked.direction != "less":
        parts.append(_frequent(run, known, asked, own, ours > theirs))
    if asked.direction != "more":
        parts.append(_frequent(run, known, asked, other, theirs > ours))
    found = np.sort(np.concatenate(parts))
    if asked.function_words:
        return found
    return found[informative(known.written(found, own.forms + other.forms), run.languages)]


def _frequent(
    run: ReachRun, known: Vocabulary, asked: KeywordsRequest, side: _Side, is_more: BoolArray
) -> IntArray:
    # no word is in more documents than places
    least = max(asked.min_count, asked.min_documents)
    found = np.flatnonzero(is_more & (side.counts >= least))
    if asked.min_documents <= 1:
        return found
    documents = known.documents_with(found, side.counted, run.stop)
    kept: IntArray = found[documents >= asked.min_documents]
    return kept


def _listed(
    run: ReachRun,
    known: Vocabulary,
    own: _Side,
    other: _Side,
    words: IntArray,
    likelihood: np.ndarray,
    ratio: np.ndarray,
) -> tuple[Keyword, ...]:
    written = known.written(words, own.forms + other.forms)
    documents, reference_documents = (
        known.documents_with(words, side.counted, run.stop).tolist() for side in (own, other)
    )
    return tuple(
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
    )
