"""What is told about a search beside its passages: counts, confidence, freshness, warnings."""

from collections.abc import Sequence

import numpy as np

from atlas_search.core.domain import LEGS, CheckedPassage
from atlas_search.search.candidates import Candidates
from atlas_search.search.evidence import confidence, freshness
from atlas_search.search.rerank import Ranking
from atlas_search.search.rerankers.fused import OWN_WEIGHTS, fuse
from atlas_search.search.result import CorpusCounts, WholeResult
from atlas_search.search.run import SearchRun
from atlas_search.search.unknown_names import unknown_names


def summary(
    run: SearchRun, candidates: Candidates, ranking: Ranking, checked: Sequence[CheckedPassage]
) -> WholeResult:
    """The result of a search."""
    support = float(fuse(candidates.table, OWN_WEIGHTS).max(initial=0.0))
    return WholeResult(
        query=run.query,
        vector=candidates.vector,
        passages=tuple(checked),
        per_corpus=_counts(run, candidates, checked),
        confidence=confidence(checked, support),
        freshness=freshness(checked, run.request.freshness_days, run.request.today),
        depth=run.depth,
        target=run.target,
        candidates=candidates,
        ranking=ranking,
        term_weights=run.term_weights,
        unknown_names=unknown_names(
            run.query,
            list(run.by_language),
            run.store.tokens.vocabulary,
            [item.passage for item in checked],
        ),
        sub_questions={part.question: part.vector for part in candidates.parts},
        warnings=(*filter(None, [ranking.note]), *_warnings(run, candidates)),
        timings_ms=run.clock.laps,
    )


def _counts(
    run: SearchRun, candidates: Candidates, checked: Sequence[CheckedPassage]
) -> dict[str, CorpusCounts]:
    corpora = run.store.corpora
    found = np.bincount(run.store.corpus_of(candidates.table.rows), minlength=len(corpora))
    number = {corpus.id: index for index, corpus in enumerate(corpora)}
    return {
        hits.corpus: CorpusCounts(
            candidates=int(found[number[hits.corpus]]),
            **{leg: len(hits.leg(leg).rows) for leg in LEGS},
            kept=sum(item.passage.corpus == hits.corpus for item in checked),
        )
        for hits in candidates.hits
    }


def _warnings(run: SearchRun, candidates: Candidates) -> tuple[str, ...]:
    narrowed = run.request.filters or run.query.required or run.query.excluded
    reason = "what was asked for leaves no more" if narrowed else "it holds no more"
    return tuple(
        f"{hits.corpus}: {len(hits.dense.rows)} of {run.depth} candidates asked for; {reason}."
        for hits in candidates.hits
        if len(hits.dense.rows) < run.depth
    )
