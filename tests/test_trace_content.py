"""What spans say with TRACE_CONTENT off, and how they end whatever happens."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.core.domain import ChatTurn
from atlas_search.core.errors import ModelUnavailable
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.chat_server import ChatServer, Reply, Says
from tests.test_generate import cited

QUESTION = "How do Britain and New Zealand treat libel of a local authority?"
SECRET = "the-prompt-or-key-a-provider-repeats"

Both = tuple[Services, ChatServer]


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture(params=[True, False], ids=["content", "no content"])
def both(
    request: pytest.FixtureRequest, services: Services, spans: InMemorySpanExporter
) -> Iterator[Both]:
    tracer = Tracer("", "test", content=request.param)
    tracer.add(SimpleSpanProcessor(spans))
    searcher = replace(services.searcher, tracer=tracer)
    answerer = replace(services.answerer, searcher=searcher)
    with answered_by("openai", replace(services, tracer=tracer, answerer=answerer)) as found:
        yield found
    tracer.close()


def said(spans: InMemorySpanExporter) -> str:
    """Everything that the spans hold."""
    return "\n".join(_said(span) for span in spans.get_finished_spans())


def _said(span: ReadableSpan) -> str:
    events = [(event.name, dict(event.attributes or {})) for event in span.events]
    return f"{span.name} {dict(span.attributes or {})} {events} {span.status.description}"


def test_questions_and_texts_are_in_the_spans_only_if_wanted(
    both: Both, spans: InMemorySpanExporter, request: pytest.FixtureRequest
) -> None:
    services, server = both
    server.says(cited)
    asked(services, QUESTION, llm_provider="extractive")
    answer, _ = asked(services, QUESTION)
    wanted = request.node.callspec.id == "content"
    text = said(spans)
    for content in ("treat libel", answer.text, answer.result.passages[0].passage.text[:40]):
        assert (content in text) is wanted
    assert "decision" in text


LISTS = ("retrieval.documents", "reranker.input_documents", "reranker.output_documents")


def test_lists_prompts_and_messages_have_texts_only_if_wanted(
    both: Both, spans: InMemorySpanExporter, request: pytest.FixtureRequest
) -> None:
    services, server = both
    server.says(cited)
    history = (ChatTurn("user", QUESTION), ChatTurn("assistant", "It cannot sue."))
    answer, _ = asked(services, QUESTION, history=history, condense_followups=True, verify="model")
    asked(services, QUESTION, llm_provider="extractive")
    text = said(spans)
    wanted = request.node.callspec.id == "content"
    passage = answer.result.passages[0].passage
    rules = services.answerer.rules["system"].template
    for content in (passage.title, passage.text[:40], rules[:40], "It cannot sue"):
        assert (content in text) is wanted
    held = {name for span in spans.get_finished_spans() for name in span.attributes or {}}
    assert ("llm.prompt_template.template" in held) is wanted
    assert ("llm.output_messages.0.message.content" in held) is wanted
    for name in LISTS:
        assert f"{name}.0.document.id" in held
    # what says nothing of the question stays
    assert {"llm.prompt_template.version", "gen_ai.prompt.name", "kept.legal_uk"} <= held
    metadata = [
        json.loads(str(value))
        for span in spans.get_finished_spans()
        for name, value in (span.attributes or {}).items()
        if name.endswith("document.metadata")
    ]
    assert all("score_is" in each for each in metadata if "leg" in each)
    assert any("title" in each for each in metadata) is wanted


def test_a_failing_model_leaves_closed_spans_without_what_its_provider_said(
    both: Both, spans: InMemorySpanExporter
) -> None:
    services, server = both
    server.then(*[Reply(500, {"error": {"message": SECRET}})] * 9)
    with pytest.raises(ModelUnavailable):
        asked(services, QUESTION)
    assert services.tracer.open_spans == 0
    failed = [span for span in spans.get_finished_spans() if not span.status.is_ok]
    assert {span.name for span in failed} == {"generate", "ask"}
    assert "Traceback" not in said(spans)


def test_a_repair_is_a_model_call_of_its_own(both: Both, spans: InMemorySpanExporter) -> None:
    services, server = both
    server.then(Says("A council may sue [legal_uk.invented p9]."))
    server.says(cited)
    asked(services, QUESTION)
    calls = [span for span in spans.get_finished_spans() if span.name == "generate"]
    assert [(span.attributes or {})["attempt"] for span in calls] == [1, 2]
    assert [(span.attributes or {})["llm.token_count.total"] for span in calls] == [18, 18]
