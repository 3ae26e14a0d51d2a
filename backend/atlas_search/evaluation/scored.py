"""Questions with their figures, those of rankings among them, and means over them."""

import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from math import isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from atlas_search.atlas import Atlas
from atlas_search.core.domain import MARKER
from atlas_search.core.errors import AtlasError, RequestError
from atlas_search.core.registry import require
from atlas_search.evaluation import estimates, metrics
from atlas_search.evaluation.confidence import set_figures
from atlas_search.evaluation.labels import GoldSpan, Label
from atlas_search.evaluation.metrics import (
    Case,
    CharacterSpan,
    Measure,
    Reply,
    Tools,
    gold_places,
    held_places,
    metric_of,
    shared_size,
    size,
    union,
)
from atlas_search.evaluation.statistics import Figure, mean_figures
from atlas_search.stores.store import Store

_SAME = 1e-6  # cosines of one pair differ by so much from one way to compute them to another


def index_audit(
    atlas: Atlas, questions: Sequence[str], depth: int
) -> tuple[dict[str, Figure], tuple[str, ...]]:
    """The index itself against a comparison of every vector, over at least one question:
    `index_recall` and that of each corpus, and the corpora whose searches use the index.

    It is asked for the `depth` nearest passages of every corpus, also of those whose searches do
    without it: they compare every vector, and miss nothing. Raises RequestError without a question,
    and AtlasError where a question cannot be embedded or an index not be read.
    """
    if not questions:
        raise RequestError("An audit of the index needs a question.")
    store, embedder = atlas.services.store, atlas.services.searcher.embedder
    vectors = [embedder.embed_query(question) for question in questions]
    own = {
        f"index_recall.{corpus.id}": [_found(store, corpus.id, each, depth) for each in vectors]
        for corpus in store.corpora
    }
    together = [sum(shares) / len(shares) for shares in zip(*own.values(), strict=True)]
    recall = mean_figures({"index_recall": together} | own)
    asked = [corpus.id for corpus in store.corpora if not store.compares_all(corpus.id)]
    return recall, tuple(asked)


def _found(store: Store, corpus: str, vector: NDArray[np.float32], depth: int) -> float:
    """The share of the nearest passages of a corpus that its index finds."""
    nearest = store.nearest(corpus, vector, depth, store.scope({}))
    if not len(nearest.rows):
        return 1.0
    given = store.nearest(corpus, vector, depth, None, how="hnsw")
    near = given.scores >= nearest.scores[-1] - _SAME
    return float(near.sum() / len(nearest.rows))


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


_MEASURES: tuple[Measure, ...] = (
    measure_retrieval,
    measure_passages,
    measure_spans,
    metrics.measure_balance,
    metrics.measure_decisions,
    metrics.measure_answers,
    metrics.measure_meaning,
    metrics.measure_citations,
    metrics.measure_sources,
    estimates.measure_overlap,
    estimates.measure_tokens,
)

FAILED = "failed"
AGREEMENT = "judge_agreement"


def figures_of(case: Case, lacking: Callable[[Exception], object]) -> dict[str, float]:
    """Every figure that says something of a question, by name.

    Of a question that came to nothing only `failed`: an outage is not an empty result. What is no
    number (a model's vector may be none) says nothing. `lacking` hears why figures of one kind
    cannot be computed, and those of the other kinds are given.
    """
    if case.reply.error:
        return {FAILED: 1.0}
    found = {FAILED: 0.0}
    for measure in _MEASURES:
        try:
            found |= {name: value for name, value in measure(case).items() if isfinite(value)}
        except Exception as error:
            lacking(error)
    return found


ALL, CORPUS, CATEGORY, SPLIT = "all", "corpus", "category", "split"


def slices(
    labels: Iterable[Label], corpora: Collection[str], kinds: Sequence[str] = (CORPUS, CATEGORY)
) -> dict[str, list[str]]:
    """The ids of the labels in `all`, and in each `corpus.<id>`, `category.<name>` and
    `split.<name>` of the `kinds`, in their order and by name.

    A question may be in several of the `corpora`, and in none.
    """
    members: dict[str, list[str]] = {ALL: []}
    for label in labels:
        own = {
            CORPUS: _corpora_of(label, corpora),
            CATEGORY: filter(None, [label.category]),
            SPLIT: filter(None, [label.split]),
        }
        for name in (ALL, *(f"{kind}.{value}" for kind in kinds for value in own[kind])):
            members.setdefault(name, []).append(label.id)
    order = (ALL, *kinds)
    return dict(sorted(members.items(), key=lambda m: (order.index(m[0].split(".")[0]), m[0])))


def _corpora_of(label: Label, known: Collection[str]) -> list[str]:
    """The corpora of its gold documents; without one those that are asked, if not all are.

    Of `known` ones and those that are asked: gold documents that no collection has may be called as
    they like.
    """
    # an id of a document or passage begins with its corpus and a full stop
    gold = {id_.partition(".")[0] for id_ in (*label.relevance, *label.gold_passage_ids)}
    return sorted(gold & {*known, *label.corpus_filter} or label.corpus_filter)


_log = logging.getLogger(__name__)

Source = Literal["judge", "heuristic", "fixed"]
"""`fixed` is what a judge's definitions say without asking: 0 where no answer was given."""

MetricsSource = Literal["judge", "mixed", "heuristic"]


@dataclass(frozen=True)
class Scored:
    """Figures of one question by name, without those that say nothing of it.

    `sources` names who gave a figure that a judge or a heuristic can give. `lacking` says why
    figures are missing that it should have, such as an outage of the embedding model.
    """

    label: Label
    reply: Reply
    figures: Mapping[str, float]
    sources: Mapping[str, Source] = field(default_factory=dict)
    lacking: str = ""


Summary = Mapping[str, Figure]
"""Figures by name, without those that no question has."""


def score(label: Label, reply: Reply, tools: Tools) -> Scored:
    """The figures that can be computed now, and why others are `lacking`."""
    why: list[Exception] = []
    figures = figures_of(Case(label, reply, tools), why.append)
    for error in why:
        if not isinstance(error, AtlasError):
            _log.error("Figures of %s cannot be computed.", label.id, exc_info=error)
    said = dict.fromkeys(
        str(error) if isinstance(error, AtlasError) else f"{type(error).__name__}: {error}"
        for error in why
    )
    estimates = [name for name in figures if metric_of(name).group == "overlap"]
    sources: dict[str, Source] = dict.fromkeys(estimates, "heuristic")
    return Scored(label, reply, figures, sources, "; ".join(said))


def summarise(scored: Iterable[Scored]) -> dict[str, Figure]:
    """The mean of every figure over the questions that have it, and what all tell together."""
    every = list(scored)
    values: dict[str, list[float]] = {}
    for one in every:
        for name, figure in one.figures.items():
            values.setdefault(name, []).append(figure)
    return mean_figures(values) | set_figures(every)


def metrics_source(scored: Iterable[Scored]) -> MetricsSource:
    """Return who gave the figures that a judge or a heuristic can give; without one `heuristic`.

    What is fixed was given by neither.
    """
    sources = {source for one in scored for source in one.sources.values()} - {"fixed"}
    if len(sources) == 2:
        return "mixed"
    return "judge" if "judge" in sources else "heuristic"


def by_category(scored: Sequence[Scored]) -> dict[str, dict[str, Figure]]:
    """The summary of `all`, and of each `category.<name>` in order of appearance."""
    groups: dict[str, list[Scored]] = {}
    for one in scored:
        groups.setdefault(f"{CATEGORY}.{one.label.category}", []).append(one)
    return {ALL: summarise(scored)} | {name: summarise(own) for name, own in groups.items()}


TITLES = {
    "decided": "Decided rightly",
    "answered": "Answered",
    "rejected": "Rejected",
    "recall": "Recall",
    "mrr": "MRR",
    "exact_match": "Exact match",
    "f1": "F1",
    "contains": "Holds reference",
    "similarity": "Similarity",
    "right": "Right",
    "cites_gold": "Cites gold",
    "citation_precision": "Citation precision",
    "citation_recall": "Citation recall",
    "citation_valid": "Citations valid",
    "sentence_groundedness": "Sentences grounded",
    "grounded": "Answers grounded",
    "coverage_at_90": "Coverage at 90% precision",
    "precision_coverage": "Precision over coverage",
    "calibration_error": "Calibration error",
    "failed": "Failed",
    "index_recall": "Index recall",
}
"""The figures of a summary, in their order."""

LONGEST = 600
"""Characters of a text that are shown; the CSV has all."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def title_of(figure: str) -> str:
    """Return how a figure is called."""
    words = figure.replace("_", " ")
    return TITLES.get(figure) or f"{words[:1].upper()}{words[1:]}"


def number(value: float | None, places: int = 2) -> str:
    """A value, `-` for none."""
    if value is None or value != value:  # NaN
        return "-"
    return f"{value:.{places}f}"


def with_ends(value: float | None, ends: tuple[float, float] | None, places: int = 2) -> str:
    """A value and its interval."""
    if value is None or ends is None:
        return number(value, places)
    return f"{number(value, places)} [{number(ends[0], places)}, {number(ends[1], places)}]"


def with_interval(figure: Figure | None) -> str:
    """A figure, its interval, and over how many questions."""
    if figure is None:
        return "-"
    return f"{with_ends(figure.mean, (figure.low, figure.high))} n={figure.questions}"


def share(count: int, of: int) -> str:
    """So many of so many."""
    return f"{count} of {of} ({count / of:.0%})" if of else f"{count} of {of}"


def shortened(text: str, longest: int = LONGEST) -> str:
    """`text` without citation tokens and characters that are not shown, and not too long."""
    plain = visible(" ".join(MARKER.sub(" ", text).split()))
    more = len(plain) - longest
    return plain if more <= 0 else f"{plain[:longest]}… ({more:,} more characters)"


def visible(text: str) -> str:
    """`text` with a sign in place of control characters: XML has none, and a terminal obeys."""
    return _CONTROL.sub("\ufffd", text)


def ids(questions: Sequence[str], most: int = 8) -> str:
    """The first ids of questions or documents."""
    more = f" and {len(questions) - most:,} more" if len(questions) > most else ""
    return ", ".join(shortened(each, 80) for each in questions[:most]) + more
