"""Spans name the key that asked, never the key itself; who may not see traces gets no id."""

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.atlas import Atlas
from atlas_search.server.app import create_app
from tests.access.conftest import Signed
from tests.spans.recorded import recording, trace_with

QUESTION = "Who mends the bridge?"


@pytest.fixture
def exported() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def client(guarded: Atlas, exported: InMemorySpanExporter) -> Iterator[FlaskClient]:
    with recording(exported) as tracer:
        traced = Atlas(trace_with(guarded.services, tracer))
        yield create_app(lambda: traced).test_client()


@pytest.mark.parametrize("path", ["/api/ask", "/api/ask/stream", "/api/search"])
def test_every_span_names_the_key_that_asked(
    client: FlaskClient, narrow: Signed, narrow_key: str, exported: InMemorySpanExporter, path: str
) -> None:
    assert narrow.post(path, {"question": QUESTION}, buffered=True).status_code == 200
    spans = exported.get_finished_spans()
    assert {(span.attributes or {})["user.id"] for span in spans} == {"narrow"}
    assert narrow_key.rsplit("_", 1)[-1] not in "\n".join(
        str(dict(span.attributes or {})) for span in spans
    )
    roots = [dict(span.attributes or {}) for span in spans if span.parent is None]
    assert [root.get("streamed") for root in roots] == [
        {"/api/ask": False, "/api/ask/stream": True}.get(path)
    ]
