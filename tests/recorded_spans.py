"""Spans as they end, kept in memory, and a reading of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.core.telemetry.span import NAME_JOINT
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.services import Services
from tests.servers import wait_for


def kind_of(span: ReadableSpan) -> str:
    """Its name without what it is about."""
    return span.name.partition(NAME_JOINT)[0]


class Recorded:
    """The spans that a tracer's have ended so far."""

    def __init__(self, tracer: Tracer) -> None:
        self._exporter = InMemorySpanExporter()
        tracer.add(SimpleSpanProcessor(self._exporter))

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        """All of them, in order of their ends."""
        return self._exporter.get_finished_spans()

    @property
    def roots(self) -> list[ReadableSpan]:
        """Those that began a trace."""
        return [span for span in self.spans if span.parent is None]

    def named(self, name: str) -> list[ReadableSpan]:
        """Those of this name, whatever they are about."""
        return [span for span in self.spans if kind_of(span) == name]

    def last(self, name: str) -> dict[str, Any]:
        """The attributes of the last span of this name."""
        assert self.named(name), sorted(span.name for span in self.spans)
        return said(self.named(name)[-1])

    def root(self, name: str) -> ReadableSpan:
        """The only root there is, waited for, which has this name."""
        found = wait_for(lambda: self.roots or None, 60, f"the root {name}")
        assert [kind_of(span) for span in found] == [name]
        return found[0]

    @property
    def text(self) -> str:
        """Everything that they hold."""
        return "\n".join(
            f"{span.name} {said(span)} {[(e.name, dict(e.attributes or {})) for e in span.events]} "
            f"{span.status.description}"
            for span in self.spans
        )

    def clear(self) -> None:
        """Forget them."""
        self._exporter.clear()


def documents(
    attributes: Mapping[str, Any], prefix: str = "retrieval.documents"
) -> list[dict[str, Any]]:
    """A list of documents in a span's attributes, their metadata read."""
    listed: list[dict[str, Any]] = []
    while f"{prefix}.{len(listed)}.document.id" in attributes:
        start = f"{prefix}.{len(listed)}.document."
        document = {
            name.removeprefix(start): value
            for name, value in attributes.items()
            if name.startswith(start)
        }
        document["metadata"] = json.loads(document.get("metadata", "{}"))
        listed.append(document)
    return listed


def said(span: ReadableSpan) -> dict[str, Any]:
    """The attributes of a span."""
    return dict(span.attributes or {})


@contextmanager
def recording(*, content: bool = True) -> Iterator[tuple[Tracer, Recorded]]:
    """A tracer and what it records."""
    tracer = Tracer("", "test", content=content)
    yield tracer, Recorded(tracer)
    tracer.close()
    assert tracer.open_spans == 0


def traced_by(services: Services, tracer: Tracer) -> Services:
    """The same services with another tracer."""
    searcher = replace(services.searcher, tracer=tracer)
    return replace(services, tracer=tracer, answerer=replace(services.answerer, searcher=searcher))
