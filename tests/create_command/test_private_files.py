"""Who may read what Atlas writes: its user alone, unless a setting says otherwise."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from atlas_search import Atlas as Library
from atlas_search.cli.main import app
from tests.create_command.conftest import Atlas
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, write_sources

OPEN = 0o022
"""The umask of most systems, under which others read what a program writes."""


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(OPEN)
    yield
    os.umask(before)


def modes(root: Path) -> dict[str, set[int]]:
    """The modes of all folders and of all files below `root`, and its own."""
    paths = [root, *root.rglob("*")]
    return {
        "folders": {path.stat().st_mode & 0o777 for path in paths if path.is_dir()},
        "files": {path.stat().st_mode & 0o777 for path in paths if path.is_file()},
    }


def current_umask() -> int:
    found = os.umask(OPEN)
    os.umask(found)
    return found


@pytest.mark.parametrize(
    ("setting", "folder", "file"),
    [("", 0o700, 0o600), ("027", 0o750, 0o640), ("077", 0o700, 0o600)],
)
def test_what_a_command_writes_is_for_its_user(
    tmp_path: Path,
    farm: Path,
    hashes: HashEmbedder,
    atlas: Atlas,
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
    folder: int,
    file: int,
) -> None:
    monkeypatch.setenv("ATLAS_UMASK", setting)
    report = tmp_path / "report.json"
    assert atlas("txt", farm, "--collection", "c", "--report", report)[0] == 0
    # a second build changes a copy of the vector index, and removes what is staged
    write_sources(farm, FARM | {"farm/goats.txt": "Goats climb.\n"})
    assert atlas("txt", farm, "--collection", "c")[0] == 0
    assert modes(tmp_path / "stores") == {"folders": {folder}, "files": {file}}
    assert modes(tmp_path / "create")["files"] == {file}
    assert report.stat().st_mode & 0o777 == file
    assert current_umask() == OPEN


def test_a_command_with_settings_that_cannot_be_read_is_private_too(
    tmp_path: Path, atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_UMASK", "everyone")
    code, _, told = atlas("txt", tmp_path, "--collection", "c")
    assert code == 1
    assert "ATLAS_UMASK" in told
    assert current_umask() == OPEN


def test_commands_leave_the_umask_of_who_runs_them_in_his_own_process() -> None:
    assert CliRunner().invoke(app, ["keys", "--help"]).exit_code == 0
    assert current_umask() == OPEN


def test_a_collection_that_the_library_builds_is_for_its_user(tmp_path: Path, farm: Path) -> None:
    stores = tmp_path / "data" / "stores"
    Library.build(farm, "c", embedder=HashEmbedder(), chroma_persist_directory=stores)
    for path in (tmp_path / "data", stores, stores / "c"):
        assert path.stat().st_mode & 0o777 == 0o700
    assert current_umask() == OPEN
