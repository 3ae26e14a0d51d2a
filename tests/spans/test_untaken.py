"""Without a server of traces nothing is opened below the root, and all else is as with one."""

import pytest
from opentelemetry.trace import get_current_span

from atlas_search.core.errors import Cancelled, InvalidQuestion
from atlas_search.core.telemetry.tracer import Tracer
from tests.recorded_spans import Recorded


def test_below_the_root_there_is_only_the_root() -> None:
    tracer = Tracer("", "", content=True)
    with tracer.root("ask", "CHAIN") as root, tracer.span("search", "CHAIN") as inner:
        inner.set(depth=3)
        inner.input("a question")
        inner.warn("a warning")
        assert inner.trace_id == root.trace_id != ""
        assert inner.span_id == root.span_id == ""
        assert (inner.recorded, inner.content) == (False, False)
        assert inner.parts() == root.parts() == []
        assert tracer.open_spans == 1
    assert tracer.open_spans == 0
    assert not get_current_span().get_span_context().is_valid


def test_what_begins_by_itself_has_a_trace_of_its_own() -> None:
    tracer = Tracer("", "", content=True)
    with tracer.span("search", "CHAIN") as first:
        pass
    with tracer.span("search", "CHAIN") as second:
        assert "" != first.trace_id != second.trace_id != ""


@pytest.mark.parametrize("error", [InvalidQuestion("none"), Cancelled("gone")])
def test_an_error_is_told_of_by_the_root(error: InvalidQuestion | Cancelled) -> None:
    tracer = Tracer("", "", content=True)
    with pytest.raises(type(error)), tracer.root("ask", "CHAIN"), tracer.span("search", "CHAIN"):
        raise error
    assert error.traced
    assert tracer.open_spans == 0


def test_whoever_comes_gets_every_span_that_begins_from_then_on() -> None:
    tracer = Tracer("", "", content=True)
    with tracer.root("ask", "CHAIN"):
        with tracer.span("before", "CHAIN"):
            recorded = Recorded(tracer)
        with tracer.span("after", "CHAIN") as after:
            assert after.recorded
    assert [span.name for span in recorded.spans] == ["after", "ask"]
