"""How far people agree about the answers of a run, scale by scale."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from atlas_search.core.errors import RequestError
from atlas_search.evaluation.people.ratings import Rating
from atlas_search.evaluation.people.scales import Scale
from atlas_search.evaluation.scored import Figure
from atlas_search.evaluation.statistics.agreement import (
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from atlas_search.evaluation.statistics.interval import mean_interval

COHEN, WEIGHTED, FLEISS, ALPHA = "cohen", "cohen_weighted", "fleiss", "krippendorff"

Table = Mapping[str, Mapping[str, int]]
"""By label, what each rater gave."""


@dataclass(frozen=True)
class Agreement:
    """Agreement on one scale.

    `items` have a rating, `shared` of them have several. `coefficients` are by name, those that
    cannot be computed in `missing` with the reason. `mean` is over the items' own means.
    """

    scale: Scale
    raters: tuple[str, ...]
    items: int
    shared: int
    ratings: int
    coefficients: Mapping[str, float]
    missing: Mapping[str, str]
    mean: Figure | None


def agreements(ratings: Sequence[Rating], scales: Sequence[Scale]) -> list[Agreement]:
    """The agreement on each scale, in their order."""
    return [_agreement(_table(ratings, scale.name), scale) for scale in scales]


def _table(ratings: Sequence[Rating], name: str) -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = {}
    for rating in sorted(ratings, key=lambda one: (one.label_id, one.rater)):
        if name in rating.scores:
            table.setdefault(rating.label_id, {})[rating.rater] = rating.scores[name]
    return table


def _agreement(table: Table, scale: Scale) -> Agreement:
    raters = tuple(sorted({rater for row in table.values() for rater in row}))
    coefficients, missing = _coefficients(table, raters, scale)
    return Agreement(
        scale=scale,
        raters=raters,
        items=len(table),
        shared=sum(len(row) > 1 for row in table.values()),
        ratings=sum(map(len, table.values())),
        coefficients=coefficients,
        missing=missing,
        mean=_mean(table),
    )


def _coefficients(
    table: Table, raters: Sequence[str], scale: Scale
) -> tuple[dict[str, float], dict[str, str]]:
    """Kappas are over the items that all have rated, alpha over those that two have."""
    whole = [[row[rater] for rater in raters] for row in table.values() if len(row) == len(raters)]

    def cohen(weights: bool) -> float:
        if len(raters) != 2:
            raise RequestError("Cohen's kappa is of two raters.")
        first, second = [row[0] for row in whole], [row[1] for row in whole]
        return cohen_kappa(
            first, second, weights="quadratic" if weights else "none", scale=list(scale.steps)
        )

    computed: Mapping[str, Callable[[], float]] = {
        COHEN: lambda: cohen(weights=False),
        WEIGHTED: lambda: cohen(weights=True),
        FLEISS: lambda: fleiss_kappa(whole),
        ALPHA: lambda: krippendorff_alpha(
            [list(row.values()) for row in table.values()], level="ordinal"
        ),
    }
    coefficients, missing = {}, {}
    for name, compute in computed.items():
        try:
            coefficients[name] = compute()
        except RequestError as error:
            missing[name] = str(error)
    return coefficients, missing


def _mean(table: Table) -> Figure | None:
    means = [sum(row.values()) / len(row) for row in table.values()]
    if not means:
        return None
    low, high = mean_interval(means)
    return Figure(sum(means) / len(means), low, high, len(means))
