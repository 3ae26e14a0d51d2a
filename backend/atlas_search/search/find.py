"""Candidates: the same depth from every corpus, by meaning and by words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.domain import Leg
from atlas_search.core.targets import SearchType
from atlas_search.search.candidates import Candidates, Legs, Part, rows_of
from atlas_search.search.parts import sub_questions
from atlas_search.search.query import Query
from atlas_search.search.ranking import rerank
from atlas_search.search.run import SearchRun
from atlas_search.search.signals import SignalTable, measure, merge
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.store import LegHits
from atlas_search.stores.terms import FloatArray
from atlas_search.stores.vectors import Cosines

LEGS: Mapping[SearchType, Sequence[Leg]] = {
    "hybrid": ("dense", "lexical", "sparse"),
    "similarity": ("dense",),
    "keyword": ("lexical",),
}


def retrieve(
    run: SearchRun, query: Query, cosines: Cosines, term_scores: FloatArray | None = None
) -> dict[str, Legs]:
    """Up to `run.depth` passages by corpus and leg, all under the same scope, corpora in order.

    Passages that hold a quoted phrase have places in the lexical leg before others, and those that
    hold what is required, if they are too few, in the dense leg. With `term_scores`, those of every
    passage, there is a sparse leg. The legs are those of SEARCH_TYPE.
    """
    store, vector = run.store, cosines.vector
    language = {corpus.id: corpus.language for corpus in store.corpora}
    scope, preferred = run.scope, run.preferred if query.preferred else None
    required = run.required if run.too_few else None

    def from_corpus(corpus: str) -> Legs:
        with run.stage("retrieve", of=corpus) as stage:
            return stage.done({leg: from_leg(corpus, leg) for leg in legs}, corpus, query)

    def from_leg(corpus: str, leg: Leg) -> LegHits:
        run.stop.check()
        with run.stage(leg, of=corpus) as stage:
            return stage.done(find[leg](corpus), query, corpus, leg)

    def dense(corpus: str) -> LegHits:
        how = run.target.vector_search
        hits = store.nearest(corpus, vector, run.depth, scope, run.stop, cosines, how)
        if required is None:
            return hits
        required_hits = store.nearest(corpus, vector, run.depth, required, run.stop)
        return _first(required_hits, hits, run.depth)

    def lexical(corpus: str) -> LegHits:
        terms = query.in_language(language[corpus]).spelt
        hits = store.matching(corpus, terms, run.depth, scope)
        if preferred is None:
            return hits
        preferred_hits = store.matching(corpus, terms, run.depth, preferred)
        return _first(preferred_hits, hits, run.depth)

    find: dict[Leg, Callable[[str], LegHits]] = {"dense": dense, "lexical": lexical}
    if term_scores is not None:
        find["sparse"] = partial(_with_most_weight, run, term_scores)
    legs = [leg for leg in LEGS[run.target.search_type] if leg in find]
    # a copy of the context each, so the spans hang below the caller's
    tasks = [
        run.searcher.executor.submit(copy_context().run, from_corpus, corpus)
        for corpus in run.request.corpora
    ]
    every = [task.result() for task in tasks]
    if least := run.target.score_threshold:
        every = [_near(hits, cosines, least) for hits in every]
    return dict(zip(run.request.corpora, every, strict=True))


def _near(hits: Legs, cosines: Cosines, least: float) -> Legs:
    """The hits whose cosine is at least so large, whichever leg found them."""
    candidates = rows_of(hits)
    near = candidates[cosines.of(candidates) >= least]
    legs: dict[Leg, LegHits] = {}
    for leg, (rows, scores) in hits.items():
        stays = np.isin(rows, near)
        legs[leg] = LegHits(rows[stays], scores[stays])
    return legs


def _with_most_weight(run: SearchRun, term_scores: FloatArray, corpus: str) -> LegHits:
    """The passages of a corpus whose scores are largest, under the scope; ties by row."""
    store = run.store
    own = np.flatnonzero(term_scores) if run.scope is None else run.scope.rows
    number = [corpus.id for corpus in store.corpora].index(corpus)
    own = own[store.corpus_of(own) == number]
    own = own[term_scores[own] > 0]
    order = np.lexsort((own, -term_scores[own]))[: run.depth]
    return LegHits(own[order], term_scores[own[order]])


def pool(hits: Iterable[Legs]) -> IntArray:
    """The candidates of all corpora, each once, ascending: corpora may be asked in any order."""
    every = np.concatenate([np.empty(0, dtype=np.int64), *map(rows_of, hits)])
    return np.sort(every, kind="stable")  # which is quick for what is in order already


def _first(leading: LegHits, others: LegHits, depth: int) -> LegHits:
    """Take `depth` hits, the `leading` before others, and order them by score, ties by row."""
    further = ~np.isin(others.rows, leading.rows)
    rows = np.concatenate([leading.rows, others.rows[further]])[:depth]
    scores = np.concatenate([leading.scores, others.scores[further]])[:depth]
    order = np.lexsort((rows, -scores))
    return LegHits(rows[order], scores[order])


BEST_OF_PART = 20  # a part keeps one place; more are needed only where caps forbid the best


def find_candidates(run: SearchRun) -> Candidates:
    """The candidates of every corpus with all their signals; nothing is ranked yet.

    A question that asks for several things is searched whole and in parts. All that is found is
    measured against the whole question: scores of different questions are not comparable enough
    to merge (on the bundled questions, their maximum lost a tenth of recall at 5).
    """
    whole = _find(run, run.query)
    parts = [_part(run, text) for text in _parts(run)]
    if not parts:
        return whole
    rows = np.unique(
        np.concatenate([whole.table.rows, *(candidates.table.rows for candidates, _ in parts)])
    )
    table = _measure_all(run, run.query, whole.cosines, whole.term_scores, rows)
    run.clock.lap("measure")
    return replace(whole, table=table, parts=tuple(part for _, part in parts))


def _parts(run: SearchRun) -> tuple[str, ...]:
    """The things a question asks for, if several; the rules are for English."""
    takes_apart = run.target.multi_hop and run.query.language == "en"
    return sub_questions(run.query.text) if takes_apart else ()


def _part(run: SearchRun, text: str) -> tuple[Candidates, Part]:
    with run.stage("sub-question", text) as stage:
        candidates = _find(run, run.read(text))
        best = stage.done(rerank(candidates, run.target).rows[:BEST_OF_PART])
        return candidates, Part(text, candidates.cosines.vector, best)


def _find(run: SearchRun, query: Query) -> Candidates:
    run.stop.check()
    cosines = Cosines(_embed(run, query), run.store.similarities)
    term_scores = _weigh(run, query)
    run.clock.lap("embed")
    run.stop.check()
    hits = retrieve(run, query, cosines, term_scores)
    run.clock.lap("retrieve")
    table = _measure_all(run, query, cosines, term_scores, pool(hits.values()))
    run.clock.lap("measure")
    return Candidates(query, cosines, hits, table, term_scores=term_scores)


def _measure_all(
    run: SearchRun,
    query: Query,
    cosines: Cosines,
    term_scores: FloatArray | None,
    rows: IntArray,
) -> SignalTable:
    run.stop.check()
    store = run.store
    owner = store.corpus_of(rows)
    return merge(
        [
            measure(
                query.in_language(language),
                cosines,
                rows[np.isin(owner, numbers)],
                store.tokens,
                run.corpus_numbers,
                run.searcher.mean_length,
                term_scores,
            )
            for language, numbers in run.by_language.items()
        ]
    )


def _weigh(run: SearchRun, query: Query) -> FloatArray | None:
    if run.searcher.terms is None:
        return None
    with run.stage("weigh terms", run.searcher.terms.model.name, query.text):
        return run.searcher.terms.scores(query.text)


def _embed(run: SearchRun, query: Query) -> NDArray[np.float32]:
    with run.stage("embed") as stage:
        return stage.done(run.searcher.embedder.embed_query(query.text), query)
