"""Search, stage by stage."""

from collections.abc import Sequence

from atlas_search.core.domain import CheckedPassage, RankedPassage
from atlas_search.core.targets import Target
from atlas_search.core.tracing.span import Span, TracedDocument
from atlas_search.search.candidates import Candidates
from atlas_search.search.evidence import check
from atlas_search.search.find_candidates import find_candidates
from atlas_search.search.rerank import Ranking, rerank
from atlas_search.search.rerankers.second_stage import Limits, read_again
from atlas_search.search.result import WholeResult
from atlas_search.search.run import SearchRun
from atlas_search.search.select import select
from atlas_search.search.summary import summary


def search(run: SearchRun) -> WholeResult:
    """Find, measure, rank and choose the passages that speak to the question.

    Raises Cancelled soon after the run is stopped.
    """
    with run.tracer.span("search", "CHAIN") as span:
        candidates = find_candidates(run)
        ranking = _rank(run, candidates)
        ranked = select(run, candidates, ranking)
        checked = _check(run, ranked)
        result = summary(run, candidates, ranking, checked)
        _describe(span, run, result)
        return result


def _rank(run: SearchRun, candidates: Candidates) -> Ranking:
    run.stop.check()
    with run.tracer.span("rerank", "RERANKER") as span:
        ranking = rerank(candidates, run.target)
        if stage := run.searcher.stages.get((run.target.reranker, run.target.rerank_model)):
            limits = _limits(run.target)
            ranking = read_again(stage, run.query.text, ranking, run.texts, limits, run.stop)
            span.set(model=stage.name, read=len(ranking.relevance))
        run.clock.lap("rank")
        _describe_ranking(span, run, ranking)
        return ranking


def _limits(target: Target) -> Limits:
    return Limits(target.rerank_depth, target.rerank_characters, target.rerank_seconds)


def _check(run: SearchRun, ranked: Sequence[RankedPassage]) -> list[CheckedPassage]:
    run.stop.check()
    checked = check(run.query, ranked, run.term_weights, run.target)
    run.clock.lap("select")
    return checked


def _describe_ranking(span: Span, run: SearchRun, ranking: Ranking) -> None:
    span.set(candidates=len(ranking.rows))
    if not span.recorded:
        return
    kept = ranking.rows[: run.request.limit]
    ids, passages = run.store.passage_ids(kept.tolist()), run.passages(kept)
    traced = [TracedDocument(*each) for each in zip(ids, ranking.scores, passages, strict=False)]
    span.list_reranked(run.query.text, run.target.reranker, traced)


def _describe(span: Span, run: SearchRun, result: WholeResult) -> None:
    request = run.request
    span.input(request.question)
    span.output([{"id": item.passage.id, "score": item.ranked.score} for item in result.passages])
    span.set(
        search_type="hybrid",
        search_k=request.limit,
        large_retrieval_size=result.depth,
        pooling=run.searcher.embedder.info.pooling,
        corpus_filter=request.corpus_filter,
        documents_searched=result.scope.documents,
        passages_searched=result.scope.passages,
        **{f"candidates.{c}": counts.candidates for c, counts in result.per_corpus.items()},
        **{f"kept.{c}": counts.kept for c, counts in result.per_corpus.items()},
    )
    if result.sub_questions:
        span.text(sub_questions=" | ".join(result.sub_questions))
    for warning in result.warnings:
        span.warn(warning)
