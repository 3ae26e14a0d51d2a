"""The server as a process: what it refuses to start for, how it answers, and how it ends. All but
one of the tests that start one are thorough."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from atlas_search.building.flow import BuildReport
from atlas_search.cli.doctor import check_targets, examine
from atlas_search.cli.serve import serve
from atlas_search.core.errors import ConfigurationError
from atlas_search.core.settings import Settings, load_settings
from atlas_search.server.access.gate import check_start
from atlas_search.server.access.keys import KeyFile, add_key
from atlas_search.services import Services
from tests.answering import answered_by
from tests.chat_server import Pause, Says
from tests.conftest import free_port, require
from tests.load import put_under_load
from tests.places import ROOT
from tests.server.listening import HALF_BODY, HALF_HEADER, connected, rest
from tests.servers import ATLAS, PHOENIX, Server, answers, running, wait_for
from tests.without_model import COLLECTION, settings_with_chat, settings_without_model

QUESTION = "Can a local authority sue a newspaper for libel?"
thorough = pytest.mark.thorough


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Settings of a server that starts at once: it has no model to load."""
    with settings_without_model(tmp_path_factory.mktemp("quick")) as settings:
        yield settings


def test_a_process_serves_the_page_and_answers_until_it_is_interrupted(
    quick: dict[str, str], tmp_path: Path
) -> None:
    environment = {**quick, "ATLAS_LOG_FORMAT": "json"}
    with running(*ATLAS, "serve", environment=environment, folder=tmp_path) as server:
        address = server.address("Atlas")
        assert "Content-Security-Policy" in httpx2.get(address).headers
        for path in filter(Path.is_file, (ROOT / "frontend").rglob("*")):
            name = path.relative_to(ROOT / "frontend").as_posix()
            assert httpx2.get(f"{address}/static/{name}").is_success, name
        body = {"question": "What do sheep give?"}
        assert httpx2.post(f"{address}/api/ask", json=body, timeout=60).is_success
        counts = httpx2.get(f"{address}/metrics", timeout=60).text.splitlines()
        assert server.stop(signal.SIGINT) == 0
        assert answers(f"{address}/api/health") is None
    assert [line.rpartition(" ")[2] for line in counts if line.startswith("atlas_answers_to")] == [
        "1.0"
    ]
    logged = [json.loads(line)["message"] for line in server.lines if line.startswith("{")]
    assert "Stopping." in logged
    others = [line for line in server.lines if not line.startswith("{")]
    assert all(line.startswith("Atlas is at") for line in others), others


# what keeps it from starting


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"CHROMA_PERSIST_DIRECTORY": "nowhere"}, "There is no collection at"),
        ({"TEST_TARGET": "best"}, "TEST_TARGET=best is not in"),
        ({"ATLAS_PORT": "many"}, "ATLAS_PORT='many' in the environment or .env"),
        ({"SEARCH_K": "0"}, "SEARCH_K='0' in the environment or .env"),
        ({"MULTI_CORPUS_METADATA": "legal_fr"}, "MULTI_CORPUS_METADATA: Unknown"),
        ({"ATLAS_PORT": "TAKEN"}, "of 127.0.0.1 cannot be used"),
        ({"TRUSTED_PROXIES": "10.0.0.0/8, proxy.example"}, "TRUSTED_PROXIES"),
    ],
)
def test_a_wrong_setting_is_said_in_one_sentence(
    quick: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    environment: Mapping[str, str],
    reason: str,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for name, value in {**quick, **environment}.items():
            monkeypatch.setenv(name, value.replace("TAKEN", port))
        with pytest.raises(ConfigurationError) as refusal:
            serve(load_settings())
    assert reason in str(refusal.value)


# each: the settings (ROOT is a folder with a file `plain` and keys that are no JSON), and its mend
FAULTS: dict[str, tuple[dict[str, str], str]] = {
    "access": ({"atlas_host": "0.0.0.0"}, "Set API_KEYS_FILE (`atlas keys add NAME` makes a key)"),
    "keys": ({"api_keys_file": "ROOT/broken.json"}, "broken.json is not valid JSON"),
    "audit": ({"audit_log": "ROOT/plain/audit.log"}, "or name another file."),
    "state": ({"atlas_state_directory": "ROOT/plain/state"}, "or set it to another folder."),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "plain").write_text("")
    (tmp_path / "broken.json").write_text('{"keys": [')
    return tmp_path


def settings_of(root: Path, changes: dict[str, str]) -> Settings:
    own: dict[str, Any] = {
        "chroma_persist_directory": root,
        "atlas_state_directory": root / "state",
    }
    return Settings(
        **own | {name: text.replace("ROOT", str(root)) for name, text in changes.items()}
    )


@pytest.mark.parametrize("name", FAULTS)
def test_doctor_says_why_the_server_refuses_to_start(root: Path, name: str) -> None:
    changes, mend = FAULTS[name]
    settings = settings_of(root, changes)
    with pytest.raises(ConfigurationError) as refusal:
        serve(settings)
    findings = {finding.what: finding for finding in examine(settings)}
    assert findings[name].state == "fault"
    assert findings[name].detail == str(refusal.value)
    assert mend in findings[name].detail
    assert {each for each in FAULTS if findings[each].state == "fault"} == {name}


def test_a_file_of_the_state_that_cannot_be_written_is_told(root: Path) -> None:
    (root / "state" / "spending.sqlite").mkdir(parents=True)
    with pytest.raises(ConfigurationError, match=r"Is a directory.*another folder"):
        check_start(settings_of(root, {}))


def test_looking_leaves_no_trace(root: Path) -> None:
    add_key(KeyFile(root / "keys.json"), "Anna")
    before = sorted(root.iterdir())
    named = {"api_keys_file": "ROOT/keys.json", "audit_log": "ROOT/log/audit.log"}
    check_start(settings_of(root, named | {"atlas_host": "0.0.0.0"}))
    assert sorted(root.iterdir()) == before


def test_doctor_notes_the_settings_that_the_chosen_target_overrides(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(root, {})
    for name, value in {"LLM_PROVIDER": "extractive", "CITATION_LIMIT": "3"}.items():
        monkeypatch.setenv(name, value)
    assert check_targets(settings).state == "ok"  # the target says so too
    monkeypatch.setenv("LLM_PROVIDER", "mistral")
    note = check_targets(settings)
    assert note.state == "note"
    assert "It sets LLM_PROVIDER: what the environment or .env says has no effect" in note.detail
    assert note.detail.endswith("or TEST_TARGET=k5_mistral.")
    assert check_targets(settings.model_copy(update={"test_target": "k5_mistral"})).state == "ok"
    monkeypatch.setenv("SEARCH_K", "77")
    assert "It sets LLM_PROVIDER, SEARCH_K" in check_targets(settings).detail
    assert check_targets(settings).detail.endswith("Use a target of your own.")


# many at once


@pytest.fixture(scope="module")
def plain(
    stores: Path, demo: BuildReport, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A server of the bundled collection without Phoenix; its address."""
    environment = {"CHROMA_PERSIST_DIRECTORY": str(stores), "ATLAS_PORT": "0"}
    folder = tmp_path_factory.mktemp("plain")
    with running(*ATLAS, "serve", environment=environment, folder=folder) as server:
        yield server.address("Atlas")


@thorough
def test_many_questions_at_once_get_their_own_answers(plain: str) -> None:
    def ask(number: int) -> dict[str, Any]:
        body = {"question": QUESTION, "qa_id": f"q{number}", "k": number % 10 + 1}
        answer: dict[str, Any] = httpx2.post(f"{plain}/api/ask", json=body, timeout=120).json()
        return answer

    with ThreadPoolExecutor(12) as executor:
        documents = list(executor.map(ask, range(24)))
    assert [document["qa_id"] for document in documents] == [f"q{n}" for n in range(24)]
    for number, document in enumerate(documents):
        kept = sum(c["kept"] for c in document["retrieval"]["per_corpus"].values())
        assert kept == number % 10 + 1


@thorough
def test_the_command_line_asks_the_running_server(plain: str, tmp_path: Path) -> None:
    environment = {"ATLAS_PORT": plain.rpartition(":")[2]}
    with running(*ATLAS, "ask", QUESTION, environment=environment, folder=tmp_path) as command:
        assert command.process.wait(60) == 0
        wait_for(lambda: len(command.lines) >= 2 or None, 60, "the answer")
    assert "cannot sue for libel" in command.lines[0]


@thorough
def test_nothing_is_left_of_streams_that_end_or_are_left(services: Services) -> None:
    settings = services.settings.model_copy(update={"resume_seconds": 0.2, "atlas_threads": 64})
    served = replace(services, settings=settings)
    with answered_by("openai", served, kept=False, patience=60.0) as (own, model):
        patient = {
            name: t.model_copy(update={"llm_seconds": 60}) for name, t in own.targets.items()
        }
        own = replace(own, targets=patient)
        load = put_under_load(own, model, seconds=3.0, streams=24)
    assert load.complete > 0
    assert load.left > 0
    assert (load.refused, load.other) == (0, [])
    assert len(load.threads_after) <= len(load.threads_before), load
    assert (load.calls_after, load.spans_after, load.answers_after) == (0, 0, 0)


@thorough
def test_files_come_in_while_questions_are_answered(tmp_path: Path) -> None:
    token = {"Authorization": "Bearer open sesame"}
    with settings_without_model(tmp_path) as settings:
        environment = settings | {
            "ATLAS_ADMIN_TOKEN": "open sesame",
            "INGEST_ROOT": str(tmp_path / "ingest"),
        }
        with running(*ATLAS, "serve", environment=environment, folder=tmp_path) as server:
            address = server.address("Atlas")
            with httpx2.Client(base_url=address, headers=token, timeout=60) as client:
                files = {"files": ("bees.txt", b"Bees give honey.")}
                job = client.post("/api/ingest", files=files).json()
                answered = 0

                def over() -> dict[str, Any] | None:
                    nonlocal answered
                    search = client.post("/api/search", json={"question": "Who gives wool?"})
                    answered += search.is_success
                    state: dict[str, Any] = client.get(f"/api/jobs/{job['id']}").json()
                    return None if state["state"] in ("queued", "running") else state

                end = wait_for(over, 90, "the end of the job")
                assert end["state"] == "done", (end, server.lines)
                assert answered > 1
                assert client.get("/api/health").json()["documents"] == 4
                assert "event: done" in client.get(f"/api/jobs/{job['id']}/events").text
                # one that is at work when the server ends is ended with it
                client.post("/api/ingest", files={"files": ("ants.txt", b"Ants carry leaves.")})
            assert server.stop() == 0
        assert not [line for line in server.lines if "Traceback" in line], server.lines
    kept = tmp_path / "ingest" / COLLECTION
    assert [path.name for path in kept.rglob("*.txt")] == ["bees.txt"]


@thorough
def test_who_has_no_collection_gets_an_empty_one_and_then_its_own(
    quick: dict[str, str], tmp_path: Path
) -> None:
    unnamed = {name: value for name, value in quick.items() if name != "CHROMA_COLLECTION_NAME"}
    environment = unnamed | {"CHROMA_PERSIST_DIRECTORY": "stores", "INGEST_ROOT": "ingest"}
    question = {"question": "What do bees give?"}
    with running(*ATLAS, "serve", environment=environment, folder=tmp_path) as server:
        with httpx2.Client(base_url=server.address("Atlas"), timeout=60) as client:
            said = client.post("/api/ask", json=question)
            assert said.status_code == 400
            assert said.json()["detail"] == "There are no sources yet. Add some in the page first."
            store = client.get("/api/health").json()["parts"]["store"]
            assert store == {"status": "note", "detail": "my_archive has no sources yet"}
            for path in ("corpora", "targets", "config", "stats", "sources", "documents", "ready"):
                assert client.get(f"/api/{path}").is_success, path
            files = {"files": ("bees.txt", b"Bees give honey.")}
            job = client.post("/api/ingest", files=files).json()["id"]
            assert '"state":"done"' in client.get(f"/api/jobs/{job}/events").text
            assert client.post("/api/search", json=question).json()["passages"]
        assert any("An empty one, my_archive, is served" in line for line in server.lines)
    with running(*ATLAS, "serve", environment=environment, folder=tmp_path) as server:
        corpora = httpx2.get(f"{server.address('Atlas')}/api/corpora").json()["corpora"]
        assert [corpus["id"] for corpus in corpora] == ["documents"]
        assert not any("empty" in line for line in server.lines)


# settings of a process


@thorough
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
        "bedrock": 4,
        "k10_extractive": 10,
        "k10_lexical": 10,
        "k15_quota": 15,
        "k5_mistral": 5,
        "k5_openai": 5,
    }


@thorough
def test_run_without_phoenix_serves_alone(quick: dict[str, str], tmp_path: Path) -> None:
    environment = {**quick, "PHOENIX": "0"}
    with running(*ATLAS, "run", environment=environment, folder=tmp_path) as server:
        config = httpx2.get(f"{server.address('Atlas')}/api/config").json()
        assert config["tracing"] is False
        assert not any("Phoenix" in line for line in server.lines)


@thorough
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


# the end: within SECONDS, whatever its clients and models do

SECONDS = 8.0  # as docs/deploy.md promises
ASK = b'{"question": "Do sheep give wool?"}'
STREAM = (
    b"POST /api/ask/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(ASK), ASK)
)


@thorough
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_server(
    quick: dict[str, str], tmp_path: Path, how: signal.Signals
) -> None:
    with running(*ATLAS, "serve", environment=quick, folder=tmp_path) as server:
        address = server.address("Atlas")
        assert server.stop(how) == 0
        assert answers(f"{address}/api/health") is None


@pytest.fixture(scope="module")
def silent() -> Iterator[str]:
    """The address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Settings of a server whose model takes a minute for its second word."""
    root = tmp_path_factory.mktemp("stopping")
    with settings_with_chat(root, Says("Sheep ", Pause(60), "give wool.")) as settings:
        yield settings


@contextmanager
def serving(
    settings: dict[str, str], folder: Path, **changes: str
) -> Iterator[tuple[Server, tuple[str, int]]]:
    with running(*ATLAS, "serve", environment={**settings, **changes}, folder=folder) as server:
        host, port = server.address("Atlas").removeprefix("http://").split(":")
        yield server, (host, int(port))


def begin(stream: socket.socket) -> None:
    """Read a stream until its passages have come, so that its answer is being written."""
    received = b""
    while b"event: references" not in received:
        piece = stream.recv(65536)
        assert piece, received
        received += piece


@thorough
@pytest.mark.parametrize("fault", ["slow model", "hanging model", "hanging phoenix"])
def test_it_ends_in_time_and_tells_every_stream(
    slow: dict[str, str], silent: str, tmp_path: Path, fault: str
) -> None:
    changes = {
        "slow model": {},
        "hanging model": {"OPENAI_BASE_URL": f"{silent}/v1"},
        "hanging phoenix": {"PHOENIX_COLLECTOR_ENDPOINT": silent},
    }[fault]
    with serving(slow, tmp_path, **changes) as (server, address), ExitStack() as clients:
        for data in (b"", HALF_HEADER, HALF_BODY):
            clients.enter_context(connected(address, 5, data))
        clients.enter_context(connected(address, 5, STREAM))  # which never read
        streams = clients.enter_context(connected(address, 5, STREAM))
        for stream in streams:
            begin(stream)
        os.killpg(server.process.pid, signal.SIGTERM)
        assert server.process.wait(SECONDS) == 0
        for stream in streams:
            end = rest(stream)
            assert b"event: error\ndata: " in end
            assert b"The server is stopping." in end


@thorough
def test_the_second_signal_ends_it_at_once(
    slow: dict[str, str], silent: str, tmp_path: Path
) -> None:
    changes = {"PHOENIX_COLLECTOR_ENDPOINT": silent}
    with (
        serving(slow, tmp_path, **changes) as (server, address),
        connected(address, 1, STREAM) as [stream],
    ):
        begin(stream)
        os.killpg(server.process.pid, signal.SIGTERM)
        rest(stream)  # then Phoenix keeps it for two more seconds
        os.killpg(server.process.pid, signal.SIGTERM)
        assert server.process.wait(SECONDS) == 128 + signal.SIGTERM


@thorough
def test_nothing_is_done_after_all_is_closed(slow: dict[str, str], tmp_path: Path) -> None:
    """The interpreter is not taken apart, and yet nothing that it would tidy up is left."""
    script = """
import atexit
from atlas_search.cli.main import main
atexit.register(lambda: print("taken apart", flush=True))
main(["serve"])
"""
    (tmp_path / "temporary").mkdir()
    environment = {**slow, "TMPDIR": str(tmp_path / "temporary")}
    with running(*(ATLAS[0], "-c", script), environment=environment, folder=tmp_path) as server:
        server.address("Atlas")
        assert list((tmp_path / "temporary").glob("atlas-open-*"))
        os.killpg(server.process.pid, signal.SIGTERM)
        assert server.process.wait(SECONDS) == 0
        wait_for(lambda: _has(server, "Stopping.") or None, 60, "the last line")
        assert not _has(server, "taken apart")
    assert not list((tmp_path / "temporary").glob("atlas-open-*"))


def _has(server: Server, words: str) -> bool:
    return any(words in line for line in list(server.lines))


@thorough
def test_work_that_cannot_be_ended_is_left_behind(tmp_path: Path) -> None:
    script = """
import signal, subprocess, sys, threading, time
from atlas_search.cli import main as stopping
stopping.LAST_SECONDS = 0.5
stopping.stop_on_signal()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"],
                         start_new_session=True)
stopping.end_with_this(child)
threading.Thread(target=time.sleep, args=(60,)).start()
print(child.pid, flush=True)
signal.pause()
"""
    environment = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    with running(*(ATLAS[0], "-c", script), environment=environment, folder=tmp_path) as server:
        child = wait_for(lambda: server.lines[0] if server.lines else None, 60, "a process")
        os.kill(server.process.pid, signal.SIGTERM)
        assert server.process.wait(SECONDS) == 1
    ended = subprocess.run(["ps", "-o", "stat=", "-p", child], capture_output=True, text=True)
    assert ended.stdout.strip() in ("", "Z", "Zs")
