"""Phoenix is installed and started beside the server, and traces wait for it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conftest import free_port, require
from tests.servers import ATLAS, PHOENIX, Server, answers, running, wait_for
from tests.without_model import settings_without_model

pytestmark = pytest.mark.thorough

QUESTION = "Who gives wool?"
INSTALL = """#!/bin/sh
echo "installing, in process $$"
while [ ! -e go ]; do sleep 0.1; done
ln -s {phoenix} phoenix
"""
"""Stands in for `make phoenix-venv`, which takes minutes: it is done when the test says so."""


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Settings of a server without a model, whose Phoenix has a port and a folder of its own."""
    with settings_without_model(tmp_path) as settings:
        yield settings | {
            "PHOENIX_PORT": str(free_port()),
            "PHOENIX_WORKING_DIR": str(tmp_path / "phoenix_data"),
            "PHOENIX_PROJECT_NAME": "beside",
        }


@pytest.fixture
def command(tmp_path: Path) -> tuple[str, ...]:
    """`atlas run` with an installation that waits for a file `go`."""
    script = tmp_path / "install.sh"
    script.write_text(INSTALL.format(phoenix=PHOENIX))
    script.chmod(0o755)
    return (*ATLAS, "run", "--phoenix-executable", "phoenix", "--phoenix-install", str(script))


def installer(server: Server) -> int:
    """The process of the installation, once it runs."""

    def process() -> int | None:
        lines = [line for line in server.lines if line.startswith("installing, in process ")]
        return int(lines[0].rpartition(" ")[2]) if lines else None

    return wait_for(process, 30, "the installation")


def traces(phoenix: str) -> list[dict[str, Any]]:
    """The spans of the project; none before its first arrives."""
    response = httpx2.get(f"{phoenix}/v1/projects/beside/spans", params={"limit": 100})
    return response.json()["data"] if response.is_success else []


@pytest.mark.phoenix
def test_the_page_is_up_before_phoenix_and_what_was_asked_meanwhile_is_traced(
    environment: dict[str, str], command: tuple[str, ...], tmp_path: Path
) -> None:
    require("phoenix", present=PHOENIX.exists(), remedy="`make phoenix-venv` has not run")
    with running(*command, environment=environment, folder=tmp_path) as server:
        address = server.address("Atlas")
        installer(server)
        assert any(line.startswith("Phoenix is being installed") for line in server.lines)
        assert httpx2.get(f"{address}/api/config").json()["tracing"] is True
        body = {"question": QUESTION}
        answer = httpx2.post(f"{address}/api/ask", json=body, timeout=60).json()
        assert not any("Phoenix is at" in line for line in server.lines)
        (tmp_path / "go").touch()
        phoenix = server.address("Phoenix")
        spans = wait_for(lambda: traces(phoenix) or None, 60, "the trace")
        assert {span["context"]["trace_id"] for span in spans} == {answer["trace_id"]}
        assert server.stop() == 0
    assert answers(f"{phoenix}/healthz") is None


def test_a_signal_ends_an_installation_too(
    environment: dict[str, str], command: tuple[str, ...], tmp_path: Path
) -> None:
    with running(*command, environment=environment, folder=tmp_path) as server:
        server.address("Atlas")
        process = installer(server)
        os.kill(process, 0)
        assert server.stop() == 0
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_an_installation_that_fails_is_said_and_the_server_goes_on(
    environment: dict[str, str], tmp_path: Path
) -> None:
    command = (*ATLAS, "run", "--phoenix-executable", "phoenix", "--phoenix-install", "false")
    with running(*command, environment=environment, folder=tmp_path) as server:
        address = server.address("Atlas")
        line = "Phoenix is not installed: `false` ended with 1. No traces."
        wait_for(lambda: line in server.lines or None, 30, "the message")
        assert httpx2.get(f"{address}/api/health").is_success
        assert server.stop() == 0


def test_a_server_whose_traces_go_elsewhere_says_that_no_phoenix_starts_here(
    environment: dict[str, str], tmp_path: Path
) -> None:
    elsewhere = environment | {"PHOENIX_COLLECTOR_ENDPOINT": f"http://127.0.0.1:{free_port()}"}
    with running(*ATLAS, "run", environment=elsewhere, folder=tmp_path) as server:
        server.address("Atlas")
        assert any(line.startswith("No Phoenix is started here") for line in server.lines)
