"""The API of OpenAI: by its own clients, and by requests as chat front ends send them."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from atlas_search import Atlas
from atlas_search.core.domain import Citation
from atlas_search.services import Services
from tests.integrations.conftest import Guarded
from tests.server.two_corpora import PLANTED, QUESTION, SECRET_QUESTION

LIBEL = "Can a council sue a newspaper for libel?"
CHICKEN = "How long should I roast a chicken?"
MODEL = "k10_extractive"
ASKED = [{"role": "user", "content": LIBEL}]


@pytest.fixture
def client(address: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def cited(services: Services) -> tuple[Citation, ...]:
    return Atlas(services).ask(LIBEL).citations


def data_lines(text: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]


def test_models_are_targets_the_default_one_first(
    client: openai.OpenAI, services: Services
) -> None:
    names = [model.id for model in client.models.list()]
    assert names[0] == services.settings.test_target
    assert set(names) <= services.targets.keys()


def test_an_answer_cites_in_its_text_and_by_annotations(
    client: openai.OpenAI, address: str, cited: tuple[Citation, ...]
) -> None:
    reply = client.chat.completions.create(model=MODEL, messages=ASKED)  # type: ignore[arg-type]
    message = reply.choices[0].message
    assert message.content
    assert message.annotations
    assert len(message.annotations) == len(cited)
    for number, (note, citation) in enumerate(zip(message.annotations, cited, strict=True), 1):
        about = note.url_citation
        link = message.content[about.start_index : about.end_index]
        assert link == f"[{number}]({about.url})"
        assert about.url.startswith(f"{address}/?passage=")
        assert about.title == citation.passage.title
        assert citation.quote.split(" [", maxsplit=1)[0] in message.content
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage
    assert reply.usage.total_tokens == 0  # nobody wrote: the sources' own sentences


def test_a_stream_has_the_same_text(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model=MODEL, messages=ASKED)  # type: ignore[arg-type]
    stream = client.chat.completions.create(
        model=MODEL,
        messages=ASKED,  # type: ignore[arg-type]
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == whole.choices[0].message.content
    assert len([delta for delta in deltas if delta.content]) >= 3
    assert chunks[-1].usage
    assert [chunk for chunk in chunks if chunk.choices][-1].choices[0].finish_reason == "stop"


def test_responses_cite_likewise(client: openai.OpenAI) -> None:
    chat = client.chat.completions.create(model=MODEL, messages=ASKED)  # type: ignore[arg-type]
    reply = client.responses.create(model=MODEL, input=LIBEL)
    assert reply.output_text == chat.choices[0].message.content
    with client.responses.stream(model=MODEL, input=ASKED) as stream:  # type: ignore[arg-type]
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert final.output_text == reply.output_text
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert "response.output_text.annotation.added" in kinds
    notes = final.output[0].content[0].annotations  # type: ignore[union-attr]
    assert notes == reply.output[0].content[0].annotations  # type: ignore[union-attr]
    assert notes


def test_what_the_sources_do_not_say_is_declined_with_what_comes_closest(
    client: openai.OpenAI, services: Services
) -> None:
    expected = Atlas(services).ask(CHICKEN)
    messages: Any = [{"role": "user", "content": CHICKEN}]
    reply = client.chat.completions.create(model=MODEL, messages=messages)
    text = reply.choices[0].message.content or ""
    assert text.startswith(expected.outcome.message)
    assert "Closest passages, not an answer:" in text
    assert reply.model_extra
    assert reply.model_extra["atlas"]["decision"] == "ABSTAIN"


def test_a_conversation_is_followed(client: openai.OpenAI, services: Services) -> None:
    first = client.chat.completions.create(model=MODEL, messages=ASKED)  # type: ignore[arg-type]
    messages: Any = [
        {"role": "system", "content": "Answer like a pirate."},
        *ASKED,
        {"role": "assistant", "content": first.choices[0].message.content},
        {"role": "user", "content": [{"type": "text", "text": "Who dissented in Plessy?"}]},
    ]
    reply = client.chat.completions.create(model=MODEL, messages=messages, temperature=0.2)
    assert reply.choices[0].message.content
    assert "Harlan" in reply.choices[0].message.content


def test_fields_of_atlas_narrow_what_is_searched(client: openai.OpenAI) -> None:
    messages: Any = [{"role": "user", "content": "Is the death penalty allowed?"}]
    extra = {"atlas": {"corpora": ["legal_uk", "legal_us"], "mode": "compare"}}
    reply = client.chat.completions.create(model=MODEL, messages=messages, extra_body=extra)
    text = reply.choices[0].message.content or ""
    assert "**legal\\_uk**" in text
    assert "**legal\\_us**" in text
    assert "legislation" not in text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"model": "none"}, "There is no target 'none'"),
        ({"messages": []}, "End with the question"),
        ({"messages": [*ASKED, {"role": "assistant", "content": "Yes."}]}, "End with the question"),
        ({"messages": [{"role": "user", "content": "x" * 5000}]}, "question"),
        ({"n": 2}, "n=2"),
        ({"extra_body": {"atlas": {"colour": "red"}}}, "colour"),
    ],
)
def test_errors_have_the_form_of_openai(
    client: openai.OpenAI, fields: dict[str, Any], said: str
) -> None:
    body: dict[str, Any] = {"model": MODEL, "messages": ASKED} | fields
    for more in ({}, {"stream": True}):
        with pytest.raises(openai.BadRequestError, match=said) as raised:
            client.chat.completions.create(**body, **more)
        assert raised.value.type == "invalid_request_error"


def test_keys_are_bearer_tokens(guarded: Guarded) -> None:
    def ask(key: str, question: str) -> str:
        with openai.OpenAI(base_url=f"{guarded.address}/v1", api_key=key, max_retries=0) as client:
            messages: Any = [{"role": "user", "content": question}]
            reply = client.chat.completions.create(model="certain", messages=messages)
            return reply.choices[0].message.content or ""

    with pytest.raises(openai.AuthenticationError, match="does not know the key"):
        ask("wrong", QUESTION)
    assert f"{PLANTED}warden" in ask(guarded.whole, SECRET_QUESTION)
    assert f"{PLANTED}warden" not in ask(guarded.narrow, SECRET_QUESTION)
    assert "granite bridge" in ask(guarded.narrow, QUESTION)


def test_open_webui_is_sent_the_sources_with_their_quotes(
    address: str, cited: tuple[Citation, ...]
) -> None:
    """A request as Open WebUI 0.6 sends it."""
    body = {
        "stream": True,
        "model": MODEL,
        "messages": [{"role": "system", "content": "Be brief."}, *ASKED],
        "stream_options": {"include_usage": True},
        "max_tokens": 1024,
        "user": {"name": "A reader", "id": "1", "email": "reader@example.org", "role": "user"},
        "tool_ids": None,
        "features": {"web_search": False},
    }
    with httpx2.stream("POST", f"{address}/v1/chat/completions", json=body) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        lines = data_lines(reply.read().decode())
    events = [line["event"] for line in lines if "event" in line]
    assert events[0] == {
        "type": "status",
        "data": {"description": "10 passages found", "done": False},
    }
    sources = [event["data"] for event in events if event["type"] == "source"]
    assert [source["document"] for source in sources] == [[each.quote] for each in cited]
    for source in sources:
        assert source["source"]["url"] == source["metadata"][0]["source"]
        assert source["source"]["name"]
    assert all("choices" in line for line in lines)


def test_librechat_gets_a_stream_that_it_can_read(address: str) -> None:
    """A request as LibreChat sends it to a custom endpoint."""
    body = {
        "model": MODEL,
        "user": "6650",
        "stream": True,
        "messages": [{"role": "user", "content": [{"type": "text", "text": LIBEL}]}],
        "temperature": 1,
        "top_p": 1,
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "stop": ["||>", "\nUser:"],
    }
    reply = httpx2.post(f"{address}/v1/chat/completions", json=body, timeout=60)
    deltas = [choice["delta"] for line in data_lines(reply.text) for choice in line["choices"]]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "cannot sue for libel" in "".join(delta.get("content", "") for delta in deltas)


NODE = """
import OpenAI from "openai";
const client = new OpenAI({ baseURL: process.argv[2], apiKey: "none" });
const asked = { model: process.argv[3], messages: [{ role: "user", content: process.argv[4] }] };
const whole = await client.chat.completions.create(asked);
const message = whole.choices[0].message;
let streamed = "";
for await (const chunk of await client.chat.completions.create({ ...asked, stream: true })) {
  streamed += chunk.choices[0]?.delta?.content ?? "";
}
const reply = await client.responses.create({ model: process.argv[3], input: process.argv[4] });
const names = [];
for await (const model of client.models.list()) names.push(model.id);
console.log(JSON.stringify({
  text: message.content, streamed, output: reply.output_text, names,
  notes: message.annotations.map((note) => note.url_citation.url),
}));
"""


@pytest.mark.thorough
def test_the_client_for_node_works_unchanged(
    address: str, tmp_path: Path, cited: tuple[Citation, ...]
) -> None:
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    (tmp_path / "ask.mjs").write_text(NODE)
    install = ["npm", "install", "--no-audit", "--no-fund", "--silent", "openai@6"]
    subprocess.run(install, cwd=tmp_path, check=True, timeout=200)
    command = ["node", "ask.mjs", f"{address}/v1", MODEL, LIBEL]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=100, check=True)
    said = json.loads(run.stdout)
    assert said["text"] == said["streamed"] == said["output"]
    assert len(said["notes"]) == len(cited)
    assert MODEL in said["names"]
