"""OpenAI's protocol: the real client against a local server that speaks it."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from atlas_search.core.errors import ModelRefused, ModelUnavailable
from atlas_search.providers.chat import ModelCalls
from atlas_search.providers.chat_remote import RemoteChat, openai_chat
from tests.chat_contract import (
    ChatContract,
    OpenChat,
    calls,
    chat,
    opened_calls,
    waits,
)
from tests.chat_server import KEY, Raw, Reply, Says
from tests.openai_server import MODEL, RUN_MODEL, OpenAIServer, openai_server, refusal

__all__ = ["calls", "chat", "opened_calls", "waits"]  # fixtures


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


@pytest.fixture
def open_chat(server: OpenAIServer) -> OpenChat:
    def opened(
        calls: ModelCalls, sleep: Any = asyncio.sleep, key: str = KEY, address: str = server.address
    ) -> RemoteChat:
        return openai_chat(SecretStr(key), address, calls, sleep)

    return opened


class TestOpenAI(ChatContract):
    model = MODEL
    run_model = RUN_MODEL
    key_setting = "OPENAI_API_KEY"
    address_setting = "OPENAI_BASE_URL"
    debug = ("OPENAI_LOG", "debug")

    def test_a_server_of_ones_own_needs_no_key(
        self, server: OpenAIServer, open_chat: OpenChat, calls: ModelCalls
    ) -> None:
        server.key = "none-needed"
        assert self.read(open_chat(calls, key=""))[-1] == self.end()

    def test_the_tokens_are_asked_for(self, server: OpenAIServer, chat: RemoteChat) -> None:
        self.read(chat)
        assert server.requests[0].body["stream_options"] == {"include_usage": True}

    def test_a_refusal_in_its_own_field_is_text(
        self, server: OpenAIServer, chat: RemoteChat
    ) -> None:
        choice = '{"index": 0, "delta": {"refusal": "I cannot."}, "finish_reason": null}'
        server.then(Says(Raw(f'{{"model": "{RUN_MODEL}", "choices": [{choice}]}}')))
        assert self.read(chat) == ["I cannot.", self.end()]

    def test_reasoning_is_no_text(self, server: OpenAIServer, chat: RemoteChat) -> None:
        choice = '{"index": 0, "delta": {"reasoning_content": "Hm."}, "finish_reason": null}'
        server.then(Says(Raw(f'{{"model": "{RUN_MODEL}", "choices": [{choice}]}}'), "The"))
        assert self.read(chat) == ["The", self.end()]

    @pytest.mark.parametrize("message", ["Unknown field.", "stream_options is not permitted"])
    def test_a_server_that_does_not_tell_tokens_is_not_asked_for_them(
        self, server: OpenAIServer, chat: RemoteChat, message: str
    ) -> None:
        server.then(refusal(400, message), Says("The"), Says("court"))
        assert self.read(chat)[0] == "The"
        assert self.read(chat)[0] == "court"
        sent = ["stream_options" in request.body for request in server.requests]
        assert sent == [True, False, False]

    def test_a_model_that_takes_other_options_is_given_those(
        self, server: OpenAIServer, chat: RemoteChat
    ) -> None:
        server.then(
            refusal(400, "Unsupported parameter: 'max_tokens'.", param="max_tokens"),
            refusal(400, "Unsupported value: 'temperature' is always 1.", param="temperature"),
            Says("The"),
        )
        assert self.read(chat) == ["The", self.end()]
        assert self.read(chat)[-1] == self.end()
        kept = {"model", "messages", "max_completion_tokens", "stream", "stream_options"}
        assert [set(request.body) for request in server.requests[2:]] == [kept, kept]

    def test_a_request_that_is_refused_for_good_is_reported(
        self, server: OpenAIServer, chat: RemoteChat
    ) -> None:
        server.then(*[refusal(400, "This model reads 4096 tokens.")] * 2)
        with pytest.raises(ModelRefused, match=r"400: .*reads 4096 tokens.*CONTEXT_TOKENS"):
            self.read(chat)
        assert len(server.requests) == 2

    def test_an_empty_account_is_not_asked_again(
        self, server: OpenAIServer, chat: RemoteChat, waits: list[float]
    ) -> None:
        server.then(refusal(429, "You exceeded your current quota.", "insufficient_quota"))
        with pytest.raises(ModelUnavailable, match="exceeded your current quota"):
            self.read(chat)
        assert waits == []

    def test_a_server_without_a_list_of_models_may_be_ready(
        self, server: OpenAIServer, chat: RemoteChat
    ) -> None:
        server.then(Reply(404, "404 page not found"))
        assert chat.health("any").ready

    def test_a_server_may_have_a_model_that_it_does_not_list(self, chat: RemoteChat) -> None:
        health = chat.health("gpt-4o-maxi")
        assert health.ready
        assert "does not list the model gpt-4o-maxi" in health.detail
        assert "such as: gpt-4o-mini" in health.detail

    def test_an_address_that_cannot_be_one_is_reported(
        self, open_chat: OpenChat, calls: ModelCalls
    ) -> None:
        with pytest.raises(ModelRefused, match="OPENAI_BASE_URL=http://:a is no address"):
            self.read(open_chat(calls, address="http://:a"))


def test_the_clients_are_not_imported_before_they_are_used() -> None:
    code = (
        "import sys\n"
        "from atlas_search.providers import chat_remote, open\n"
        "print([name for name in ('openai', 'mistralai', 'httpx2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
