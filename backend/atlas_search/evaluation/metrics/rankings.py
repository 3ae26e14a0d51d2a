"""Figures of a ranking as trec_eval defines them, through `ir-measures`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from atlas_search.core.registry import require


@dataclass(frozen=True)
class Ranking:
    """How relevant each item of a ranking is, best first, 0 if it is not.

    `missed` are the grades of what is relevant and not in it, ascending.
    """

    gains: tuple[int, ...]
    missed: tuple[int, ...] = ()

    @property
    def relevant(self) -> int:
        """How many items are relevant, in the ranking or not."""
        return sum(gain > 0 for gain in self.gains) + len(self.missed)


def rank(found: Sequence[str], gold: Mapping[str, int]) -> Ranking:
    """The ranking of items by id, each once, whose relevant ones have a grade in `gold`."""
    missed = sorted(grade for id_, grade in gold.items() if id_ not in set(found))
    return Ranking(tuple(gold.get(id_, 0) for id_ in found), tuple(missed))


def figures(ranking: Ranking, depths: Sequence[int], limit: int) -> dict[str, float]:
    """Those of `trec_eval` down to `limit`, which is how deep was asked."""
    asked = tuple(depth for depth in depths if depth <= limit)
    found = dict(trec_eval(ranking, asked))
    if ranking.relevant > limit:
        del found["rprec"]
    return found


@lru_cache(maxsize=1 << 14)
def trec_eval(ranking: Ranking, depths: tuple[int, ...]) -> Mapping[str, float]:
    """`recall@k`, `precision@k`, `mrr@k`, `ndcg@k`, `map@k` and `success@k` by depth; `rprec`.

    A ranking that ends before a depth holds nothing relevant below: its precision is that of k
    items. The gain of nDCG is the grade, its discount log2(rank + 1). Raises MissingLibrary.

    An evaluator takes milliseconds to make, and most rankings of a run are alike (one relevant item
    at the first rank), so they are known by their grades and not by their ids.
    """
    require("eval", "Scoring a ranking")
    from ir_measures import AP, RR, P, R, Rprec, Success, iter_calc, nDCG

    kinds = {"recall": R, "precision": P, "mrr": RR, "ndcg": nDCG, "map": AP, "success": Success}
    names = {kind @ depth: f"{name}@{depth}" for name, kind in kinds.items() for depth in depths}
    names[Rprec] = "rprec"
    judged, ranked = _as_ids(ranking)
    values = {names[one.measure]: one.value for one in iter_calc(list(names), judged, ranked)}
    return {name: float(values[name]) for name in names.values()}


def _as_ids(
    ranking: Ranking,
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """The judgements and the run of one question.

    Scores fall by 1 from rank to rank: trec_eval orders by score, and ties in its own way.
    """
    length = len(ranking.gains)
    judged = {f"r{place}": gain for place, gain in enumerate(ranking.gains) if gain}
    judged |= {f"m{place}": grade for place, grade in enumerate(ranking.missed)}
    ranked = {f"r{place}": float(length - place) for place in range(length)}
    return {"q": judged}, {"q": ranked}
