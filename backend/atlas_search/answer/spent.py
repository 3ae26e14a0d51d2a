"""What language models took for an answer that came to no end."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from atlas_search.answer.run import AnswerRun
from atlas_search.core.telemetry.span import Span
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
        spent = run.writer()
        span.set(
            prompt_tokens=spent.usage.prompt_tokens,
            completion_tokens=spent.usage.completion_tokens,
            estimated=any(isinstance(each, Estimate) for each in run.spent),
        )
        if spent.cost is not None:
            span.set(cost=spent.cost)
        raise
