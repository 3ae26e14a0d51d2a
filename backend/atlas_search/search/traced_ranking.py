"""What the span of a reranker says: the candidates before and after, with both scores."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from atlas_search.core.domain import LEGS, Leg, Passage
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.span import FULL_TEXTS, LateDocuments, Span, TracedDocument
from atlas_search.search.candidates import Candidates
from atlas_search.search.rerank import SCORERS, Ranking
from atlas_search.search.run import SearchRun
from atlas_search.stores.arrays import IntArray

SHOWN = 50  # candidates of a ranking without a second stage


class _Score(NamedTuple):
    kind: str
    value: float


class _Reordered(NamedTuple):
    """Candidates in their order before, and the scores that ordered them before and after.

    All by position in the table of signals; what was kept is among what was given.
    """

    given: list[int]
    before: Mapping[int, _Score]
    after: Mapping[int, _Score]


class _Found(NamedTuple):
    """A candidate: its id, and the leg that found it."""

    id: str
    leg: str


def describe_ranking(
    span: Span, run: SearchRun, candidates: Candidates, first: Ranking, ranking: Ranking
) -> None:
    """The best candidates as the reranker was given them, and as it left them with their texts.

    `first` is the ranking before a second stage, `ranking` itself without one.
    """
    target, limit = run.target, run.request.limit
    stage = run.searcher.stages.get((target.reranker, target.rerank_model))
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
    found = _find(run, candidates, ranking, reordered.given)
    texts = _read(run, ranking.rows[: min(limit, FULL_TEXTS)]) if span.content else []
    before, after = reordered.before, reordered.after
    # now: the table of all candidates is not to wait with the span
    signals = [ranking.signals(place) for place in range(len(kept))]

    def given() -> Iterable[TracedDocument]:
        return (_before(found[at], before[at]) for at in reordered.given)

    def ranked() -> Iterable[TracedDocument]:
        for at, own, text in zip_longest(kept, signals, texts):
            yield _after(found[at], before[at], after[at], own, text)

    span.list_reranked(
        run.query.text,
        stage.name if stage else target.reranker,
        LateDocuments(len(reordered.given), given),
        LateDocuments(len(kept), ranked, texts),
    )


def _read(run: SearchRun, best: IntArray) -> list[Passage]:
    """The best passages; with them are read those that other spans show."""
    besides = np.array(list(run.shown), dtype=best.dtype)
    run.passages(np.unique(np.concatenate([best, besides])))
    run.shown.update(zip(run.shown, run.passages(besides), strict=True))
    return run.passages(best)


def score_name(target: Target) -> str:
    """What the score of a kept passage is: its reranker's, and `fused` where a model reads again,
    for that orders passages and leaves them their scores."""
    return target.reranker if target.reranker in SCORERS else "fused"


def find_legs(candidates: Candidates, rows: Sequence[int]) -> list[str]:
    """Which legs found each candidate for the whole question, joined by `+`, or `both` of two, else
    `part`, for one of its parts."""
    found: dict[Leg, set[int]] = {}
    for hits in candidates.hits:
        for leg, own in hits.legs.items():
            found.setdefault(leg, set()).update(own.rows.tolist())
    by = ([leg for leg, own in found.items() if row in own] for row in rows)
    return ["both" if legs == [*LEGS] else "+".join(legs) or "part" for legs in by]


def _score_once(ranking: Ranking, target: Target, depth: int) -> _Reordered:
    """The best `depth`, which were in the order of their similarity."""
    best, similarity = ranking.order[:depth], ranking.table.signals["semantic"]
    given = best[np.lexsort((best, -similarity[best]))].tolist()
    name = score_name(target)
    scores = zip(best.tolist(), ranking.scores.tolist(), strict=False)
    return _Reordered(
        given,
        {at: _Score("semantic", float(similarity[at])) for at in given},
        {at: _Score(name, score) for at, score in scores},
    )


def _read_again(first: Ranking, ranking: Ranking, target: Target, depth: int) -> _Reordered:
    """The best `depth` of the first stage, as many as the second was to read."""
    given = first.order[:depth].tolist()
    name = score_name(target)
    before = {at: _Score(name, s) for at, s in zip(given, first.scores.tolist(), strict=False)}
    read = {at: _Score("relevance", value) for at, value in ranking.relevance.items()}
    return _Reordered(given, before, before | read)


def _find(
    run: SearchRun, candidates: Candidates, ranking: Ranking, given: Sequence[int]
) -> dict[int, _Found]:
    """What there is to say of the candidates that were given."""
    rows = ranking.table.rows[given].tolist()
    ids, legs = run.store.passage_ids(rows), find_legs(candidates, rows)
    return dict(zip(given, map(_Found, ids, legs), strict=True))


def _before(found: _Found, score: _Score) -> TracedDocument:
    facts = {"leg": found.leg, "score_is": score.kind}
    return TracedDocument(found.id, score.value, facts=facts)


def _after(
    found: _Found,
    first: _Score,
    second: _Score,
    signals: Mapping[str, float],
    passage: Passage | None,
) -> TracedDocument:
    facts = {
        "leg": found.leg,
        "score_is": second.kind,
        "first_score": round(first.value, 6),
        "first_score_is": first.kind,
        "signals": signals,
    }
    return TracedDocument(found.id, second.value, passage, facts)
