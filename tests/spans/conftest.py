"""The demo collection with a tracer whose spans are kept in memory, texts and lists included."""

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.services import Services
from tests.answering import answered_by
from tests.spans.recorded import Both, recording, trace_with


@pytest.fixture
def exported() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def traced(services: Services, exported: InMemorySpanExporter) -> Iterator[Services]:
    with recording(exported) as tracer:
        yield trace_with(services, tracer)


@pytest.fixture(autouse=True)
def _everything_is_told(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing that a span is to say may come to nothing."""
    yield
    assert [message for message in caplog.messages if "is not traced" in message] == []


@pytest.fixture
def both(traced: Services) -> Iterator[Both]:
    """The same, answered by a language model."""
    with answered_by("openai", traced) as found:
        yield found
