"""How many requests are served at once, and who they come from."""

import threading
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from werkzeug.test import Client

from atlas_search.core.errors import ConfigurationError
from atlas_search.core.settings import load_settings
from atlas_search.providers.chat import Health
from atlas_search.providers.open import ProviderHealth
from atlas_search.server import limits as limits_module
from atlas_search.server.limits import (
    Capacity,
    ForwardedFor,
    Networks,
    answer_threads,
    networks,
    owner_of,
)
from tests.slow_model import SlowModel

THREADS = 8


class Slow:
    """WSGI: answers once it may, but health at once; or begins a stream that then waits."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.inside = threading.Semaphore(0)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/api/health":
            self.inside.release()
            assert self.go.wait(20)
        start_response("200 OK", [])
        return [b"ok"]


@pytest.fixture
def slow() -> Slow:
    return Slow()


def send(
    capacity: Capacity, path: str, method: str, count: int, slow: Slow
) -> Callable[[], list[int]]:
    """Send so many requests in threads of their own, and wait until all are inside."""
    found: list[int] = []

    def ask() -> None:
        found.append(Client(capacity).open(path, method=method, buffered=True).status_code)

    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert slow.inside.acquire(timeout=20)

    def end() -> list[int]:
        slow.go.set()
        for thread in threads:
            thread.join(20)
        return found

    return end


def test_health_is_answered_while_every_other_thread_is_busy(slow: Slow) -> None:
    capacity = Capacity(slow, THREADS)
    end = send(capacity, "/api/search", "POST", THREADS - limits_module.HEALTH_THREADS, slow)
    refused = Client(capacity).post("/api/search", buffered=True)
    assert refused.status_code == 503
    assert refused.headers["Retry-After"] == "2"
    assert refused.get_json()["type"] == "urn:atlas:problem:server-busy"
    assert Client(capacity).get("/api/health", buffered=True).status_code == 200
    assert end() == [200] * (THREADS - limits_module.HEALTH_THREADS)
    assert Client(capacity).post("/api/search", buffered=True).status_code == 200


def test_readers_of_answers_leave_threads_for_the_rest(slow: Slow) -> None:
    capacity = Capacity(slow, THREADS)
    end = send(capacity, "/api/ask/q1/stream", "GET", answer_threads(THREADS), slow)
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
    end = send(capacity, "/api/search", "POST", limits_module.AT_WORK, slow)
    assert Client(capacity).post("/api/search", buffered=True).status_code == 503
    assert end() == [200] * limits_module.AT_WORK


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
