"""What language models took for an answer that came to no end."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from atlas_search.answer.run import AnswerRun
from atlas_search.core.tracing.span import Span
from atlas_search.providers.chat import Usage


@dataclass(frozen=True, slots=True)
class Estimate(Usage):
    """Tokens as Atlas counts them, for the provider did not say."""


@contextmanager
def tell_spent(span: Span, run: AnswerRun) -> Iterator[None]:
    """If the block fails or is stopped, let the root say what was spent until then.

    Under names of its own: Phoenix adds up the token counts of all spans.
    """
    try:
        yield
    except Exception:
        usage = sum(run.spent, Usage())
        span.set(
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            estimated=any(isinstance(each, Estimate) for each in run.spent),
        )
        cost = run.target.cost(usage.prompt_tokens, usage.completion_tokens)
        if cost is not None:
            span.set(cost=cost)
        raise
