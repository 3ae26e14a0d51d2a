"""The kept files are those of the live version: all of a job are moved, or none, and not astray."""

from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from atlas_search.building import go_live
from atlas_search.core.errors import AtlasError
from atlas_search.core.settings import Settings
from atlas_search.server.ingest.arrival import find_clash
from atlas_search.server.ingest.documents import ResultOut
from atlas_search.server.ingest.work import Task, do_task
from tests.ingest.embedders import hashing, waiting
from tests.ingest.handing import COLLECTION, detail, job_of, send, served_by

ID = "20260102T030405-0a1b2c3d"


@pytest.fixture
def kept(settings: Settings) -> Path:
    folder = settings.ingest_root / COLLECTION
    folder.mkdir(parents=True)
    return folder


def do(settings: Settings, files: dict[str, str] | None = None, removed: str = "") -> ResultOut:
    """A job, in this process."""
    kept = settings.ingest_root / COLLECTION
    job = kept / ".jobs" / ID
    for name, text in (files or {}).items():
        (job / name).parent.mkdir(parents=True, exist_ok=True)
        (job / name).write_text(text)
    ours, theirs = Pipe()
    ours.send(True)
    try:
        task = Task(settings, kept, hashing, job, brings=files is not None, removed=removed)
        return do_task(task, theirs)
    finally:
        ours.close()
        theirs.close()


def texts(kept: Path) -> dict[str, str]:
    """The kept files and what is in them."""
    files = (p for p in kept.rglob("*") if p.is_file() and ".jobs" not in p.parts)
    return {path.relative_to(kept).as_posix(): path.read_text() for path in files}


def test_a_clash_of_names_is_found() -> None:
    assert find_clash(["a.txt"], ["b.txt", "a.txt"]) == ""
    assert find_clash(["z.txt", "a.txt"], ["a.txt/b.txt"]) == "a.txt"
    assert find_clash(["a.txt/b/c.txt"], ["a.txt"]) == "a.txt/b/c.txt"


def test_a_folder_and_a_file_of_one_name_do_not_wait_for_each_other(settings: Settings) -> None:
    with served_by(settings, waiting) as client:
        first = job_of(send(client, {"zz.txt/b.txt": "Bees."}))
        said = detail(send(client, {"aaa.txt": "Ants.", "zz.txt": "Wasps."}), 409)
        assert "'zz.txt' cannot be kept" in said
        assert job_of(send(client, {"zz.txt": "Wasps."}, corpus="other"))
        client.delete(f"/api/jobs/{first}")


def fails(*_: Any) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("after", [False, True], ids=["before it is live", "once it is live"])
def test_files_of_a_job_that_fails_at_its_end_are_as_before(
    settings: Settings, kept: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    do(settings, {"garden/bees.txt": "Bees give honey."})
    as_it_is = go_live.make_live

    def breaks(*arguments: Any) -> None:
        if after:
            as_it_is(*arguments)
        fails()

    monkeypatch.setattr(go_live, "make_live", breaks)
    with pytest.raises(AtlasError, match="The disk is full"):
        do(settings, {"garden/bees.txt": "Bees give wax.", "new/a/ants.txt": "Ants."})
    if after:
        assert texts(kept) == {"garden/bees.txt": "Bees give wax.", "new/a/ants.txt": "Ants."}
    else:
        assert texts(kept) == {"garden/bees.txt": "Bees give honey."}
        assert not (kept / "new").exists()


def test_a_removal_that_fails_at_its_end_leaves_the_file(
    settings: Settings, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    do(settings, {"garden/a/bees.txt": "Bees give honey."})
    with monkeypatch.context() as patch:
        patch.setattr(go_live, "make_live", fails)
        with pytest.raises(AtlasError, match="The disk is full"):
            do(settings, removed="garden/a/bees.txt")
    assert texts(kept) == {"garden/a/bees.txt": "Bees give honey."}
    assert do(settings, removed="garden/a/bees.txt").documents_removed == 1
    assert texts(kept) == {}
    assert not (kept / "garden").exists()


def test_where_one_file_has_no_place_none_is_moved(settings: Settings, kept: Path) -> None:
    (kept / "garden" / "zz.txt").mkdir(parents=True)
    with pytest.raises(AtlasError, match="Nothing has changed"):
        do(settings, {"garden/aaa.txt": "Ants.", "garden/zz.txt": "Wasps."})
    assert texts(kept) == {}


@pytest.mark.parametrize("place", ["garden", "garden/a"])
def test_a_link_among_the_kept_files_leads_nothing_away(
    settings: Settings, kept: Path, tmp_path: Path, place: str
) -> None:
    outside = tmp_path / "outside"
    (outside / "a").mkdir(parents=True)
    (kept / place).parent.mkdir(exist_ok=True)
    (kept / place).symlink_to(outside)
    with pytest.raises(AtlasError, match="Nothing has changed"):
        do(settings, {"garden/a/bees.txt": "Bees give honey."})
    assert not [path for path in outside.rglob("*") if path.is_file()]


def test_a_removal_does_not_follow_a_link(settings: Settings, kept: Path, tmp_path: Path) -> None:
    do(settings, {"garden/a/bees.txt": "Bees give honey."})
    (kept / "garden" / "a").rename(tmp_path / "outside")
    (kept / "garden" / "a").symlink_to(tmp_path / "outside")
    with pytest.raises(AtlasError, match="Nothing has changed"):
        do(settings, removed="garden/a/bees.txt")
    assert (tmp_path / "outside" / "bees.txt").exists()
