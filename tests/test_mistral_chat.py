"""Mistral's chat: the real client against a local server that speaks its API."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from atlas_search.core.errors import Cancelled, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import ModelCalls
from atlas_search.providers.chat_remote import RemoteChat, mistral_chat
from atlas_search.providers.mistral import MistralAccount, MistralApi, MistralEmbedder
from tests.chat_contract import (
    MESSAGES,
    ChatContract,
    OpenChat,
    calls,
    chat,
    opened_calls,
    waits,
)
from tests.chat_server import KEY, Reply, Says
from tests.mistral_server import (
    MODEL,
    RUN_MODEL,
    MistralServer,
    in_chunks,
    mistral_server,
    thinking,
)

__all__ = ["calls", "chat", "opened_calls", "waits"]  # fixtures


@pytest.fixture
def server() -> Iterator[MistralServer]:
    with mistral_server() as running:
        yield running


@pytest.fixture
def open_chat(server: MistralServer) -> OpenChat:
    def opened(
        calls: ModelCalls, sleep: Any = asyncio.sleep, key: str = KEY, address: str = server.address
    ) -> RemoteChat:
        account = MistralAccount(SecretStr(key), address, 6000, 20.0)
        return mistral_chat(lambda: MistralApi(account), calls, sleep)

    return opened


@pytest.fixture
def slow_api(server: MistralServer) -> MistralApi:
    """An account that allows one request in a minute."""
    return MistralApi(MistralAccount(SecretStr(KEY), server.address, 1, 20.0))


class TestMistral(ChatContract):
    model = MODEL
    run_model = RUN_MODEL
    key_setting = "MISTRAL_API_KEY"
    address_setting = "MISTRAL_SERVER_URL"
    debug = ("MISTRAL_DEBUG", "1")

    def test_what_a_model_thinks_is_no_text(self, server: MistralServer, chat: RemoteChat) -> None:
        server.then(Says(thinking("Hm. ", "Well."), in_chunks("The ", "court "), "held."))
        assert self.read(chat) == ["The court ", "held.", self.end()]

    def test_a_model_that_is_not_listed_is_no_good_health(self, chat: RemoteChat) -> None:
        health = chat.health("mistral-smal")
        assert not health.ready
        assert "does not list the model mistral-smal" in health.detail
        assert "Set LLM_MODEL to one that it has, such as: mistral-small-latest" in health.detail

    def test_a_name_of_a_listed_model_is_good_health(self, chat: RemoteChat) -> None:
        assert [chat.health(name).ready for name in (RUN_MODEL, MODEL)] == [True, True]

    def test_chat_and_embeddings_share_the_accounts_rate(
        self, server: MistralServer, slow_api: MistralApi, calls: ModelCalls
    ) -> None:
        MistralEmbedder("mistral-embed", slow_api).embed_query("what?")
        chat = mistral_chat(lambda: slow_api, calls)
        with pytest.raises(ModelUnavailable, match="MISTRAL_REQUESTS_PER_MINUTE=1") as caught:
            self.read(chat, seconds=1)
        assert (caught.value.retry_after, len(server.requests)) == (60, 1)
        assert chat.health(MODEL).ready

    def test_each_try_counts_against_the_rate(
        self, server: MistralServer, slow_api: MistralApi, calls: ModelCalls
    ) -> None:
        server.then(Reply(500))

        async def sleep(_: float) -> None:
            """At once."""

        with pytest.raises(ModelUnavailable):
            self.read(mistral_chat(lambda: slow_api, calls, sleep), seconds=0.5)
        assert len(server.requests) == 1

    def test_a_stop_ends_a_call_that_waits_for_the_rate(
        self, server: MistralServer, slow_api: MistralApi, calls: ModelCalls
    ) -> None:
        chat = mistral_chat(lambda: slow_api, calls)
        self.read(chat)
        stop = Stop()
        timer = threading.Timer(0.1, stop.set)
        timer.start()
        with pytest.raises(Cancelled):
            list(chat.stream(MESSAGES, self.options, stop))
        timer.join()
        assert (calls.running, len(server.requests)) == (0, 1)
