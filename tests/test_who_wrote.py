"""Who wrote an answer is told as it was, also where another should have written."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from rich.console import Console

from atlas_search.answer.answer import Answer
from atlas_search.cli.ask import print_answer
from atlas_search.core.errors import ModelUnavailable
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.documents.answer import read_answer
from atlas_search.documents.export import markdown, table
from atlas_search.documents.references import Base
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.chat_server import ChatServer, Reply, Request, Says
from tests.judging import FALSE, both_said, tokens, truth, writes
from tests.openai_server import MODEL as ASKED_MODEL

QUESTION = "Can a local authority sue a newspaper for libel?"
MARRIAGE = "Which grounds make marriage between two people of the same sex lawful?"
ABSENT = "zzzz"

Both = tuple[Services, ChatServer]


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def both(services: Services, spans: InMemorySpanExporter) -> Iterator[Both]:
    tracer = Tracer("", "test", content=True)
    tracer.add(SimpleSpanProcessor(spans))
    answerer = replace(services.answerer, searcher=replace(services.searcher, tracer=tracer))
    with answered_by("openai", replace(services, tracer=tracer, answerer=answerer)) as found:
        yield found
    tracer.close()


def root(spans: InMemorySpanExporter) -> Mapping[str, Any]:
    """The attributes of the last question's span."""
    return dict([s for s in spans.get_finished_spans() if s.name == "ask"][-1].attributes or {})


def down(server: ChatServer) -> None:
    """Let every call fail."""
    server.says(lambda _: Reply(500))


def printed(answer: Answer) -> str:
    out = io.StringIO()
    print_answer(Console(file=out, highlight=False, width=400), answer.to_dict())
    return out.getvalue()


def test_the_trace_names_the_model_that_wrote(both: Both, spans: InMemorySpanExporter) -> None:
    services, server = both
    server.says(truth)
    answer, _ = asked(services, QUESTION)
    told = root(spans)
    assert (told["llm_provider"], told["llm_model"]) == ("openai", answer.writer.model)
    assert (told["target_llm_provider"], told["target_llm_model"]) == ("openai", ASKED_MODEL)
    asked(services, QUESTION)  # kept: nobody writes again, but the same wrote it
    assert root(spans)["cache_hit"]
    assert root(spans)["llm_provider"] == "openai"


def test_of_a_model_that_is_down_the_trace_names_who_stood_in(
    both: Both, spans: InMemorySpanExporter
) -> None:
    services, server = both
    down(server)
    answer, _ = asked(services, QUESTION, llm_fallback="extractive")
    told = root(spans)
    quotes = services.answerer.quotes
    assert (told["llm_provider"], told["llm_model"]) == (quotes.name, quotes.model)
    assert (told["target_llm_provider"], told["target_llm_model"]) == ("openai", ASKED_MODEL)
    usage = answer.to_dict()["usage"]
    assert (usage["provider"], usage["model"]) == (quotes.name, quotes.model)


def test_where_nobody_wrote_the_trace_names_nobody(both: Both, spans: InMemorySpanExporter) -> None:
    services, server = both
    down(server)
    with pytest.raises(ModelUnavailable):
        asked(services, QUESTION)
    assert "llm_provider" not in root(spans)
    answer, _ = asked(services, ABSENT)
    assert answer.outcome.decision == "ABSTAIN"
    assert "llm_provider" not in root(spans)
    assert root(spans)["target_llm_provider"] == "openai"


def test_exports_and_the_terminal_name_who_wrote(both: Both) -> None:
    services, server = both
    down(server)
    answer, _ = asked(services, QUESTION, llm_fallback="extractive")
    document = read_answer(answer.to_dict(), 1)
    assert "- Written by: extractive" in markdown([document], Base("http://a"))
    lead = "In the sources' own sentences, in place of a language model's answer: "
    assert lead in printed(answer)
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.message in printed(answer)
    declined, _ = asked(services, ABSENT)
    nobody = read_answer(declined.to_dict(), 1)
    assert "Written by" not in markdown([nobody], Base("http://a"))
    assert "openai" not in table([nobody], Base("http://a"))


def test_a_comparison_names_all_who_wrote_and_each_corpus_its_own(
    both: Both, spans: InMemorySpanExporter
) -> None:
    services, server = both
    calls: list[Request] = []

    def once(request: Request) -> Says | Reply:
        calls.append(request)
        return Says(f"Granted {tokens(request)[0]}.") if len(calls) == 1 else Reply(500)

    server.says(once)
    answer, _ = asked(services, MARRIAGE, mode="compare", llm_fallback="extractive")
    written = [part for part in answer.to_dict()["comparison"]["answers"] if part["answer"]]
    assert [part["provider"] for part in written] == [
        "openai", *["extractive"] * (len(written) - 1)
    ]  # fmt: skip
    assert [part["fallback"] is None for part in written] == [
        True, *[False] * (len(written) - 1)
    ]  # fmt: skip
    assert answer.writer.provider == root(spans)["llm_provider"] == "openai + extractive"


def test_exports_and_the_terminal_tell_what_was_struck(both: Both) -> None:
    services, server = both
    writes(server, both_said)
    answer, _ = asked(services, QUESTION, verify="model")
    document = read_answer(answer.to_dict(), 1)
    shown = markdown([document], Base("http://a"))
    assert f"## Struck, because the sources do not support it\n\n- {FALSE}. (unsupported: " in shown
    assert "- Checked by: citations, and the language model\n" in shown
    assert f"Struck, as unsupported: {FALSE}. " in printed(answer)
    rows = csv.DictReader(io.StringIO(table([document], Base("http://a"))))
    assert [row["support"] for row in rows] == ["supported"]
