"""Search, stage by stage."""

from collections.abc import Sequence
from dataclasses import replace

from atlas_search.core.domain import CheckedPassage, RankedPassage
from atlas_search.search.candidates import Candidates
from atlas_search.search.evidence import check
from atlas_search.search.find import find_candidates
from atlas_search.search.ranking import Ranking, rerank
from atlas_search.search.rerankers import read_again
from atlas_search.search.result import WholeResult
from atlas_search.search.run import SearchRun
from atlas_search.search.select import select
from atlas_search.search.summary import summary


def search(run: SearchRun) -> WholeResult:
    """Find, measure, rank and choose the passages that speak to the question.

    Raises Cancelled soon after the run is stopped.
    """
    with run.tracer.hold(), run.stage("search") as stage:
        candidates = find_candidates(run)
        ranking = _rank(run, candidates)
        ranked = select(run, candidates, ranking)
        checked = _check(run, ranked)
        result = stage.done(summary(run, candidates, ranking, checked))
        return replace(result, trace_id=stage.trace_id)


def _rank(run: SearchRun, candidates: Candidates) -> Ranking:
    run.stop.check()
    with run.stage("rerank") as stage:
        first = ranking = rerank(candidates, run.target)
        if model := run.second_stage:
            ranking = read_again(model, run.query.text, first, run.texts, run.target, run.stop)
        run.clock.lap("rank")
        return stage.done(ranking, first, candidates)


def _check(run: SearchRun, ranked: Sequence[RankedPassage]) -> list[CheckedPassage]:
    run.stop.check()
    checked = check(run.query, ranked, run.store.tokens, run.term_weights, run.target)
    run.clock.lap("select")
    return checked
