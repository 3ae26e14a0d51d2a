"""What spans of model calls say, in OpenInference's words and OpenTelemetry's."""

import json

import opentelemetry.semconv._incubating.attributes.gen_ai_attributes as public
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv.schemas import Schemas

from atlas_search.answer.prompts import prompt, version_of
from atlas_search.atlas import Atlas
from atlas_search.core.domain import ChatTurn
from atlas_search.core.telemetry import names as gen_ai
from atlas_search.services import Services
from tests.answering import asked
from tests.chat_server import Says
from tests.spans.recorded import Both, named
from tests.test_compare import QUESTION as IN_TWO_CORPORA
from tests.test_compare import one_sentence_each
from tests.test_generate import cited

QUESTION = "How do Britain and New Zealand treat libel of a local authority?"

HISTORY = (ChatTurn("user", QUESTION), ChatTurn("assistant", "No."))


def calls(spans: InMemorySpanExporter) -> list[dict[str, object]]:
    """The attributes of every model call, in order."""
    found = spans.get_finished_spans()
    return [dict(span.attributes or {}) for span in found if span.name == "generate"]


def test_names_are_those_of_the_version_that_spans_state(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    known = {value for name, value in vars(public).items() if name.startswith("GEN_AI_")}
    own = {
        value
        for value in vars(gen_ai).values()
        if isinstance(value, str) and value.startswith("gen_ai.")
    }
    assert len(own) == 15
    assert own <= known
    assert gen_ai.SCHEMA in {schema.value for schema in Schemas}
    providers = {each.value for each in public.GenAiProviderNameValues}
    assert {gen_ai.provider("mistral"), gen_ai.provider("openai")} <= providers
    assert gen_ai.provider("a plugin's") == "a plugin's"
    Atlas(traced).search(QUESTION)
    for span in exported.get_finished_spans():
        assert span.instrumentation_scope
        assert span.instrumentation_scope.schema_url == gen_ai.SCHEMA


def test_a_call_says_whom_it_asked_what_it_got_and_what_it_took(
    both: Both, exported: InMemorySpanExporter
) -> None:
    services, server = both
    server.says(cited)
    answer, _ = asked(services, QUESTION, llm_price_input=1e6, llm_price_output=2e6)
    (told,) = calls(exported)
    (request,) = server.requests
    usage = answer.writer.usage
    target = services.targets["model"]
    assert {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": request.body["model"],
        "gen_ai.response.model": answer.writer.model,
        "gen_ai.request.temperature": request.body["temperature"],
        "gen_ai.request.max_tokens": target.max_tokens,
        "gen_ai.request.stream": True,
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.conversation.id": "s1",
        "llm.provider": "openai",
        "llm.model_name": request.body["model"],
        "llm.token_count.total": usage.prompt_tokens + usage.completion_tokens,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": cited(server.requests[0]),
    }.items() <= told.items()
    assert told["llm.cost.total"] == usage.prompt_tokens + 2 * usage.completion_tokens
    assert json.loads(str(told["llm.invocation_parameters"])) == {
        "model": request.body["model"],
        "temperature": request.body["temperature"],
        "max_tokens": target.max_tokens,
    }
    sent = [
        {"role": told[f"llm.input_messages.{at}.message.role"],
         "content": told[f"llm.input_messages.{at}.message.content"]}
        for at in range(len(request.body["messages"]))
    ]  # fmt: skip
    assert sent == request.body["messages"]


def test_a_call_without_prices_says_no_cost(both: Both, exported: InMemorySpanExporter) -> None:
    services, server = both
    server.says(cited)
    asked(services, QUESTION)
    assert "llm.cost.total" not in calls(exported)[0]


def test_a_call_says_its_prompt_and_the_root_the_version_of_its_rules(
    both: Both, exported: InMemorySpanExporter
) -> None:
    services, server = both
    server.then(Says("A council may sue [legal_uk.invented p9]."))
    server.says(cited)
    answer, _ = asked(services, QUESTION)
    first, second = calls(exported)
    rules = services.answerer.rules["system"]
    assert first["gen_ai.prompt.name"] == "system"
    assert first["llm.prompt_template.template"] == rules.template
    assert first["llm.prompt_template.version"] == version_of(rules)
    variables = json.loads(str(first["llm.prompt_template.variables"]))
    assert variables["question"] == QUESTION
    assert variables["passages"][0] == answer.result.valid[0].passage.marker
    assert second["gen_ai.prompt.name"] == "repair"
    assert second["llm.prompt_template.version"] == version_of(prompt("repair"))
    root = named(exported, "ask")
    assert root["system_prompt"] == "system"
    assert root["system_prompt_version"] == version_of(rules)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("condense", {"history": HISTORY, "condense_followups": True}),
        ("judge", {"verify": "model"}),
    ],
)
def test_every_call_names_its_own_prompt(
    both: Both, exported: InMemorySpanExporter, name: str, options: dict[str, object]
) -> None:
    services, server = both
    server.says(cited)
    asked(services, QUESTION, **options)  # type: ignore[arg-type]
    assert name in {told["gen_ai.prompt.name"] for told in calls(exported)}


def test_a_comparison_names_its_own_prompt(both: Both, exported: InMemorySpanExporter) -> None:
    services, server = both
    server.says(one_sentence_each)
    asked(services, IN_TWO_CORPORA, mode="compare")
    assert calls(exported)[-1]["gen_ai.prompt.name"] == "compare"


def test_quotes_are_chosen_and_no_model_is_said_to_be_asked(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    answer = Atlas(traced).ask(QUESTION)
    (told,) = calls(exported)
    assert told["gen_ai.operation.name"] == "extract"
    assert (told["gen_ai.provider.name"], told["gen_ai.request.model"]) == (
        "extractive",
        "sentences",
    )
    assert "gen_ai.usage.input_tokens" not in told
    assert str(told["llm.output_messages.0.message.content"]).strip() == answer.text


def test_embeddings_and_retrievals_have_their_operations(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    Atlas(traced).search(QUESTION)
    info = traced.searcher.embedder.info
    assert {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": info.provider,
        "gen_ai.request.model": info.name,
        "gen_ai.embeddings.dimension.count": info.dimension,
    }.items() <= dict(named(exported, "embed")).items()
    for name in ("search", "dense legal_uk", "lexical legal_uk"):
        assert named(exported, name)["gen_ai.operation.name"] == "retrieval"
    collection = traced.store.manifest.collection
    source = named(exported, "dense legal_uk")["gen_ai.data_source.id"]
    assert source == f"{collection}/legal_uk"
