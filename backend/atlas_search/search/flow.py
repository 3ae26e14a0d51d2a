"""Search, stage by stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.domain import LEGS, CheckedPassage
from atlas_search.core.targets import Target
from atlas_search.core.tracing import TracedDocument
from atlas_search.search.candidates import Candidates
from atlas_search.search.clock import Clock
from atlas_search.search.evidence import Confidence, Freshness, check, confidence, freshness
from atlas_search.search.find_candidates import by_language, corpus_numbers, depth_of, gather
from atlas_search.search.query import Query
from atlas_search.search.request import SearchRequest
from atlas_search.search.rerank import Ranking, rerank
from atlas_search.search.rerankers.fused import OWN_WEIGHTS, fused
from atlas_search.search.rerankers.second_stage import Limits, read_again
from atlas_search.search.searcher import Searcher
from atlas_search.search.select import select
from atlas_search.search.signals.occurrences import weigh
from atlas_search.search.unknown_names import unknown_names
from atlas_search.stores.store import Store
from atlas_search.stores.tokens import IntArray


@dataclass(frozen=True)
class CorpusCounts:
    """Passages of one corpus: all candidates, those of each leg for the whole question, and kept.

    The parts of a question that asks for several things add candidates of their own.
    """

    candidates: int
    dense: int
    lexical: int
    kept: int


@dataclass(frozen=True)
class SearchResult:
    """The kept passages, best first, with what is known about them.

    `vector` is the question's, of unit length; `term_weights` are the idf of its terms,
    `unknown_names` the words of names in it that no source mentions, `sub_questions` its parts
    that were searched too, each with its vector. Timings are in milliseconds by stage.
    """

    query: Query
    vector: NDArray[np.float32]
    passages: tuple[CheckedPassage, ...]
    per_corpus: Mapping[str, CorpusCounts]
    confidence: Confidence
    freshness: Freshness
    depth: int
    target: Target
    term_weights: Mapping[str, float]
    unknown_names: tuple[str, ...]
    sub_questions: Mapping[str, NDArray[np.float32]]
    warnings: tuple[str, ...]
    timings_ms: Mapping[str, float]


@dataclass(frozen=True)
class WholeResult(SearchResult):
    """With all `candidates` and their `ranking`, before the choice: most of the memory."""

    candidates: Candidates
    ranking: Ranking

    def kept_only(self) -> SearchResult:
        """The same without what was not kept."""
        return SearchResult(**{f.name: getattr(self, f.name) for f in fields(SearchResult)})


def search(searcher: Searcher, request: SearchRequest, target: Target) -> WholeResult:
    """Find, measure, rank and choose the passages that speak to the question."""
    with searcher.tracer.span("search", "CHAIN") as span:
        clock = Clock()
        candidates = gather(searcher, request, target, clock)
        ranking = _rank(searcher, candidates, request, target)
        clock.lap("rank")
        ranked = select(searcher, candidates, ranking, request, target)
        weights = _term_weights(searcher, candidates.query, request)
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
        if candidates.parts:
            span.text(sub_questions=" | ".join(part.question for part in candidates.parts))
        for warning in result.warnings:
            span.warn(warning)
        return result


def _result(
    searcher: Searcher,
    request: SearchRequest,
    target: Target,
    candidates: Candidates,
    ranking: Ranking,
    checked: Sequence[CheckedPassage],
    weights: Mapping[str, float],
    clock: Clock,
) -> WholeResult:
    depth = depth_of(request, target)
    return WholeResult(
        query=candidates.query,
        vector=candidates.vector,
        passages=tuple(checked),
        per_corpus=_counts(searcher, candidates, checked),
        confidence=confidence(
            checked, float(fused(candidates.table, OWN_WEIGHTS).max(initial=0.0))
        ),
        freshness=freshness(checked, request.freshness_days, request.today),
        depth=depth,
        target=target,
        candidates=candidates,
        ranking=ranking,
        term_weights=weights,
        unknown_names=unknown_names(
            candidates.query,
            list(by_language(searcher.store, request)),
            searcher.store.tokens.vocabulary,
            [item.passage for item in checked],
        ),
        sub_questions={part.question: part.vector for part in candidates.parts},
        warnings=(*filter(None, [ranking.note]), *_warnings(candidates, request, depth)),
        timings_ms=clock.laps,
    )


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


def _term_weights(searcher: Searcher, query: Query, request: SearchRequest) -> dict[str, float]:
    """The weights of the question's terms as read in each language of the chosen corpora."""
    store = searcher.store
    searched = corpus_numbers(store, request)
    weights: dict[str, float] = {}
    for language in by_language(store, request):
        read = query.in_language(language)
        found = weigh(read, store.tokens, searched).idf.tolist()
        weights |= dict(zip(read.terms, found, strict=True))
    return weights


def _counts(
    searcher: Searcher, candidates: Candidates, checked: Sequence[CheckedPassage]
) -> dict[str, CorpusCounts]:
    store = searcher.store
    found = np.bincount(store.corpus_of(candidates.table.rows), minlength=len(store.corpora))
    number = {corpus.id: index for index, corpus in enumerate(store.corpora)}
    return {
        corpus.corpus: CorpusCounts(
            candidates=int(found[number[corpus.corpus]]),
            **{leg: len(corpus.leg(leg).rows) for leg in LEGS},
            kept=sum(item.passage.corpus == corpus.corpus for item in checked),
        )
        for corpus in candidates.hits
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
