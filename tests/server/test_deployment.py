"""Dockerfile and docker-compose.yml: confined, whole, and true to the program they start."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from dotenv import dotenv_values
from flask.testing import FlaskClient

from atlas_search.cli.main import Commands
from atlas_search.core.settings import Settings
from tests.conftest import free_port, require
from tests.places import ROOT
from tests.servers import ATLAS, PHOENIX, START_SECONDS, answers, running, wait_for
from tests.test_docs import items, names_in
from tests.without_model import settings_without_model

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OWN = {
    "ATLAS_HOST",
    "ATLAS_PORT",
    "ATLAS_MODEL_DIRECTORY",
    "ATLAS_STATE_DIRECTORY",
    "CHROMA_PERSIST_DIRECTORY",
    "TARGETS_DIRECTORY",
}
"""Addresses and folders of the container, whatever `.env` says."""

PASSED_ON = {"ATLAS_ADDRESS", "PHOENIX_COLLECTOR_ENDPOINT", "PHOENIX_PUBLIC_URL"}
"""Left to `.env`, with another default."""

OFFERED = {"ATLAS_ADDRESS", "ATLAS_PORT"}
"""Where the machine offers the container; settings too, but not for this."""

every_service = pytest.mark.parametrize("name", SERVICES)


def stages() -> dict[str, list[tuple[str, str]]]:
    """The instructions of each stage of the Dockerfile, with what follows them."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    result: dict[str, list[tuple[str, str]]] = {}
    for line in filter(None, text.replace("\\\n", " ").splitlines()):
        instruction, _, rest = line.partition(" ")
        if instruction == "FROM":
            current = result.setdefault(rest.split(" AS ")[1], [])
        current.append((instruction, rest.strip()))
    return result


STAGES = stages()


def instructions(stage: str, instruction: str) -> list[str]:
    return [rest for name, rest in STAGES[stage] if name == instruction]


def environment(stage: str) -> dict[str, str]:
    return dict(
        word.split("=", 1) for line in instructions(stage, "ENV") for word in shlex.split(line)
    )


def default(value: object) -> str:
    """A value of the compose file where no variable is set."""
    text = str(value)
    while (result := re.sub(r"\$\{\w+:-([^${}]*)\}", r"\1", text)) != text:
        text = result
    return text


def mounts(name: str) -> dict[str, str]:
    """Mounts by their place in the container: `volume` for one of Docker's, or a path."""
    pairs = [default(each).split(":") for each in SERVICES[name]["volumes"]]
    return {target: source for source, target, *_ in pairs}


def written(name: str) -> list[str]:
    """The places of a container that can be written."""
    kept = [default(each) for each in SERVICES[name]["volumes"]]
    places = [each.split(":")[1] for each in kept if not each.endswith(":ro")]
    return places + [each.split(":")[0] for each in SERVICES[name]["tmpfs"]]


@every_service
def test_every_service_is_confined(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert [each.split(":")[0] for each in service["tmpfs"]] == ["/tmp"]
    assert service.keys() >= {"mem_limit", "cpus", "pids_limit", "stop_grace_period", "restart"}
    assert service["logging"]["options"].keys() == {"max-size", "max-file"}
    assert not service.keys() & {"privileged", "cap_add", "network_mode", "pid", "devices", "ipc"}
    for port in service.get("ports", ()):
        assert default(port).startswith("127.0.0.1:")


@every_service
def test_no_service_runs_as_root(name: str) -> None:
    service = SERVICES[name]
    if "build" in service:
        assert instructions(service["build"]["target"], "USER") == ["10001:10001"]
    else:
        assert service["user"] == "10001:10001"


def test_what_others_publish_is_named_by_its_digest() -> None:
    bases = {rest.split()[0] for stage in STAGES for rest in instructions(stage, "FROM")}
    (base,) = bases - STAGES.keys()
    assert re.fullmatch(r"python:[\w.-]+@sha256:[0-9a-f]{64}", base)
    job = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]["test"]
    assert job["container"].endswith("@sha256:${{ matrix.digest }}")
    matrix = job["strategy"]["matrix"]
    assert [each["python"] for each in matrix["include"]] == matrix["python"]
    assert all(re.fullmatch("[0-9a-f]{64}", each["digest"]) for each in matrix["include"])
    for step in filter(lambda step: "uses" in step, job["steps"]):
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"])


def test_what_is_built_is_in_the_dockerfile_and_what_is_named_is_declared() -> None:
    built = {each["build"]["target"] for each in SERVICES.values() if "build" in each}
    assert built == {"server", "phoenix"} == STAGES.keys() - {"python", "install"}
    named = {
        source
        for name in SERVICES
        for source in mounts(name).values()
        if not source.startswith((".", "/"))
    }
    assert named == COMPOSE["volumes"].keys()
    assert [name for name in SERVICES if "profiles" in SERVICES[name]] == ["model"]


def test_every_setting_of_the_env_file_reaches_the_server() -> None:
    service = SERVICES["atlas"]
    assert service["env_file"] == [{"path": ".env", "required": False}]
    lines = re.sub(
        r"^# (?=[A-Z0-9_]+=)", "", (ROOT / ".env.example").read_text(), flags=re.MULTILINE
    )
    known = set(dotenv_values(stream=io.StringIO(lines)))
    assert service["environment"].keys() == OWN | PASSED_ON
    assert service["environment"].keys() <= known
    for name in PASSED_ON:
        assert str(service["environment"][name]).startswith(f"${{{name}:-")
    # what the image sets is only what the container decides too, so that nothing is shadowed
    assert environment("server").keys() & {n.upper() for n in Settings.model_fields} <= OWN


def test_the_page_lists_every_variable_of_the_compose_file_with_its_default() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    used = dict(re.findall(r"\$\{(\w+):-([^${}]*)\}", text))
    names = names_in(name for name, _ in items("docs/deploy.md", "With containers"))
    listed = dict(name.split("=") for name in names)
    settings = {name.upper() for name in Settings.model_fields}
    assert listed == {n: v for n, v in used.items() if n not in settings - OFFERED}


def test_the_settings_of_the_container_are_taken() -> None:
    values = {n.lower(): default(v) for n, v in SERVICES["atlas"]["environment"].items()}
    settings = Settings(_env_file=None, **values)
    assert (settings.atlas_host, settings.atlas_port) == ("0.0.0.0", 8000)
    assert settings.phoenix_collector_endpoint == "http://phoenix:6006"
    assert settings.phoenix_url == "http://localhost:6006"
    assert default(SERVICES["atlas"]["ports"][0]).endswith(f":{settings.atlas_port}")


def test_what_is_written_lies_in_a_volume_or_in_memory() -> None:
    places = {
        **{name: environment("server")[name] for name in ("HOME", "HF_HOME")},
        "stores": environment("server")["CHROMA_PERSIST_DIRECTORY"],
    }
    for path in places.values():
        assert any(f"{path}/".startswith(f"{place}/") for place in written("atlas")), path
    assert instructions("server", "VOLUME") == ["/app/data"]
    phoenix = environment("phoenix")
    assert {phoenix["HOME"], phoenix["PHOENIX_WORKING_DIR"]} <= set(written("phoenix"))
    assert SERVICES["atlas"]["environment"]["TARGETS_DIRECTORY"] in mounts("atlas")
    assert "/app/data" in mounts("atlas")


def test_build_tools_stay_behind() -> None:
    assert not [line for line in instructions("server", "RUN") if "pip" in line or "apt" in line]
    copied = instructions("server", "COPY")
    assert len(copied) == 2
    assert all(line.startswith("--from=install ") for line in copied)
    assert "pip uninstall --yes pip" in instructions("install", "RUN")[-2]


def test_all_that_is_copied_is_there_and_let_through() -> None:
    let_through = (ROOT / ".dockerignore").read_text().splitlines()
    assert let_through[1] == "*"
    for stage in STAGES:
        for line in instructions(stage, "COPY"):
            if line.startswith("--from"):
                continue
            for source in line.split()[:-1]:
                assert (ROOT / source).exists()
                assert f"!{source}" in let_through
    assert "**/.env*" in let_through


@pytest.mark.parametrize(
    "words",
    [json.loads(rest) for rest in instructions("server", "CMD")]
    + [rest.split()[-3:] for rest in instructions("install", "RUN") if " atlas " in rest],
)
def test_the_commands_exist_with_their_options(words: list[str]) -> None:
    assert words[0] == "atlas"
    command = Commands(name="atlas").load(words[1])
    command.make_context("atlas", words[2:])


# the health check, as Docker runs it


def check_health(port: int) -> int:
    (line,) = instructions("server", "HEALTHCHECK")
    words = json.loads(line[line.index("[") :])
    code = words[2].replace("127.0.0.1:8000", f"127.0.0.1:{port}")
    assert (words[:2], code != words[2]) == (["python", "-c"], True)
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode


@pytest.fixture
def forwarded(farm_client: FlaskClient) -> Iterator[tuple[int, list[int]]]:
    """A port at which the application answers, and a list: of a status in it, that is sent."""
    statuses: list[int] = []

    class Forward(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            result = farm_client.get(self.path)
            self.send_response(statuses[-1] if statuses else result.status_code)
            self.end_headers()
            self.wfile.write(result.data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Forward) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port, statuses
        server.shutdown()
        thread.join()


def test_the_health_check_follows_readiness(forwarded: tuple[int, list[int]]) -> None:
    port, statuses = forwarded
    assert check_health(port) == 0
    statuses.append(503)
    assert check_health(port) != 0
    statuses.append(404)
    assert check_health(port) != 0


WATCH = """
import os, sys
own, seen = (sys.argv[1], os.environ["TMPDIR"], "/dev/", "/proc/"), set()

def note(event, arguments):
    if event == "open" and isinstance(arguments[2], int):
        if arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            seen.add(os.fspath(arguments[0]) if not isinstance(arguments[0], int) else "")
    elif event in ("os.mkdir", "os.rename", "os.remove", "tempfile.mkstemp"):
        seen.add(os.fspath(arguments[0]))

sys.addaudithook(note)
from atlas_search.core.settings import Settings
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from tests.hash_embedder import HashEmbedder

settings = Settings(
    chroma_persist_directory=own[0],
    chroma_collection_name="farm",
    atlas_state_directory=own[0] + "/state",
)
serving = Serving(settings, HashEmbedder())
client = create_app(ServedCollections(serving)).test_client()
assert client.post("/api/ask", json={"question": "Who gives wool?"}).status_code == 200
assert client.get("/api/ready").status_code == 200
print(sorted(p for p in seen if p and not str(p).startswith(own)))
os._exit(0)
"""


@pytest.mark.thorough
def test_the_server_writes_nothing_beside_its_stores(own_stores: Path, tmp_path: Path) -> None:
    """Nor its temporary files, as far as Python sees; for the rest the root is read-only."""
    (tmp_path / "working").mkdir()
    (tmp_path / "temporary").mkdir()
    done = subprocess.run(
        [sys.executable, "-B", "-c", WATCH, str(own_stores)],
        cwd=tmp_path / "working",
        env=os.environ
        | {"TMPDIR": str(tmp_path / "temporary"), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[-1] == "[]"
    assert list((tmp_path / "working").iterdir()) == []


# Phoenix, as the compose file starts it

KEY = "0123456789abcdef" * 2
PHOENIX_COMMAND = [word.replace("$$", "$") for word in SERVICES["phoenix"]["command"]]


def test_with_keys_phoenix_does_not_start_without_a_key_of_its_own() -> None:
    own = {"PATH": os.environ["PATH"], "API_KEYS_FILE": "keys.json", "PHOENIX_API_KEY": ""}
    done = subprocess.run(PHOENIX_COMMAND, env=own, capture_output=True, text=True)
    assert done.returncode != 0
    assert "set PHOENIX_API_KEY in .env" in done.stderr
    assert SERVICES["phoenix"]["environment"].keys() == own.keys() - {"PATH"}


@pytest.mark.phoenix
@pytest.mark.thorough
def test_with_keys_phoenix_asks_for_a_login_and_takes_the_traces_of_atlas(tmp_path: Path) -> None:
    require("phoenix", present=PHOENIX.exists(), remedy="`make phoenix-venv` has not run")
    port = str(free_port())
    phoenix = f"http://127.0.0.1:{port}"
    own = {
        **environment("phoenix"),
        "PATH": os.pathsep.join([str(PHOENIX.parent), os.environ["PATH"]]),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": port,
        "PHOENIX_GRPC_PORT": "0",
        "PHOENIX_WORKING_DIR": str(tmp_path / "phoenix"),
        "HOME": str(tmp_path),
        "API_KEYS_FILE": "keys.json",
        "PHOENIX_API_KEY": KEY,
    }
    tracing = {
        "PHOENIX_COLLECTOR_ENDPOINT": phoenix,
        "PHOENIX_API_KEY": KEY,
        "PHOENIX_PROJECT_NAME": "login",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
    }
    spans = f"{phoenix}/v1/projects/login/spans"
    header = {"Authorization": f"Bearer {KEY}"}
    with (
        settings_without_model(tmp_path) as settings,
        running(*PHOENIX_COMMAND, environment=own, folder=tmp_path),
        running(*ATLAS, "serve", environment=settings | tracing, folder=tmp_path) as server,
    ):
        wait_for(lambda: answers(f"{phoenix}/healthz"), START_SECONDS, "Phoenix")
        body = {"question": "Who gives wool?"}
        answer = httpx2.post(f"{server.address('Atlas')}/api/ask", json=body, timeout=60).json()
        page = wait_for(lambda: read(spans, header), 60, "the trace")
        assert {span["context"]["trace_id"] for span in page} == {answer["trace_id"]}
        for refused in ({}, {"Authorization": "Bearer another"}):
            assert httpx2.get(spans, headers=refused).status_code == 401
            assert httpx2.post(f"{phoenix}/v1/traces", headers=refused).status_code == 401
        login = {"email": "admin@localhost", "password": KEY}
        assert httpx2.post(f"{phoenix}/auth/login", json=login).status_code == 204
        login["password"] = "admin"
        assert httpx2.post(f"{phoenix}/auth/login", json=login).status_code == 401


def read(spans: str, header: dict[str, str]) -> list[dict[str, Any]] | None:
    """The spans of a project, once there are some."""
    response = httpx2.get(spans, headers=header, params={"limit": 100})
    return (response.json()["data"] or None) if response.is_success else None
