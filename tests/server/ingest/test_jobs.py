"""Jobs: one at a time for a collection, told as they go on, cancelled, known after a restart, and
safe from all that lies in their folder."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from atlas_search.server.ingest import jobs as jobs_module
from atlas_search.server.ingest import routes
from atlas_search.stores.versions import lock
from tests.server.ingest.embedders import (
    dying_once_live,
    dying_unread,
    failing_once_live,
    slowly_hashing,
    waiting,
)
from tests.server.ingest.handing import (
    BEES,
    COLLECTION,
    PATIENCE,
    child,
    detail,
    documents,
    done,
    embedding,
    ended,
    job_of,
    running,
    send,
    served_by,
    settings_for,
    stage,
)
from tests.servers import wait_for

ANTS = {"ants.txt": "Ants carry leaves."}


def left_of(settings: Settings) -> list[str]:
    """All files of the collection in the root but the records of jobs."""
    kept = settings.ingest_root / COLLECTION
    return [p.name for p in kept.rglob("*") if p.is_file() and p.suffix != ".json"]


def test_a_job_that_is_cancelled_leaves_nothing(settings: Settings) -> None:
    with served_by(settings, slowly_hashing) as client:
        version = client.get("/api/config").get_json()["collection_version"]
        job = job_of(send(client, BEES))
        embedding(client, job)
        assert client.delete(f"/api/jobs/{job}").get_json()["cancelled"]
        end = ended(client, job)
        assert (end["state"], end["result"]) == ("cancelled", None)
        assert client.get("/api/config").get_json()["collection_version"] == version
        assert not client.delete(f"/api/jobs/{job}").get_json()["cancelled"]
    assert left_of(settings) == []
    with served_by(settings) as client:
        assert done(client, send(client, ANTS))["result"]["documents_added"] == 1
        assert client.get("/api/documents/documents.bees").status_code == 404


@pytest.mark.thorough
def test_jobs_of_a_collection_wait_for_each_other(settings: Settings) -> None:
    with served_by(settings, waiting) as client:
        first = job_of(send(client, BEES))
        running(client, first)
        second = job_of(send(client, ANTS))
        third = job_of(send(client, {"zz.txt/b.txt": "Bees."}))
        assert client.get(f"/api/jobs/{second}").get_json()["state"] == "queued"
        assert "names are kept: bees.txt" in detail(send(client, BEES), 409)
        clash = {"aaa.txt": "Ants.", "zz.txt": "Wasps."}
        assert "'zz.txt' cannot be kept" in detail(send(client, clash), 409)
        assert client.delete(f"/api/jobs/{third}").get_json()["job"]["state"] == "cancelled"
        assert client.get(f"/api/jobs/{third}").get_json()["started"] is None
        (settings.ingest_root / "go").touch()
        assert [ended(client, job)["state"] for job in (first, second)] == ["done", "done"]
        listing = [job["id"] for job in client.get("/api/jobs").get_json()["jobs"]]
        assert listing == [third, second, first]
        assert documents(client)["documents"] == 2


def test_events_tell_of_a_job_until_its_end_which_comes_at_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "POLL_SECONDS", 600.0)  # the steps between two events are one
    with served_by(settings, waiting) as client:
        job = job_of(send(client, BEES))
        (settings.ingest_root / "go").touch()
        frames = client.get(f"/api/jobs/{job}/events").get_data(as_text=True).strip().split("\n\n")
        assert [frame.split("\n")[1] for frame in frames] == ["event: progress", "event: done"]
        last = json.loads(frames[-1].split("\n")[2].removeprefix("data: "))
        assert (last["id"], last["state"]) == (job, "done")
        # whoever comes late gets the end
        assert "event: done" in client.get(f"/api/jobs/{job}/events").get_data(as_text=True)
        assert "no job" in detail(client.get("/api/jobs/x/events"), 404)


def test_a_restart_says_that_jobs_were_interrupted(settings: Settings) -> None:
    with served_by(settings, waiting) as client:
        first, second = (job_of(send(client, files)) for files in (BEES, ANTS))
        running(client, first)
    with served_by(settings) as client:
        jobs = {job["id"]: job for job in client.get("/api/jobs").get_json()["jobs"]}
        assert {jobs[job]["state"] for job in (first, second)} == {"interrupted"}
        assert "send it again" in jobs[first]["problem"]
        done(client, send(client, BEES))
        assert documents(client)["documents"] == 1


def test_a_process_that_dies_fails_its_job_alone(settings: Settings) -> None:
    with served_by(settings, waiting) as client:
        job = job_of(send(client, BEES))
        running(client, job)
        os.kill(wait_for(child, PATIENCE, "the process"), signal.SIGKILL)
        end = ended(client, job)
        assert (end["state"], end["result"]) == ("failed", None)
        assert "ended with -9" in end["problem"]
        (settings.ingest_root / "go").touch()
        done(client, send(client, BEES))


def test_two_servers_do_not_take_files_into_one_root(
    settings: Settings, client: FlaskClient
) -> None:
    assert client.get("/api/jobs").get_json() == {"jobs": []}
    with served_by(settings) as other:
        assert "Another server takes files" in detail(send(other, BEES), 409)
        assert other.post("/api/search", json={"question": "wool"}).status_code == 200


@pytest.mark.thorough
def test_a_job_waits_for_a_build_from_the_terminal(settings: Settings, client: FlaskClient) -> None:
    with lock(settings.collection_folder):
        job = job_of(send(client, BEES))
        stage(client, job, "Waiting for another build")
    assert ended(client, job)["state"] == "done"


@pytest.mark.thorough
@pytest.mark.parametrize("opens", [dying_once_live, failing_once_live])
def test_a_job_whose_version_is_live_is_done(settings: Settings, opens: Callable[..., Any]) -> None:
    with served_by(settings, opens) as client:
        result = done(client, send(client, BEES))["result"]
        counts = [result[name] for name in ("documents", "documents_added", "passages_added")]
        assert counts == [4, 1, 1]
        assert "as soon as this version was live" in result["remarks"][0]["remarks"][0]
        assert documents(client)["documents"] == 1
        assert client.get("/api/config").get_json()["collection_version"] == result["version"]


@pytest.mark.thorough
def test_a_process_that_dies_with_an_answer_unread_says_how(settings: Settings) -> None:
    with served_by(settings, dying_unread) as client:
        end = ended(client, job_of(send(client, BEES)))
    assert end["state"] == "failed"
    assert "ended with -9" in end["problem"]
    assert "Nothing of it is live" in end["problem"]


@pytest.mark.thorough
def test_a_version_that_cannot_be_shown_at_once_is_done(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(_: str) -> None:
        raise RuntimeError("of the server")

    client.application.extensions["jobs"]._published = fails
    job = done(client, send(client, BEES))
    assert job["problem"] == ""
    assert [r.getMessage() for r in caplog.records if r.exc_info] == [
        f"The version of the job {job['id']} is served later."
    ]


# records of jobs: a disk without room for them, and what others put in their folder

ID = "20260102T030405-0a1b2c3d"
OTHER = "20260102T030405-0a1b2c3e"


def test_a_job_that_cannot_be_kept_is_not_taken(
    settings: Settings, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_module, "new_id", lambda: ID)
    block(settings, ID)
    assert "cannot be kept" in detail(send(client, BEES), 503)
    assert client.get("/api/jobs").get_json() == {"jobs": []}
    assert left_of(settings) == []


@pytest.mark.thorough
def test_jobs_end_though_nothing_can_be_written_of_them(settings: Settings) -> None:
    with served_by(settings, waiting) as client:
        jobs = [job_of(send(client, files)) for files in (BEES, ANTS)]
        running(client, jobs[0])
        for job in jobs:
            block(settings, job)
        (settings.ingest_root / "go").touch()
        assert [ended(client, job)["state"] for job in jobs] == ["done", "done"]


def block(settings: Settings, job: str) -> None:
    """Let nothing more be written of a job: a folder is where its file would be written first."""
    (settings.ingest_root / COLLECTION / ".jobs" / f"{job}.partial").mkdir(parents=True)


@pytest.fixture
def own(tmp_path: Path, farm_stores: Path) -> Settings:
    """A root in which others write, of a server whose collections stay as they are."""
    return settings_for(tmp_path, chroma_persist_directory=farm_stores, collections="*")


@pytest.fixture
def folder(own: Settings) -> Path:
    """The place of the records of a collection `inbox`."""
    folder = own.ingest_root / "inbox" / ".jobs"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that is none of the server's."""
    file = tmp_path / "outside" / "keep.txt"
    file.parent.mkdir()
    file.write_text("Keep this.")
    return file.parent


def record(**changes: Any) -> str:
    job = {"id": ID, "kind": "ingest", "collection": "inbox", "corpus": "x", "state": "running"}
    return json.dumps(job | {"created": "2026-01-02T03:04:05.000+00:00"} | changes)


def listed(settings: Settings) -> list[str]:
    """The jobs that a new server knows; it goes on to take files."""
    with served_by(settings) as client:
        ids = [job["id"] for job in client.get("/api/jobs").get_json()["jobs"]]
        assert "no file to take in" in detail(send(client, {"a.exe": "MZ"}), 400)
        return ids


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
def test_a_planted_record_removes_nothing_elsewhere(
    own: Settings, folder: Path, outside: Path, changes: dict[str, str]
) -> None:
    filled = {key: value.format(outside=outside) for key, value in changes.items()}
    for name in (ID, "evil"):
        (folder / f"{name}.json").write_text(record(**filled))
    (outside / ".jobs" / ID).mkdir(parents=True)
    assert listed(own) == []
    assert (outside / "keep.txt").read_text() == "Keep this."
    assert (outside / ".jobs" / ID).is_dir()
    assert (folder / "evil.json").exists(), "what is not of the server is left alone"


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(jobs_module.LARGEST * 4)


PLANTS: dict[str, Callable[[Path], object]] = {
    "pipe": lambda path: os.mkfifo(path),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "huge": _huge,
    "broken": lambda path: path.write_bytes(b"\xff" * 100),
    "nested": lambda path: path.write_text("[" * 200_000),
    "folder": lambda path: path.mkdir(),
    "other": lambda path: path.write_text(record(corpus=5)),
}


@pytest.mark.parametrize("plant", PLANTS)
def test_a_file_that_is_no_record_stops_nobody(
    own: Settings, folder: Path, plant: str, caplog: pytest.LogCaptureFixture
) -> None:
    PLANTS[plant](folder / f"{ID}.json")
    (folder / f"{OTHER}.json").write_text(record(id=OTHER))
    assert listed(own) == [OTHER]
    assert caplog.text.count("is not read as a job") == 1


def test_a_link_to_records_elsewhere_is_not_followed(
    own: Settings, folder: Path, outside: Path
) -> None:
    (outside / "job.json").write_text(record())
    (folder / f"{ID}.json").symlink_to(outside / "job.json")
    (own.ingest_root / "linked").symlink_to(outside)
    (outside / ".jobs").mkdir()
    (outside / ".jobs" / f"{ID}.json").write_text(record(collection="linked"))
    (own.ingest_root / "half").mkdir()
    (own.ingest_root / "half" / ".jobs").symlink_to(outside / ".jobs")
    (outside / ".jobs" / ID).mkdir()
    assert listed(own) == []
    assert (outside / ".jobs" / ID).is_dir()


def test_the_folder_of_a_job_may_be_a_link_by_now(
    own: Settings, folder: Path, outside: Path
) -> None:
    (folder / f"{ID}.json").write_text(record())
    (folder / ID).symlink_to(outside)
    assert listed(own) == [ID]
    assert (outside / "keep.txt").exists()


@pytest.mark.parametrize("place", ["new", "new/.jobs"])
def test_jobs_are_not_written_through_a_link(own: Settings, outside: Path, place: str) -> None:
    link = own.ingest_root / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    with served_by(own) as client:
        message = detail(send(client, BEES, collection="new"), 409)
    assert "that of a file or a link" in message
    assert [path.name for path in outside.iterdir()] == ["keep.txt"]


def test_the_rest_of_a_kill_is_removed(own: Settings, folder: Path) -> None:
    (folder / f"{ID}.json").write_text(record())
    (folder / f"{OTHER}.partial").write_text(record())
    for job in (ID, OTHER):
        (folder / job / "documents").mkdir(parents=True)
        (folder / job / "documents" / "bees.txt").write_text("Bees give honey.")
    (folder / "mine").mkdir()
    (folder / "mine" / "notes.txt").write_text("Somebody's own.")
    with served_by(own) as client:
        assert client.get(f"/api/jobs/{ID}").get_json()["state"] == "interrupted"
    assert sorted(path.name for path in folder.iterdir()) == [f"{ID}.json", "mine"]
    assert (folder / "mine" / "notes.txt").exists()
