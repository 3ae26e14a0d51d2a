"""Spans kept in memory, and a reading of them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.services import Services
from tests.chat_server import ChatServer

Both = tuple[Services, ChatServer]


@contextmanager
def recording(spans: InMemorySpanExporter, *, content: bool = True) -> Iterator[Tracer]:
    """A tracer whose spans go there, as costly to describe as those that are sent."""
    tracer = Tracer("", "test", content=content)
    tracer.add(SimpleSpanProcessor(spans))
    try:
        yield tracer
    finally:
        tracer.close()


def trace_with(services: Services, tracer: Tracer) -> Services:
    """The services, traced by this tracer."""
    searcher = replace(services.searcher, tracer=tracer)
    answerer = replace(services.answerer, searcher=searcher)
    return replace(services, tracer=tracer, answerer=answerer)


def named(spans: InMemorySpanExporter, name: str) -> Mapping[str, Any]:
    """The attributes of the last span of that name."""
    found = [span for span in spans.get_finished_spans() if span.name == name]
    assert found, sorted(span.name for span in spans.get_finished_spans())
    return found[-1].attributes or {}


def documents(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """A list of documents in a span's attributes, their metadata read."""
    found: list[dict[str, Any]] = []
    while f"{prefix}.{len(found)}.document.id" in attributes:
        start = f"{prefix}.{len(found)}.document."
        document = {
            key.removeprefix(start): value
            for key, value in attributes.items()
            if key.startswith(start)
        }
        document["metadata"] = json.loads(document.get("metadata", "{}"))
        found.append(document)
    return found


def whole(spans: InMemorySpanExporter) -> list[ReadableSpan]:
    """The spans of the one trace there is."""
    found = list(spans.get_finished_spans())
    assert len({span.context.trace_id for span in found if span.context}) == 1
    return found
