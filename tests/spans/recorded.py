"""Spans kept in memory, for tests that give the exporter themselves: see `recorded_spans`."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.services import Services
from tests.chat_server import ChatServer
from tests.recorded_spans import traced_by as trace_with

__all__ = ["Both", "named", "recording", "trace_with"]

Both = tuple[Services, ChatServer]


@contextmanager
def recording(spans: InMemorySpanExporter) -> Iterator[Tracer]:
    """A tracer whose spans go there."""
    tracer = Tracer("", "test", content=True)
    tracer.add(SimpleSpanProcessor(spans))
    try:
        yield tracer
    finally:
        tracer.close()


def named(spans: InMemorySpanExporter, name: str) -> Mapping[str, Any]:
    """The attributes of the last span of that name."""
    found = [span for span in spans.get_finished_spans() if span.name == name]
    assert found, sorted(span.name for span in spans.get_finished_spans())
    return found[-1].attributes or {}
