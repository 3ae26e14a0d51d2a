"""Why every candidate is where it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atlas_search.core.stop import Stop
from atlas_search.search.candidates import Candidates
from atlas_search.search.rerank import Ranking
from atlas_search.stores.store import Store


@dataclass(frozen=True)
class LegPlace:
    """Where a leg had a candidate among those of its corpus, from 1, and its own score."""

    rank: int
    score: float


@dataclass(frozen=True)
class Explained:
    """A candidate: who found it, its signals, and its place from 1 in the whole ranking."""

    passage_id: str
    corpus: str
    rank: int
    score: float
    legs: Mapping[str, LegPlace]
    signals: Mapping[str, float]


def explain_all(
    store: Store, candidates: Candidates, ranking: Ranking, stop: Stop
) -> list[Explained]:
    """All candidates, best first. Raises Cancelled."""
    legs: dict[int, dict[str, LegPlace]] = {int(row): {} for row in ranking.rows}
    for hits in candidates.hits:
        stop.check()
        for leg, found in hits.legs.items():
            for place, (row, score) in enumerate(zip(*found, strict=True), start=1):
                legs[int(row)][leg] = LegPlace(place, round(float(score), 6))
    rows = [int(row) for row in ranking.rows]
    names = [corpus.id for corpus in store.corpora]
    corpora: Sequence[int] = store.corpus_of(ranking.rows).tolist()
    return [
        Explained(
            passage_id=id_,
            corpus=names[corpora[place]],
            rank=place + 1,
            score=round(float(ranking.scores[place]), 6),
            legs=legs[rows[place]],
            signals=ranking.signals(place),
        )
        for place, id_ in enumerate(store.passage_ids(rows))
    ]
