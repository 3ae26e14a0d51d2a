"""Requests of which nothing is traced, and sampling of the rest."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec

from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import (
    Decision,
    ParentBased,
    Sampler,
    SamplingResult,
    TraceIdRatioBased,
)
from opentelemetry.trace import Link, SpanKind, TraceState
from opentelemetry.util.types import Attributes

Given = ParamSpec("Given")

_silent: ContextVar[bool] = ContextVar("silent", default=False)


def silent() -> bool:
    """Whether what is done here must leave no trace."""
    return _silent.get()


def set_silent(*, wanted: bool) -> None:
    """Say so for the present thread, until it is said otherwise."""
    _silent.set(wanted)


@contextmanager
def silence(*, wanted: bool = True) -> Iterator[None]:
    """Trace nothing in the block, if `wanted`."""
    token = _silent.set(wanted)
    try:
        yield
    finally:
        _silent.reset(token)


def keep_silence(work: Callable[Given, None]) -> Callable[Given, None]:
    """The same work for another thread, which is as silent as this one is now."""
    wanted = silent()

    def carried(*args: Given.args, **kwargs: Given.kwargs) -> None:
        with silence(wanted=wanted):
            work(*args, **kwargs)

    return carried


class TraceSampler(Sampler):
    """Records this share (0 to 1) of traces, each whole or not at all, and none of the silent."""

    def __init__(self, share: float):
        self._by_trace = ParentBased(TraceIdRatioBased(share))

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """See Sampler."""
        if silent():
            return SamplingResult(Decision.DROP)
        return self._by_trace.should_sample(
            parent_context, trace_id, name, kind, attributes, links, trace_state
        )

    def get_description(self) -> str:
        """See Sampler."""
        return "the share of traces that is wanted, without the silent"
