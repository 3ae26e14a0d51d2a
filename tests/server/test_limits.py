"""Requests at once: how many are served, from whom, and how they end when their clients go away."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from werkzeug.test import Client

from atlas_search import Atlas
from atlas_search.core.errors import Cancelled, ConfigurationError
from atlas_search.core.settings import load_settings
from atlas_search.core.stop import Stop
from atlas_search.core.targets import Target
from atlas_search.documents.export import Format, export
from atlas_search.providers.chat import Health
from atlas_search.providers.open import ProviderHealth
from atlas_search.search.rerankers import Relevance
from atlas_search.server import limits as limits_module
from atlas_search.server.limits import (
    LOOK_SECONDS,
    Capacity,
    ClientStop,
    ForwardedFor,
    Networks,
    answer_threads,
    networks,
    owner_of,
)
from tests.servers import app_of, served, wait_for
from tests.slow_model import SlowModel

THREADS = 8


class Slow:
    """WSGI: answers once it may, but health and metrics at once."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.inside = threading.Semaphore(0)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"] not in ("/api/health", "/metrics"):
            self.inside.release()
            assert self.go.wait(20)
        start_response("200 OK", [])
        return [b"ok"]


@pytest.fixture
def slow() -> Slow:
    return Slow()


def enter(
    capacity: Capacity,
    path: str,
    method: str,
    count: int,
    slow: Slow,
    *,
    client: str = "192.0.2.1",
    inside: int | None = None,
) -> Callable[[], list[int]]:
    """Send so many requests in threads of their own, and wait until all are inside, or `inside`."""
    statuses: list[int] = []
    options = {"method": method, "buffered": True, "environ_base": {"REMOTE_ADDR": client}}

    def ask() -> None:
        statuses.append(Client(capacity).open(path, **options).status_code)

    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    for _ in range(count if inside is None else inside):
        assert slow.inside.acquire(timeout=20)

    def end() -> list[int]:
        slow.go.set()
        for thread in threads:
            thread.join(20)
        return statuses

    return end


def test_health_is_answered_while_every_other_thread_is_busy(slow: Slow) -> None:
    capacity = Capacity(slow, THREADS)
    end = enter(capacity, "/api/search", "POST", THREADS - limits_module.HEALTH_THREADS, slow)
    refused = Client(capacity).post("/api/search", buffered=True)
    assert refused.status_code == 503
    assert refused.headers["Retry-After"] == "2"
    assert refused.get_json()["type"] == "urn:atlas:problem:server-busy"
    for path in ("/api/health", "/metrics"):
        assert Client(capacity).get(path, buffered=True).status_code == 200
    assert end() == [200] * (THREADS - limits_module.HEALTH_THREADS)
    assert Client(capacity).post("/api/search", buffered=True).status_code == 200


def test_readers_of_answers_leave_threads_for_the_rest(slow: Slow) -> None:
    capacity = Capacity(slow, THREADS)
    end = enter(capacity, "/api/ask/q1/stream", "GET", answer_threads(THREADS), slow)
    assert Client(capacity).post("/api/ask", buffered=True).status_code == 503
    slow.go.set()
    assert Client(capacity).delete("/api/ask/q1", buffered=True).status_code == 200
    assert end() == [200] * answer_threads(THREADS)


def test_a_client_that_has_not_taken_its_answer_still_counts(slow: Slow) -> None:
    slow.go.set()
    capacity = Capacity(slow, 3)
    environ = {"PATH_INFO": "/api/corpora", "REQUEST_METHOD": "GET"}
    taken = capacity(environ, lambda *_: None)
    assert Client(capacity).get("/api/corpora", buffered=True).status_code == 503
    taken.close()  # type: ignore[attr-defined]
    assert Client(capacity).get("/api/corpora", buffered=True).status_code == 200


def test_so_many_are_worked_on_at_once_and_the_next_is_refused_in_the_end(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits_module, "WAIT_SECONDS", 0.1)
    capacity = Capacity(slow, 40)
    end = enter(capacity, "/api/search", "POST", limits_module.AT_WORK, slow)
    assert Client(capacity).post("/api/search", buffered=True).status_code == 503
    assert end() == [200] * limits_module.AT_WORK


def test_an_address_leaves_places_to_others_that_come(slow: Slow) -> None:
    capacity = Capacity(slow, 60)
    ends = [
        enter(capacity, "/api/search", "POST", 1, slow, client="203.0.113.7"),
        enter(capacity, "/api/search", "POST", 20, slow, inside=2),
        enter(capacity, "/api/search", "POST", 1, slow, client="203.0.113.8"),
    ]
    assert capacity.waiting == 18
    assert [set(end()) for end in ends] == [{200}] * 3
    assert capacity.waiting == 0


@pytest.mark.parametrize(
    ("path", "other", "rests"),
    [
        ("/api/search", "/api/corpora", True),
        ("/api/ask/stream", "/api/corpora", True),
        ("/api/health", "/api/corpora", True),
        ("/api/search", "/metrics", False),  # as a monitor asks every few seconds
    ],
)
def test_a_crowd_of_one_address_rests_while_others_come(
    path: str, other: str, rests: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits_module, "REST", 1000.0)  # so that any work at all is enough
    monkeypatch.setattr(limits_module, "MAX_REST_SECONDS", 1.0)

    def app(_: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        sum(range(100_000))
        time.sleep(0.1)  # long enough for all to be in progress
        start_response("200 OK", [])
        return [b"ok"]

    capacity = Capacity(app, 60)
    Client(capacity).get(other, environ_base={"REMOTE_ADDR": "203.0.113.7"}, buffered=True)
    waits: list[float] = []

    def ask() -> None:
        begun = time.monotonic()
        Client(capacity).post(path, environ_base={"REMOTE_ADDR": "192.0.2.1"}, buffered=True)
        waits.append(time.monotonic() - begun)

    threads = [threading.Thread(target=ask) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert (max(waits) >= 1) is rests


def test_requests_for_health_take_few_threads_and_all_are_answered(slow: Slow) -> None:
    class Watched:
        most = now = 0
        lock = threading.Lock()

        def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            slow.go.wait(0.01)
            with self.lock:
                self.now -= 1
            start_response("200 OK", [])
            return []

    app = Watched()
    capacity = Capacity(app, 60)
    threads = [
        threading.Thread(target=Client(capacity).get, args=["/api/health"]) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert app.most == limits_module.HEALTH_THREADS


def test_pages_that_wait_to_be_drawn_hold_up_no_search(slow: Slow) -> None:
    capacity = Capacity(slow, 40)
    drawn = enter(capacity, "/api/page-image/paper", "GET", 2 * limits_module.AT_WORK, slow)
    end = enter(capacity, "/api/search", "POST", 1, slow)
    assert end() == [200]
    assert set(drawn()) == {200}


def test_a_request_that_fails_leaves() -> None:
    def fails(_: dict[str, Any], __: Any) -> Iterable[bytes]:
        raise RuntimeError

    capacity = Capacity(fails, 3)
    environ = {"PATH_INFO": "/api/corpora", "REQUEST_METHOD": "GET"}
    for _ in range(3):
        with pytest.raises(RuntimeError):
            capacity(environ, lambda *_: None)


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", "203.0.113.7", "192.0.2.1"),  # not a proxy: its words do not count
        ("10.0.0.1", "203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", "198.51.100.1, 203.0.113.7", "203.0.113.7"),  # the first was the client's own
        ("10.0.0.1", "203.0.113.7, 10.0.0.9", "203.0.113.7"),  # by way of two proxies
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "unknown", "10.0.0.1"),
        ("::ffff:10.0.0.1", "2001:db8::1", "2001:db8::1"),
    ],
)
def test_only_a_trusted_proxy_says_who_the_client_is(
    peer: str, forwarded: str, client: str
) -> None:
    seen: dict[str, Any] = {}

    def app(environ: dict[str, Any], _: Any) -> Iterable[bytes]:
        seen.update(environ)
        return []

    sent = {
        "REMOTE_ADDR": peer,
        "HTTP_X_FORWARDED_FOR": forwarded,
        "HTTP_X_FORWARDED_PROTO": "https",
        "wsgi.url_scheme": "http",
    }
    ForwardedFor(app, networks("10.0.0.0/8"))(sent, lambda *_: None)
    assert seen["REMOTE_ADDR"] == client
    assert seen["wsgi.url_scheme"] == ("http" if peer.startswith("192") else "https")
    assert "HTTP_X_FORWARDED_FOR" not in seen


def test_addresses_of_one_subscriber_count_as_one() -> None:
    assert owner_of("2001:db8:1:2::3") == owner_of("2001:db8:1:2:ffff::9")
    assert owner_of("2001:db8:1:2::3") != owner_of("2001:db8:1:3::3")
    assert owner_of("::ffff:192.0.2.1") == owner_of("192.0.2.1")
    assert not Networks(()).hold("192.0.2.1")


def test_a_proxy_that_is_no_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUSTED_PROXIES", "10.0.0.0/8, proxy.example")
    with pytest.raises(ConfigurationError, match="TRUSTED_PROXIES"):
        load_settings()


def test_health_does_not_wait_for_a_provider_that_hangs() -> None:
    go = threading.Event()

    class Hanging(SlowModel):
        def health(self, model: str) -> Health:
            assert go.wait(20)
            return Health(ready=True)

    health = ProviderHealth({"openai": Hanging()}, {})
    assert not health(0.01)["openai"].ready
    assert "not answered" in health(0.01)["openai"].detail
    go.set()
    assert health(20)["openai"].ready


# clients that go away while a request is computed


TEXTS = 3


class Reads:
    """A second stage that takes its time for each text, and counts those that it read."""

    name = "reads"

    def __init__(self) -> None:
        self.read = 0
        self.begun = threading.Event()
        self.go = threading.Event()

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        for _ in texts:
            self.begun.set()
            assert self.go.wait(30)
            self.read += 1
        return Relevance(np.ones(len(texts)), "")


@pytest.fixture
def stage() -> Reads:
    return Reads()


@pytest.fixture
def begun() -> threading.Event:
    """Set once a request is worked on; the server drops those whose client left before."""
    return threading.Event()


@pytest.fixture
def statuses() -> list[int]:
    """The statuses of all responses, received or not."""
    return []


@pytest.fixture
def address(
    farm: Atlas, stage: Reads, begun: threading.Event, statuses: list[int]
) -> Iterator[str]:
    searcher = replace(farm.services.searcher, stages={("cohere", ""): stage})
    targets = {farm.services.settings.test_target: Target(reranker="cohere")}
    services = replace(
        farm.services, answerer=replace(farm.services.answerer, searcher=searcher), targets=targets
    )
    app = app_of(Atlas(services))
    app.before_request(begun.set)
    app.after_request(lambda response: statuses.append(response.status_code) or response)
    with served(app, channel_request_lookahead=1) as address:
        yield address


def send(address: str, path: str, body: object) -> socket.socket:
    """A connection on which a request was sent, and nothing received yet."""
    host, port = address.removeprefix("http://").split(":")
    content = json.dumps(body).encode()
    connection = socket.create_connection((host, int(port)), timeout=60)
    connection.sendall(
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n".encode()
        + content
    )
    return connection


def test_a_search_is_ended_between_the_texts_that_a_model_reads(
    address: str, stage: Reads, statuses: list[int]
) -> None:
    with send(address, "/api/search", {"question": "Who gives wool?"}):
        assert stage.begun.wait(60)
    # the server sees it in its own time; each text is a chance to notice
    wait_for(lambda: _ended(stage, statuses), 60, "the end of the search")
    assert statuses == [409]
    assert stage.read < TEXTS


def _ended(stage: Reads, statuses: list[int]) -> bool | None:
    if not stage.go.is_set():
        threading.Timer(0.5, stage.go.set).start()
    return bool(statuses) or None


def test_a_search_goes_to_its_end_for_a_client_that_waits(
    address: str, stage: Reads, statuses: list[int]
) -> None:
    stage.go.set()
    with send(address, "/api/search", {"question": "Who gives wool?"}) as connection:
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    assert (statuses, stage.read) == ([200], TEXTS)


def test_a_check_of_an_answer_is_ended(
    address: str, begun: threading.Event, statuses: list[int]
) -> None:
    text = " ".join(f"Ewe{n} gives wool." for n in range(2000))
    passages = [{"document_id": "wool", "page": 1, "text": text}] * 11
    answer = "\n".join(f"Goat{n} gives milk. [wool p1]" for n in range(40))
    with send(address, "/api/validate", {"answer": answer, "passages": passages}):
        assert begun.wait(60)
    wait_for(lambda: bool(statuses) or None, 60, "the end of the check")
    assert statuses == [409]


def test_a_client_is_looked_for_no_more_than_every_moment() -> None:
    looked: list[float] = []
    now = [100.0]
    stop = ClientStop(lambda: bool(looked.append(now[0])), lambda: now[0])
    for _ in range(10):
        stop.check()
        now[0] += LOOK_SECONDS / 2
    assert looked == pytest.approx([100.0 + LOOK_SECONDS * n for n in range(5)])


def test_what_a_client_left_stays_stopped() -> None:
    gone = iter([True, False])
    stop = ClientStop(lambda: next(gone), iter([0.0, 0.0, 9.0]).__next__)
    for _ in range(2):
        with pytest.raises(Cancelled, match="The client went away"):
            stop.check()


def test_every_stage_of_a_search_asks_whether_to_go_on(farm: Atlas) -> None:
    """Each check, from the first to the last, can end the search."""
    checks = count_checks(farm)
    assert checks > 8
    for number in range(checks):
        with pytest.raises(Cancelled):
            farm.search("Who gives wool?", exact=True, stop=_StopAt(number))
        assert farm.services.tracer.open_spans == 0


@pytest.mark.parametrize("format", ["markdown", "json", "csv", "csl-json"])
def test_an_export_asks_before_each_answer(farm: Atlas, format: Format) -> None:
    answers = [farm.ask("Who gives wool?").to_dict() for _ in range(3)]
    assert export(answers, format, "", stop=_StopAt(len(answers) + 1)).text
    for number in range(len(answers) + 1):
        with pytest.raises(Cancelled):
            export(answers, format, "", stop=_StopAt(number))


class _StopAt(Stop):
    """Is set when it is asked for the time `number`."""

    def __init__(self, number: float):
        super().__init__()
        self.checks = 0
        self._number = number

    def check(self) -> None:
        if self.checks >= self._number:
            self.set()
        self.checks += 1
        super().check()


def count_checks(farm: Atlas) -> int:
    stop = _StopAt(float("inf"))
    farm.search("Who gives wool?", exact=True, stop=stop)
    return stop.checks
