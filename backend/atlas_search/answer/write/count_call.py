"""What is counted of a call of a language model."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from atlas_search.answer.request import Mode
from atlas_search.core.telemetry import names as gen_ai
from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.providers.chat import Usage


@contextmanager
def model_call(metrics: Metrics, provider: str, model: str, mode: Mode) -> Iterator[list[Usage]]:
    """Count a call of a language model; the block adds what it took to the list."""
    said = {
        gen_ai.OPERATION: "chat",
        gen_ai.PROVIDER: gen_ai.provider(provider),
        gen_ai.REQUEST_MODEL: model,
    }
    took: list[Usage] = []
    failed = {}
    begun = time.perf_counter()
    try:
        yield took
    except Exception as error:
        failed = {"error.type": type(error).__name__}
        raise
    finally:
        seconds = time.perf_counter() - begun
        metrics.record("gen_ai.client.operation.duration", {**said, **failed}, seconds)
        stage = {"operation": mode, "stage": "generate"}
        metrics.record("atlas.stage.duration", stage, seconds)
        for usage in took:
            _count_tokens(metrics, said, usage)


def _count_tokens(metrics: Metrics, said: dict[str, str], usage: Usage) -> None:
    for kind, tokens in (("input", usage.prompt_tokens), ("output", usage.completion_tokens)):
        if tokens:
            labels = {**said, "gen_ai.token.type": kind}
            metrics.record("gen_ai.client.token.usage", labels, tokens)
