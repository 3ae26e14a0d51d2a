"""What every provider of language models does: one suite, run over each with its real client.

A provider's test module gives the fixtures `server` and `open_chat`, and the class attributes.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

import atlas_search.providers.chat_remote
from atlas_search.core.errors import AtlasError, Cancelled, ModelRefused, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import ChatOptions, Ended, Message, ModelCalls, Usage
from atlas_search.providers.chat_remote import ATTEMPTS, RemoteChat
from tests.chat_server import KEY, ChatServer, Cut, Gate, Hang, Raw, Reply, Says, Silence

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
def waits() -> list[float]:
    """The seconds the provider would have waited between its tries."""
    return []


@pytest.fixture
def chat(open_chat: OpenChat, calls: ModelCalls, waits: list[float]) -> RemoteChat:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return open_chat(calls, sleep=sleep)


class ChatContract:
    """The suite."""

    model: str
    run_model: str
    key_setting: str
    address_setting: str
    debug: tuple[str, str]
    """The environment variable, and its value, that makes the client log everything."""

    @property
    def options(self) -> ChatOptions:
        return ChatOptions(self.model, temperature=0.2, max_tokens=300, seconds=SOON)

    def end(self, reason: Any = "stop") -> Ended:
        return Ended(Usage(11, 7), self.run_model, reason)

    def read(self, chat: RemoteChat, **changes: Any) -> list[str | Ended]:
        return list(chat.stream(MESSAGES, replace(self.options, **changes), Stop()))

    def test_a_text_comes_in_pieces_and_then_its_end(
        self, server: ChatServer, chat: RemoteChat
    ) -> None:
        server.then(Says("The ", "court."))
        assert self.read(chat) == ["The ", "court.", self.end()]

    def test_the_request_says_what_was_asked(self, server: ChatServer, chat: RemoteChat) -> None:
        self.read(chat)
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
        stream = chat.stream(MESSAGES, self.options, Stop())
        assert next(stream) == "The "
        gate.set()
        assert list(stream) == ["court.", self.end()]

    def test_a_connection_is_used_again(self, server: ChatServer, chat: RemoteChat) -> None:
        for _ in range(6):
            self.read(chat)
        assert (len(server.requests), server.connections) == (6, 1)

    def test_an_empty_text_is_only_its_end(self, server: ChatServer, chat: RemoteChat) -> None:
        server.then(Says())
        assert self.read(chat) == [self.end()]

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
    def test_why_a_text_ends_is_told(
        self, server: ChatServer, chat: RemoteChat, word: str, reason: str
    ) -> None:
        server.then(Says("The", finish=word))
        assert self.read(chat)[-1] == self.end(reason)

    def test_tokens_that_are_not_told_count_as_none(
        self, server: ChatServer, chat: RemoteChat
    ) -> None:
        server.then(Says("The", usage=None))
        assert self.read(chat) == ["The", Ended(Usage(0, 0), self.run_model, "stop")]

    def test_a_provider_that_is_busy_is_asked_again(
        self, server: ChatServer, chat: RemoteChat, waits: list[float]
    ) -> None:
        server.then(Reply(429, {}, {"Retry-After": "2.5"}), Reply(503, "down"), Says("The"))
        assert self.read(chat) == ["The", self.end()]
        assert waits == [2.5, 1.0]
        assert server.requests[0].body == server.requests[2].body

    def test_a_provider_that_stays_broken_is_given_up_after_waits_that_double(
        self, server: ChatServer, chat: RemoteChat, waits: list[float]
    ) -> None:
        server.then(*[Reply(500, {"message": "overloaded"})] * ATTEMPTS)
        with pytest.raises(ModelUnavailable, match=r"no usable answer \(500: .*overloaded"):
            self.read(chat)
        assert waits == [0.5, 1, 2, 4, 8]

    def test_a_provider_that_asks_for_too_much_patience_is_given_up(
        self, server: ChatServer, chat: RemoteChat, waits: list[float]
    ) -> None:
        server.then(Reply(429, {"message": "Rate limit"}, {"Retry-After": "700"}))
        with pytest.raises(ModelUnavailable, match=r"no more requests for now \(429.*Rate") as got:
            self.read(chat)
        assert (got.value.retry_after, waits) == (700, [])

    def test_a_provider_that_is_not_there_is_reported(
        self, server: ChatServer, open_chat: OpenChat, calls: ModelCalls, waits: list[float]
    ) -> None:
        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        gone = open_chat(calls, sleep=sleep, address="http://127.0.0.1:9/v1")
        with pytest.raises(ModelUnavailable, match=rf"ConnectError.*{self.address_setting}"):
            self.read(gone)
        assert len(waits) == ATTEMPTS - 1
        assert server.requests == []

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
        stream = chat.stream(MESSAGES, self.options, Stop())
        assert next(stream) == "The "
        with pytest.raises(ModelUnavailable, match=problem):
            list(stream)
        assert len(server.requests) == 1

    @pytest.mark.parametrize("body", ["<html>Welcome</html>", '{"data": [tru', "[]", "{}"])
    def test_an_answer_that_makes_no_sense_is_reported(
        self, server: ChatServer, chat: RemoteChat, body: str
    ) -> None:
        kind = "text/html" if "html" in body else "application/json"
        server.then(Reply(200, body, {"Content-Type": kind}))
        with pytest.raises(ModelUnavailable, match=f"no usable answer.*{self.address_setting}"):
            self.read(chat)

    @pytest.mark.parametrize("told", [Silence(), Says(Hang())])
    def test_a_provider_that_does_not_answer_in_time_is_left(
        self, server: ChatServer, chat: RemoteChat, told: Says
    ) -> None:
        server.then(told)
        with pytest.raises(ModelUnavailable, match=r"within 0.5 seconds.*LLM_SECONDS"):
            self.read(chat, seconds=0.5)
        assert server.left.get(timeout=SOON) == server.requests[0]

    def test_a_text_that_does_not_end_in_time_is_left(
        self, server: ChatServer, chat: RemoteChat
    ) -> None:
        server.then(Says("The ", Hang()))
        stream = chat.stream(MESSAGES, replace(self.options, seconds=1), Stop())
        assert next(stream) == "The "
        with pytest.raises(ModelUnavailable, match="LLM_SECONDS"):
            list(stream)
        assert server.left.get(timeout=SOON) == server.requests[0]

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_wrong_key_is_reported_without_showing_it(
        self, server: ChatServer, chat: RemoteChat, status: int
    ) -> None:
        server.then(Reply(status, {"message": f"Unauthorized: Bearer {KEY}"}))
        with pytest.raises(ModelRefused, match=rf"{status}.*Unauth.*{self.key_setting}") as caught:
            self.read(chat)
        assert KEY not in str(caught.value)
        assert len(server.requests) == 1

    def test_an_unknown_model_is_reported_with_the_setting_to_mend(self, chat: RemoteChat) -> None:
        with pytest.raises(ModelRefused, match=r"for the model no-such-model .*LLM_MODEL"):
            self.read(chat, model="no-such-model")

    def test_without_a_key_each_call_says_what_to_do_and_asks_nobody(
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

    @pytest.mark.parametrize("key", ["a\nkey", "clé"])
    def test_a_key_that_cannot_be_one_is_reported_without_showing_it(
        self, server: ChatServer, open_chat: OpenChat, calls: ModelCalls, key: str
    ) -> None:
        with pytest.raises(ModelRefused, match=f"{self.key_setting} holds chara") as caught:
            self.read(open_chat(calls, key=key))
        assert key not in str(caught.value)

    def test_the_key_is_not_logged_even_if_the_client_is_told_to(
        self,
        server: ChatServer,
        chat: RemoteChat,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        monkeypatch.setenv(*self.debug)
        with caplog.at_level(logging.DEBUG):
            for name in ("openai", "mistralai", "httpx2", "httpcore2"):
                caplog.set_level(logging.DEBUG, name)
            self.read(chat)
            chat.health(self.model)
        assert "httpcore2" in {record.name.split(".")[0] for record in caplog.records}
        assert KEY not in caplog.text

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
        "told", [Silence(), Reply(500, "down"), Reply(200, "<html>", {"Content-Type": "text/html"})]
    )
    def test_a_provider_that_says_nothing_of_use_is_no_good_health(
        self, server: ChatServer, chat: RemoteChat, monkeypatch: pytest.MonkeyPatch, told: Reply
    ) -> None:
        monkeypatch.setattr(atlas_search.providers.chat_remote, "HEALTH_SECONDS", 0.3)
        server.then(told)
        health = chat.health(self.model)
        assert not health.ready
        assert self.address_setting in health.detail

    def test_health_waits_for_nobody(self, server: ChatServer, chat: RemoteChat) -> None:
        server.then(Says("The ", Hang()))
        stream = chat.stream(MESSAGES, self.options, Stop())
        assert next(stream) == "The "
        assert chat.health(self.model).ready
        stream.close()

    def test_who_stops_reading_ends_the_model(
        self, server: ChatServer, chat: RemoteChat, calls: ModelCalls
    ) -> None:
        server.then(Says("The ", Hang()))
        stream = chat.stream(MESSAGES, self.options, Stop())
        assert (next(stream), calls.running) == ("The ", 1)
        stream.close()
        assert calls.running == 0
        assert server.left.get(timeout=SOON) == server.requests[0]

    @pytest.mark.parametrize("told", [Silence(), Says(Hang()), Says("The ", Hang())])
    def test_a_stop_ends_a_model_that_hangs(
        self, server: ChatServer, chat: RemoteChat, calls: ModelCalls, told: Says
    ) -> None:
        server.then(told)
        stop = Stop()
        with ThreadPoolExecutor() as pool:
            reading = pool.submit(list, chat.stream(MESSAGES, self.options, stop))
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
        chat = open_chat(calls, sleep=_then(stop.set))
        server.then(Reply(429, {}, {"Retry-After": "10"}))
        with pytest.raises(Cancelled):
            list(chat.stream(MESSAGES, self.options, stop))
        assert (calls.running, len(server.requests)) == (0, 1)

    def test_a_call_that_nobody_waits_for_is_not_begun(
        self, server: ChatServer, chat: RemoteChat
    ) -> None:
        stop = Stop()
        stop.set()
        with pytest.raises(Cancelled):
            list(chat.stream(MESSAGES, self.options, stop))
        assert server.requests == []

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


def _then(call: Callable[[], None]) -> Callable[[float], Awaitable[None]]:
    """A sleep that first lets someone act."""

    async def sleep(seconds: float) -> None:
        call()
        await asyncio.sleep(seconds)

    return sleep
