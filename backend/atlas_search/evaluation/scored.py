"""A question with its figures, and what they come to over many questions."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from atlas_search.core.errors import AtlasError
from atlas_search.evaluation.comparison.slices import ALL, CATEGORY
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.metrics.catalogue import figures_of, metric_of
from atlas_search.evaluation.metrics.metric import Case, Tools
from atlas_search.evaluation.metrics.of_sets import set_figures
from atlas_search.evaluation.reply import Reply
from atlas_search.evaluation.statistics.figure import Figure as Figure
from atlas_search.evaluation.statistics.interval import mean_intervals

_log = logging.getLogger(__name__)

Source = Literal["judge", "heuristic", "fixed"]
"""`fixed` is what a judge's definitions say without asking: 0 where no answer was given."""

MetricsSource = Literal["judge", "mixed", "heuristic"]


@dataclass(frozen=True)
class Scored:
    """How one question went: `figures` by name, without those that say nothing of it.

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
    """Compare what came back with what is known. Raises what a metric raises."""
    return _scored(label, reply, figures_of(Case(label, reply, tools)))


def score_so_far(label: Label, reply: Reply, tools: Tools) -> Scored:
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
    return replace(_scored(label, reply, figures), lacking="; ".join(said))


def _scored(label: Label, reply: Reply, figures: Mapping[str, float]) -> Scored:
    estimates = [name for name in figures if metric_of(name).group == "overlap"]
    return Scored(label, reply, figures, dict.fromkeys(estimates, "heuristic"))


def summarise(scored: Iterable[Scored]) -> dict[str, Figure]:
    """The mean of every figure over the questions that have it, and what all tell together."""
    every = list(scored)
    values: dict[str, list[float]] = {}
    for one in every:
        for name, figure in one.figures.items():
            values.setdefault(name, []).append(figure)
    ends = mean_intervals(values)
    means = {
        name: Figure(sum(found) / len(found), *ends[name], len(found))
        for name, found in values.items()
    }
    return means | set_figures(every)


def metrics_source(scored: Iterable[Scored]) -> MetricsSource:
    """Who gave the figures that a judge or a heuristic can give; `heuristic` if there is none.

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
