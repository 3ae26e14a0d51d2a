"""Candidates: the same depth from every corpus, by meaning and by words."""

from collections.abc import Sequence
from concurrent.futures import Executor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.domain import Leg
from atlas_search.core.tracing import FULL_TEXTS, Span, TracedDocument, Tracer
from atlas_search.search.query import Query
from atlas_search.stores.store import Hits, Scope, Store
from atlas_search.stores.tokens import IntArray, sorted_unique


@dataclass(frozen=True)
class CorpusHits:
    """What both legs found in one corpus."""

    corpus: str
    dense: Hits
    lexical: Hits

    @cached_property
    def rows(self) -> IntArray:
        """The passages either leg found, ascending."""
        return sorted_unique(np.concatenate([self.dense.rows, self.lexical.rows]))

    def leg(self, leg: Leg) -> Hits:
        """The hits of one leg."""
        return self.dense if leg == "dense" else self.lexical


def retrieve(
    store: Store,
    tracer: Tracer,
    executor: Executor,
    query: Query,
    vector: NDArray[np.float32],
    corpora: Sequence[str],
    depth: int,
    scope: Scope | None,
) -> list[CorpusHits]:
    """Up to `depth` passages per corpus and leg, all under the same `scope`, corpora in order."""

    def from_corpus(corpus: str) -> CorpusHits:
        with tracer.span(f"retrieve {corpus}", "RETRIEVER") as span:
            hits = CorpusHits(
                corpus,
                dense=store.nearest(corpus, vector, depth, scope),
                lexical=store.matching(corpus, read[corpus].spelt, depth, scope),
            )
            _describe(span, store, query, hits, depth)
            return hits

    language = {corpus.id: corpus.language for corpus in store.corpora}
    read = {corpus: query.in_language(language[corpus]) for corpus in corpora}
    # a copy of the context each, so the spans hang below the caller's
    tasks = [executor.submit(copy_context().run, from_corpus, corpus) for corpus in corpora]
    return [task.result() for task in tasks]


def pooled(hits: Sequence[CorpusHits]) -> IntArray:
    """The candidates of all corpora, each once, ascending."""
    return np.concatenate([corpus.rows for corpus in hits]) if hits else np.empty(0, dtype=np.int64)


def _describe(span: Span, store: Store, query: Query, hits: CorpusHits, depth: int) -> None:
    span.set(
        corpus=hits.corpus,
        search_type="hybrid",
        large_retrieval_size=depth,
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
    full = store.passages(rows[:FULL_TEXTS])
    span.retrieved(
        [
            TracedDocument(
                id_,
                float(score),
                full[index] if index < len(full) else None,
                "dense" if row in dense else "lexical",
            )
            for index, (id_, (row, score)) in enumerate(
                zip(store.passage_ids(rows), found, strict=True)
            )
        ]
    )
