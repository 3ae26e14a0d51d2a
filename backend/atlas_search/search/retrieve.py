"""Candidates: the same depth from every corpus, by meaning and by words."""

from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context

import numpy as np

from atlas_search.core.domain import Leg
from atlas_search.search.candidates import CorpusHits
from atlas_search.search.query import Query
from atlas_search.search.run import SearchRun
from atlas_search.search.traced import describe_corpus, describe_leg
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.store import Hits
from atlas_search.stores.terms import FloatArray
from atlas_search.stores.vectors import Cosines


def retrieve(
    run: SearchRun, query: Query, cosines: Cosines, term_scores: FloatArray | None = None
) -> list[CorpusHits]:
    """Up to `run.depth` passages per corpus and leg, all under the same scope, corpora in order.

    Passages that hold a quoted phrase have places in the lexical leg before others, and those that
    hold what is required, if they are too few, in the dense leg. With `term_scores`, those of every
    passage, there is a sparse leg.
    """
    store, vector = run.store, cosines.vector
    numbers = {corpus.id: number for number, corpus in enumerate(store.corpora)}
    language = {corpus.id: corpus.language for corpus in store.corpora}
    scope, preferred = run.scope, run.preferred if query.preferred else None
    required = run.scope_of(run.required) if run.too_few else None

    def from_corpus(corpus: str) -> CorpusHits:
        with run.tracer.span(f"retrieve {corpus}", "CHAIN") as span:
            hits = CorpusHits(
                corpus,
                from_leg(corpus, "dense"),
                from_leg(corpus, "lexical"),
                None if term_scores is None else from_leg(corpus, "sparse"),
            )
            describe_corpus(span, run, query, hits)
            return hits

    def from_leg(corpus: str, leg: Leg) -> Hits:
        run.stop.check()
        with run.tracer.span(f"{leg} {corpus}", "RETRIEVER") as span:
            hits = find[leg](corpus)
            describe_leg(span, run, query, corpus, leg, hits)
            return hits

    def dense(corpus: str) -> Hits:
        hits = store.nearest(corpus, vector, run.depth, scope, run.stop, cosines)
        if required is None:
            return hits
        held = store.nearest(corpus, vector, run.depth, required, run.stop)
        return _first(held, hits, run.depth)

    def lexical(corpus: str) -> Hits:
        spelt = query.in_language(language[corpus]).spelt
        hits = store.matching(corpus, spelt, run.depth, scope)
        if preferred is None:
            return hits
        held = store.matching(corpus, spelt, run.depth, preferred)
        return _first(held, hits, run.depth)

    def sparse(corpus: str) -> Hits:
        assert term_scores is not None
        own = np.flatnonzero(term_scores) if scope is None else scope.rows
        own = own[store.corpus_of(own) == numbers[corpus]]
        own = own[term_scores[own] > 0]
        order = np.lexsort((own, -term_scores[own]))[: run.depth]
        return Hits(own[order], term_scores[own[order]])

    find: Mapping[Leg, Callable[[str], Hits]] = {
        "dense": dense,
        "lexical": lexical,
        "sparse": sparse,
    }
    # a copy of the context each, so the spans hang below the caller's
    tasks = [
        run.searcher.executor.submit(copy_context().run, from_corpus, corpus)
        for corpus in run.request.corpora
    ]
    return [task.result() for task in tasks]


def pool(hits: Sequence[CorpusHits]) -> IntArray:
    """The candidates of all corpora, each once, ascending: corpora may be asked in any order."""
    every = np.concatenate([np.empty(0, dtype=np.int64), *(of.rows for of in hits)])
    return np.sort(every, kind="stable")  # which is quick for what is in order already


def _first(wanted: Hits, others: Hits, depth: int) -> Hits:
    """The `depth` best, those `wanted` before others; in the order of their scores, ties by row."""
    further = ~np.isin(others.rows, wanted.rows)
    rows = np.concatenate([wanted.rows, others.rows[further]])[:depth]
    scores = np.concatenate([wanted.scores, others.scores[further]])[:depth]
    order = np.lexsort((rows, -scores))
    return Hits(rows[order], scores[order])
