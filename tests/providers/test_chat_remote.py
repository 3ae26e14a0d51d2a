"""Language models over HTTP: one suite, run over each provider with its real client.

The faults that chat shares with other services are in `test_http.py`.
"""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

import atlas_search.providers.chat_remote
from atlas_search.core.errors import AtlasError, Cancelled, ModelRefused, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import ChatOptions, Ended, Message, ModelCalls, Usage
from atlas_search.providers.chat_remote import RemoteChat, mistral_chat, openai_chat
from atlas_search.providers.mistral import MistralApi, MistralEmbedder
from tests import mistral_server, openai_server
from tests.chat_server import KEY, ChatServer, Cut, Gate, Hang, Raw, Reply, Says, Silence
from tests.mistral_server import MistralServer, in_chunks, thinking
from tests.openai_server import OpenAIServer, refusal

MESSAGES = [Message("system", "Answer from the passages."), Message("user", "What was held?")]
SOON = 20.0
"""Seconds in which anything happens that happens at once."""

OpenChat = Callable[..., RemoteChat]


@pytest.fixture(scope="module")
def opened_calls() -> Iterator[ModelCalls]:
    opened = ModelCalls(limit=1, patience_seconds=SOON)
    yield opened
    opened.close()


@pytest.fixture
def calls(opened_calls: ModelCalls) -> Iterator[ModelCalls]:
    """One call at once. Whatever a test does, nothing of it may remain."""
    yield opened_calls
    assert (opened_calls.running, opened_calls.waiting) == (0, 0)


@pytest.fixture
def chat(open_chat: OpenChat, calls: ModelCalls, waits: list[float]) -> RemoteChat:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return open_chat(calls, sleep=sleep)


class ChatContract:
    """The suite. A provider gives the fixtures `server` and `open_chat`, and the attributes."""

    model: str
    run_model: str
    key_setting: str
    address_setting: str

    @property
    def options(self) -> ChatOptions:
        return ChatOptions(self.model, temperature=0.2, max_tokens=300, seconds=SOON)

    def end(self, reason: Any = "stop") -> Ended:
        return Ended(Usage(11, 7), self.run_model, reason)

    def stream(self, chat: RemoteChat, stop: Stop | None = None, **changes: Any) -> Any:
        return chat.stream(MESSAGES, replace(self.options, **changes), stop or Stop())

    def read(self, chat: RemoteChat, **changes: Any) -> list[str | Ended]:
        return list(self.stream(chat, **changes))

    @pytest.mark.parametrize("parts", [("The ", "court."), ()])
    def test_a_text_comes_in_pieces_and_then_its_end(
        self, server: ChatServer, chat: RemoteChat, parts: tuple[str, ...]
    ) -> None:
        server.then(Says(*parts))
        assert self.read(chat) == [*parts, self.end()]
        body = server.requests[0].body
        assert body["messages"] == [
            {"role": "system", "content": "Answer from the passages."},
            {"role": "user", "content": "What was held?"},
        ]
        assert (body["model"], body["temperature"]) == (self.model, 0.2)
        assert (body["max_tokens"], body["stream"]) == (300, True)

    def test_a_piece_is_given_before_the_next_is_written(
        self, server: ChatServer, chat: RemoteChat
    ) -> None:
        gate = Gate()
        server.then(Says("The ", gate, "court."))
        stream = self.stream(chat)
        assert next(stream) == "The "
        gate.set()
        assert list(stream) == ["court.", self.end()]

    def test_a_connection_is_used_again(self, server: ChatServer, chat: RemoteChat) -> None:
        for _ in range(6):
            self.read(chat)
        assert (len(server.requests), server.connections) == (6, 1)

    @pytest.mark.parametrize(
        ("word", "reason"),
        [
            ("length", "length"),
            ("model_length", "length"),
            ("content_filter", "filtered"),
            ("tool_calls", "stop"),
            ("some_new_word", "stop"),
        ],
    )
    def test_the_end_of_a_text_has_a_reason(
        self, server: ChatServer, chat: RemoteChat, word: str, reason: str
    ) -> None:
        server.then(Says("The", finish=word))
        assert self.read(chat)[-1] == self.end(reason)

    def test_tokens_that_are_not_told_count_as_none(
        self, server: ChatServer, chat: RemoteChat
    ) -> None:
        server.then(Says("The", usage=None))
        assert self.read(chat) == ["The", Ended(Usage(0, 0), self.run_model, "stop")]

    def test_a_connection_that_breaks_before_any_text_is_made_anew(
        self, server: ChatServer, chat: RemoteChat, waits: list[float]
    ) -> None:
        server.then(Says(Cut()), Says("The"))
        assert self.read(chat) == ["The", self.end()]
        assert waits == [0.5]

    @pytest.mark.parametrize(
        ("says", "problem"),
        [
            (Says("The ", Cut()), "connection broke"),
            (Says("The ", Raw('{"choices": [{"del')), r"no usable answer \("),
            (Says("The ", Raw('{"error": {"message": "Out of memory"}}')), "no usable answer"),
            (Says("The ", finish=""), "broke off before its end"),
            (Says("The ", finish="error"), "failed while it wrote"),
        ],
    )
    def test_a_text_that_breaks_off_is_reported_and_not_begun_again(
        self, server: ChatServer, chat: RemoteChat, says: Says, problem: str
    ) -> None:
        server.then(says)
        stream = self.stream(chat)
        assert next(stream) == "The "
        with pytest.raises(ModelUnavailable, match=problem):
            list(stream)
        assert len(server.requests) == 1

    @pytest.mark.parametrize("reply", [Silence(), Says(Hang()), Says("The ", Hang())])
    def test_a_provider_that_does_not_end_in_time_is_left(
        self, server: ChatServer, chat: RemoteChat, reply: Any
    ) -> None:
        server.then(reply)
        with pytest.raises(ModelUnavailable, match=r"within 1 seconds.*LLM_SECONDS"):
            self.read(chat, seconds=1.0)
        assert server.left.get(timeout=SOON) == server.requests[0]

    def test_without_a_key_each_call_and_health_say_what_to_do(
        self, server: ChatServer, open_chat: OpenChat
    ) -> None:
        calls = ModelCalls(limit=1, patience_seconds=SOON)
        chat = open_chat(calls, key="", address="")
        for _ in range(2):
            with pytest.raises(ModelRefused, match=f"needs a key. Set {self.key_setting}") as got:
                self.read(chat)
        health = chat.health(self.model)
        assert (health.ready, health.detail) == (False, str(got.value))
        assert not calls.started

    def test_a_provider_that_is_ready_says_no_more(self, chat: RemoteChat) -> None:
        assert (chat.health(self.model).ready, chat.health(self.model).detail) == (True, "")

    def test_a_key_that_is_not_taken_is_no_good_health(
        self, server: ChatServer, chat: RemoteChat
    ) -> None:
        server.key = "another"
        health = chat.health(self.model)
        assert not health.ready
        assert f"Set {self.key_setting}" in health.detail

    @pytest.mark.parametrize(
        "reply",
        [Silence(), Reply(500, "down"), Reply(200, "<html>", {"Content-Type": "text/html"})],
    )
    def test_a_provider_that_says_nothing_of_use_is_no_good_health(
        self, server: ChatServer, chat: RemoteChat, monkeypatch: pytest.MonkeyPatch, reply: Any
    ) -> None:
        monkeypatch.setattr(atlas_search.providers.chat_remote, "HEALTH_SECONDS", 0.3)
        server.then(reply)
        health = chat.health(self.model)
        assert not health.ready
        assert self.address_setting in health.detail

    def test_a_reader_who_stops_ends_the_model_and_health_waits_for_nobody(
        self, server: ChatServer, chat: RemoteChat, calls: ModelCalls
    ) -> None:
        server.then(Says("The ", Hang()))
        stream = self.stream(chat)
        assert (next(stream), calls.running) == ("The ", 1)
        assert chat.health(self.model).ready
        stream.close()
        assert calls.running == 0
        assert server.left.get(timeout=SOON) == server.requests[0]

    @pytest.mark.parametrize("reply", [Silence(), Says(Hang()), Says("The ", Hang())])
    def test_a_stop_ends_a_model_that_hangs(
        self, server: ChatServer, chat: RemoteChat, calls: ModelCalls, reply: Any
    ) -> None:
        server.then(reply)
        stop = Stop()
        with ThreadPoolExecutor() as pool:
            reading = pool.submit(list, self.stream(chat, stop))
            server.arrived.get(timeout=SOON)
            stop.set()
            with pytest.raises(Cancelled):
                reading.result(SOON)
        assert calls.running == 0
        assert server.left.get(timeout=SOON) == server.requests[0]

    def test_a_stop_ends_a_call_between_two_tries(
        self, server: ChatServer, open_chat: OpenChat, calls: ModelCalls
    ) -> None:
        stop = Stop()

        async def sleep(seconds: float) -> None:
            stop.set()
            await asyncio.sleep(seconds)

        server.then(Reply(429, {}, {"Retry-After": "10"}))
        with pytest.raises(Cancelled):
            list(self.stream(open_chat(calls, sleep=sleep), stop))
        assert (calls.running, len(server.requests)) == (0, 1)

    def test_after_every_fault_the_place_is_free(
        self, server: ChatServer, chat: RemoteChat
    ) -> None:
        faults = [Says("The ", Cut()), Reply(401), Says("The", finish=""), Says("The", Raw("{"))]
        server.then(*faults)
        for _ in faults:
            with pytest.raises(AtlasError):
                self.read(chat)
        server.then(Says("The"))
        assert self.read(chat) == ["The", self.end()]


class TestMistral(ChatContract):
    model = mistral_server.MODEL
    run_model = mistral_server.RUN_MODEL
    key_setting = "MISTRAL_API_KEY"
    address_setting = "MISTRAL_SERVER_URL"

    @pytest.fixture
    def server(self) -> Iterator[MistralServer]:
        with mistral_server.mistral_server() as running:
            yield running

    @pytest.fixture
    def open_chat(self, server: MistralServer) -> OpenChat:
        def opened(
            calls: ModelCalls,
            sleep: Any = asyncio.sleep,
            key: str = KEY,
            address: str = server.address,
        ) -> RemoteChat:
            return mistral_chat(
                lambda: MistralApi(SecretStr(key), address, 6000, 20.0), calls, sleep
            )

        return opened

    @pytest.fixture
    def slow_api(self, server: MistralServer) -> MistralApi:
        """An account that allows one request in a minute."""
        return MistralApi(SecretStr(KEY), server.address, 1, 20.0)

    def test_a_models_thoughts_are_no_text(self, server: MistralServer, chat: RemoteChat) -> None:
        server.then(Says(thinking("Hm. ", "Well."), in_chunks("The ", "court "), "held."))
        assert self.read(chat) == ["The court ", "held.", self.end()]

    def test_a_model_that_is_not_listed_is_no_good_health(self, chat: RemoteChat) -> None:
        health = chat.health("mistral-smal")
        assert not health.ready
        assert "does not list the model mistral-smal" in health.detail
        assert "Set LLM_MODEL to one that it has, such as: mistral-small-latest" in health.detail
        assert [chat.health(name).ready for name in (self.run_model, self.model)] == [True, True]

    def test_chat_and_embeddings_share_the_accounts_rate(
        self, server: MistralServer, slow_api: MistralApi, calls: ModelCalls
    ) -> None:
        MistralEmbedder("mistral-embed", slow_api).embed_query("what?")
        chat = mistral_chat(lambda: slow_api, calls)
        with pytest.raises(ModelUnavailable, match="MISTRAL_REQUESTS_PER_MINUTE=1") as caught:
            self.read(chat, seconds=1)
        assert (caught.value.retry_after, len(server.requests)) == (60, 1)
        assert chat.health(self.model).ready

    def test_each_try_counts_against_the_rate(
        self, server: MistralServer, slow_api: MistralApi, calls: ModelCalls
    ) -> None:
        async def sleep(_: float) -> None:
            """At once."""

        server.then(Reply(500))
        with pytest.raises(ModelUnavailable):
            self.read(mistral_chat(lambda: slow_api, calls, sleep), seconds=1.0)
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
            list(self.stream(chat, stop))
        timer.join()
        assert (calls.running, len(server.requests)) == (0, 1)


class TestOpenAI(ChatContract):
    model = openai_server.MODEL
    run_model = openai_server.RUN_MODEL
    key_setting = "OPENAI_API_KEY"
    address_setting = "OPENAI_BASE_URL"

    @pytest.fixture
    def server(self) -> Iterator[OpenAIServer]:
        with openai_server.openai_server() as running:
            yield running

    @pytest.fixture
    def open_chat(self, server: OpenAIServer) -> OpenChat:
        def opened(
            calls: ModelCalls,
            sleep: Any = asyncio.sleep,
            key: str = KEY,
            address: str = server.address,
        ) -> RemoteChat:
            return openai_chat(SecretStr(key), address, calls, sleep)

        return opened

    def test_a_server_of_ones_own_needs_no_key(
        self, server: OpenAIServer, open_chat: OpenChat, calls: ModelCalls
    ) -> None:
        server.key = "none-needed"
        assert self.read(open_chat(calls, key=""))[-1] == self.end()

    @pytest.mark.parametrize(
        ("field", "text"), [("refusal", ["Hm.", "The"]), ("reasoning_content", ["The"])]
    )
    def test_a_refusal_in_its_own_field_is_text_and_reasoning_is_none(
        self, server: OpenAIServer, chat: RemoteChat, field: str, text: list[str]
    ) -> None:
        choice = f'{{"index": 0, "delta": {{"{field}": "Hm."}}, "finish_reason": null}}'
        server.then(Says(Raw(f'{{"model": "{self.run_model}", "choices": [{choice}]}}'), "The"))
        assert self.read(chat) == [*text, self.end()]
        assert server.requests[0].body["stream_options"] == {"include_usage": True}

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

    def test_a_server_may_have_no_list_of_models_or_models_that_it_does_not_list(
        self, server: OpenAIServer, chat: RemoteChat
    ) -> None:
        health = chat.health("gpt-4o-maxi")
        assert health.ready
        assert "does not list the model gpt-4o-maxi" in health.detail
        assert "such as: gpt-4o-mini" in health.detail
        server.then(Reply(404, "404 page not found"))
        assert chat.health("any").ready

    def test_an_address_that_cannot_be_one_is_reported(
        self, open_chat: OpenChat, calls: ModelCalls
    ) -> None:
        with pytest.raises(ModelRefused, match="OPENAI_BASE_URL=http://:a is not an address"):
            self.read(open_chat(calls, address="http://:a"))


def test_the_clients_are_not_imported_before_they_are_used() -> None:
    code = (
        "import sys\n"
        "from atlas_search.providers import chat_remote, open\n"
        "print([name for name in ('openai', 'mistralai', 'httpx2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
