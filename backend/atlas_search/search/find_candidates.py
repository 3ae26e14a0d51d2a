"""Finding candidates for a question, and for each of its parts, and measuring them."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.targets import Target
from atlas_search.search.candidates import Candidates, Part
from atlas_search.search.clock import Clock
from atlas_search.search.query import Query, parse_query
from atlas_search.search.request import SearchRequest
from atlas_search.search.rerank import rerank
from atlas_search.search.retrieve import pooled, retrieve
from atlas_search.search.searcher import Searcher
from atlas_search.search.signals.measure import SignalTable, measure, merged
from atlas_search.search.sub_questions import sub_questions
from atlas_search.stores.store import Scope, Store
from atlas_search.stores.tokens import IntArray

BEST_OF_PART = 20  # a part keeps one place; more are needed only where caps forbid the best


def gather(
    searcher: Searcher, request: SearchRequest, target: Target, clock: Clock | None = None
) -> Candidates:
    """The candidates of every corpus with all their signals; nothing is ranked yet.

    A question that asks for several things is searched whole and in parts. All that is found is
    measured against the whole question: scores of different questions are not comparable enough
    to merge (on the bundled questions, their maximum lost a tenth of recall at 5).
    """
    clock = clock or Clock()
    query = _read(searcher, request.question, request)
    scope = _scope(searcher, request, query)
    whole = _found(searcher, query, request, target, scope, clock)
    parts = [_part(searcher, text, request, target, scope, clock) for text in _parts(query, target)]
    if not parts:
        return whole
    rows = np.unique(np.concatenate([whole.table.rows, *(found.table.rows for found, _ in parts)]))
    table = _measure(searcher, query, request, whole.vector, rows)
    clock.lap("measure")
    return Candidates(query, whole.vector, whole.hits, table, tuple(part for _, part in parts))


def depth_of(request: SearchRequest, target: Target) -> int:
    """How many candidates each leg draws from each corpus."""
    if request.every_corpus:
        return target.large_retrieval_size_all_corpus
    return target.large_retrieval_size_single_corpus


def _parts(query: Query, target: Target) -> tuple[str, ...]:
    """The things a question asks for, if several; the rules are for English."""
    return sub_questions(query.text) if target.multi_hop and query.language == "en" else ()


def _part(
    searcher: Searcher,
    text: str,
    request: SearchRequest,
    target: Target,
    scope: Scope | None,
    clock: Clock,
) -> tuple[Candidates, Part]:
    with searcher.tracer.span("sub-question", "CHAIN") as span:
        span.input(text)
        query = _read(searcher, text, request)
        found = _found(searcher, query, request, target, scope, clock)
        best = rerank(found, target).rows[:BEST_OF_PART]
        span.output(searcher.store.passage_ids(best.tolist()))
        return found, Part(text, found.vector, best)


def _read(searcher: Searcher, question: str, request: SearchRequest) -> Query:
    """The question in every language of the chosen corpora, in English first if it is one of them.

    With other spellings of its words, if those are wanted.
    """
    languages = sorted(by_language(searcher.store, request), key=lambda code: (code != "en", code))
    first, *others = (_spelt(searcher, parse_query(question, code), request) for code in languages)
    return replace(first, readings={query.language: query for query in others}) if others else first


def _spelt(searcher: Searcher, query: Query, request: SearchRequest) -> Query:
    if not request.fuzzy:
        return query
    found = {term: searcher.spellings.of(term) for term in query.terms}
    return replace(query, spellings={term: others for term, others in found.items() if others})


def _found(
    searcher: Searcher,
    query: Query,
    request: SearchRequest,
    target: Target,
    scope: Scope | None,
    clock: Clock,
) -> Candidates:
    vector = _embed(searcher, query)
    clock.lap("embed")
    hits = retrieve(
        searcher.store,
        searcher.tracer,
        searcher.executor,
        query,
        vector,
        request.corpora,
        depth_of(request, target),
        scope,
    )
    clock.lap("retrieve")
    table = _measure(searcher, query, request, vector, pooled(hits))
    clock.lap("measure")
    return Candidates(query, vector, hits, table)


def _measure(
    searcher: Searcher,
    query: Query,
    request: SearchRequest,
    vector: NDArray[np.float32],
    rows: IntArray,
) -> SignalTable:
    store = searcher.store
    searched = corpus_numbers(store, request)
    owner = store.corpus_of(rows)
    return merged(
        [
            measure(
                query.in_language(language),
                vector,
                rows[np.isin(owner, numbers)],
                store.vectors,
                store.tokens,
                searched,
                searcher.mean_length,
            )
            for language, numbers in by_language(store, request).items()
        ]
    )


def corpus_numbers(store: Store, request: SearchRequest) -> list[int]:
    """The indices of the corpora that are searched."""
    return [number for numbers in by_language(store, request).values() for number in numbers]


def by_language(store: Store, request: SearchRequest) -> dict[str, list[int]]:
    """The indices of the corpora that are searched, by their language."""
    found: dict[str, list[int]] = {}
    for number, corpus in enumerate(store.corpora):
        if corpus.id in request.corpora:
            found.setdefault(corpus.language, []).append(number)
    return found


def _scope(searcher: Searcher, request: SearchRequest, query: Query) -> Scope | None:
    """The passages the request allows; None if it allows all and need not compare every one."""
    if not (request.filters or query.required or query.excluded or request.exact):
        return None
    store = searcher.store
    rows = []
    for language, numbers in by_language(store, request).items():
        read = query.in_language(language)
        found = store.scope(request.filters, read.required, read.excluded).rows
        rows.append(found[np.isin(store.corpus_of(found), numbers)])
    allowed = np.sort(np.concatenate(rows))
    return Scope(allowed, np.unique(store.tokens.document_of[allowed]))


def _embed(searcher: Searcher, query: Query) -> NDArray[np.float32]:
    with searcher.tracer.span("embed", "EMBEDDING") as span:
        info = searcher.embedder.info
        vector = searcher.embedder.embed_query(query.text)
        span.embedding(info.name, query.text)
        span.set(pooling=info.pooling, dimension=info.dimension)
        return vector
