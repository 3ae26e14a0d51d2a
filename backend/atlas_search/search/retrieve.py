"""Candidates: the same depth from every corpus, by meaning and by words."""

from collections.abc import Sequence
from contextvars import copy_context

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.tracing.span import FULL_TEXTS, Span, TracedDocument
from atlas_search.search.candidates import CorpusHits
from atlas_search.search.query import Query
from atlas_search.search.run import SearchRun
from atlas_search.stores.store import Hits
from atlas_search.stores.tokens import IntArray


def retrieve(run: SearchRun, query: Query, vector: NDArray[np.float32]) -> list[CorpusHits]:
    """Up to `run.depth` passages per corpus and leg, all under the same scope, corpora in order.

    Passages that hold a quoted phrase have places in the lexical leg before others, and those that
    hold what is required, if they are too few, in the dense leg.
    """
    store = run.store
    language = {corpus.id: corpus.language for corpus in store.corpora}

    def from_corpus(corpus: str) -> CorpusHits:
        with run.tracer.span(f"retrieve {corpus}", "RETRIEVER") as span:
            run.stop.check()
            spelt = query.in_language(language[corpus]).spelt
            dense = store.nearest(corpus, vector, run.depth, scope, run.stop)
            run.stop.check()
            lexical = store.matching(corpus, spelt, run.depth, scope)
            if required is not None:
                held = store.nearest(corpus, vector, run.depth, required, run.stop)
                dense = _first(held, dense, run.depth)
            if preferred is not None:
                held = store.matching(corpus, spelt, run.depth, preferred)
                lexical = _first(held, lexical, run.depth)
            hits = CorpusHits(corpus, dense, lexical)
            _describe(span, run, query, hits)
            return hits

    scope, preferred = run.scope, run.preferred if query.preferred else None
    required = run.scope_of(run.required) if run.too_few else None
    # a copy of the context each, so the spans hang below the caller's
    tasks = [
        run.searcher.executor.submit(copy_context().run, from_corpus, corpus)
        for corpus in run.request.corpora
    ]
    return [task.result() for task in tasks]


def pool(hits: Sequence[CorpusHits]) -> IntArray:
    """The candidates of all corpora, each once, ascending."""
    return np.concatenate([corpus.rows for corpus in hits]) if hits else np.empty(0, dtype=np.int64)


def _first(wanted: Hits, others: Hits, depth: int) -> Hits:
    """The `depth` best, those `wanted` before others; in the order of their scores, ties by row."""
    further = ~np.isin(others.rows, wanted.rows)
    rows = np.concatenate([wanted.rows, others.rows[further]])[:depth]
    scores = np.concatenate([wanted.scores, others.scores[further]])[:depth]
    order = np.lexsort((rows, -scores))
    return Hits(rows[order], scores[order])


def _describe(span: Span, run: SearchRun, query: Query, hits: CorpusHits) -> None:
    span.set(
        corpus=hits.corpus,
        search_type="hybrid",
        large_retrieval_size=run.depth,
        dense=len(hits.dense.rows),
        lexical=len(hits.lexical.rows),
        candidates=len(hits.rows),
    )
    if not span.recorded:
        return
    span.input(query.text)
    found = [*zip(hits.dense.rows, hits.dense.scores, strict=True)]
    dense = set(hits.dense.rows.tolist())
    found += [
        (row, score)
        for row, score in zip(hits.lexical.rows, hits.lexical.scores, strict=True)
        if row not in dense
    ]
    rows = [int(row) for row, _ in found]
    full = run.store.passages(rows[:FULL_TEXTS])
    span.list_retrieved(
        [
            TracedDocument(
                id_,
                float(score),
                full[index] if index < len(full) else None,
                "dense" if row in dense else "lexical",
            )
            for index, (id_, (row, score)) in enumerate(
                zip(run.store.passage_ids(rows), found, strict=True)
            )
        ]
    )
