"""Lists in spans are spelt out when they are sent: no request waits for it."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from threading import Event

import numpy as np
import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.atlas import Atlas
from atlas_search.core.domain import Passage
from atlas_search.core.telemetry import export
from atlas_search.core.telemetry.names import silence
from atlas_search.core.telemetry.span import (
    DOCUMENT_BYTES,
    AttributeValue,
    Late,
    Span,
    TracedDocument,
    size_of,
)
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.services import Services
from tests.citing import GIVEN
from tests.collector import collecting
from tests.recorded_spans import said
from tests.spans.recorded import recording, trace_with

FIRST = "retrieval.documents.0.document"


def test_a_list_is_made_when_the_span_is_read_and_its_size_known_before() -> None:
    exported = InMemorySpanExporter()
    text = GIVEN[0].text
    with recording(exported) as tracer, tracer.root("found", "RETRIEVER") as span:
        span.list_hits(["a", "b"], [0.9, 0.5], lambda: GIVEN)
        assert len(span.late) == 1
    (ended,) = exported.get_finished_spans()
    size = 2 * DOCUMENT_BYTES + len(text)
    assert size_of(ended) == pytest.approx(size, abs=200)
    told = said(ended)
    assert (told[f"{FIRST}.id"], told[f"{FIRST}.score"]) == ("a", 0.9)
    assert told[f"{FIRST}.content"] == text
    assert told["retrieval.documents.1.document.id"] == "b"
    assert "retrieval.documents.1.document.content" not in told
    assert told["openinference.span.kind"] == "RETRIEVER"


def test_the_texts_of_a_list_count() -> None:
    exported = InMemorySpanExporter()
    with recording(exported) as tracer, tracer.root("found", "RETRIEVER") as span:
        span.list_retrieved([TracedDocument("a", 0.9, GIVEN[0]), TracedDocument("b", 0.5)])
    (ended,) = exported.get_finished_spans()
    size = 2 * DOCUMENT_BYTES + len(GIVEN[0].text)
    assert size_of(ended) == pytest.approx(size, abs=200)


def test_spans_that_are_held_come_in_order_when_the_block_ends() -> None:
    exported = InMemorySpanExporter()
    known: list[Passage] = []
    with (
        recording(exported) as tracer,
        suppress(ValueError),
        tracer.root("ask", "CHAIN"),
        tracer.hold(),
    ):
        with tracer.span("dense", "RETRIEVER") as span:
            span.list_hits(["a"], [0.9], lambda: known)
        with tracer.hold(), tracer.span("rerank", "CHAIN"):
            known += GIVEN
        assert exported.get_finished_spans() == ()
        raise ValueError
    ended = exported.get_finished_spans()
    assert [each.name for each in ended] == ["dense", "rerank", "ask"]
    assert said(ended[0])[f"{FIRST}.content"] == GIVEN[0].text


def test_a_span_that_ends_in_a_thread_after_the_block_is_not_lost() -> None:
    exported, left = InMemorySpanExporter(), Event()

    def straggle() -> None:
        with tracer.span("retrieve", "RETRIEVER"):
            left.wait(60)

    with recording(exported) as tracer, ThreadPoolExecutor(1) as pool:
        with suppress(ValueError), tracer.root("ask", "CHAIN"), tracer.hold():
            late = pool.submit(copy_context().run, straggle)
            raise ValueError
        left.set()
        late.result(60)
    assert [each.name for each in exported.get_finished_spans()] == ["ask", "retrieve"]


def test_of_nothing_found_nothing_is_listed(caplog: pytest.LogCaptureFixture) -> None:
    exported = InMemorySpanExporter()
    with recording(exported) as tracer, tracer.root("found", "RETRIEVER") as span:
        span.list_hits([], [], list)
    (ended,) = exported.get_finished_spans()
    assert said(ended) == {"openinference.span.kind": "RETRIEVER"}
    assert caplog.messages == []


def test_a_span_that_nobody_will_see_keeps_no_list() -> None:
    tracer = Tracer("", "none", content=True)
    with tracer.root("found", "RETRIEVER") as span:
        span.list_retrieved([TracedDocument("a", 1.0)])
        span.list_hits(["a"], [1.0], list)
        assert span.late == []
    tracer.close()


def test_what_cannot_be_made_takes_nothing_else_with_it(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> dict[str, str]:
        raise ValueError("a secret text")

    with collecting() as collector:
        tracer = Tracer(collector.address, "none", content=True, delay=0.05)
        with tracer.root("broken", "CHAIN") as span:
            span.late += [Late(lambda: 10, fail), Late(lambda: 10, lambda: {"made": "yes"})]
            span.set(plain=1)
        with tracer.root("whole", "CHAIN"):
            pass
        broken, whole = sorted(collector.wait(2), key=lambda arrived: arrived.name)
        tracer.close()
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

    with collecting() as collector:
        collector.next += [503, "cut", 503]
        tracer = Tracer(collector.address, "none", content=True, delay=0.05)
        with tracer.root("late", "CHAIN") as span:
            span.late.append(Late(lambda: 10, make))
        (arrived,) = collector.wait(1)
        tracer.close()
        assert len(collector.requests) == 4
    assert arrived.attributes["made"] == "yes"
    assert made == ["once"]


def test_half_a_character_takes_nothing_else_with_it() -> None:
    with collecting() as collector:
        tracer = Tracer(collector.address, "none", content=True, delay=0.05)
        with tracer.root("found", "RETRIEVER") as span:
            span.list_hits(["a", "half: \ud800", "c"], [0.9, 0.5, 0.1], lambda: GIVEN)
        (arrived,) = collector.wait(1)
        tracer.close()
    told = {n.removeprefix("retrieval.documents."): v for n, v in arrived.attributes.items()}
    assert (told["0.document.id"], told["2.document.id"]) == ("a", "c")
    assert "1.document.id" not in told
    assert told["1.document.score"] == 0.5
    assert told["0.document.content"] == GIVEN[0].text


def odd(tracer: Tracer) -> None:
    """Two spans, of whose parts three each cannot be sent: a text, a number and a list."""
    with tracer.root("late", "RETRIEVER") as span:
        span.late.append(Late(lambda: 0, lambda: {"text": "half: \ud800", "a": "b"}))
        span.late.append(Late(lambda: 0, lambda: {"number": np.int64(5), "c": True}))
        span.late.append(Late(lambda: 0, lambda: {"none": 1 / 0}))
    with tracer.root("plain", "RETRIEVER") as span:
        span.input("half: \ud800")


@pytest.mark.parametrize("redacted", [False, True])
def test_what_cannot_be_sent_is_counted_as_dropped(redacted: bool) -> None:
    with collecting() as collector:
        masks = [str.upper] if redacted else []
        tracer = Tracer(collector.address, "none", content=True, delay=0.05, redactions=masks)
        odd(tracer)
        found = {span.name: span for span in collector.wait(2)}
        tracer.close()
    assert (found["late"].dropped, found["plain"].dropped) == (3, 1)
    assert found["late"].attributes["a"] == ("B" if redacted else "b")
    assert found["late"].attributes["c"] is True
    assert {"text", "number", "none"} & {*found["late"].attributes} == set()


def test_what_cannot_be_sent_is_counted_in_memory_too() -> None:
    exported = InMemorySpanExporter()
    with recording(exported) as tracer:
        odd(tracer)
    late, _ = exported.get_finished_spans()
    assert late.dropped_attributes == 3
    assert {"text", "number", "none"} & {*(late.attributes or {})} == set()


def test_no_span_is_too_small_for_what_is_said_of_it() -> None:
    many = {f"name {number}": number for number in range(5000)}
    with collecting() as collector:
        tracer = Tracer(collector.address, "none", content=True, delay=0.05)
        with tracer.root("found", "RETRIEVER") as span:
            span.set(**many)
            span.set(several=["a", "b"], exact=np.float64(0.5))
        (arrived,) = collector.wait(1)
        tracer.close()
    assert arrived.dropped == 0
    assert many.items() <= arrived.attributes.items()
    assert arrived.attributes["exact"] == 0.5


def test_every_taker_gets_the_list() -> None:
    first, second = InMemorySpanExporter(), InMemorySpanExporter()
    with recording(first) as tracer:
        tracer.add(SimpleSpanProcessor(second))
        with tracer.root("found", "RETRIEVER") as span:
            span.list_hits(["a"], [0.9], list)
    for exported in (first, second):
        (ended,) = exported.get_finished_spans()
        assert said(ended)[f"{FIRST}.id"] == "a"
        assert ended.dropped_attributes == 0


@pytest.mark.parametrize("wanted", ["untraced", "silent", "unsampled"])
def test_of_what_nobody_sees_nothing_is_described(services: Services, wanted: str) -> None:
    told: list[str] = []

    class Watched(Span):
        def set(
            self, attributes: Mapping[str, AttributeValue] | None = None, /, **named: AttributeValue
        ) -> None:
            told.extend((*(attributes or {}), *named))

    with collecting() as collector, pytest.MonkeyPatch.context() as patch:
        patch.setattr("atlas_search.core.telemetry.tracer.Span", Watched)
        address = "" if wanted == "untraced" else collector.address
        tracer = Tracer(address, "x", content=True, sampling=0.0 if wanted == "unsampled" else 1.0)
        traced = trace_with(services, tracer)
        with silence(wanted=wanted == "silent"):
            Atlas(traced).ask("Can a local authority sue for libel?")
        tracer.close()
    assert {"decision", "corpus_filter", "target", "score_is", "index_kind"} & {*told} == set()
