"""The README's commands on a clean clone: install, build, serve, test, stop."""

import os
import shutil
import subprocess
from pathlib import Path

import httpx2
import pytest

from atlas_search.core.settings import Settings
from tests.conftest import free_port
from tests.places import ROOT
from tests.servers import JUDGES_PYTHON, JUDGES_VENV, PHOENIX, running, wait_for

INSTALL_SECONDS = 1200
QUICK = ("tests/telemetry/test_logs.py", "tests/telemetry/test_builds.py")
"""Tests without a model, but with real stores: `make run` has used the model already."""
CONSTRAINTS = "constraints-phoenix.txt"

pytestmark = [pytest.mark.clone, pytest.mark.thorough, pytest.mark.timeout(2 * INSTALL_SECONDS)]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a git checkout, so there is nothing to clone")
    folder = tmp_path_factory.mktemp("clone") / "atlas"
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    if (known := ROOT / ".mypy_cache").exists():
        # mypy compares digests, and so checks anew what differs: a minute less of work
        shutil.copytree(known, folder / known.name)
    # else make would install the Phoenix again that serves the other tests
    shutil.copystat(ROOT / CONSTRAINTS, folder / CONSTRAINTS)
    return folder


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """The machine's environment without this run's settings and virtual environment."""
    own = {name.upper() for name in Settings.model_fields} | {"VIRTUAL_ENV", "REQUIRE"}
    # each of a dozen processes would compile what it imports
    own.add("PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if name not in own}
    # pip reads this as `--no-compile`, which saves 12 of 16 s of PyTorch alone
    return kept | {"PIP_NO_COMPILE": "0"}


def test_make_run_installs_builds_and_answers(clone: Path, environment: dict[str, str]) -> None:
    ports = {"ATLAS_PORT": str(free_port()), "PHOENIX_PORT": str(free_port())}
    # Phoenix is installed once for all tests; without it, `make run` is tried without
    phoenix = (f"PHOENIX_VENV={PHOENIX.parent.parent}",) if PHOENIX.exists() else ()
    command = ("make", "run", *phoenix)
    settings = {**environment, **ports, **({} if phoenix else {"PHOENIX": "0"})}
    with running(*command, environment=settings, folder=clone) as server:
        address = wait_for(
            lambda: next((line for line in server.lines if "Atlas is at" in line), None),
            INSTALL_SECONDS,
            "the server's address",
        ).rpartition(" ")[2]
        assert address == f"http://127.0.0.1:{ports['ATLAS_PORT']}"
        body = {"question": "Can a local authority sue a newspaper for libel?"}
        answer = httpx2.post(f"{address}/api/ask", json=body, timeout=60).json()
        assert "cannot sue for libel" in answer["answer"]
        assert "Atlas" in httpx2.get(address).text
        server.stop()
    assert not (clone / ".env").exists()
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=clone, capture_output=True, text=True, check=True
    )
    assert changed.stdout == ""


def test_make_test_runs_the_checks_and_the_tests(clone: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        # in one process: two would both import PyTorch
        ["make", "test", "WORKERS=0", f"PYTEST_ARGS=-q {' '.join(QUICK)}"]
        + ([f"PHOENIX_VENV={PHOENIX.parent.parent}"] if PHOENIX.exists() else [])
        + ([f"JUDGES_VENV={JUDGES_VENV}"] if JUDGES_PYTHON.exists() else []),
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=INSTALL_SECONDS,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "All checks passed!" in done.stdout  # ruff
    assert "Success: no issues found" in done.stdout  # mypy
    assert "0 broken" in done.stdout  # import-linter
    assert " passed" in done.stdout  # pytest
