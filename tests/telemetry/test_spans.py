"""Opening spans, and their lists: they are spelt out when they are sent, so that nobody waits."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from threading import Event
from typing import Any

import numpy as np
import pytest
from opentelemetry.trace import get_current_span

from atlas_search.core.domain import Passage
from atlas_search.core.errors import Cancelled, InvalidQuestion
from atlas_search.core.telemetry import export
from atlas_search.core.telemetry.span import (
    DOCUMENT_BYTES,
    Late,
    TracedDocument,
    size_of,
)
from atlas_search.core.telemetry.tracer import Tracer
from tests.citing import GIVEN
from tests.collector import Collector, collecting
from tests.recorded_spans import Recorded, documents, recording, said

TEXT = GIVEN[0].text
FACTS = {"corpus": "uk", "title": "Case", "date": ""}


@contextmanager
def sending(**options: Any) -> Iterator[tuple[Tracer, Collector]]:
    """A tracer, and the collector that it sends to."""
    with collecting() as collector:
        tracer = Tracer(collector.address, "none", content=True, delay=0.05, **options)
        yield tracer, collector
        tracer.close()


def test_a_list_is_made_when_the_span_is_read_and_its_size_known_before() -> None:
    with recording() as (tracer, recorded):
        with tracer.root("hits", "RETRIEVER") as span:
            span.list_hits(["a", "b"], [0.9, 0.5], lambda: GIVEN)
            assert len(span.late) == 1
        with tracer.root("documents", "RETRIEVER") as span:
            span.list_retrieved([TracedDocument("a", 0.9, GIVEN[0]), TracedDocument("b", 0.5)])
        with tracer.root("nothing", "RETRIEVER") as span:
            span.list_hits([], [], list)
    for name in ("hits", "documents"):
        attributes = recorded.last(name)
        assert documents(attributes) == [
            {"id": "a", "score": 0.9, "content": TEXT, "metadata": FACTS},
            {"id": "b", "score": 0.5, "metadata": {}},
        ]
        assert attributes["openinference.span.kind"] == "RETRIEVER"
        size = 2 * DOCUMENT_BYTES + len(TEXT)
        assert size_of(recorded.named(name)[0]) == pytest.approx(size, abs=200)
    assert recorded.last("nothing") == {"openinference.span.kind": "RETRIEVER"}


def test_spans_that_are_held_come_in_order_when_the_block_ends() -> None:
    known: list[Passage] = []
    with (
        recording() as (tracer, recorded),
        suppress(ValueError),
        tracer.root("ask", "CHAIN"),
        tracer.hold(),
    ):
        with tracer.span("dense", "RETRIEVER") as span:
            span.list_hits(["a"], [0.9], lambda: known)
        with tracer.hold(), tracer.span("rerank", "CHAIN"):
            known += GIVEN
        assert recorded.spans == ()
        raise ValueError
    assert [each.name for each in recorded.spans] == ["dense", "rerank", "ask"]
    assert documents(said(recorded.spans[0]))[0]["content"] == TEXT


def test_a_span_that_ends_in_a_thread_after_the_block_is_not_lost() -> None:
    end = Event()

    def straggle() -> None:
        with tracer.span("retrieve", "RETRIEVER"):
            end.wait(60)

    with recording() as (tracer, recorded), ThreadPoolExecutor(1) as pool:
        with suppress(ValueError), tracer.root("ask", "CHAIN"), tracer.hold():
            late = pool.submit(copy_context().run, straggle)
            raise ValueError
        end.set()
        late.result(60)
    assert [each.name for each in recorded.spans] == ["ask", "retrieve"]


def test_parts_that_cannot_be_made_take_nothing_else_with_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail() -> dict[str, str]:
        raise ValueError("a secret text")

    with sending() as (tracer, collector):
        with tracer.root("broken", "CHAIN") as span:
            span.late += [Late(lambda: 10, fail), Late(lambda: 10, lambda: {"made": "yes"})]
            span.set(plain=1)
        with tracer.root("whole", "CHAIN"):
            pass
        broken, whole = sorted(collector.wait(2), key=lambda arrived: arrived.name)
    assert (broken.attributes["made"], broken.attributes["plain"]) == ("yes", 1)
    assert whole.name == "whole"
    assert "A part of `broken` is not traced (ValueError)." in caplog.messages
    assert "secret" not in caplog.text


def test_spans_are_spelt_out_once_though_they_are_sent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(export, "PROBE_SECONDS", 0.02)
    made: list[str] = []

    def make() -> dict[str, str]:
        made.append("once")
        return {"made": "yes"}

    with sending() as (tracer, collector):
        collector.next += [503, "cut", 503]
        with tracer.root("late", "CHAIN") as span:
            span.late.append(Late(lambda: 10, make))
        (arrived,) = collector.wait(1)
        assert len(collector.requests) == 4
    assert arrived.attributes["made"] == "yes"
    assert made == ["once"]


def test_half_a_character_takes_nothing_else_with_it() -> None:
    with sending() as (tracer, collector):
        with tracer.root("hits", "RETRIEVER") as span:
            span.list_hits(["a", "half: \ud800", "c"], [0.9, 0.5, 0.1], lambda: GIVEN)
        (arrived,) = collector.wait(1)
    sent = {n.removeprefix("retrieval.documents."): v for n, v in arrived.attributes.items()}
    assert (sent["0.document.id"], sent["2.document.id"]) == ("a", "c")
    assert "1.document.id" not in sent
    assert (sent["1.document.score"], sent["0.document.content"]) == (0.5, TEXT)


def odd(tracer: Tracer) -> None:
    """Two spans, of whose parts three and one cannot be sent: texts, a number and a list."""
    with tracer.root("late", "RETRIEVER") as span:
        span.late.append(Late(lambda: 0, lambda: {"text": "half: \ud800", "a": "b"}))
        span.late.append(Late(lambda: 0, lambda: {"number": np.int64(5), "c": True}))
        span.late.append(Late(lambda: 0, lambda: {"none": 1 / 0}))
    with tracer.root("plain", "RETRIEVER") as span:
        span.input("half: \ud800")


@pytest.mark.parametrize("redacted", [False, True])
def test_attributes_that_cannot_be_sent_count_as_dropped(*, redacted: bool) -> None:
    with sending(redactions=[str.upper] if redacted else []) as (tracer, collector):
        recorded = Recorded(tracer)
        odd(tracer)
        spans = {span.name: span for span in collector.wait(2)}
    assert (spans["late"].dropped, spans["plain"].dropped) == (3, 1)
    assert spans["late"].attributes["a"] == ("B" if redacted else "b")
    assert recorded.spans[0].dropped_attributes == 3  # in memory too
    for attributes in (spans["late"].attributes, recorded.last("late")):
        assert attributes["c"] is True
        assert {"text", "number", "none"} & {*attributes} == set()


def test_no_span_is_too_small_for_what_is_said_of_it() -> None:
    many = {f"name {number}": number for number in range(5000)}
    with sending() as (tracer, collector):
        with tracer.root("many", "RETRIEVER") as span:
            span.set(**many)
            span.set(several=["a", "b"], exact=np.float64(0.5))
        (arrived,) = collector.wait(1)
    assert arrived.dropped == 0
    assert many.items() <= arrived.attributes.items()
    assert arrived.attributes["exact"] == 0.5


def test_every_taker_gets_the_list() -> None:
    with recording() as (tracer, first):
        second = Recorded(tracer)
        with tracer.root("hits", "RETRIEVER") as span:
            span.list_hits(["a"], [0.9], list)
    for recorded in (first, second):
        assert [each["id"] for each in documents(recorded.last("hits"))] == ["a"]
        assert recorded.spans[0].dropped_attributes == 0


@pytest.fixture
def untaken() -> Iterator[Tracer]:
    """A tracer whose spans nobody takes."""
    tracer = Tracer("", "", content=True)
    yield tracer
    assert tracer.open_spans == 0
    tracer.close()


def test_without_a_server_of_traces_there_is_only_the_root(untaken: Tracer) -> None:
    with untaken.root("ask", "CHAIN") as root, untaken.span("search", "CHAIN") as inner:
        inner.set(depth=3)
        inner.input("a question")
        inner.warn("a warning")
        inner.list_retrieved([TracedDocument("a", 1.0)])
        inner.list_hits(["a"], [1.0], list)
        assert inner.trace_id == root.trace_id != ""
        assert inner.span_id == root.span_id == ""
        assert (inner.recorded, inner.content) == (False, False)
        assert inner.parts() == root.parts() == []
        assert untaken.open_spans == 1
    assert not get_current_span().get_span_context().is_valid


def test_spans_without_a_root_have_traces_of_their_own(untaken: Tracer) -> None:
    with untaken.span("search", "CHAIN") as first:
        pass
    with untaken.span("search", "CHAIN") as second:
        assert "" != first.trace_id != second.trace_id != ""


@pytest.mark.parametrize("error", [InvalidQuestion("none"), Cancelled("gone")])
def test_an_error_is_told_of_by_the_root(
    untaken: Tracer, error: InvalidQuestion | Cancelled
) -> None:
    with pytest.raises(type(error)), untaken.root("ask", "CHAIN"), untaken.span("search", "CHAIN"):
        raise error
    assert error.traced


def test_a_taker_that_comes_late_gets_every_span_that_begins_from_then_on(untaken: Tracer) -> None:
    with untaken.root("ask", "CHAIN"):
        with untaken.span("before", "CHAIN"):
            recorded = Recorded(untaken)
        with untaken.span("after", "CHAIN") as after:
            assert after.recorded
    assert [span.name for span in recorded.spans] == ["after", "ask"]
