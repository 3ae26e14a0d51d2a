"""Search, stage by stage."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from backend.domain import LEGS, CheckedPassage, Passage, RankedPassage
from backend.embedding import Embedder
from backend.search.balance import Pool, choose, type_caps
from backend.search.candidates import Candidates
from backend.search.clock import Clock
from backend.search.duplicates import groups
from backend.search.evidence import Confidence, Freshness, check, confidence, freshness
from backend.search.mmr import mmr_order
from backend.search.query import Query, parse_query
from backend.search.request import SearchRequest
from backend.search.rerank import Ranking, rerank
from backend.search.rerankers.fused import fused
from backend.search.rerankers.opened import Stages
from backend.search.rerankers.second import Limits, read_again
from backend.search.retrieve import CorpusHits, pooled, retrieve
from backend.search.signals.measure import measure
from backend.search.signals.occurrences import weigh
from backend.stores.store import Scope, Store
from backend.stores.tokens import IntArray
from backend.targets import Target
from backend.text import Word, names, words
from backend.tracing import TracedDocument, Tracer


@dataclass(frozen=True)
class Searcher:
    """What every search needs; opened once. `mean_length` is that of the store's passages."""

    store: Store
    embedder: Embedder
    executor: Executor
    tracer: Tracer
    mean_length: float
    stages: Stages


@dataclass(frozen=True)
class CorpusCounts:
    """Passages of one corpus: found by either leg, by each leg, and kept."""

    candidates: int
    dense: int
    lexical: int
    kept: int


@dataclass(frozen=True)
class SearchResult:
    """The kept passages, best first, with what is known about them.

    `candidates` and their `ranking` are all that was found, before the choice.
    `term_weights` are the idf of the question's terms, `unknown_names` the words of names in the
    question that no source mentions. Timings are in milliseconds by stage.
    """

    query: Query
    passages: tuple[CheckedPassage, ...]
    per_corpus: Mapping[str, CorpusCounts]
    confidence: Confidence
    freshness: Freshness
    depth: int
    target: Target
    candidates: Candidates
    ranking: Ranking
    term_weights: Mapping[str, float]
    unknown_names: tuple[str, ...]
    warnings: tuple[str, ...]
    timings_ms: Mapping[str, float]


def search(searcher: Searcher, request: SearchRequest, target: Target) -> SearchResult:
    """Find, measure, rank and choose the passages that speak to the question."""
    with searcher.tracer.span("search", "CHAIN") as span:
        clock = Clock()
        candidates = gather(searcher, request, target, clock)
        ranking = _rank(searcher, candidates, request, target)
        clock.lap("rank")
        ranked = _balance(searcher, candidates.query, ranking, request, target)
        weights = _term_weights(searcher, candidates.query)
        checked = check(candidates.query, ranked, weights, target)
        clock.lap("select")
        result = _result(searcher, request, target, candidates, ranking, checked, weights, clock)
        span.input(request.question)
        span.output([{"id": item.passage.id, "score": item.ranked.score} for item in checked])
        span.set(
            search_type="hybrid",
            search_k=request.limit,
            large_retrieval_size=result.depth,
            pooling=searcher.embedder.info.pooling,
            corpus_filter="all" if request.every_corpus else ",".join(request.corpora),
            **{f"candidates.{c}": counts.candidates for c, counts in result.per_corpus.items()},
            **{f"kept.{c}": counts.kept for c, counts in result.per_corpus.items()},
        )
        for warning in result.warnings:
            span.warn(warning)
        return result


def gather(
    searcher: Searcher, request: SearchRequest, target: Target, clock: Clock | None = None
) -> Candidates:
    """The candidates of every corpus with all their signals; nothing is ranked yet."""
    clock = clock or Clock()
    store = searcher.store
    query = parse_query(request.question)
    vector = _embed(searcher, query)
    clock.lap("embed")
    hits = retrieve(
        store,
        searcher.tracer,
        searcher.executor,
        query,
        vector,
        request.corpora,
        _depth(request, target),
        _scope(searcher, request, query),
    )
    clock.lap("retrieve")
    table = measure(query, vector, pooled(hits), store.vectors, store.tokens, searcher.mean_length)
    clock.lap("measure")
    return Candidates(query, vector, hits, table)


def _scope(searcher: Searcher, request: SearchRequest, query: Query) -> Scope | None:
    """The passages the request allows; None if it allows all and need not compare every one."""
    if not (request.filters or query.required or query.excluded or request.exact):
        return None
    return searcher.store.scope(request.filters, query.required, query.excluded)


def _result(
    searcher: Searcher,
    request: SearchRequest,
    target: Target,
    candidates: Candidates,
    ranking: Ranking,
    checked: Sequence[CheckedPassage],
    weights: Mapping[str, float],
    clock: Clock,
) -> SearchResult:
    depth = _depth(request, target)
    return SearchResult(
        query=candidates.query,
        passages=tuple(checked),
        per_corpus=_counts(candidates.hits, checked),
        confidence=confidence(checked, float(fused(candidates.table).max(initial=0.0))),
        freshness=freshness(checked, request.freshness_days, request.today),
        depth=depth,
        target=target,
        candidates=candidates,
        ranking=ranking,
        term_weights=weights,
        unknown_names=_unknown_names(searcher, request.question, checked),
        warnings=(*filter(None, [ranking.note]), *_warnings(candidates, request, depth)),
        timings_ms=clock.laps,
    )


def _embed(searcher: Searcher, query: Query) -> NDArray[np.float32]:
    with searcher.tracer.span("embed", "EMBEDDING") as span:
        info = searcher.embedder.info
        vector = searcher.embedder.embed_query(query.text)
        span.embedding(info.name, query.text)
        span.set(pooling=info.pooling, dimension=info.dimension)
        return vector


def _rank(
    searcher: Searcher, candidates: Candidates, request: SearchRequest, target: Target
) -> Ranking:
    with searcher.tracer.span("rerank", "RERANKER") as span:
        ranking = rerank(candidates, target)
        stage = searcher.stages.get((target.reranker, target.rerank_model))
        if stage:
            limits = Limits(target.rerank_depth, target.rerank_characters, target.rerank_seconds)
            texts_of = partial(_texts, searcher.store)
            ranking = read_again(stage, candidates.query.text, ranking, texts_of, limits)
            span.set(model=stage.name, read=len(ranking.relevance))
        span.set(candidates=len(ranking.rows))
        if span.recorded:
            kept = [int(row) for row in ranking.rows[: request.limit]]
            store = searcher.store
            traced = zip(
                store.passage_ids(kept), ranking.scores, store.passages(kept), strict=False
            )
            span.reranked(
                candidates.query.text,
                target.reranker,
                [TracedDocument(i, s, p) for i, s, p in traced],
            )
        return ranking


def _texts(store: Store, rows: IntArray) -> list[str]:
    return [passage.text for passage in store.passages([int(row) for row in rows])]


def _balance(
    searcher: Searcher,
    query: Query,
    ranking: Ranking,
    request: SearchRequest,
    target: Target,
) -> list[RankedPassage]:
    with searcher.tracer.span("balance", "CHAIN") as span:
        store = searcher.store
        ranking = _varied(store, ranking, request, target)
        pool = _pool(store, ranking, request, target)
        chosen = choose(pool, len(request.corpora), request.limit, type_caps(query, target), target)
        passages = store.passages([int(row) for row in ranking.rows[chosen]])
        span.set(
            policy=target.balance,
            diversity=target.diversity,
            search_k=request.limit,
            max_passages_per_document=target.max_passages_per_document,
            kept=len(chosen),
        )
        span.output([passage.id for passage in passages])
        return [
            RankedPassage(
                passage,
                round(float(ranking.scores[position]), 6),
                ranking.signals(position),
                _duplicates(store, ranking, pool, position),
            )
            for passage, position in zip(passages, chosen, strict=True)
        ]


def _varied(store: Store, ranking: Ranking, request: SearchRequest, target: Target) -> Ranking:
    """The ranking, its best candidates in the order that the target's diversity wants."""
    if target.diversity == "none":
        return ranking
    best = ranking.rows[: _considered(request)]
    merit = ranking.scores[: len(best)]
    if ranking.relevance:
        merit = np.array([ranking.relevance.get(int(p), 0.0) for p in ranking.order[: len(best)]])
    places = mmr_order(merit, store.vectors(best), target.mmr_share, request.limit)
    return ranking.in_order(np.concatenate([places, np.arange(len(best), len(ranking.order))]))


def _pool(store: Store, ranking: Ranking, request: SearchRequest, target: Target) -> Pool:
    rows = ranking.rows
    best = rows[: _considered(request)]
    return Pool(
        corpora=store.corpus_of(rows).tolist(),
        documents=store.tokens.document_of[rows].tolist(),
        groups=[
            *groups(best, store.tokens, target.near_duplicate),
            *range(len(best), len(rows)),
        ],
        types=store.content_types(rows) if target.content_type_caps else [""] * len(rows),
        parts=[0] * len(rows),
    )


def _considered(request: SearchRequest) -> int:
    """How many of the best candidates are compared with each other."""
    return max(100, 5 * request.limit)


def _duplicates(store: Store, ranking: Ranking, pool: Pool, position: int) -> tuple[str, ...]:
    same = [
        int(ranking.rows[other])
        for other, group in enumerate(pool.groups)
        if group == pool.groups[position] and other != position
    ]
    return tuple(store.passage_ids(same))


def _depth(request: SearchRequest, target: Target) -> int:
    if request.every_corpus:
        return target.large_retrieval_size_all_corpus
    return target.large_retrieval_size_single_corpus


def _term_weights(searcher: Searcher, query: Query) -> dict[str, float]:
    weights = weigh(query, searcher.store.tokens).idf
    return {term: float(weight) for term, weight in zip(query.terms, weights, strict=True)}


def _unknown_names(
    searcher: Searcher, question: str, checked: Sequence[CheckedPassage]
) -> tuple[str, ...]:
    """Words of names that occur in no source, and names of cases that no kept passage holds.

    Of a case both parties must stand in one passage or its title: each alone is often known.
    """
    vocabulary = searcher.store.tokens.vocabulary
    unknown = []
    for name in names(question):
        missing = [word for word in name if word.term not in vocabulary]
        unknown += [question[word.start : word.end] for word in missing]
        case = any(word.folded in {"v", "vs"} for word in name)
        if case and not missing and not any(_holds(item.passage, name) for item in checked):
            unknown.append(question[name[0].start : name[-1].end])
    return tuple(unknown)


def _holds(passage: Passage, name: Sequence[Word]) -> bool:
    present = {word.term for word in words(f"{passage.title} {passage.text}")}
    return all(word.term in present for word in name if word.folded not in {"v", "vs"})


def _counts(
    hits: Sequence[CorpusHits], checked: Sequence[CheckedPassage]
) -> dict[str, CorpusCounts]:
    return {
        corpus.corpus: CorpusCounts(
            candidates=len(corpus.rows),
            **{leg: len(corpus.leg(leg).rows) for leg in LEGS},
            kept=sum(item.passage.corpus == corpus.corpus for item in checked),
        )
        for corpus in hits
    }


def _warnings(candidates: Candidates, request: SearchRequest, depth: int) -> tuple[str, ...]:
    query = candidates.query
    narrowed = request.filters or query.required or query.excluded
    reason = "what was asked for leaves no more" if narrowed else "it holds no more"
    return tuple(
        f"{corpus.corpus}: {len(corpus.dense.rows)} of {depth} candidates asked for; {reason}."
        for corpus in candidates.hits
        if len(corpus.dense.rows) < depth
    )
