"""A version that was written and never went live is not one to go back to."""

import errno
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from atlas_search.building.backup import export_collection
from atlas_search.building.go_live import LAST_STAGE
from atlas_search.building.maintain import drop, remove_source, repair
from atlas_search.core.errors import Cancelled
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import new_name, rollback, versions
from tests.backup.exports import taken_in
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, live, silent
from tests.upkeep.damage import lose


def cancel(stage: str, done: int, _: int) -> None:
    if stage == LAST_STAGE and not done:
        raise Cancelled("It was cancelled.")


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_cancelled_build_leaves_no_version(
    folder: Path, two: list[str], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheep = source / "farm" / "sheep.md"
    before = sheep.read_text()
    sheep.write_text("Nobody may read this.")
    with monkeypatch.context() as patch:
        patch.setattr("tests.tiny.silent", cancel)
        with pytest.raises(Cancelled):
            build_tiny(source, folder, HashEmbedder())
    assert [m.version for m in versions(folder)] == two[::-1]
    sheep.write_text(before)
    assert build_tiny(source, folder, HashEmbedder()).unchanged
    assert rollback(folder).version == two[0]


CHANGES: dict[str, Callable[[Path], object]] = {
    "drop": lambda folder: drop(folder, "town", HashEmbedder(), cancel),
    "remove": lambda folder: remove_source(
        folder, ("txt", "farm/cows.txt"), HashEmbedder(), cancel
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_cancelled_change_leaves_no_version(folder: Path, two: list[str], change: str) -> None:
    with pytest.raises(Cancelled):
        CHANGES[change](folder)
    assert [m.version for m in versions(folder)] == two[::-1]


def test_an_interrupted_repair_or_import_leaves_no_version(
    folder: Path, two: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_collection(folder, tmp_path / "export", silent)
    lose("tokens")(live(folder))
    monkeypatch.setattr("atlas_search.building.maintain.go_live", interrupt)
    monkeypatch.setattr("atlas_search.building.backup.go_live", interrupt)
    with pytest.raises(KeyboardInterrupt):
        repair(folder, HashEmbedder(), silent)
    with pytest.raises(KeyboardInterrupt):
        taken_in(tmp_path / "export", folder, replace=True)
    assert [m.version for m in versions(folder)] == two[::-1]


def test_what_a_killed_build_never_made_live_does_not_take_the_place_of_the_version_before(
    folder: Path, two: list[str], source: Path
) -> None:
    manifest = Manifest.read(folder)
    later = manifest.model_copy(update={"version": new_name(manifest.content_digest)})
    later.write(shutil.copytree(live(folder), folder / later.version))
    assert len(versions(folder)) == 3
    assert build_tiny(source, folder, HashEmbedder()).unchanged
    assert [m.version for m in versions(folder)] == two[::-1]


@pytest.mark.parametrize("step", ["staging", "versions"])
def test_what_fails_after_a_version_is_live_does_not_fail_the_build(
    folder: Path, two: list[str], source: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: object) -> None:
        if step == "staging":
            raise sqlite3.OperationalError("database or disk is full")
        raise OSError(errno.ENOSPC, "No space left on device")

    (source / "farm" / "new.txt").write_text("New.")
    with monkeypatch.context() as patch:
        if step == "staging":
            patch.setattr("atlas_search.stores.staging.Staging.finish", full)
        else:
            patch.setattr("atlas_search.building.go_live.remove_old", full)
        report = build_tiny(source, folder, HashEmbedder())
    assert report.manifest == Manifest.read(folder)
    (source / "farm" / "newer.txt").write_text("Newer.")
    again = build_tiny(source, folder, HashEmbedder()).manifest
    assert [m.version for m in versions(folder)] == [again.version, report.manifest.version]
    assert again.documents == report.manifest.documents + 1
