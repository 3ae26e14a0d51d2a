"""From a ranking to the passages that are kept."""

from collections.abc import Sequence

import numpy as np

from atlas_search.core.domain import RankedPassage
from atlas_search.search.balance import Pool, choose, type_caps
from atlas_search.search.candidates import Candidates
from atlas_search.search.duplicates import groups
from atlas_search.search.mmr import mmr_order
from atlas_search.search.request import SearchRequest
from atlas_search.search.rerank import Ranking
from atlas_search.search.run import SearchRun
from atlas_search.stores.store import Store


def select(run: SearchRun, candidates: Candidates, ranking: Ranking) -> list[RankedPassage]:
    """The passages to keep, best first, each with the ids of others that say the same."""
    run.stop.check()
    with run.tracer.span("balance", "CHAIN") as span:
        store, request, target = run.store, run.request, run.target
        ranking = _required_first(run, _vary(run, ranking))
        best = ranking.rows[: _candidates_to_compare(request)]
        heads = groups(best, store.tokens, target.near_duplicate)
        pool = _pool(run, candidates, ranking, heads)
        caps = type_caps(candidates.query, target)
        chosen = choose(
            pool, len(request.corpora), request.limit, caps, target, request.max_per_document
        )
        passages = run.passages(ranking.rows[chosen])
        span.set(
            policy=target.balance,
            diversity=target.diversity,
            search_k=request.limit,
            max_per_document=request.max_per_document or 0,
            kept=len(chosen),
        )
        span.output([passage.id for passage in passages])
        return [
            RankedPassage(
                passage,
                round(float(ranking.scores[position]), 6),
                ranking.signals(position),
                _duplicates(store, ranking, heads, position),
            )
            for passage, position in zip(passages, chosen, strict=True)
        ]


def _vary(run: SearchRun, ranking: Ranking) -> Ranking:
    """The ranking, its best candidates in the order that the target's diversity wants."""
    request, target = run.request, run.target
    if target.diversity == "none":
        return ranking
    best = ranking.rows[: _candidates_to_compare(request)]
    merit = ranking.scores[: len(best)]
    if ranking.relevance:
        merit = np.array([ranking.relevance.get(int(p), 0.0) for p in ranking.order[: len(best)]])
    places = mmr_order(merit, run.store.vectors(best), target.mmr_share, request.limit)
    return ranking.in_order(np.concatenate([places, np.arange(len(best), len(ranking.order))]))


def _required_first(run: SearchRun, ranking: Ranking) -> Ranking:
    """The ranking; if too few hold what is required, they first and then what others are found."""
    if not run.too_few:
        return ranking
    return ranking.in_order(np.argsort(~np.isin(ranking.rows, run.required), kind="stable"))


def _pool(run: SearchRun, candidates: Candidates, ranking: Ranking, heads: Sequence[int]) -> Pool:
    store = run.store
    rows = ranking.rows
    place = np.empty(len(rows), dtype=np.int64)
    place[ranking.order] = np.arange(len(rows))
    return Pool(
        # of another order than by score, each counts as the least before it
        scores=np.minimum.accumulate(ranking.scores),
        corpora=store.corpus_of(rows).tolist(),
        documents=store.tokens.document_of[rows],
        groups=[*heads, *range(len(heads), len(rows))],
        types=store.content_types(rows) if run.target.content_type_caps else [""] * len(rows),
        parts=[
            place[np.searchsorted(candidates.table.rows, part.rows)].tolist()
            for part in candidates.parts
        ],
        ahead=int(np.isin(rows, run.required).sum()) if run.too_few else 0,
    )


def _candidates_to_compare(request: SearchRequest) -> int:
    """How many of the best candidates are compared with each other."""
    return max(50, 5 * request.limit)


def _duplicates(store: Store, ranking: Ranking, heads: Sequence[int], kept: int) -> tuple[str, ...]:
    """Ids of the candidates whose text is nearly that of the one `kept`."""
    if kept >= len(heads):
        return ()
    same = [at for at, head in enumerate(heads) if head == heads[kept] and at != kept]
    return tuple(store.passage_ids(ranking.rows[same].tolist())) if same else ()
