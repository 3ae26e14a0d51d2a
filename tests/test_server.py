"""The server as a process: starting, streaming over HTTP, stopping, and failing clearly."""

import json
import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from atlas_search.building.flow import BuildReport
from tests.conftest import free_port, require
from tests.places import ROOT
from tests.servers import ATLAS, PHOENIX, answers, running, wait_for
from tests.without_model import settings_without_model

QUESTION = "Can a local authority sue a newspaper for libel?"


@pytest.fixture(scope="module")
def plain(stores: Path, demo: BuildReport, tmp_path_factory) -> str:
    """A server without Phoenix; its address."""
    environment = {"CHROMA_PERSIST_DIRECTORY": str(stores), "ATLAS_PORT": "0"}
    folder = tmp_path_factory.mktemp("plain")
    with running(*ATLAS, "serve", environment=environment, folder=folder) as server:
        yield server.address("Atlas")


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Settings of a server that starts at once: it has no model to load."""
    with settings_without_model(tmp_path_factory.mktemp("quick")) as settings:
        yield settings


def test_the_stream_arrives_in_pieces(plain: str) -> None:
    with httpx2.stream(
        "POST", f"{plain}/api/ask/stream", json={"question": QUESTION}, timeout=60
    ) as response:
        arrivals = [(time.monotonic(), chunk) for chunk in response.iter_raw() if chunk]
    assert response.headers["content-type"].startswith("text/event-stream")
    with_references = next(at for at, chunk in arrivals if b"event: references" in chunk)
    complete = next(at for at, chunk in arrivals if b"event: complete" in chunk)
    assert with_references < complete


def test_many_questions_at_once_get_their_own_answers(plain: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def ask(number: int) -> dict:
        body = {"question": QUESTION, "qa_id": f"q{number}", "k": number % 10 + 1}
        return httpx2.post(f"{plain}/api/ask", json=body, timeout=120).json()

    with ThreadPoolExecutor(12) as executor:
        documents = list(executor.map(ask, range(24)))
    assert [document["qa_id"] for document in documents] == [f"q{n}" for n in range(24)]
    for number, document in enumerate(documents):
        kept = sum(c["kept"] for c in document["retrieval"]["per_corpus"].values())
        assert kept == number % 10 + 1


def test_a_client_that_goes_away_leaves_the_server_well(plain: str) -> None:
    host, port = plain.removeprefix("http://").split(":")
    body = json.dumps({"question": QUESTION}).encode()
    for _ in range(20):
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(
                b"POST /api/ask/stream HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\n"
                + f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
    assert httpx2.post(f"{plain}/api/ask", json={"question": QUESTION}, timeout=60).is_success


def test_the_command_line_asks_the_running_server(plain: str, tmp_path: Path) -> None:
    environment = {"ATLAS_PORT": plain.rpartition(":")[2]}
    with running(*ATLAS, "ask", QUESTION, environment=environment, folder=tmp_path) as command:
        assert command.process.wait(60) == 0
        wait_for(lambda: len(command.lines) >= 2 or None, 60, "the answer")
    assert "cannot sue for libel" in command.lines[0]


def test_the_command_line_searches_the_running_server(plain: str, tmp_path: Path) -> None:
    environment = {"ATLAS_PORT": plain.rpartition(":")[2]}
    command = (*ATLAS, "search", "privacy", "--where", "date=1960..1969", "-k", "3", "--signals")
    with running(*command, environment=environment, folder=tmp_path) as search:
        assert search.process.wait(60) == 0
        wait_for(lambda: len(search.lines) >= 12 or None, 60, "the passages")
    heads = [line for line in search.lines if re.match(r"[123]\. 0\.\d{3}  \[legal_", line)]
    assert len(heads) == 3
    assert all(re.search(r"  196\d", head) for head in heads)
    assert sum("  semantic 0." in line for line in search.lines) == 3


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_server(
    quick: dict[str, str], tmp_path: Path, how: signal.Signals
) -> None:
    with running(*ATLAS, "serve", environment=quick, folder=tmp_path) as server:
        address = server.address("Atlas")
        assert server.stop(how) == 0
        assert answers(f"{address}/api/health") is None


@pytest.mark.phoenix
def test_run_starts_phoenix_too_and_a_signal_stops_both(
    quick: dict[str, str], tmp_path: Path
) -> None:
    require("phoenix", present=PHOENIX.exists(), remedy="`make phoenix-venv` has not run")
    environment = {
        **quick,
        "PHOENIX_PORT": str(free_port()),
        "PHOENIX_WORKING_DIR": str(tmp_path / "phoenix"),
    }
    command = (*ATLAS, "run", "--phoenix-executable", PHOENIX)
    with running(*command, environment=environment, folder=tmp_path) as server:
        own = server.address("Phoenix")
        # the server answers whether or not Phoenix is there yet
        assert httpx2.get(f"{server.address('Atlas')}/api/health").is_success
        wait_for(lambda: answers(f"{own}/healthz"), 120, "Phoenix")
        assert server.stop() == 0
        assert answers(f"{own}/healthz") is None


def test_run_without_phoenix_serves_alone(quick: dict[str, str], tmp_path: Path) -> None:
    environment = {**quick, "PHOENIX": "0"}
    with running(*ATLAS, "run", environment=environment, folder=tmp_path) as server:
        config = httpx2.get(f"{server.address('Atlas')}/api/config").json()
        assert config["tracing"] is False
        assert not any("Phoenix" in line for line in server.lines)


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({}, "There is no collection at"),
        ({"TEST_TARGET": "best"}, "TEST_TARGET=best is not in"),
        ({"ATLAS_PORT": "many"}, "ATLAS_PORT='many' in the environment or .env"),
        ({"SEARCH_K": "0"}, "SEARCH_K='0' in the environment or .env"),
        ({"EMBEDDING_MODEL": "no/such", "STORES": "yes"}, "neither a folder nor a model"),
        ({"MULTI_CORPUS_METADATA": "legal_fr", "STORES": "yes"}, "MULTI_CORPUS_METADATA: Unknown"),
    ],
)
def test_what_keeps_the_server_from_starting_is_said_in_one_message(
    stores: Path, demo: BuildReport, tmp_path: Path, environment: dict[str, str], says: str
) -> None:
    environment = dict(environment)
    if environment.pop("STORES", None):
        environment["CHROMA_PERSIST_DIRECTORY"] = str(stores)
    environment["HF_HUB_OFFLINE"] = "1"
    with running(*ATLAS, "serve", environment=environment, folder=tmp_path) as server:
        assert server.process.wait(60) == 1
        wait_for(lambda: server.lines or None, 60, "a message")
    assert says in server.lines[-1]
    assert not any("Traceback" in line for line in server.lines)


def test_a_port_in_use_is_said(quick: dict[str, str], tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        environment = {**quick, "ATLAS_PORT": port}
        with running(*ATLAS, "serve", environment=environment, folder=tmp_path) as server:
            assert server.process.wait(60) == 1
            wait_for(lambda: server.lines or None, 60, "a message")
    assert f"Port {port} of 127.0.0.1 cannot be used" in server.lines[-1]


def test_settings_come_from_a_dotenv_file(quick: dict[str, str], tmp_path: Path) -> None:
    settings = {**quick, "TEST_TARGET": "k15_quota", "SEARCH_K": "7"}
    lines = (f"{name}={value}\n" for name, value in settings.items())
    (tmp_path / ".env").write_text("".join(lines))
    with running(*ATLAS, "serve", environment={}, folder=tmp_path) as server:
        targets = httpx2.get(f"{server.address('Atlas')}/api/targets").json()
    assert targets["default"] == "k15_quota"
    search_k = {target["name"]: target["settings"]["SEARCH_K"] for target in targets["targets"]}
    # a target file goes before the environment
    assert search_k == {
        "k10_extractive": 10,
        "k10_lexical": 10,
        "k15_quota": 15,
        "k5_mistral": 5,
        "k5_openai": 5,
    }


def test_the_page_and_its_parts_are_served(plain: str) -> None:
    page = httpx2.get(plain)
    assert "Content-Security-Policy" in page.headers
    for path in filter(Path.is_file, (ROOT / "frontend").rglob("*")):
        name = path.relative_to(ROOT / "frontend").as_posix()
        assert httpx2.get(f"{plain}/static/{name}").is_success, name
