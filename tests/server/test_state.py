"""Files of ATLAS_STATE_DIRECTORY that are damaged, locked or on a full disk."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import httpx2
import pytest

from atlas_search import Atlas
from atlas_search.providers.open import Remembered
from atlas_search.server.access.quotas import SPENDING_TABLE, Spending
from atlas_search.server.state import StateFile
from tests.chat_server import KEY
from tests.hash_embedder import HashEmbedder
from tests.openai_server import openai_server
from tests.server.listening import listening
from tests.server.two_corpora import QUESTION, guard
from tests.servers import app_of
from tests.stores.disks import longest_file

FREE = {"question": QUESTION, "target": "quotes"}
PAID = {"question": QUESTION, "target": "model"}
PRICED = "LLM_PROVIDER=openai\nLLM_PRICE_INPUT=1000000\nANSWER_THRESHOLD=0\n"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def seconds() -> float:
    """The time for which health is remembered."""
    return 0.0


@pytest.fixture
def client(
    parish: Atlas, tmp_path: Path, state: Path, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> Iterator[httpx2.Client]:
    """A client of a server that quotes for nothing, and writes at a price."""
    monkeypatch.setattr("atlas_search.providers.open.SECONDS", seconds)
    if not seconds:  # each question gives its own check
        monkeypatch.setattr(Remembered.result, "__defaults__", (30.0,))
    targets = tmp_path / "targets"
    targets.mkdir()
    (targets / "quotes.txt").write_text("ANSWER_THRESHOLD=0\nANSWER_LIKELIHOOD=0\n")
    (targets / "model.txt").write_text(PRICED)
    folder = parish.services.settings.collection_folder
    options = {"targets_directory": targets, "test_target": "quotes", "openai_api_key": KEY}
    own = {"atlas_state_directory": state, "limit_cost_per_day": 1}
    with ExitStack() as opened:
        model = opened.enter_context(openai_server())
        options |= {"openai_base_url": model.address, "query_cache_enabled": False}
        atlas = opened.enter_context(Atlas.open(folder, embedder=HashEmbedder(), **options))
        app = app_of(guard(atlas, None, **own))
        host, port = opened.enter_context(listening(app))
        yield opened.enter_context(httpx2.Client(base_url=f"http://{host}:{port}", timeout=60))


def scramble(path: Path) -> None:
    path.write_bytes(os.urandom(9000))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 1)


def empty(path: Path) -> None:
    os.truncate(path, 0)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        yield


def spending(path: Path) -> Spending:
    return Spending(StateFile(path, SPENDING_TABLE))


def begin(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    spending(path).add("nobody", datetime.now(UTC).date(), 1)


def health(client: httpx2.Client) -> tuple[str, str]:
    body = client.get("/api/health").json()
    return body["parts"]["state"]["status"], body["parts"]["state"]["detail"]


@pytest.mark.parametrize("damage", [scramble, cut, empty])
def test_no_answer_needs_the_file_of_costs_and_costs_are_counted_and_written_later(
    client: httpx2.Client, state: Path, damage: Callable[[Path], None]
) -> None:
    path = state / "spending.sqlite"
    begin(path)
    assert health(client)[0] == "ok"
    damage(path)
    assert client.post("/api/ask", json=FREE).status_code == 200
    assert client.post("/api/search", json={"question": QUESTION}).status_code == 200
    cost = client.post("/api/ask", json=PAID).json()["usage"]["cost"]
    assert cost > 1
    assert client.post("/api/ask", json=PAID).status_code == 429
    assert client.post("/api/ask", json=FREE).status_code == 200
    status, detail = health(client)
    assert status == "fault"
    assert "spending.sqlite is damaged" in detail
    assert client.get("/api/health").json()["status"] == "degraded"
    path.unlink()
    assert health(client)[0] == "ok"
    assert spending(path).of("127.0.0.1", datetime.now(UTC).date()) == cost


def test_a_cost_waits_for_the_lock_and_for_room_on_the_disk(
    client: httpx2.Client, state: Path
) -> None:
    path = state / "spending.sqlite"
    begin(path)
    with locked(path):
        cost = client.post("/api/ask", json=PAID).json()["usage"]["cost"]
        assert client.post("/api/ask", json=PAID).status_code == 429
        assert "locked by another program" in health(client)[1]
    with longest_file(1000):
        assert client.post("/api/ask", json=FREE).status_code == 200
        assert "the disk is full" in health(client)[1]
    client.get("/api/feedback/q1")  # writes the answers that waited for room
    assert health(client)[0] == "ok"
    assert spending(path).of("127.0.0.1", datetime.now(UTC).date()) == cost


@pytest.mark.parametrize("seconds", [30.0])
def test_a_locked_file_lets_no_question_for_health_hold_up_the_rest(
    client: httpx2.Client, state: Path
) -> None:
    path = state / "spending.sqlite"
    begin(path)
    with locked(path), ThreadPoolExecutor(20) as asking:
        replies = [asking.submit(client.get, "/api/health") for _ in range(20)]
        began = monotonic()
        assert client.get("/api/live").status_code == 200
        assert [reply.result().status_code for reply in replies] == [200] * 20
        assert monotonic() - began < 15  # a look takes 2 s; one after the other, 40


@pytest.mark.parametrize("damage", [scramble, cut, empty])
def test_ratings_and_links_say_that_they_cannot_be_read(
    client: httpx2.Client, state: Path, damage: Callable[[Path], None]
) -> None:
    client.post("/api/ask", json=FREE | {"qa_id": "q1"})
    assert client.post("/api/feedback", json={"qa_id": "q1", "thumb": "up"}).status_code == 200
    link = client.post("/api/ask/q1/link", json={}).json()["url"]
    damage(state / "feedback.sqlite")
    damage(state / "shared.sqlite")
    for refusal in (
        client.get("/api/feedback"),
        client.get("/api/feedback/q1"),
        client.post("/api/feedback", json={"qa_id": "q1", "thumb": "up"}),
        client.get(link),
        client.delete(link),
        client.post("/api/ask/q1/link", json={}),
    ):
        assert refusal.status_code == 503
        assert ".sqlite is damaged" in refusal.json()["detail"]
    assert client.post("/api/ask", json=FREE).status_code == 200
    detail = health(client)[1]
    assert "feedback.sqlite" in detail
    assert "shared.sqlite" in detail


def test_damage_of_a_value_is_said_until_the_file_changes(
    client: httpx2.Client, state: Path
) -> None:
    client.post("/api/ask", json=FREE | {"qa_id": "q1"})
    link = client.post("/api/ask/q1/link", json={}).json()["url"]
    with closing(sqlite3.connect(state / "shared.sqlite")) as file, file:
        file.execute("UPDATE shared SET document = substr(document, 100)")
    assert client.get(link).status_code == 503
    assert "shared.sqlite is damaged" in health(client)[1]
    (state / "shared.sqlite").unlink()
    assert health(client)[0] == "ok"
    assert client.get(link).status_code == 404
