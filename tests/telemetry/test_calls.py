"""The spans of model calls, in OpenInference's words and OpenTelemetry's."""

import json
from typing import Any

import opentelemetry.semconv._incubating.attributes.gen_ai_attributes as public
import pytest
from opentelemetry.semconv.schemas import Schemas

from atlas_search.answer.prompts import prompt, version_of
from atlas_search.atlas import Atlas
from atlas_search.core.domain import ChatTurn
from atlas_search.core.telemetry import names as gen_ai
from tests.answering import asked
from tests.chat_server import Request, Says
from tests.recorded_spans import Recorded, said
from tests.telemetry.conftest import Traced, Written, cited

QUESTION = "How do Britain and New Zealand treat libel of a local authority?"
IN_TWO_CORPORA = "Which grounds make marriage between two people of the same sex lawful?"
HISTORY = (ChatTurn("user", QUESTION), ChatTurn("assistant", "No."))


def calls(recorded: Recorded) -> list[dict[str, Any]]:
    """The attributes of every model call, in order."""
    return [said(span) for span in recorded.named("generate")]


def test_names_are_those_of_the_version_that_spans_state(traced: Traced) -> None:
    services, recorded = traced
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
    Atlas(services).search(QUESTION)
    for span in recorded.spans:
        assert span.instrumentation_scope
        assert span.instrumentation_scope.schema_url == gen_ai.SCHEMA


def test_a_call_says_whom_it_asked_what_it_got_and_what_it_took(written: Written) -> None:
    services, server, recorded = written
    server.says(cited)
    answer, _ = asked(services, QUESTION, llm_price_input=1e6, llm_price_output=2e6)
    (call,) = calls(recorded)
    (request,) = server.requests
    usage = answer.writer.usage
    parameters = {
        "model": request.body["model"],
        "temperature": request.body["temperature"],
        "max_tokens": services.targets["model"].max_tokens,
    }
    assert {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        **{f"gen_ai.request.{name}": value for name, value in parameters.items()},
        "gen_ai.response.model": answer.writer.model,
        "gen_ai.request.stream": True,
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.conversation.id": "s1",
        "llm.provider": "openai",
        "llm.model_name": request.body["model"],
        "llm.token_count.total": usage.prompt_tokens + usage.completion_tokens,
        "llm.cost.total": usage.prompt_tokens + 2 * usage.completion_tokens,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": cited(request),
    }.items() <= call.items()
    assert json.loads(call["llm.invocation_parameters"]) == parameters
    messages = [
        {part: call[f"llm.input_messages.{at}.message.{part}"] for part in ("role", "content")}
        for at, _ in enumerate(request.body["messages"])
    ]
    assert messages == request.body["messages"]
    # on the root Phoenix would add them to those of the calls
    assert "gen_ai.usage.input_tokens" not in recorded.last("ask")


def test_each_call_says_its_prompt_and_the_root_the_version_of_its_rules(written: Written) -> None:
    services, server, recorded = written
    server.then(Says("A council may sue [legal_uk.invented p9]."))
    server.says(cited)
    answer, _ = asked(services, QUESTION)
    first, second = calls(recorded)
    rules = services.answerer.rules["system"]
    assert (first["gen_ai.prompt.name"], second["gen_ai.prompt.name"]) == ("system", "repair")
    assert first["llm.prompt_template.template"] == rules.template
    assert first["llm.prompt_template.version"] == version_of(rules)
    assert second["llm.prompt_template.version"] == version_of(prompt("repair"))
    variables = json.loads(first["llm.prompt_template.variables"])
    assert variables["question"] == QUESTION
    assert variables["passages"][0] == answer.result.valid[0].passage.marker
    assert "llm.cost.total" not in first  # without prices
    assert [call["attempt"] for call in (first, second)] == [1, 2]
    assert [call["llm.token_count.total"] for call in (first, second)] == [18, 18]
    root = recorded.last("ask")
    assert (root["system_prompt"], root["system_prompt_version"]) == ("system", version_of(rules))


def one_sentence_each(request: Request) -> str:
    """An answer for each corpus, then in what two of them agree."""
    granted = [line for line in request.prompt.splitlines() if line.startswith("Granted")]
    markers = [line[line.index("[") : line.index("]") + 1] for line in granted[:2]]
    return f"AGREE: Both say so {' '.join(markers)}." if granted else cited(request)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("condense", {"history": HISTORY, "condense_followups": True}),
        ("judge", {"verify": "model"}),
        ("compare", {"mode": "compare"}),
    ],
)
def test_every_call_names_its_own_prompt(
    written: Written, name: str, options: dict[str, Any]
) -> None:
    services, server, recorded = written
    server.says(one_sentence_each)
    asked(services, IN_TWO_CORPORA, **options)
    assert name in {call["gen_ai.prompt.name"] for call in calls(recorded)}
