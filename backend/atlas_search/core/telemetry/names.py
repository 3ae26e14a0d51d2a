"""Requests of which nothing is traced, and sampling of the rest.

OpenTelemetry's names for generative models, which stand beside those of OpenInference.

The conventions are still in development and their Python constants are not public, so the names
are written out, as of SCHEMA. Of what OpenInference has a place for (messages, documents) nothing
is said twice: a span would hold every text two times.

Tokens are on model calls only. Phoenix reads `gen_ai.usage` of any span as tokens of that span and
adds up a trace, so on the root they would count twice.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, ParamSpec

from openinference.semconv.trace import SpanAttributes
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

SCHEMA = "https://opentelemetry.io/schemas/1.44.0"

CONVERSATION = "gen_ai.conversation.id"
DATA_SOURCE = "gen_ai.data_source.id"
DIMENSION = "gen_ai.embeddings.dimension.count"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
MAX_TOKENS = "gen_ai.request.max_tokens"
OPERATION = "gen_ai.operation.name"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
PROMPT = "gen_ai.prompt.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
STREAM = "gen_ai.request.stream"
TEMPERATURE = "gen_ai.request.temperature"
WORKFLOW = "gen_ai.workflow.name"

Operation = Literal["chat", "embeddings", "retrieval", "invoke_workflow", "extract"]
"""`extract` is our own: quotes are chosen, and no model is asked."""

_PROVIDERS: Mapping[str, str] = {"mistral": "mistral_ai"}


def provider(name: str) -> str:
    """A provider's name as the conventions have it; ours where they have none."""
    return _PROVIDERS.get(name, name)


@dataclass(frozen=True, slots=True)
class Ids:
    """The conversation, the answer, and whose key it was asked with; what is empty is not said."""

    session_id: str = ""
    qa_id: str = ""
    user_id: str = ""

    def attributes(self) -> dict[str, str]:
        """As attributes of a span."""
        said = {
            SpanAttributes.SESSION_ID: self.session_id,
            CONVERSATION: self.session_id,
            SpanAttributes.USER_ID: self.user_id,
            "qa_id": self.qa_id,
        }
        return {name: value for name, value in said.items() if value}


_NOBODY = Ids()
_present: ContextVar[Ids] = ContextVar("ids", default=_NOBODY)


def present_ids() -> Ids:
    """Those of what is being done; a thread has them if it got a copy of the context."""
    return _present.get()


@contextmanager
def identify(ids: Ids) -> Iterator[None]:
    """Say these ids on every span that opens inside the block."""
    before = _present.set(ids)
    try:
        yield
    finally:
        _present.reset(before)


_LABELS: ContextVar[Mapping[str, str]] = ContextVar("labels", default={})  # noqa: B039


@contextmanager
def label_traces(**labels: str) -> Iterator[None]:
    """Set these attributes on every root that the present thread opens while the block runs."""
    before = _LABELS.set({**_LABELS.get(), **labels})
    try:
        yield
    finally:
        _LABELS.reset(before)


def present_labels() -> Mapping[str, str]:
    """Those of the present thread."""
    return _LABELS.get()


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
