"""What a run took: time by stage, tokens and money."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from atlas_search.evaluation.reply import Reply
from atlas_search.evaluation.run import EvalRun
from atlas_search.evaluation.statistics.interval import FloatArray, interval

_PERCENTILES = (50, 95)

Ends = tuple[float, float]
"""Between what a value lies in 95 of 100 samples like it."""


@dataclass(frozen=True)
class Spread:
    """The median and the 95th percentile of `count` values with their intervals, and their mean."""

    p50: float
    p95: float
    mean: float
    count: int
    p50_interval: Ends
    p95_interval: Ends


@dataclass(frozen=True)
class Operations:
    """What the questions of a run took; what nothing is known of is None.

    Intervals are by the bootstrap over the questions, as those of figures.

    `seconds` are those the asker waited, `stages_ms` the milliseconds of each stage as whoever
    answered measured them, in the order in which they come. `tokens_per_second` are those written
    in a second of a question that a language model wrote for, searching included. `cost_per_100`
    is in the currency of the target's prices. Of kept answers (`cache_hits`, a share) only the
    `seconds` count. `retried` questions were asked more than once, `fallbacks` were not answered
    by the target's language model.
    """

    questions: int
    failed: int
    retried: int
    fallbacks: int
    cache_hits: float
    seconds: Spread | None
    stages_ms: dict[str, Spread]
    prompt_tokens: int
    completion_tokens: int
    tokens_per_second: float | None
    cost_per_100: float | None
    tokens_per_second_interval: Ends | None = None
    cost_per_100_interval: Ends | None = None


def operations(run: EvalRun) -> Operations:
    """What the questions of a run took. Those that failed count as `failed` alone."""
    replies = [one.reply for one in run.scored]
    came = [reply for reply in replies if not reply.error]
    kept = [reply for reply in came if reply.answer and reply.answer.cache_hit]
    fresh = [reply for reply in came if not (reply.answer and reply.answer.cache_hit)]
    answers = [reply.answer for reply in fresh if reply.answer]
    tokens, costs = _tokens_and_seconds(fresh), _costs(fresh)
    return Operations(
        questions=len(replies),
        failed=len(replies) - len(came),
        retried=sum(reply.tries > 1 for reply in replies),
        fallbacks=sum(answer.fallback is not None for answer in answers),
        cache_hits=len(kept) / len(came) if came else 0.0,
        seconds=_spread([reply.seconds for reply in came]),
        stages_ms=_stages(fresh),
        prompt_tokens=sum(answer.usage.prompt_tokens for answer in answers),
        completion_tokens=sum(answer.usage.completion_tokens for answer in answers),
        tokens_per_second=_ratio(tokens),
        cost_per_100=_ratio(costs),
        tokens_per_second_interval=_ratio_interval(tokens),
        cost_per_100_interval=_ratio_interval(costs),
    )


def _stages(replies: Sequence[Reply]) -> dict[str, Spread]:
    values: dict[str, list[float]] = {}
    for reply in replies:
        for stage, milliseconds in reply.timings_ms.items():
            values.setdefault(stage, []).append(milliseconds)
    return {stage: spread for stage, found in values.items() if (spread := _spread(found))}


def _tokens_and_seconds(replies: Iterable[Reply]) -> list[tuple[float, float]]:
    """Of each question that a language model wrote for."""
    return [
        (reply.answer.usage.completion_tokens, reply.seconds)
        for reply in replies
        if reply.answer and reply.answer.usage.completion_tokens
    ]


def _costs(replies: Iterable[Reply]) -> list[tuple[float, float]]:
    """100 times the cost of each question, and 1; empty unless a cost is known.

    Who needed no model cost nothing.
    """
    costs = [reply.answer.usage.cost for reply in replies if reply.answer]
    known = any(cost is not None for cost in costs)
    return [(100 * (cost or 0.0), 1.0) for cost in costs] if known else []


def _ratio(pairs: Sequence[tuple[float, float]]) -> float | None:
    """The sum of the first ones / that of the second ones."""
    below = sum(second for _, second in pairs)
    return sum(first for first, _ in pairs) / below if below else None


def _ratio_interval(pairs: Sequence[tuple[float, float]]) -> Ends | None:
    if _ratio(pairs) is None:
        return None
    above, below = np.array(pairs, dtype=float).T
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = interval(lambda drawn: (drawn @ above) / (drawn @ below), len(pairs))
    return float(low), float(high)


def _spread(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    p50, p95 = np.percentile(values, _PERCENTILES)
    (low50, low95), (high50, high95) = interval(_percentiles(values), len(values)).tolist()
    mean = sum(values) / len(values)
    return Spread(float(p50), float(p95), mean, len(values), (low50, high50), (low95, high95))


def _percentiles(values: Sequence[float]) -> Callable[[FloatArray], FloatArray]:
    """The percentiles of samples, given how often each value was drawn, as NumPy has them."""
    ordered, order, count = np.sort(values), np.argsort(values, kind="stable"), len(values)

    def percentiles(drawn: FloatArray) -> FloatArray:
        reached = np.cumsum(drawn[:, order], axis=1)
        found = []
        for percent in _PERCENTILES:
            place, part = divmod(percent / 100 * (count - 1), 1)
            below = ordered[(reached <= place).sum(axis=1)]
            above = ordered[(reached <= min(place + 1, count - 1)).sum(axis=1)]
            found.append(below + part * (above - below))
        return np.stack(found, axis=1)

    return percentiles
