"""What an answer gets from a reader, and what its span in the trace says."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.answer.write.quotes import PassageSpans, read_spans
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.span import digest
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.providers.reading import BATCH, AnswerSpan, QuestionAnsweringModel
from tests.contradictions import passage
from tests.reading.test_question_answering import ticks

QUESTION = "What did wool cost?"
PASSAGES = [
    passage("law.fish", "Fish cost three pounds on this day."),
    passage("law.wool", "The court held that wool cost twelve pence."),
    passage("law.rule", "A rule of the court."),
]
TARGET = Target()


@pytest.fixture
def exported() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture(params=[True, False], ids=["content", "no content"])
def tracer(request: pytest.FixtureRequest, exported: InMemorySpanExporter) -> Iterator[Tracer]:
    opened = Tracer("", "test", content=request.param)
    opened.add(SimpleSpanProcessor(exported))
    yield opened
    opened.close()


def only(exported: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exported.get_finished_spans()
    return span


def test_passages_have_their_best_spans_by_id(
    reader: QuestionAnsweringModel, tracer: Tracer
) -> None:
    spans, note = found = read_spans(reader, QUESTION, PASSAGES, TARGET, tracer)
    assert list(spans) == [item.passage.id for item in PASSAGES]
    assert note == ""
    wool = PASSAGES[1].passage
    answers = found.answers(TARGET.reader_threshold)
    assert list(answers) == [wool.id]
    start, end, score = answers[wool.id]
    assert wool.text[start:end] == "twelve pence"
    assert score > 0.9


def test_answers_are_those_from_the_threshold_on_best_first() -> None:
    scores = {"a": 0.5, "b": 0.9, "c": 0.49, "d": 0.9}
    spans = {id_: AnswerSpan(0, 4, score) for id_, score in scores.items()}
    assert list(PassageSpans(spans, "").answers(0.5)) == ["b", "d", "a"]
    assert PassageSpans({}, "").answers(0.0) == {}


def test_what_was_not_read_has_no_span(tiny: Path, tracer: Tracer) -> None:
    many = [passage(f"law.{number}", "Wool cost twelve pence.") for number in range(2 * BATCH)]
    # looks: 0 to begin, 1 before the first batch, 2 before the second
    hurried = QuestionAnsweringModel(str(tiny), device="cpu", clock=ticks())
    target = Target(reader_seconds=2.0)
    spans, note = read_spans(hurried, QUESTION, many, target, tracer)
    assert list(spans) == [item.passage.id for item in many[:BATCH]]
    assert f"read {BATCH} of {2 * BATCH} passages in 2 seconds" in note


def test_a_reader_that_fails_reads_nothing_and_the_note_says_why(
    tiny: Path, tracer: Tracer, exported: InMemorySpanExporter
) -> None:
    broken = QuestionAnsweringModel(str(tiny), device="cpu")
    broken.load()
    broken._loaded[0].model.qa_outputs.bias.data.fill_(float("nan"))
    spans, note = read_spans(broken, QUESTION, PASSAGES, TARGET, tracer)
    assert spans == {}
    assert note.startswith("No passage was searched for the words that answer. ")
    assert "gives no number" in note
    assert (only(exported).attributes or {})["read"] == 0


def test_no_passages_are_no_fault(reader: QuestionAnsweringModel, tracer: Tracer) -> None:
    assert read_spans(reader, QUESTION, [], TARGET, tracer) == ({}, "")


def test_the_trace_says_what_was_read_and_texts_only_if_wanted(
    reader: QuestionAnsweringModel,
    tracer: Tracer,
    exported: InMemorySpanExporter,
    request: pytest.FixtureRequest,
) -> None:
    read_spans(reader, QUESTION, PASSAGES, TARGET, tracer)
    span = only(exported)
    attributes = dict(span.attributes or {})
    assert (span.name, attributes["openinference.span.kind"]) == ("read", "RERANKER")
    assert (attributes["model"], attributes["reranker.model_name"]) == (reader.name,) * 2
    assert [attributes[name] for name in ("passages", "read", "answers")] == [3, 3, 1]
    best = "reranker.output_documents.0.document"
    wanted = request.node.callspec.id == "content"
    id_ = PASSAGES[1].passage.id
    assert attributes[f"{best}.id"] == (id_ if wanted else digest(id_))
    assert attributes[f"{best}.score"] > 0.9
    assert ("wool" in json.dumps(attributes, default=str).replace("law.wool", "")) is wanted
    assert ("twelve pence" in str(attributes.get("output.value"))) is wanted
