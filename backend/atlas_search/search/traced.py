"""What the spans of a search say."""

from collections.abc import Mapping

from atlas_search.core.domain import Leg
from atlas_search.core.telemetry import names as gen_ai
from atlas_search.core.telemetry.span import Span, TracedDocument
from atlas_search.search.candidates import CorpusHits
from atlas_search.search.query import Query
from atlas_search.search.request import SearchRequest
from atlas_search.search.result import SearchResult, WholeResult
from atlas_search.search.run import SearchRun
from atlas_search.search.traced_ranking import find_legs, score_name
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.store import Hits, Store

TEXTS_OF_LEG = 3
"""All are read at once, when there is a ranking: read for each leg in each corpus, they were most
of what tracing cost a search."""

KIND_OF_SCORE: Mapping[Leg, str] = {"dense": "cosine", "lexical": "bm25", "sparse": "term weights"}


def describe_corpus(span: Span, run: SearchRun, query: Query, hits: CorpusHits) -> None:
    """How many candidates a corpus gave; which, say the spans of the legs."""
    if not span.recorded:
        return
    span.input(query.text)
    span.set(
        corpus=hits.corpus,
        search_type="hybrid",
        large_retrieval_size=run.depth,
        candidates=len(hits.rows),
        **{leg: len(found.rows) for leg, found in hits.legs.items()},
    )


def describe_leg(
    span: Span, run: SearchRun, query: Query, corpus: str, leg: Leg, hits: Hits
) -> None:
    """What one leg found in a corpus, best first, with its own scores."""
    if not span.recorded:
        return
    span.input(query.text)
    span.set(corpus=corpus, leg=leg, score_is=KIND_OF_SCORE[leg], candidates=len(hits.rows))
    if leg == "dense":
        all_compared = run.scope is not None or run.store.compares_all(corpus)
        span.set(compared="all" if all_compared else "index")
    span.set(
        **{
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


def describe_search(span: Span, run: SearchRun, result: WholeResult) -> None:
    """What was asked of a search, of which collection, and what came of it."""
    if not span.recorded:
        return
    request, target = run.request, run.target
    span.input(request.question)
    span.output([{"id": item.passage.id, "score": item.ranked.score} for item in result.passages])
    span.set(**{gen_ai.OPERATION: "retrieval", gen_ai.PROVIDER: "atlas"})
    span.set(
        search_type="hybrid",
        search_k=request.limit,
        large_retrieval_size=result.depth,
        pooling=run.searcher.embedder.info.pooling,
        corpus_filter=request.corpus_filter,
        documents_searched=result.scope.documents,
        passages_searched=result.scope.passages,
        reranker=target.reranker,
        balance=target.balance,
    )
    describe_collection(span, run.store.manifest)
    describe_index(span, run.store, request, result)
    describe_counts(span, result)
    if run.target_name:
        span.set(target=run.target_name)
    if result.sub_questions:
        span.text(sub_questions=" | ".join(result.sub_questions))
    for warning in result.warnings:
        span.warn(warning)
    _list_kept(span, run, result)


def describe_collection(span: Span, manifest: Manifest) -> None:
    """Which collection, and how its documents were cut.

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
    )


def describe_index(span: Span, store: Store, request: SearchRequest, result: SearchResult) -> None:
    """How the nearest passages were found: by the index, with its numbers, or without it."""
    scope, manifest = result.scope, store.manifest
    narrowed = bool(scope.filters or scope.required or scope.excluded or request.exact)
    asked = [c for c in result.per_corpus if not (narrowed or store.compares_all(c))]
    if not asked:
        span.set(index_kind="exact")
        return
    span.set(
        index_kind=manifest.index.algorithm if len(asked) == len(result.per_corpus) else "mixed",
        index_ef=max(map(manifest.ef_search, asked)),
        index_ef_construction=manifest.index.ef_construction,
    )


def describe_counts(
    span: Span, result: SearchResult, cited: Mapping[str, int] | None = None
) -> None:
    """Passages of each corpus at each stage, and how unevenly they are spread; `cited` only where
    there is an answer."""
    stages = {
        "candidates": {corpus: of.candidates for corpus, of in result.per_corpus.items()},
        "kept": {corpus: of.kept for corpus, of in result.per_corpus.items()},
    }
    if cited is not None:
        stages["cited"] = {corpus: cited.get(corpus, 0) for corpus in result.per_corpus}
    for stage, counts in stages.items():
        _count(span, stage, counts)
        span.set(**{f"imbalance.{stage}": imbalance(counts)})
    _describe_depth(span, result)


def _describe_depth(span: Span, result: SearchResult) -> None:
    """What each leg gave of each corpus, and what could be found: whether all were searched to the
    same depth, though some are smaller than that."""
    available = {corpus.id: corpus.passages for corpus in result.scope.corpora}
    dense = {corpus: of.dense for corpus, of in result.per_corpus.items()}
    _count(span, "available", available)
    _count(span, "dense", dense)
    _count(span, "lexical", {corpus: of.lexical for corpus, of in result.per_corpus.items()})
    if "sparse" in result.legs:
        _count(span, "sparse", {c: of.sparse or 0 for c, of in result.per_corpus.items()})
    span.set(**{"imbalance.depth": depth_imbalance(result.depth, available, dense)})


def _count(span: Span, what: str, counts: Mapping[str, int]) -> None:
    span.set(**{f"{what}.{corpus}": count for corpus, count in counts.items()})


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


def _list_kept(span: Span, run: SearchRun, result: WholeResult) -> None:
    """The kept passages, best first, with all their signals."""
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
