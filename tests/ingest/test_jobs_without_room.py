"""A disk that takes nothing refuses a job, or lets it end; none stays for ever."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search.core.errors import AtlasError, Unavailable
from atlas_search.core.settings import Settings
from atlas_search.server.ingest import jobs as jobs_module
from atlas_search.server.ingest.documents import OPEN, JobOut, ResultOut, TakenFile
from atlas_search.server.ingest.jobs import Jobs
from atlas_search.server.ingest.work import Task
from tests.ingest.embedders import hashing
from tests.ingest.handing import PATIENCE, UNTRACED, detail, send, served_by, settings_for
from tests.servers import wait_for


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return settings_for(tmp_path).ingest_root


@pytest.fixture
def jobs(root: Path) -> Iterator[Jobs]:
    opened = Jobs(root, lambda _: None, tracer=UNTRACED)
    yield opened
    opened.close()


def begin(jobs: Jobs, root: Path, name: str = "bees.txt") -> str:
    """A job that brings a file."""
    files = jobs.new("farm")
    (files.folder / "documents").mkdir(parents=True)
    (files.folder / "documents" / name).write_text("Bees give honey.")
    taken = TakenFile(sent_as=name, name=name, bytes=16, replaces=False)
    told = JobOut(
        id=files.id,
        kind="ingest",
        collection="farm",
        corpus="documents",
        created="2026-01-02T03:04:05.000+00:00",
        files=[taken],
    )
    settings = settings_for(root.parent)
    task = Task(settings, root / "farm", hashing, files.folder, brings=True)
    return jobs.submit(told, task).id


def blocked(root: Path, job: str) -> None:
    """Let nothing more be written of a job: a folder is where its file would be written first."""
    (root / "farm" / ".jobs" / f"{job}.partial").mkdir(parents=True)


def over(jobs: Jobs, job: str) -> JobOut:
    def ended() -> JobOut | None:
        told = jobs.get(job)
        return None if told.state in OPEN else told

    return wait_for(ended, PATIENCE, "the end of the job")


def test_a_job_that_cannot_be_told_is_not_taken(
    root: Path, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert jobs.all() == []
    monkeypatch.setattr(jobs_module, "new_id", lambda: "20260102T030405-0a1b2c3d")
    blocked(root, "20260102T030405-0a1b2c3d")
    with pytest.raises(Unavailable, match="cannot be kept"):
        begin(jobs, root)
    assert jobs.all() == []
    assert not list(root.rglob("bees.txt"))


def test_a_job_ends_though_nothing_can_be_written_of_it(
    root: Path, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fills_the_disk(task: Task, *_: object) -> ResultOut:
        blocked(root, task.job.name)
        raise AtlasError("The disk is full.")

    monkeypatch.setattr(jobs_module, "run_task", fills_the_disk)
    told = over(jobs, begin(jobs, root))
    assert (told.state, told.problem) == ("failed", "The disk is full.")


def test_one_that_cannot_be_told_to_run_ends_too(
    root: Path, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()

    def waits(*_: object) -> ResultOut:
        assert go.wait(PATIENCE)
        raise AtlasError("The disk is full.")

    monkeypatch.setattr(jobs_module, "run_task", waits)
    first, second = begin(jobs, root), begin(jobs, root, "ants.txt")
    blocked(root, second)
    go.set()
    assert [over(jobs, job).state for job in (first, second)] == ["failed", "failed"]


@pytest.mark.parametrize("files", [None, {"q.txt": "Quails."}], ids=["path", "upload"])
def test_a_collection_with_the_name_of_a_file_is_refused(
    settings: Settings, files: dict[str, str] | None
) -> None:
    open_to_all = settings.model_copy(update={"collections": "*"})
    settings.ingest_root.mkdir()
    (settings.ingest_root / "x.txt").write_text("A file.")
    with served_by(open_to_all) as client:
        if files:
            response = send(client, files, collection="x.txt")
        else:
            response = client.post("/api/ingest", json={"path": "x.txt", "collection": "x.txt"})
        assert "Choose another name" in detail(response, 409)
        assert client.get("/api/jobs").json == {"jobs": []}
