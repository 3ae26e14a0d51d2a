"""Metrics of what was found: documents, places and characters, by rank."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from atlas_search.core.registry import require
from atlas_search.evaluation.labels import GoldSpan, Label
from atlas_search.evaluation.metrics import (
    Case,
    CharacterSpan,
    gold_places,
    held_places,
    shared_size,
    size,
    union,
)


@dataclass(frozen=True)
class GradedRanking:
    """Grades of the items of a ranking, best first, 0 for what is not relevant.

    `missed` are the grades of what is relevant and not in it, ascending.
    """

    gains: tuple[int, ...]
    missed: tuple[int, ...] = ()

    @property
    def relevant(self) -> int:
        """Count the relevant items, in the ranking or not."""
        return sum(gain > 0 for gain in self.gains) + len(self.missed)


def rank(found: Sequence[str], gold: Mapping[str, int]) -> GradedRanking:
    """The ranking of items by id, each once, whose relevant ones have a grade in `gold`."""
    missed = sorted(grade for id_, grade in gold.items() if id_ not in set(found))
    return GradedRanking(tuple(gold.get(id_, 0) for id_ in found), tuple(missed))


def figures(ranking: GradedRanking, depths: Sequence[int], limit: int) -> dict[str, float]:
    """Return the figures of `trec_eval` down to `limit`, which is how deep was asked."""
    asked = tuple(depth for depth in depths if depth <= limit)
    found = dict(trec_eval(ranking, asked))
    if ranking.relevant > limit:
        del found["rprec"]
    return found


@lru_cache(maxsize=1 << 14)
def trec_eval(ranking: GradedRanking, depths: tuple[int, ...]) -> Mapping[str, float]:
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
    ranking: GradedRanking,
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """The judgements and the run of one question.

    Scores fall by 1 from rank to rank: trec_eval orders by score, and ties in its own way.
    """
    length = len(ranking.gains)
    judged = {f"r{place}": gain for place, gain in enumerate(ranking.gains) if gain}
    judged |= {f"m{place}": grade for place, grade in enumerate(ranking.missed)}
    ranked = {f"r{place}": float(length - place) for place in range(length)}
    return {"q": judged}, {"q": ranked}


def measure_passages(case: Case) -> dict[str, float]:
    """Return the figures of ranked passages.

    A passage is relevant if it is named, or shares with a gold span at least half of the shorter
    one. Which passages hold a place that none of the kept ones does is not known: it counts as one
    relevant passage. Recall counts places, so that two passages of one place are no better than
    one. The gain of nDCG is the highest grade of the places held.
    """
    gold = gold_places(case.label)
    if not (case.label.answerable and gold):
        return {}
    held = [held_places(passage, case.label) for passage in case.reply.passages]
    missed = gold.difference(*held)
    grade = partial(_grade, case.label)
    ranking = GradedRanking(
        tuple(max(map(grade, places), default=0) for places in held),
        tuple(sorted(map(grade, missed))),
    )
    found = figures(ranking, case.tools.depths, case.limit)
    recalls = {
        f"recall@{depth}": len(frozenset[str | GoldSpan]().union(*held[:depth])) / len(gold)
        for depth in case.tools.depths
        if depth <= case.limit
    }
    return {f"passage_{name}": value for name, value in (found | recalls).items()}


def _grade(label: Label, place: str | GoldSpan) -> int:
    """Return the grade of a passage named by its id; a span has that of its document."""
    return label.grades.get(place.document_id if isinstance(place, GoldSpan) else place, 1)


def measure_retrieval(case: Case) -> dict[str, float]:
    """Return the figures of ranked documents. A document is ranked at its first passage."""
    gold = case.label.relevance
    if not (case.label.answerable and gold):
        return {}
    found = case.reply.documents
    ranked = figures(rank(found, gold), case.tools.depths, case.limit)
    return {"recall": recall(found, gold), "mrr": reciprocal_rank(found, gold)} | ranked


def recall(found: Collection[str], gold: Collection[str]) -> float:
    """Share of the gold documents that were found. Requires gold documents."""
    return len(set(found) & set(gold)) / len(set(gold))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / rank of the first gold document, 0 if none was found."""
    for rank_, document in enumerate(ranked, start=1):
        if document in gold:
            return 1 / rank_
    return 0.0


def measure_spans(case: Case) -> dict[str, float]:
    """Return the figures of the group `spans`, of the kept passages and of the quotes."""
    gold, answer = case.label.gold_spans, case.reply.answer
    if not (case.label.answerable and gold):
        return {}
    of_passages = overlap(case.reply.passages, gold)
    cited = overlap(answer.citations, gold) if answer and case.reply.answered else {}
    return {f"span_{name}": value for name, value in of_passages.items()} | {
        f"cited_span_{name}": value for name, value in cited.items()
    }


def overlap(found: Sequence[CharacterSpan], gold: Sequence[CharacterSpan]) -> dict[str, float]:
    """`recall`, `precision` and `iou` of characters; 0 where nothing was found."""
    ours, theirs = union(found), union(gold)
    both, many, wanted = shared_size(ours, theirs), size(ours), size(theirs)
    return {
        "recall": both / wanted if wanted else 0.0,
        "precision": both / many if many else 0.0,
        "iou": both / (many + wanted - both) if many + wanted else 0.0,
    }
