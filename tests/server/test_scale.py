"""docker-compose.scale.yml, as far as it can be checked without containers, and docs/scaling.md."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import yaml

from atlas_search import Atlas
from atlas_search.cli.main import Commands
from atlas_search.core.settings import Settings
from benchmarks.queueing import Load, simulate
from benchmarks.scaling import COSTS, MILLION, PAGE, Plan, page, search_cost
from tests.conftest import free_port
from tests.places import ROOT
from tests.server.access.test_proxy import CADDY
from tests.server.listening import listening
from tests.server.test_deployment import default
from tests.server.two_corpora import QUESTION, guard
from tests.servers import app_of, running, wait_for
from tests.test_docs import items, names_in

TEXT = (ROOT / "docker-compose.scale.yml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
CADDYFILE: str = COMPOSE["configs"]["caddyfile"]["content"]
ATLAS = [name for name in SERVICES if "build" in SERVICES[name]]
NODES = [name for name in SERVICES if name.startswith("qdrant")]
QDRANT_SETTINGS = {
    "QDRANT__CLUSTER__ENABLED",
    "QDRANT__SERVICE__API_KEY",
    "QDRANT__STORAGE__COLLECTION__REPLICATION_FACTOR",
    "QDRANT__STORAGE__COLLECTION__SHARD_NUMBER_PER_NODE",
    "QDRANT__STORAGE__COLLECTION__WRITE_CONSISTENCY_FACTOR",
    "QDRANT__STORAGE__SNAPSHOTS_PATH",
    "QDRANT__TELEMETRY_DISABLED",
    "QDRANT_INIT_FILE_PATH",
}
"""As in Qdrant 1.19.0: `src/settings.rs`, `lib/segment/src/data_types/collection_defaults.rs` and
`src/startup.rs`."""


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_confined_and_none_is_root(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "/tmp" in [each.split(":")[0] for each in service["tmpfs"]]
    assert service.keys() >= {"mem_limit", "cpus", "pids_limit", "stop_grace_period", "restart"}
    assert not service.keys() & {"privileged", "network_mode", "pid", "devices", "ipc"}
    assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "proxy" else [])
    assert ("ports" in service) == (name == "proxy")
    if "build" in service:
        assert service["build"]["target"] == "server"
    else:
        assert re.fullmatch(r"\d{3,}:\d{3,}", service["user"])
        assert re.search(r":v?\d+\.\d+", service["image"])


def test_what_is_named_is_declared_and_no_two_servers_share_a_folder() -> None:
    mounts = {n: [default(v).split(":") for v in s.get("volumes", ())] for n, s in SERVICES.items()}
    named = {source for own in mounts.values() for source, *_ in own if source[0] not in "./"}
    assert named == COMPOSE["volumes"].keys()
    for number in "123":
        assert [f"atlas-{number}", "/app/data"] in mounts[f"atlas-{number}"]
        assert [f"atlas-{number}", "/app/data"] in mounts[f"pull-{number}"]
    for service in SERVICES.values():
        assert set(service.get("depends_on", ())) <= SERVICES.keys()


def test_settings_exist_and_lead_to_the_other_services() -> None:
    for name in ATLAS:
        own = {each: default(value) for each, value in SERVICES[name]["environment"].items()}
        assert own.keys() <= {each.upper() for each in Settings.model_fields}
        own["STATE_URL"] = re.sub(r"\$\{.*?\}", "secret", own["STATE_URL"])
        settings = Settings(_env_file=None, **{each.lower(): own[each] for each in own})
        qdrant = urlsplit(settings.qdrant_url)
        assert qdrant.hostname == "proxy"
        assert f"http://:{qdrant.port} {{" in CADDYFILE
        state = urlsplit(settings.state_url.get_secret_value())
        database = SERVICES[state.hostname or ""]["environment"]
        assert state.username == database["POSTGRES_USER"]
        assert state.path == f"/{database['POSTGRES_DB']}"
        network = COMPOSE["networks"]["default"]["ipam"]["config"][0]["subnet"]
        assert settings.trusted_proxies == default(network)
    upstreams = re.findall(r"reverse_proxy (.*) \{", CADDYFILE)
    assert upstreams == [
        " ".join(f"atlas-{number}:{settings.atlas_port}" for number in "123"),
        " ".join(f"{node}:6333" for node in NODES),
    ]
    assert default(SERVICES["proxy"]["ports"][0]).endswith(":8000")
    assert "http://:8000 {" in CADDYFILE


def test_the_nodes_of_qdrant_know_each_other() -> None:
    for name in NODES:
        assert SERVICES[name]["environment"].keys() == QDRANT_SETTINGS
        words = SERVICES[name]["command"]
        assert words[-2:] == ["--uri", f"http://{name}:6335"]
        first = [] if name == NODES[0] else ["--bootstrap", f"http://{NODES[0]}:6335"]
        assert words[1:-2] == first


def test_secrets_have_no_default() -> None:
    used = dict(re.findall(r"\$\{(\w+)(:.)", TEXT))
    assert {name for name, kind in used.items() if kind == ":?"} == {
        "POSTGRES_PASSWORD",
        "QDRANT_API_KEY",
    }


def test_the_page_lists_every_variable_with_its_default() -> None:
    listed = names_in(name for name, _ in items("docs/scaling.md", "With containers"))
    used = set(re.findall(r"\$\{(\w+):-([^${}]*)\}", TEXT))
    assert {tuple(name.split("=")) for name in listed} == used


@pytest.mark.parametrize("name", [name for name in ATLAS if "command" in SERVICES[name]])
def test_the_commands_exist_with_their_options(name: str) -> None:
    words = [default(word) for word in SERVICES[name]["command"]]
    assert words[0] == "atlas"
    Commands(name="atlas").load(words[1]).make_context("atlas", words[2:])


# the proxy


def test_caddy_takes_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "Caddyfile").write_text(CADDYFILE)
    command = [CADDY, "validate", "--config", tmp_path / "Caddyfile"]
    own = {"HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=own)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def servers(parish: Atlas, tmp_path: Path) -> Iterator[list[tuple[str, int, ExitStack]]]:
    """Two servers: host, port, and what stops each."""
    with ExitStack() as all_:
        started = []
        for number in range(2):
            own = guard(parish, None, atlas_state_directory=tmp_path / f"state-{number}")
            stack = all_.enter_context(ExitStack())
            host, port = stack.enter_context(listening(app_of(own)))
            started.append((host, port, stack))
        yield started


def test_searches_go_on_when_a_server_stops(
    servers: list[tuple[str, int, ExitStack]], tmp_path: Path
) -> None:
    port = free_port()
    text = CADDYFILE.replace(":8000 {", f":{port} {{", 1).split("# servers of Atlas")[0]
    for number, (host, own, _) in enumerate(servers, 1):
        text = text.replace(f"atlas-{number}:8000", f"{host}:{own}")
    text = text.replace(" atlas-3:8000", "")
    (tmp_path / "Caddyfile").write_text(text)
    address = f"http://localhost:{port}"

    def searches(client: httpx2.Client) -> list[int]:
        body = {"question": QUESTION}
        return [client.post("/api/search", json=body).status_code for _ in range(6)]

    command = (CADDY, "run", "--config", tmp_path / "Caddyfile")
    with (
        running(*command, environment={}, folder=tmp_path),
        httpx2.Client(base_url=address, timeout=30) as sticky,
    ):
        wait_for(lambda: _is_ready(address), 30, "Caddy")
        assert searches(sticky) == [200] * 6
        assert sticky.cookies.get("atlas_server")
        for _, _, stop in servers[:1]:
            stop.close()
        assert searches(sticky) == [200] * 6
        with httpx2.Client(base_url=address, timeout=30) as other:
            assert searches(other) == [200] * 6


def _is_ready(address: str) -> bool | None:
    try:
        return httpx2.get(f"{address}/api/ready").is_success or None
    except httpx2.TransportError:
        return None


# the page


@pytest.mark.thorough
def test_the_tables_of_the_page_are_what_the_benchmark_prints() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "run python -m benchmarks.scaling --write"


def test_a_plan_is_plain_arithmetic() -> None:
    small, large = Plan(MILLION), Plan(1_000 * MILLION)
    assert small.disk == MILLION * (666 + 52 + 510 + 1_434 + 812 + 1_739 + 155)
    assert (small.nodes, small.shards, large.collections) == (0, 0, 10)
    assert large.own == 100 * MILLION
    assert search_cost("embedded: engine", 200_000) == pytest.approx(10.4)
    assert all(cost.value for cost in COSTS.values())


def test_the_simulation_gives_what_was_measured_at_half_load() -> None:
    service = Plan(MILLION).service
    outcome = simulate(Load(1000 / service, 1, service))  # of two processors
    assert outcome.p95 / service == pytest.approx(COSTS["p95 at half load"].value, rel=0.05)
    assert (outcome.again, outcome.lost) == (0, 0)


def test_a_search_waits_for_the_slowest_shard() -> None:
    one, ten = (simulate(Load(1, 3, 20, 40, shards)).p50 for shards in (1, 10))
    assert 55 < one < 65
    assert ten > one + 10


def test_a_killed_server_loses_nothing_while_another_lives() -> None:
    outcome = simulate(Load(40, 3, 43), kills=1)
    assert outcome.again > 0
    assert outcome.lost == 0
