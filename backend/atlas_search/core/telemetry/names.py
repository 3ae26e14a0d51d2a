"""Names of attributes, what every span of a request says, and which requests leave no trace.

OpenTelemetry's names for generative models stand beside those of OpenInference.

The conventions are still in development and their Python constants are not public, so the names
are written out, as of SCHEMA. Of what OpenInference has a place for (messages, documents) nothing
is said twice: a span would hold every text two times.

Tokens are on model calls only. Phoenix reads `gen_ai.usage` of any span as tokens of that span and
adds up a trace, so on the root they would count twice.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from openinference.semconv.trace import SpanAttributes
from opentelemetry.sdk.trace.sampling import (
    Decision,
    ParentBased,
    SamplingResult,
    TraceIdRatioBased,
)

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

_PROVIDERS: Mapping[str, str] = {"mistral": "mistral_ai"}


def provider(name: str) -> str:
    """Return a provider's name as the conventions have it; ours where they have none."""
    return _PROVIDERS.get(name, name)


@dataclass(frozen=True, slots=True)
class Ids:
    """The conversation, the answer, and the owner of the key; an empty one is in no span."""

    session_id: str = ""
    qa_id: str = ""
    user_id: str = ""

    def attributes(self) -> dict[str, str]:
        """Return the ids as attributes of a span."""
        ids = {
            SpanAttributes.SESSION_ID: self.session_id,
            CONVERSATION: self.session_id,
            SpanAttributes.USER_ID: self.user_id,
            "qa_id": self.qa_id,
        }
        return {name: value for name, value in ids.items() if value}


_NOBODY = Ids()
IDS: ContextVar[Ids] = ContextVar("ids", default=_NOBODY)
"""The ids of what is being done; a thread has them if it got a copy of the context."""
LABELS: ContextVar[Mapping[str, str]] = ContextVar("labels", default={})  # noqa: B039
"""Attributes of every root that the present thread opens."""
_SILENT: ContextVar[bool] = ContextVar("silent", default=False)

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")


def identify(ids: Ids) -> AbstractContextManager[None]:
    """Set these ids on every span that opens inside the block."""
    return _within(IDS, ids)


def label_traces(**labels: str) -> AbstractContextManager[None]:
    """Set these attributes on every root that the present thread opens while the block runs."""
    return _within(LABELS, {**LABELS.get(), **labels})


def silence(*, wanted: bool = True) -> AbstractContextManager[None]:
    """Trace nothing in the block, if `wanted`."""
    return _within(_SILENT, wanted)


@contextmanager
def _within(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def silent() -> bool:
    """Return whether what is done here must leave no trace."""
    return _SILENT.get()


def set_silent(*, wanted: bool) -> None:
    """Trace nothing in the present thread, if `wanted`, until this is called again."""
    _SILENT.set(wanted)


def keep_silence(work: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Return the same work for another thread, as silent as this one is now."""
    is_silent = silent()

    def carried(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        with silence(wanted=is_silent):
            work(*args, **kwargs)

    return carried


class TraceSampler(ParentBased):
    """Records this share (0 to 1) of traces, each whole or not at all, and none of the silent."""

    def __init__(self, share: float):
        super().__init__(TraceIdRatioBased(share))

    def should_sample(self, *args: Any, **named: Any) -> SamplingResult:
        """Drop what is silent before all else."""
        if silent():
            return SamplingResult(Decision.DROP)
        return super().should_sample(*args, **named)
