"""Who may write to a folder of INGEST_ROOT cannot make the server remove, read or wait for more."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atlas_search.core.errors import Conflict
from atlas_search.core.settings import Settings
from atlas_search.server.ingest import jobs as job_files
from atlas_search.server.ingest.jobs import Jobs
from tests.ingest.handing import UNTRACED, settings_for

ID = "20260102T030405-0a1b2c3d"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_for(tmp_path)


@pytest.fixture
def jobs(settings: Settings) -> Path:
    """The folder in which jobs of a collection `inbox` would be told."""
    folder = settings.ingest_root / "inbox" / ".jobs"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that is none of the server's."""
    file = tmp_path / "outside" / "keep.txt"
    file.parent.mkdir()
    file.write_text("Keep this.")
    return file.parent


def told(**changes: Any) -> str:
    job = {"id": ID, "kind": "ingest", "collection": "inbox", "corpus": "x", "state": "running"}
    return json.dumps(job | {"created": "2026-01-02T03:04:05.000+00:00"} | changes)


def listed(settings: Settings) -> list[str]:
    """The jobs that a new server knows; it goes on to take files."""
    jobs = Jobs(settings.ingest_root, lambda _: None, tracer=UNTRACED)
    found = [job.id for job in jobs.all()]
    assert jobs.new("farm").folder.parent == settings.ingest_root / "farm" / ".jobs"
    jobs.close()
    return found


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "{outside}"},
        {"collection": "{outside}"},
        {"id": "../../../outside"},
        {"collection": "../../outside", "id": ID},
        {"collection": "farm"},
        {"id": ""},
    ],
)
def test_what_is_told_removes_nothing_elsewhere(
    settings: Settings, jobs: Path, outside: Path, changes: dict[str, str]
) -> None:
    filled = {key: value.format(outside=outside) for key, value in changes.items()}
    (jobs / f"{ID}.json").write_text(told(**filled))
    (jobs / "evil.json").write_text(told(**filled))
    (outside / ".jobs" / ID).mkdir(parents=True)
    assert listed(settings) == []
    assert (outside / "keep.txt").read_text() == "Keep this."
    assert (outside / ".jobs" / ID).is_dir()
    assert (jobs / "evil.json").exists(), "what is not of the server is left alone"


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(job_files.LARGEST * 4)


def _broken(path: Path) -> None:
    path.write_bytes(b"\xff" * 100)


def _nested(path: Path) -> None:
    path.write_text("[" * 200_000)


def _folder(path: Path) -> None:
    path.mkdir()


def _other(path: Path) -> None:
    path.write_text(told(corpus=5))


@pytest.mark.parametrize("plant", [_pipe, _device, _huge, _broken, _nested, _folder, _other])
def test_what_is_no_job_stops_nobody(
    settings: Settings,
    jobs: Path,
    plant: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    plant(jobs / f"{ID}.json")
    (jobs / "20260102T030405-0a1b2c3e.json").write_text(told(id="20260102T030405-0a1b2c3e"))
    assert listed(settings) == ["20260102T030405-0a1b2c3e"]
    assert caplog.text.count("is not read as a job") == 1


def test_a_link_to_what_is_told_elsewhere_is_not_followed(
    settings: Settings, jobs: Path, outside: Path
) -> None:
    (outside / "job.json").write_text(told())
    (jobs / f"{ID}.json").symlink_to(outside / "job.json")
    (settings.ingest_root / "linked").symlink_to(outside)
    (outside / ".jobs").mkdir()
    (outside / ".jobs" / f"{ID}.json").write_text(told(collection="linked"))
    (settings.ingest_root / "half").mkdir()
    (settings.ingest_root / "half" / ".jobs").symlink_to(outside / ".jobs")
    (outside / ".jobs" / ID).mkdir()
    assert listed(settings) == []
    assert (outside / ".jobs" / ID).is_dir()


def test_what_a_job_brought_may_be_a_link_by_now(
    settings: Settings, jobs: Path, outside: Path
) -> None:
    (jobs / f"{ID}.json").write_text(told())
    (jobs / ID).symlink_to(outside)
    assert listed(settings) == [ID]
    assert (outside / "keep.txt").exists()


@pytest.mark.parametrize("place", ["new", "new/.jobs"])
def test_jobs_are_not_written_through_a_link(settings: Settings, outside: Path, place: str) -> None:
    link = settings.ingest_root / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    jobs = Jobs(settings.ingest_root, lambda _: None, tracer=UNTRACED)
    with pytest.raises(Conflict, match="that of a file or a link"):
        jobs.new("new")
    jobs.close()
    assert [path.name for path in outside.iterdir()] == ["keep.txt"]


def test_what_a_killed_upload_left_is_removed(settings: Settings, jobs: Path) -> None:
    (jobs / ID / "documents").mkdir(parents=True)
    (jobs / ID / "documents" / "bees.txt").write_text("Bees give honey.")
    (jobs / f"{ID}.partial").write_text(told())
    (jobs / "mine").mkdir()
    (jobs / "mine" / "notes.txt").write_text("Somebody's own.")
    assert listed(settings) == []
    assert [path.name for path in jobs.iterdir()] == ["mine"]
    assert (jobs / "mine" / "notes.txt").exists()
