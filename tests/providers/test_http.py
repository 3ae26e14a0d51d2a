"""Providers over HTTP: the meaning of a status, and what every client makes of a server's faults.

Each client is the real one, against a local server that speaks its provider's protocol.
"""

import gzip
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from httpx2 import LocalProtocolError, ReadTimeout
from pydantic import SecretStr

from atlas_search.core.addresses import PHOENIX_SECONDS, phoenix_at, phoenix_problem
from atlas_search.core.errors import (
    AtlasError,
    ConfigurationError,
    EmbeddingRefused,
    EmbeddingUnavailable,
    ModelRefused,
    ModelUnavailable,
    RerankerUnavailable,
    Unavailable,
)
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import ChatOptions, Message, ModelCalls
from atlas_search.providers.chat_remote import mistral_chat, openai_chat
from atlas_search.providers.http import (
    ErrorStatus,
    Fault,
    Garbled,
    Lost,
    Provider,
    explain,
    http_faults,
    passes,
)
from atlas_search.providers.mistral import MistralApi, MistralEmbedder
from atlas_search.providers.zotero import is_running, save_items
from atlas_search.search.rerankers import CohereReranker
from atlas_search.server.feedback.delivery import Phoenix, PhoenixAway
from tests import cohere_server, mistral_server, openai_server
from tests.chat_server import KEY, Reply, Silence
from tests.servers import OK_HEAD, endless

PROVIDER = Provider(
    "The server",
    KEY,
    key_setting="THE_KEY",
    address_setting="THE_URL",
    model_setting="THE_MODEL",
    refused_key=ConfigurationError,
    refused=ModelRefused,
    unavailable=ModelUnavailable,
    rate_setting="THE_RATE",
    seconds_setting="THE_SECONDS",
    sizes="it is short",
)


@pytest.mark.parametrize(
    ("fault", "error", "again", "advice"),
    [
        (ErrorStatus(401, "", 0), ConfigurationError, False, "Set THE_KEY in"),
        (ErrorStatus(403, "", 0), ConfigurationError, False, "Set THE_KEY in"),
        (ErrorStatus(429, "", 9), ModelUnavailable, True, "later, or lower THE_RATE to"),
        (ErrorStatus(429, "insufficient_quota", 9), ModelUnavailable, False, "or lower THE_RATE"),
        (ErrorStatus(400, "", 0), ModelRefused, False, "THE_MODEL and THE_URL, and that it is"),
        (ErrorStatus(404, "", 0), ModelRefused, False, "refuses the request for the model m (404)"),
        (ErrorStatus(408, "", 9), ModelUnavailable, True, "later, or check THE_URL"),
        (ErrorStatus(500, "", 9), ModelUnavailable, True, "later, or check THE_URL"),
        (ErrorStatus(301, "", 0), ModelUnavailable, False, "later, or check THE_URL"),
        (Lost("cut"), ModelUnavailable, True, "network and THE_URL, or raise THE_SECONDS;"),
        (Lost("no address", passing=False), ModelUnavailable, False, "network and THE_URL"),
        (Garbled("no JSON"), ModelUnavailable, False, "gives no usable answer (no JSON)"),
    ],
)
def test_each_fault_has_its_error(
    fault: Fault, error: type[Exception], advice: str, *, again: bool
) -> None:
    explained = explain(fault, PROVIDER, "m")
    assert type(explained) is error
    assert advice in str(explained)
    assert passes(fault) is again
    assert getattr(explained, "retry_after", 0) == fault.retry_after


@pytest.mark.parametrize(
    "fault", [ErrorStatus(500, f"{KEY}?", 0), Lost(f"{KEY}?"), Garbled(f"{KEY}?")]
)
def test_no_error_shows_the_key(fault: Fault) -> None:
    assert "[key]?" in str(explain(fault, PROVIDER, "m"))
    assert KEY not in str(explain(fault, PROVIDER, "m")) + repr(PROVIDER)


@pytest.mark.parametrize(
    ("error", "again"),
    [(ReadTimeout("slow"), True), (OSError("TLS"), True), (LocalProtocolError("header"), False)],
)
def test_a_request_that_can_never_be_sent_is_not_tried_again(
    error: Exception, *, again: bool
) -> None:
    with pytest.raises(Lost, match=f"{type(error).__name__}: ") as caught, http_faults():
        raise error
    assert passes(caught.value) is again


Ask = Callable[[], object]


@dataclass(frozen=True)
class Remote:
    """A running server of a provider, and requests to it that are answered well if they are right.

    `open` makes a request with another `key`, `address`, `model` or time in `seconds`. `waits` are
    the seconds that the client would have waited so far, `backoff` those until it gives up.
    """

    server: Any
    open: Callable[..., Ask]
    waits: list[float]
    backoff: Sequence[float]
    refused_key: type[AtlasError]
    refused: type[AtlasError]
    unavailable: type[Unavailable]
    key_setting: str
    address_setting: str
    model_setting: str

    def ask(self) -> object:
        return self.open()()

    def fails(self, kind: type[AtlasError], match: str) -> str:
        """The error of a request, all of it that a log could show."""
        with pytest.raises(kind, match=match) as caught:
            self.ask()
        return f"{caught.value} {caught.value.__cause__!r}"


def chat(stack: ExitStack, provider: str) -> Remote:
    calls = ModelCalls(limit=1, patience_seconds=20.0)
    stack.callback(calls.close)
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    spoken = openai_server if provider == "OPENAI" else mistral_server
    server = stack.enter_context(
        openai_server.openai_server() if provider == "OPENAI" else mistral_server.mistral_server()
    )

    def opened(
        key: str = KEY,
        address: str = server.address,
        model: str = spoken.MODEL,
        seconds: float = 20.0,
    ) -> Ask:
        if provider == "OPENAI":
            client = openai_chat(SecretStr(key), address, calls, sleep)
        else:
            client = mistral_chat(
                lambda: MistralApi(SecretStr(key), address, 6000, 20.0), calls, sleep
            )
        options = ChatOptions(model, temperature=0.2, max_tokens=300, seconds=seconds)
        return lambda: list(client.stream([Message("user", "What was held?")], options, Stop()))

    settings = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LLM_MODEL")
    if provider == "MISTRAL":
        settings = ("MISTRAL_API_KEY", "MISTRAL_SERVER_URL", "LLM_MODEL")
    errors = (ModelRefused, ModelRefused, ModelUnavailable)
    return Remote(server, opened, waits, [0.5, 1, 2, 4, 8], *errors, *settings)


def embeddings(stack: ExitStack) -> Remote:
    waits: list[float] = []
    server = stack.enter_context(mistral_server.mistral_server())

    def opened(
        key: str = KEY,
        address: str = server.address,
        model: str = "mistral-embed",
        seconds: float = 20.0,
    ) -> Ask:
        return lambda: MistralEmbedder(
            model, MistralApi(SecretStr(key), address, 6000, seconds, waits.append)
        ).embed(["a"])

    errors = (ConfigurationError, EmbeddingRefused, EmbeddingUnavailable)
    settings = ("MISTRAL_API_KEY", "MISTRAL_SERVER_URL", "EMBEDDING_MODEL")
    return Remote(server, opened, waits, [1, 2, 4, 8, 16, 32, 60], *errors, *settings)


def cohere(stack: ExitStack) -> Remote:
    waits: list[float] = []
    server = stack.enter_context(cohere_server.cohere_server())

    def opened(
        key: str = KEY,
        address: str = server.address,
        model: str = cohere_server.MODEL,
        seconds: float = 20.0,
    ) -> Ask:
        return lambda: CohereReranker(model, SecretStr(key), address, sleep=waits.append).relevance(
            "right to silence", ["the right bank", "fishing"], seconds
        )

    errors = (RerankerUnavailable, RerankerUnavailable, RerankerUnavailable)
    settings = ("COHERE_API_KEY", "COHERE_SERVER_URL", "RERANK_MODEL")
    return Remote(server, opened, waits, [0.25, 0.5, 1, 2], *errors, *settings)


REMOTES: dict[str, Callable[[ExitStack], Remote]] = {
    "OpenAI chat": lambda stack: chat(stack, "OPENAI"),
    "Mistral chat": lambda stack: chat(stack, "MISTRAL"),
    "Mistral embeddings": embeddings,
    "Cohere": cohere,
}


@pytest.fixture(params=REMOTES)
def remote(request: pytest.FixtureRequest) -> Iterator[Remote]:
    with ExitStack() as stack:
        yield REMOTES[request.param](stack)


def test_a_busy_server_is_asked_again_when_it_says(remote: Remote) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=10), usegmt=True)
    remote.server.then(
        Reply(429, {}, {"Retry-After": "2.5"}),
        Reply(429, {}, {"Retry-After": later}),
        Reply(429, {}, {"Retry-After": "soon"}),
    )
    remote.ask()
    assert remote.waits[0] == 2.5
    assert 0 < remote.waits[1] <= 10
    assert remote.waits[2:] == [remote.backoff[2]]
    assert len({str(request) for request in remote.server.requests}) == 1


def test_a_server_that_asks_for_too_much_patience_is_given_up(remote: Remote) -> None:
    remote.server.then(Reply(429, {"message": "Rate limit"}, {"Retry-After": "700"}))
    with pytest.raises(remote.unavailable, match=r"takes no more requests .*429: .*Rate") as caught:
        remote.ask()
    assert caught.value.retry_after == 700
    assert (len(remote.server.requests), remote.waits) == (1, [])


def test_a_server_that_stays_broken_is_given_up_after_waits_that_double(remote: Remote) -> None:
    remote.server.then(*[Reply(500, {"message": "overloaded"})] * (len(remote.backoff) + 1))
    remote.fails(remote.unavailable, r"gives no usable answer \(500: .*overloaded")
    assert remote.waits == remote.backoff
    assert len(remote.server.requests) == len(remote.backoff) + 1


def test_a_server_that_does_not_answer_in_time_is_reported(remote: Remote) -> None:
    remote.server.then(*[Silence()] * (len(remote.backoff) + 1))
    with pytest.raises(remote.unavailable, match=r"_SECONDS"):
        remote.open(seconds=0.2)()


def test_a_server_that_is_not_there_is_reported(remote: Remote) -> None:
    with mistral_server.mistral_server() as gone:
        pass
    with pytest.raises(
        remote.unavailable, match=f"{gone.address}.*ConnectError.*{remote.address_setting}"
    ):
        remote.open(address=gone.address)()
    assert len(remote.waits) == len(remote.backoff)


@pytest.mark.parametrize("body", ["<html>Welcome</html>", '{"data": [tru', "[]", "{}"])
def test_an_answer_that_makes_no_sense_is_reported_and_not_asked_for_again(
    remote: Remote, body: str
) -> None:
    kind = "text/html" if "html" in body else "application/json"
    remote.server.then(Reply(200, body, {"Content-Type": kind}))
    remote.fails(remote.unavailable, rf"no usable answer \(.*{remote.address_setting}")
    assert len(remote.server.requests) == 1


BOMB = gzip.compress(bytes(20_000_000))
EVENTS = OK_HEAD.replace(b"application/json", b"text/event-stream")
BODIES = {
    "one text": (OK_HEAD, b"x" * 65536),
    "one event": (EVENTS, b"x" * 65536),
    "no status": (b"HTTP/1.1 500 No\r\n\r\n", b"x" * 65536),
    "compressed": (OK_HEAD[:-2] + b"Content-Encoding: gzip\r\n\r\n", BOMB),
}


@pytest.mark.parametrize("body", BODIES)
def test_an_answer_without_end_is_left(remote: Remote, body: str) -> None:
    with endless(*BODIES[body]) as peer:
        reason = r"longer than (8|16) MB|UnicodeDecodeError"
        match = rf"{peer.address} gives no usable .*({reason}).*{remote.address_setting}"
        with pytest.raises(remote.unavailable, match=match):
            remote.open(address=peer.address)()
        assert peer.sent < 40  # with what the sockets hold
    assert remote.waits == []


@pytest.mark.thorough
@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nX-A: ", OK_HEAD])
def test_an_answer_that_drips_ends_in_time(remote: Remote, head: bytes) -> None:
    began = time.monotonic()
    with endless(head, b" ", 0.1) as peer, pytest.raises(remote.unavailable, match=r"_SECONDS"):
        remote.open(address=peer.address, seconds=0.4)()
    assert time.monotonic() - began < 0.4 * (len(remote.backoff) + 1) + 3  # it is tried again


@pytest.mark.thorough
def test_zotero_and_phoenix_may_neither_drip_nor_go_on_without_end() -> None:
    with endless(OK_HEAD, b"x" * 65536) as peer:
        assert "longer than 16 MB" in phoenix_problem(peer.address)
        with pytest.raises(PhoenixAway, match="longer than 16 MB"):
            Phoenix(phoenix_at(peer.address), "atlas").spans("1")
        with pytest.raises(Unavailable, match="Zotero"):
            save_items(peer.address, [], "1", "")
        assert peer.sent < 3 * 40
    with endless(OK_HEAD, b" ", 0.1) as peer:
        began = time.monotonic()
        assert "does not answer" in phoenix_problem(peer.address)
        assert not is_running(peer.address)
        assert time.monotonic() - began < PHOENIX_SECONDS + 2 + 3


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_is_reported_without_showing_it(remote: Remote, status: int) -> None:
    remote.server.then(Reply(status, {"message": f"Unauthorized: Bearer {KEY}"}))
    message = remote.fails(
        remote.refused_key, rf"{status}: .*Bearer \[key\].*Set {remote.key_setting}"
    )
    assert KEY not in message
    assert len(remote.server.requests) == 1


def test_an_unknown_model_is_reported_with_the_setting_to_mend(remote: Remote) -> None:
    with pytest.raises(remote.refused, match=f"model no-such-model .*{remote.model_setting}"):
        remote.open(model="no-such-model")()
    assert len(remote.server.requests) <= 2  # OpenAI's is asked again with fewer options
    assert remote.waits == []


def test_without_a_key_nobody_is_asked(remote: Remote) -> None:
    with pytest.raises(ConfigurationError, match=f"needs a key. Set {remote.key_setting}"):
        remote.open(key="  ", address="")()
    assert remote.server.requests == []


@pytest.mark.parametrize("key", ["a\nkey", "clé"])
def test_a_key_that_cannot_be_one_is_reported_without_showing_it(remote: Remote, key: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{remote.key_setting} holds chara") as caught:
        remote.open(key=key)()
    assert key not in str(caught.value)
    assert remote.server.requests == []


def test_the_key_is_not_logged_even_if_the_client_is_told_to_log_all(
    remote: Remote, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MISTRAL_DEBUG", "1")
    monkeypatch.setenv("OPENAI_LOG", "debug")
    with caplog.at_level(logging.DEBUG):
        for name in ("openai", "mistralai", "httpx2", "httpcore2"):
            caplog.set_level(logging.DEBUG, name)
        remote.ask()
    assert "httpcore2" in {record.name.split(".")[0] for record in caplog.records}
    assert KEY not in caplog.text
