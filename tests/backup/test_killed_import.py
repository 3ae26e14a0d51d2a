"""Imports that are killed: nothing of them is live, and the next one removes what they left."""

import os
import signal
from itertools import count
from multiprocessing import get_context
from pathlib import Path

import pytest

from atlas_search.building.backup import export_collection
from atlas_search.core.errors import MissingStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import versions
from tests.backup.exports import taken_in
from tests.hash_embedder import HashEmbedder
from tests.kill_build import die_before
from tests.tiny import FARM, build_tiny, contents, live, silent, write_sources
from tests.upkeep.damage import damaged

_PROCESSES = get_context("forkserver")
SECONDS = 60


def import_and_die(path: Path, folder: Path, fatal: int) -> None:
    die_before(folder, fatal)
    taken_in(path, folder, replace=True)


def export_and_die(folder: Path, path: Path) -> None:
    def die(stage: str, done: int, of: int) -> None:
        if (stage, done) == ("Writing passages", of):
            os.kill(os.getpid(), signal.SIGKILL)

    export_collection(folder, path, die)


def exit_code(work: object, *arguments: object) -> int:
    process = _PROCESSES.Process(target=work, args=arguments, daemon=True)
    process.start()
    process.join(SECONDS)
    assert process.exitcode is not None, "it hangs"
    return process.exitcode


def test_before_an_import_is_whole_nothing_of_it_is_live(written: Path, tmp_path: Path) -> None:
    folder = tmp_path / "stores" / "c"
    expected = contents(taken_target(written, tmp_path))
    killed = 0
    for fatal in count(1):
        if exit_code(import_and_die, written, folder, fatal) == 0:
            break
        killed += 1
        try:
            Manifest.read(folder)
        except MissingStore:
            continue
        assert contents(folder) == expected  # it was live, and what was killed is the cleaning up
        assert damaged(folder) == []
    assert killed >= 4
    assert contents(folder) == expected
    kept = {m.version for m in versions(folder)}
    assert {path.name for path in folder.iterdir()} - kept == {".build.lock", "manifest.json"}


def taken_target(written: Path, root: Path) -> Path:
    taken_in(written, root / "whole" / "c")
    return root / "whole" / "c"


def test_what_was_live_stays_so_when_an_import_over_it_is_killed(
    written: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    build_tiny(write_sources(tmp_path / "source", FARM), folder, HashEmbedder())
    before, version = contents(folder), live(folder)
    assert exit_code(import_and_die, written, folder, 4) != 0
    assert (contents(folder), live(folder)) == (before, version)
    assert list(folder.glob(".*.partial")) != []
    build_tiny(tmp_path / "source", folder, HashEmbedder(), force=True)
    assert list(folder.glob(".*.partial")) == []


@pytest.mark.parametrize("name", ["export", "export.zip"])
def test_an_export_that_is_killed_is_not_there_and_the_next_one_is_whole(
    letters: Path, tmp_path: Path, name: str
) -> None:
    folder = letters / "stores" / "c"
    assert exit_code(export_and_die, folder, tmp_path / name) != 0
    assert not (tmp_path / name).exists()
    assert (tmp_path / f".{name}.partial").exists()
    export_collection(folder, tmp_path / name, silent)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert contents(taken_target(tmp_path / name, tmp_path)) == contents(folder)
