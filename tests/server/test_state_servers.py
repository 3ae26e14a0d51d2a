"""Three server processes over one folder of stores and one PostgreSQL."""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import sleep
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from atlas_search.core.settings import Settings
from atlas_search.server.access.keys import (
    TOLD_AFTER,
    KeyLimits,
    KeyPlace,
    add_key,
    key_place,
    revoke_key,
)
from tests.postgres import Postgres
from tests.servers import ATLAS, Server, running, wait_for
from tests.without_model import settings_without_model

QUESTION = {"question": "What do sheep give?", "include_context": True}
CLIENTS = 9
QUESTIONS = 12  # of each client


class Servers:
    """Running servers, and requests to one of them by its number."""

    def __init__(self, servers: Sequence[Server], keys: KeyPlace):
        self.servers = servers
        self.addresses = [server.address("Atlas") for server in servers]
        self.keys = keys

    def key(self, name: str, **limits: Any) -> dict[str, str]:
        """Headers with a new key."""
        text = add_key(self.keys, name, limits=KeyLimits(**limits)).text
        sleep(TOLD_AFTER)
        return {"Authorization": f"Bearer {text}"}

    def send(self, number: int, method: str, path: str, **options: Any) -> httpx2.Response:
        address = self.addresses[number % len(self.addresses)]
        return httpx2.request(method, f"{address}{path}", timeout=60, **options)


@pytest.fixture
def servers(database: Postgres, tmp_path: Path) -> Iterator[Servers]:
    url = database.url()
    keys = key_place(Settings(state_url=SecretStr(url), atlas_access="shared"))
    assert keys
    with ExitStack() as opened:
        own = opened.enter_context(settings_without_model(tmp_path))
        own |= {"STATE_URL": url, "ATLAS_ACCESS": "shared"}
        own |= {"ATLAS_STATE_DIRECTORY": "/proc/none"}  # nobody needs it
        started = [
            opened.enter_context(
                running(*ATLAS, "serve", environment=own, folder=tmp_path),
            )
            for _ in range(3)
        ]
        yield Servers(started, keys)


@pytest.mark.thorough
def test_three_servers_answer_alike_and_one_that_is_killed_costs_one_request(
    servers: Servers,
) -> None:
    anna, bert = servers.key("Anna"), servers.key("Bert", requests_per_minute=3)
    body = QUESTION | {"qa_id": "q1", "session_id": "s1"}
    answer = servers.send(0, "POST", "/api/ask", json=body, headers=anna).json()
    assert answer["qa_id"] == "q1"
    link = servers.send(1, "POST", "/api/ask/q1/link", json={}, headers=anna).json()["url"]
    rating = {"qa_id": "q1", "thumb": "up"}
    assert servers.send(2, "POST", "/api/feedback", json=rating, headers=anna).is_success
    for number in range(3):
        assert servers.send(number, "GET", "/api/ask/q1", headers=anna).json() == answer
        assert servers.send(number, "GET", "/api/ask/q1", headers=bert).status_code == 404
        shared = servers.send(number, "GET", f"/api/shared/{link.rpartition('/')[2]}").json()
        assert shared["passages"] == answer["passages"]
        voted = servers.send(number, "GET", "/api/feedback/q1", headers=anna).json()
        assert voted["thumb"] == "up"
    # Bert has asked each of them once
    for number in range(3):
        assert servers.send(number, "GET", "/api/corpora", headers=bert).status_code == 429
        assert servers.send(number, "GET", "/api/corpora").status_code == 401
    revoke_key(servers.keys, "Bert")
    sleep(TOLD_AFTER)
    for number in range(3):
        assert servers.send(number, "GET", "/api/corpora", headers=bert).status_code == 401
    failures = _kill_under_load(servers, anna)
    assert max(failures) == 1, failures
    # what the killed server answered is there
    for number in (1, 2):
        assert servers.send(number, "GET", "/api/ask/q1", headers=anna).json() == answer
        path = "/api/sessions/load-0/export?format=json"
        exported = servers.send(number, "GET", path, headers=anna).json()
        assert len(exported["answers"]) == QUESTIONS


def _kill_under_load(servers: Servers, headers: dict[str, str]) -> list[int]:
    """End one server while clients ask all of them; the failed requests of each client."""
    failures = [0] * CLIENTS
    answered = threading.Semaphore(0)

    def ask(client: int) -> None:
        home = client
        for _ in range(QUESTIONS):
            body = QUESTION | {"session_id": f"load-{client}"}
            while True:
                try:
                    sent = servers.send(home, "POST", "/api/ask", json=body, headers=headers)
                    sent.raise_for_status()
                    break
                except httpx2.HTTPError:
                    failures[client] += 1
                    home += 1  # from now on the next server
                    assert failures[client] < 5
            assert sent.json()["passages"]
            answered.release()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for _ in range(2 * CLIENTS):
        assert answered.acquire(timeout=60)
    victim = servers.servers[0].process
    os.killpg(victim.pid, signal.SIGKILL)
    wait_for(victim.poll, 10, "the end of the server")
    for thread in threads:
        thread.join(120)
    for _ in range(CLIENTS * QUESTIONS - 2 * CLIENTS):
        assert answered.acquire(blocking=False), failures
    return failures
