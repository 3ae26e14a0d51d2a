"""The wheel: its files, and a demo that runs from it and writes nothing into it."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

pytestmark = [pytest.mark.clone, pytest.mark.thorough, pytest.mark.timeout(900)]

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds what the wheel installs, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    building = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    subprocess.run([*PIP, *map(str, building)], check=True)
    (wheel,) = folder.glob("*.whl")
    installing = ("install", "--no-deps", "--target", folder / "site", wheel)
    subprocess.run([*PIP, *map(str, installing)], check=True)
    return folder / "site"


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_only_new_name_is_that_of_the_package(installed: Path) -> None:
    names = {path.name.partition("-")[0]: path.name for path in installed.iterdir()}
    assert names.keys() == {"atlas_search", "atlas_research_search", "bin"}
    assert names["atlas_research_search"].endswith(".dist-info")
    assert [path.name for path in (installed / "bin").iterdir()] == ["atlas"]


@pytest.mark.parametrize(
    ("inside", "source"),
    [
        ("bundled/targets", "targets"),
        ("bundled/frontend", "frontend"),
        ("bundled/samples", "create/samples"),
        ("answer/prompts", "backend/atlas_search/answer/prompts"),
    ],
)
def test_it_carries_what_a_server_needs(installed: Path, inside: str, source: str) -> None:
    def kept(folder: Path) -> dict[str, str]:
        found = digests(folder).items()
        return {name: digest for name, digest in found if not name.endswith(".pyc")}

    carried = kept(installed / "atlas_search" / inside)
    assert carried
    assert carried == kept(ROOT / source)


def test_it_is_typed(installed: Path) -> None:
    assert (installed / "atlas_search" / "py.typed").is_file()


def test_the_demo_is_built_beside_the_caller_and_not_in_the_package(
    installed: Path, tmp_path: Path
) -> None:
    before = digests(installed)
    command = (sys.executable, "-B", "-m", "atlas_search.cli.main", "demo", "--no-serve")
    environment = {**os.environ, "PYTHONPATH": str(installed)}

    def demo() -> str:
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stderr

    assert "Manifest: " in demo()
    built = tmp_path / "data" / "stores" / "atlas_demo"
    assert (built / "manifest.json").is_file()
    first = digests(built)
    assert demo() == ""  # it is there
    assert digests(built) == first
    assert {path.name for path in tmp_path.iterdir()} == {"data"}
    assert digests(installed) == before
