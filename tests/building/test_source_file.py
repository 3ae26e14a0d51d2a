"""Source files are read again if, and only if, they may have changed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from atlas_search.building import source_file
from atlas_search.building.source_file import KEPT, FileDigests, sha256_of
from tests.building.damage import change
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files whose bytes were read for their digest."""
    seen: list[str] = []
    monkeypatch.setattr(
        source_file, "sha256_of", lambda file: seen.append(Path(file).name) or sha256_of(file)
    )
    return seen


@pytest.fixture
def settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was written counts as settled at once."""
    monkeypatch.setattr(source_file, "_SETTLED_NS", -1)


def digest(folder: Path, file: Path, **options: bool) -> bytes:
    digests = FileDigests(folder, "txt", **options)
    content = digests.of(file)
    digests.keep()
    return content


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sheep.txt"
    path.write_text("Sheep give wool.")
    return path


def rewrite(path: Path) -> None:
    path.write_text("Sheep eat grass.")


def rewrite_with_old_times(path: Path) -> None:
    before = path.stat()
    rewrite(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def replace(path: Path) -> None:
    other = path.with_name("other")
    rewrite(other)
    other.replace(path)


@pytest.mark.usefixtures("settle")
def test_a_file_that_stays_is_read_once(tmp_path: Path, file: Path, read: list[str]) -> None:
    assert digest(tmp_path, file) == digest(tmp_path, file) == sha256_of(file)
    assert read == ["sheep.txt"]
    assert digest(tmp_path, file, read_all=True) == sha256_of(file)
    assert len(read) == 2


@pytest.mark.usefixtures("settle")
@pytest.mark.parametrize("edit", [rewrite, rewrite_with_old_times, replace])
def test_a_change_of_equal_size_is_seen(
    tmp_path: Path, file: Path, edit: Callable[[Path], None]
) -> None:
    before = digest(tmp_path, file)
    edit(file)
    assert digest(tmp_path, file) == sha256_of(file) != before


def test_a_file_that_was_just_written_is_read_again(
    tmp_path: Path, file: Path, read: list[str]
) -> None:
    """It may be written to once more within one moment of the disk's clock."""
    digest(tmp_path, file)
    digest(tmp_path, file)
    assert len(read) == 2
    assert FileDigests(tmp_path, "txt").unchanged([str(file)]) == [b""]


@pytest.mark.usefixtures("settle")
def test_only_a_file_as_it_was_counts_as_unchanged(tmp_path: Path, read: list[str]) -> None:
    files = {name: tmp_path / f"{name}.txt" for name in ("same", "edited", "gone", "new")}
    for name in ("same", "edited", "gone"):
        files[name].write_text(name)
        digest_of(tmp_path, *files.values())
    rewrite(files["edited"])
    files["gone"].unlink()
    files["new"].write_text("new")
    read.clear()
    digests = FileDigests(tmp_path, "txt")
    paths = [str(file) for file in files.values()]
    assert digests.unchanged(paths) == [sha256_of(files["same"]), b"", b"", b""]
    assert digests.unchanged([os.path.relpath(files["same"])]) == [b""]  # its whole path is known
    assert FileDigests(tmp_path, "txt", read_all=True).unchanged(paths) == [b""] * 4
    assert read == []
    digests.of(files["edited"])
    digests.keep()
    assert FileDigests(tmp_path, "txt").unchanged(paths)[:2] == [
        sha256_of(files["same"]),
        sha256_of(files["edited"]),
    ]


def digest_of(folder: Path, *files: Path) -> None:
    """Keep the digests of the files that exist."""
    digests = FileDigests(folder, "txt")
    for file in files:
        if file.exists():
            digests.of(file)
    digests.keep()


@pytest.mark.usefixtures("settle")
def test_files_of_other_origins_stay_and_those_that_are_gone_go(
    tmp_path: Path, file: Path, read: list[str]
) -> None:
    digest(tmp_path, file)
    other = FileDigests(tmp_path, "pdf")
    other.of(file)
    other.keep()
    FileDigests(tmp_path, "pdf").keep()
    digest(tmp_path, file)
    assert len(read) == 2
    FileDigests(tmp_path, "txt").keep()
    digest(tmp_path, file)
    assert len(read) == 3


@pytest.mark.usefixtures("settle")
@pytest.mark.parametrize("read_all", [False, True])
@pytest.mark.parametrize("damage", [b"", b"no database at all" * 100])
def test_a_damaged_list_only_costs_time(
    tmp_path: Path, file: Path, damage: bytes, read_all: bool
) -> None:
    digest(tmp_path, file)
    (tmp_path / KEPT).write_bytes(damage)
    assert digest(tmp_path, file, read_all=read_all) == sha256_of(file)
    assert digest(tmp_path, file) == sha256_of(file)


def test_a_whole_path_is_found_from_a_folder_that_is_gone(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = digest(tmp_path, file)
    monkeypatch.chdir(tmp_path)
    assert digest(tmp_path, Path(file.name)) == expected
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert digest(tmp_path, file) == expected


@pytest.mark.usefixtures("settle")
def test_a_build_reads_only_what_changed(
    source: Path, folder: Path, hashes: HashEmbedder, read: list[str]
) -> None:
    build_tiny(source, folder, hashes)
    read.clear()
    change(source, {"farm/cows.txt": "Cows give cream.\n"})
    report = build_tiny(source, folder, hashes)
    assert (set(read), report.read) == ({"cows.txt"}, 1)
    read.clear()
    build_tiny(source, folder, hashes, force=True)
    assert sorted(read) == ["cows.txt", "sheep.md", "trade.txt"]
