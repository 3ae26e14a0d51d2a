"""What a run took: time by stage, tokens and money."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from atlas_search.evaluation.reply import Reply
from atlas_search.evaluation.run import EvalRun


@dataclass(frozen=True)
class Spread:
    """The median and the 95th percentile of `count` values, and their mean."""

    p50: float
    p95: float
    mean: float
    count: int


@dataclass(frozen=True)
class Operations:
    """What the questions of a run took; what nothing is known of is None.

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


def operations(run: EvalRun) -> Operations:
    """What the questions of a run took. Those that failed count as `failed` alone."""
    replies = [one.reply for one in run.scored]
    came = [reply for reply in replies if not reply.error]
    kept = [reply for reply in came if reply.answer and reply.answer.cache_hit]
    fresh = [reply for reply in came if not (reply.answer and reply.answer.cache_hit)]
    answers = [reply.answer for reply in fresh if reply.answer]
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
        tokens_per_second=_tokens_per_second(fresh),
        cost_per_100=_cost_per_100(fresh),
    )


def _stages(replies: Sequence[Reply]) -> dict[str, Spread]:
    values: dict[str, list[float]] = {}
    for reply in replies:
        for stage, milliseconds in reply.timings_ms.items():
            values.setdefault(stage, []).append(milliseconds)
    return {stage: spread for stage, found in values.items() if (spread := _spread(found))}


def _tokens_per_second(replies: Iterable[Reply]) -> float | None:
    written = [
        (reply.answer.usage.completion_tokens, reply.seconds)
        for reply in replies
        if reply.answer and reply.answer.usage.completion_tokens
    ]
    seconds = sum(seconds for _, seconds in written)
    return sum(tokens for tokens, _ in written) / seconds if seconds else None


def _cost_per_100(replies: Sequence[Reply]) -> float | None:
    """100 times the mean; None unless a cost is known. Who needed no model cost nothing."""
    costs = [reply.answer.usage.cost for reply in replies if reply.answer]
    if not any(cost is not None for cost in costs):
        return None
    return 100 * sum(cost or 0.0 for cost in costs) / len(costs)


def _spread(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    p50, p95 = np.percentile(values, [50, 95])
    return Spread(float(p50), float(p95), sum(values) / len(values), len(values))
