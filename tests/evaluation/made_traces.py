"""Traces for tests: those of real searches as Phoenix would send them, and some made up."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan

from atlas_search.evaluation.traces import Trace, read_trace
from atlas_search.services import Services
from atlas_search.stores.store import LegHits, Store

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Shallow:
    """A store that looks less deep into one corpus than it is asked to, as a fault would."""

    def __init__(self, store: Store, corpus: str, depth: int):
        self._store = store
        self._corpus = corpus
        self._depth = depth

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def nearest(self, corpus: str, vector: Any, depth: int, *rest: Any) -> LegHits:
        """Ask the store, less deep into one corpus."""
        return self._store.nearest(
            corpus, vector, self._depth if corpus == self._corpus else depth, *rest
        )


def shallow(services: Services, corpus: str, depth: int) -> Services:
    """The services, whose store is not deep in one corpus."""
    store: Any = Shallow(services.store, corpus, depth)
    searcher = replace(services.searcher, store=store)
    return replace(services, answerer=replace(services.answerer, searcher=searcher))


def as_phoenix(span: ReadableSpan) -> dict[str, Any]:
    """A span in the form of Phoenix's REST API, which reads metadata and gives its parts."""
    assert span.context
    assert span.start_time
    assert span.end_time
    attributes: dict[str, Any] = {}
    for name, value in (span.attributes or {}).items():
        if name.endswith("metadata"):
            attributes |= _flat(name, json.loads(str(value)))
        else:
            attributes[name] = value
    return phoenix_span(
        span.name,
        attributes,
        trace_id=format(span.context.trace_id, "032x"),
        span_id=format(span.context.span_id, "016x"),
        started=datetime.fromtimestamp(span.start_time / 1e9, UTC),
        seconds=(span.end_time - span.start_time) / 1e9,
        status=span.status.status_code.name,
    )


def phoenix_span(
    name: str,
    attributes: Mapping[str, Any],
    *,
    trace_id: str = "0" * 31 + "1",
    span_id: str = "0" * 15 + "1",
    started: datetime = START,
    seconds: float = 1.0,
    status: str = "OK",
) -> dict[str, Any]:
    """A root span as Phoenix sends it."""
    return {
        "name": name,
        "context": {"trace_id": trace_id, "span_id": span_id},
        "parent_id": None,
        "start_time": started.isoformat(),
        "end_time": (started + timedelta(seconds=seconds)).isoformat(),
        "status_code": status,
        "attributes": dict(attributes),
    }


def trace_of(number: int, **attributes: Any) -> Trace:
    """The trace of an answer, the later the smaller its number; `__` in a name stands for a dot.

    `seconds` and `status` are those of its span.
    """
    of_span = {name: attributes.pop(name) for name in ("seconds", "status") if name in attributes}
    told = {"mode": "answer", "corpus_filter": "all", "decision": "ANSWER"} | {
        name.replace("__", "."): value for name, value in attributes.items()
    }
    started = START - timedelta(minutes=number)
    return read_trace(
        phoenix_span("ask", told, trace_id=f"{number:032x}", started=started, **of_span)
    )


def _flat(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {name: value}
    return {
        key: plain
        for part, below in value.items()
        for key, plain in _flat(f"{name}.{part}", below).items()
    }
