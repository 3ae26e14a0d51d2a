"""The listener of a search: what its stages have found, as attributes of spans and as counts."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from atlas_search.core.domain import LEGS, Leg, Passage, RankedPassage
from atlas_search.core.targets import Target
from atlas_search.core.telemetry import names as gen_ai
from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.core.telemetry.span import (
    FULL_TEXTS,
    LateDocuments,
    Span,
    TracedDocument,
    describe_embedding,
)
from atlas_search.core.telemetry.tracer import Listener
from atlas_search.search.candidates import Candidates, Legs, rows_of
from atlas_search.search.query import Query
from atlas_search.search.ranking import SCORERS, Ranking
from atlas_search.search.request import SearchPlan
from atlas_search.search.result import SearchResult, WholeResult
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.store import LegHits, Store
from atlas_search.stores.vectors import FloatArray

if TYPE_CHECKING:
    from atlas_search.search.run import SearchRun

Operation = Literal["search", "answer", "compare"]


@contextmanager
def failed_searches(metrics: Metrics, target: str) -> Iterator[None]:
    """Count a search that comes to an error, by its kind."""
    try:
        yield
    except Exception as error:
        metrics.count("atlas.searches", {"target": target, "outcome": type(error).__name__})
        raise


def count_search(metrics: Metrics, result: SearchResult, collection: str) -> None:
    """Count a search that somebody asked for by itself."""
    outcome = "found" if result.passages else "nothing"
    metrics.count("atlas.searches", {"target": result.target_name, "outcome": outcome})
    count_stages(metrics, "search", result.timings_ms)
    count_corpora(metrics, result, collection)


def count_stages(metrics: Metrics, operation: Operation, timings_ms: Mapping[str, float]) -> None:
    """Record what the stages took."""
    for stage, milliseconds in timings_ms.items():
        labels = {"operation": operation, "stage": stage}
        metrics.record("atlas.stage.duration", labels, milliseconds / 1000)


def count_corpora(metrics: Metrics, result: SearchResult, collection: str) -> None:
    """Record how many passages each corpus gave."""
    for corpus, counts in result.per_corpus.items():
        labels = {"collection": collection, "corpus": corpus}
        metrics.record("atlas.corpus.candidates", labels, counts.candidates)
        metrics.record("atlas.corpus.kept", labels, counts.kept)


SHOWN = 50  # candidates of a ranking without a second stage


class _Score(NamedTuple):
    kind: str
    value: float


class _Reordered(NamedTuple):
    """Candidates in their order before, and the scores that ordered them before and after.

    All by position in the table of signals; the kept ones are among the given ones.
    """

    given: list[int]
    before: Mapping[int, _Score]
    after: Mapping[int, _Score]


def _describe_ranking(
    run: "SearchRun", span: Span, ranking: Ranking, first: Ranking, candidates: Candidates
) -> None:
    """List the best candidates before and after the reranker, the latter with their texts.

    `first` is the ranking before a second stage, `ranking` itself without one.
    """
    target, limit, stage = run.target, run.request.limit, run.second_stage
    span.set(candidates=len(ranking.rows))
    if stage:
        span.set(model=stage.name, read=len(ranking.relevance))
    if not span.recorded:
        return
    if stage:
        reordered = _read_again(first, ranking, target, max(target.rerank_depth, limit))
    else:
        reordered = _score_once(ranking, target, max(SHOWN, limit))
    kept = ranking.order[:limit].tolist()
    rows = ranking.table.rows[reordered.given].tolist()
    ids = dict(zip(reordered.given, run.store.passage_ids(rows), strict=True))
    legs = dict(zip(reordered.given, find_legs(candidates, rows), strict=True))
    texts = _read(run, ranking.rows[: min(limit, FULL_TEXTS)]) if span.content else []
    before, after = reordered.before, reordered.after
    # now: the table of all candidates is not to wait with the span
    signals = [ranking.signals(place) for place in range(len(kept))]

    def given() -> Iterable[TracedDocument]:
        for at in reordered.given:
            facts = {"leg": legs[at], "score_is": before[at].kind}
            yield TracedDocument(ids[at], before[at].value, facts=facts)

    def ranked() -> Iterable[TracedDocument]:
        for at, own, text in zip_longest(kept, signals, texts):
            facts = {
                "leg": legs[at],
                "score_is": after[at].kind,
                "first_score": round(before[at].value, 6),
                "first_score_is": before[at].kind,
                "signals": own,
            }
            yield TracedDocument(ids[at], after[at].value, text, facts)

    span.list_reranked(
        run.query.text,
        stage.name if stage else target.reranker,
        LateDocuments(len(reordered.given), given, tuple),
        LateDocuments(len(kept), ranked, lambda: texts),
    )


def _read(run: "SearchRun", best: IntArray) -> list[Passage]:
    """Read the best passages, and with them those that other spans show."""
    besides = np.array(list(run.shown), dtype=best.dtype)
    run.passages(np.unique(np.concatenate([best, besides])))
    run.shown.update(zip(run.shown, run.passages(besides), strict=True))
    return run.passages(best)


def score_name(target: Target) -> str:
    """Name the score of a kept passage: its reranker's, and `fused` where a model reads again, for
    that orders passages and leaves them their scores."""
    return target.reranker if target.reranker in SCORERS else "fused"


def find_legs(candidates: Candidates, rows: Sequence[int]) -> list[str]:
    """Name the legs that found each candidate for the whole question, joined by `+`, or `both` of
    two, else `part`, for one of its parts."""
    by_leg: dict[Leg, set[int]] = {}
    for legs in candidates.hits.values():
        for leg, hits in legs.items():
            by_leg.setdefault(leg, set()).update(hits.rows.tolist())
    by_row = ([leg for leg, own in by_leg.items() if row in own] for row in rows)
    return ["both" if own == [*LEGS] else "+".join(own) or "part" for own in by_row]


def _score_once(ranking: Ranking, target: Target, depth: int) -> _Reordered:
    """Return the best `depth`, which were in the order of their similarity."""
    best, similarity = ranking.order[:depth], ranking.table.signals["semantic"]
    order = best[np.lexsort((best, -similarity[best]))].tolist()
    name = score_name(target)
    scores = zip(best.tolist(), ranking.scores.tolist(), strict=False)
    return _Reordered(
        order,
        {at: _Score("semantic", float(similarity[at])) for at in order},
        {at: _Score(name, score) for at, score in scores},
    )


def _read_again(first: Ranking, ranking: Ranking, target: Target, depth: int) -> _Reordered:
    """Return the best `depth` of the first stage, as many as the second was to read."""
    order = first.order[:depth].tolist()
    name = score_name(target)
    before = {at: _Score(name, s) for at, s in zip(order, first.scores.tolist(), strict=False)}
    relevance = {at: _Score("relevance", value) for at, value in ranking.relevance.items()}
    return _Reordered(order, before, before | relevance)


TEXTS_OF_LEG = 3
"""All are read at once, when there is a ranking: read for each leg in each corpus, they were most
of what tracing cost a search."""

KIND_OF_SCORE: Mapping[Leg, str] = {"dense": "cosine", "lexical": "bm25", "sparse": "term weights"}


def _describe_corpus(run: "SearchRun", span: Span, legs: Legs, corpus: str, query: Query) -> None:
    """Set how many candidates a corpus gave; which, say the spans of the legs."""
    if not span.recorded:
        return
    span.input(query.text)
    span.set(
        corpus=corpus,
        search_type=run.target.search_type,
        large_retrieval_size=run.depth,
        candidates=len(rows_of(legs)),
        **{leg: len(hits.rows) for leg, hits in legs.items()},
    )


def _describe_leg(
    run: "SearchRun", span: Span, hits: LegHits, query: Query, corpus: str, leg: Leg
) -> None:
    """List the hits of one leg in a corpus, best first, with its own scores."""
    if not span.recorded:
        return
    span.input(query.text)
    span.set(corpus=corpus, leg=leg, score_is=KIND_OF_SCORE[leg], candidates=len(hits.rows))
    if leg == "dense":
        all_compared = run.scope is not None or run.store.compares_all(
            corpus, run.target.vector_search
        )
        span.set(compared="all" if all_compared else "index")
    span.set(
        {
            gen_ai.OPERATION: "retrieval",
            gen_ai.PROVIDER: "atlas",
            gen_ai.DATA_SOURCE: f"{run.store.manifest.collection}/{corpus}",
        }
    )
    rows = hits.rows.tolist()
    first = rows[:TEXTS_OF_LEG] if span.content else []
    shown = run.shown
    shown.update(dict.fromkeys(first))
    ids = run.store.passage_ids(rows)
    span.list_hits(ids, hits.scores, lambda: map(shown.get, first))


def _describe_part(run: "SearchRun", span: Span, best: IntArray) -> None:
    if span.content:
        span.output(run.store.passage_ids(best.tolist()))


def _describe_vector(run: "SearchRun", span: Span, _: FloatArray, query: Query) -> None:
    info = run.searcher.embedder.info
    describe_embedding(span, info.provider, info.name, info.dimension, query.text)
    span.set(pooling=info.pooling, dimension=info.dimension)


def _begin_weighing(span: Span, model: str, question: str) -> None:
    describe_embedding(span, "sparse", model, 0, question)


def _describe_choice(run: "SearchRun", span: Span, kept: Sequence[RankedPassage]) -> None:
    request, target = run.request, run.target
    span.set(
        policy=target.balance,
        diversity=target.diversity,
        search_k=request.limit,
        max_per_document=request.max_per_document or 0,
        kept=len(kept),
    )
    span.output([item.passage.id for item in kept])


def _describe_search(run: "SearchRun", span: Span, result: WholeResult) -> None:
    """Set what was asked of a search, of which collection, and what came of it."""
    if not span.recorded:
        return
    request, target = run.request, run.target
    span.input(request.question)
    span.output([{"id": item.passage.id, "score": item.ranked.score} for item in result.passages])
    span.set({gen_ai.OPERATION: "retrieval", gen_ai.PROVIDER: "atlas"})
    span.set(
        search_k=request.limit,
        large_retrieval_size=result.depth,
        corpus_filter=request.corpus_filter,
        documents_searched=result.scope.documents,
        passages_searched=result.scope.passages,
        reranker=target.reranker,
        balance=target.balance,
    )
    describe_collection(span, run.store.manifest)
    describe_index(span, run.store, request, target, result)
    describe_counts(span, result)
    if run.target_name:
        span.call("search", run.target_name, request.corpora_in_words)
        span.set(target=run.target_name)
    if result.sub_questions:
        span.text(sub_questions=" | ".join(result.sub_questions))
    for warning in result.warnings:
        span.warn(warning)
    _list_kept(span, run, result)


def describe_collection(span: Span, manifest: Manifest) -> None:
    """Set the collection, and how its documents were cut.

    One of several kinds of source has several sizes: they are joined by commas.
    """
    origins = manifest.origins.values()
    span.set(
        collection=manifest.collection,
        collection_version=manifest.version,
        chunk_size=",".join(dict.fromkeys(str(origin.size) for origin in origins)),
        chunk_overlap=",".join(dict.fromkeys(str(origin.overlap) for origin in origins)),
        chunk_unit=",".join(dict.fromkeys(origin.unit for origin in origins)),
        embedding_model=manifest.embedding.name,
        pooling=manifest.embedding.pooling,
    )


def describe_index(
    span: Span, store: Store, request: SearchPlan, target: Target, result: SearchResult
) -> None:
    """Set who found candidates, and how the nearest were found: by the index, or without it."""
    scope, manifest, how = result.scope, store.manifest, target.vector_search
    span.set(search_type=target.search_type, search_engine=manifest.index.engine)
    narrowed = bool(scope.filters or scope.required or scope.excluded or request.exact)
    indexed = [c for c in result.per_corpus if not (narrowed or store.compares_all(c, how))]
    if not indexed:
        span.set(index_kind="exact")
        return
    span.set(
        index_kind=manifest.index.algorithm if len(indexed) == len(result.per_corpus) else "mixed",
        index_ef=max(map(manifest.ef_search, indexed)),
        index_ef_construction=manifest.index.ef_construction,
    )


def describe_counts(
    span: Span, result: SearchResult, cited: Mapping[str, int] | None = None
) -> None:
    """Set the passages of each corpus at each stage, and how unevenly they are spread; `cited` only
    where there is an answer."""
    stages = {
        "candidates": {corpus: of.candidates for corpus, of in result.per_corpus.items()},
        "kept": {corpus: of.kept for corpus, of in result.per_corpus.items()},
    }
    if cited is not None:
        stages["cited"] = {corpus: cited.get(corpus, 0) for corpus in result.per_corpus}
    for stage, counts in stages.items():
        _count(span, stage, counts)
        if stage != "candidates":  # of a small corpus there are few: see `imbalance.depth`
            span.set({f"imbalance.{stage}": imbalance(counts)})
    _describe_depth(span, result)


def _describe_depth(span: Span, result: SearchResult) -> None:
    """Set what each leg gave of each corpus, and what could be found: whether all were searched to
    the same depth, though some are smaller than that."""
    available = {corpus.id: corpus.passages for corpus in result.scope.corpora}
    dense = {corpus: of.dense for corpus, of in result.per_corpus.items()}
    _count(span, "available", available)
    _count(span, "dense", dense)
    _count(span, "lexical", {corpus: of.lexical for corpus, of in result.per_corpus.items()})
    if "sparse" in result.legs:
        _count(span, "sparse", {c: of.sparse or 0 for c, of in result.per_corpus.items()})
    if "dense" in result.legs:
        span.set({"imbalance.depth": depth_imbalance(result.depth, available, dense)})


MOST_CORPORA = 5
"""Corpora with attributes of their own; of more, one text of JSON tells all."""


def _count(span: Span, what: str, counts: Mapping[str, int]) -> None:
    if len(counts) > MOST_CORPORA:
        span.set({what: json.dumps(counts)})
        return
    span.set({f"{what}.{corpus}": count for corpus, count in counts.items()})


def imbalance(counts: Mapping[str, int]) -> float:
    """0 where every corpus gave as many, 1 where one gave none: 1 - least / most."""
    most = max(counts.values(), default=0)
    return round(1 - min(counts.values()) / most, 4) if most else 0.0


def depth_imbalance(depth: int, available: Mapping[str, int], dense: Mapping[str, int]) -> float:
    """0 where every corpus gave `depth` passages by meaning, or all that could be found of it; else
    the greatest share of that which one lacks, at most 1."""
    due = {corpus: min(depth, count) for corpus, count in available.items()}
    shares = [dense.get(corpus, 0) / count for corpus, count in due.items() if count]
    return round(1 - min(shares, default=1.0), 4)


def _list_kept(span: Span, run: "SearchRun", result: WholeResult) -> None:
    """List the kept passages, best first, with all their signals."""
    passages = [item.passage for item in result.passages]
    legs = find_legs(result.candidates, [passage.row for passage in passages])
    kind = score_name(run.target)
    span.list_retrieved(
        [
            TracedDocument(
                item.passage.id,
                item.ranked.score,
                item.passage,
                {"leg": leg, "score_is": kind, "valid": item.valid, "signals": item.ranked.signals},
            )
            for item, leg in zip(result.passages, legs, strict=True)
        ]
    )


STAGES: Mapping[str, Listener] = {
    "search": Listener("CHAIN", _describe_search),
    "sub-question": Listener("CHAIN", _describe_part),
    "embed": Listener("EMBEDDING", _describe_vector),
    "weigh terms": Listener("EMBEDDING", lambda *_: None, begin=_begin_weighing),
    "retrieve": Listener("CHAIN", _describe_corpus),
    **{leg: Listener("RETRIEVER", _describe_leg) for leg in KIND_OF_SCORE},
    "rerank": Listener("RERANKER", _describe_ranking),
    "balance": Listener("CHAIN", _describe_choice),
}
"""The stages of a search that have a span, by name."""
