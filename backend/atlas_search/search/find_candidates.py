"""Finding candidates for a question, and for each of its parts, and measuring them."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.telemetry.span import describe_embedding
from atlas_search.search.candidates import Candidates, Part
from atlas_search.search.query import Query
from atlas_search.search.rerank import rerank
from atlas_search.search.retrieve import pool, retrieve
from atlas_search.search.run import SearchRun
from atlas_search.search.signals.measure import SignalTable, measure, merge
from atlas_search.search.sub_questions import sub_questions
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.terms import FloatArray
from atlas_search.stores.vectors import Cosines

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
    rows = np.unique(np.concatenate([whole.table.rows, *(found.table.rows for found, _ in parts)]))
    table = _measure_all(run, run.query, whole.cosines, whole.term_scores, rows)
    run.clock.lap("measure")
    return replace(whole, table=table, parts=tuple(part for _, part in parts))


def _parts(run: SearchRun) -> tuple[str, ...]:
    """The things a question asks for, if several; the rules are for English."""
    read = run.target.multi_hop and run.query.language == "en"
    return sub_questions(run.query.text) if read else ()


def _part(run: SearchRun, text: str) -> tuple[Candidates, Part]:
    with run.tracer.span("sub-question", "CHAIN") as span:
        span.input(text)
        found = _find(run, run.read(text))
        best = rerank(found, run.target).rows[:BEST_OF_PART]
        span.output(run.store.passage_ids(best.tolist()))
        return found, Part(text, found.cosines.vector, best)


def _find(run: SearchRun, query: Query) -> Candidates:
    run.stop.check()
    cosines = Cosines(_embed(run, query), run.store.vectors)
    term_scores = _weigh(run, query)
    run.clock.lap("embed")
    run.stop.check()
    hits = retrieve(run, query, cosines, term_scores)
    run.clock.lap("retrieve")
    table = _measure_all(run, query, cosines, term_scores, pool(hits))
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
    with run.tracer.span("weigh terms", "EMBEDDING") as span:
        model = run.searcher.terms.model
        describe_embedding(span, "sparse", model.name, 0, query.text)
        return run.searcher.terms.scores(query.text)


def _embed(run: SearchRun, query: Query) -> NDArray[np.float32]:
    with run.tracer.span("embed", "EMBEDDING") as span:
        vector = run.searcher.embedder.embed_query(query.text)
        info = run.searcher.embedder.info
        describe_embedding(span, info.provider, info.name, info.dimension, query.text)
        span.set(pooling=info.pooling, dimension=info.dimension)
        return vector
