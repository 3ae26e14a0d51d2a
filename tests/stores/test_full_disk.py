"""A full disk or a closed folder ends a build with one line; what was done is not lost."""

import subprocess
import sys
from pathlib import Path

import pytest

from atlas_search.building.maintain import repair
from atlas_search.cli.main import main
from atlas_search.core.errors import UnwritableFolder
from atlas_search.core.files import writing_anywhere
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.staging import Staging
from atlas_search.stores.versions import STAGING, rollback
from tests.building.damage import damaged, lose
from tests.hash_embedder import HashEmbedder
from tests.stores.disks import closed, longest_file, small_disk
from tests.tiny import FARM, build_tiny, live, silent, write_sources

SHIPS = {
    f"sea/{n}.txt": f"Ship {n} carries load {n * 7} to port {n * n}.\n" * 4 for n in range(1200)
}


@pytest.mark.parametrize(
    "kilobytes",
    [40, *(pytest.param(n, marks=pytest.mark.thorough) for n in (3000, 6200, 6900, 7500, 7800))],
)
def test_a_build_on_a_full_disk_says_so_and_goes_on_later(tmp_path: Path, kilobytes: int) -> None:
    source = write_sources(tmp_path / "source", FARM | SHIPS)
    folder = tmp_path / "disk" / "kept"
    with small_disk(folder.parent, kilobytes):
        with pytest.raises(UnwritableFolder, match=r"The disk is full.* MB left") as raised:
            build_tiny(source, folder, HashEmbedder())
        assert len(str(raised.value).splitlines()) == 1
        assert not list(folder.glob("*.partial"))
        subprocess.run(["mount", "-o", "remount,size=100m", str(folder.parent)], check=True)
        embedder = HashEmbedder()
        build_tiny(source, folder, embedder)
        # all is staged before a version is written
        assert kilobytes < 6000 or embedder.embedded == 0
        assert damaged(folder) == []


def test_the_live_version_outlasts_a_full_disk(tmp_path: Path) -> None:
    source = write_sources(tmp_path / "source", FARM)
    folder = tmp_path / "disk" / "kept"
    with small_disk(folder.parent, 2600):
        build_tiny(source, folder, HashEmbedder())
        before = Manifest.read(folder)
        write_sources(source, FARM | SHIPS)
        with pytest.raises(UnwritableFolder):
            build_tiny(source, folder, HashEmbedder())
        assert Manifest.read(folder) == before
        assert damaged(folder) == []


@pytest.mark.parametrize(
    "size", [30_000, *(pytest.param(n, marks=pytest.mark.thorough) for n in (150_000, 400_000))]
)
def test_a_quota_is_a_full_disk(tmp_path: Path, size: int) -> None:
    source = write_sources(tmp_path / "source", FARM | SHIPS)
    with longest_file(size), pytest.raises(UnwritableFolder, match="The disk is full"):
        build_tiny(source, tmp_path / "kept", HashEmbedder())
    build_tiny(source, tmp_path / "kept", HashEmbedder())
    assert damaged(tmp_path / "kept") == []


def test_staged_work_outlasts_a_disk_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "kept" / STAGING
    path.parent.mkdir()
    staging = Staging(path)
    staging.add_vectors("m", [b"1" * 32], [1], HashEmbedder().embed(["x"]))
    staging.close()
    with closed(path.parent), pytest.raises(Exception, match=r"readonly|unable to open"):
        Staging(path)
    assert not list(path.parent.glob("*.damaged"))
    assert Staging(path).has_vector("m", b"1" * 32)


def test_a_folder_for_reading_says_what_can_be_done(source: Path, folder: Path) -> None:
    lose("tokens")(live(folder))
    with closed(folder.parent):
        for change in (
            lambda: build_tiny(source, folder, HashEmbedder()),
            lambda: build_tiny(source, folder.with_name("new"), HashEmbedder()),
            lambda: repair(folder, HashEmbedder(), silent),
            lambda: rollback(folder),
        ):
            with pytest.raises(UnwritableFolder, match=r"cannot be written .*It can be served"):
                change()


def test_a_command_that_cannot_write_its_file_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shut = tmp_path / "shut"
    (shut / "kept").mkdir(parents=True)
    monkeypatch.setenv("PHOENIX_WORKING_DIR", str(shut / "phoenix"))
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(shut))
    for command in (
        ["phoenix", "--phoenix-executable", sys.executable],
        ["store", "rollback", "kept"],
    ):
        with closed(shut), pytest.raises(SystemExit) as ended:
            main(command)
        error = capsys.readouterr().err
        assert (ended.value.code, error.startswith("atlas: ")) == (1, True), error
        assert len(error.splitlines()) == 1


@pytest.mark.parametrize("place", ["file/sub", "none/sub"])
def test_a_place_that_cannot_exist_is_named_in_one_line(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("in the way")
    wrong = str(tmp_path / place)
    message = rf"{wrong} cannot be written or read .*Name another"
    with pytest.raises(UnwritableFolder, match=message), writing_anywhere():
        Path(wrong).write_text("")
