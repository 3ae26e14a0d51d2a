"""Jobs: one at a time for a collection, told as they go on, cancelled, known after a restart."""

import json
import multiprocessing
import os
import signal

from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from atlas_search.stores.versions import lock
from tests.ingest.embedders import slowly_hashing, waiting
from tests.ingest.handing import (
    BEES,
    COLLECTION,
    PATIENCE,
    detail,
    documents,
    done,
    ended,
    job_of,
    send,
    served_by,
)
from tests.servers import wait_for

ANTS = {"ants.txt": "Ants carry leaves."}


def running(client: FlaskClient, job: str) -> None:
    """Wait until the process of a job is at work."""

    def begun() -> bool | None:
        return client.get(f"/api/jobs/{job}").json["state"] == "running" or None

    wait_for(begun, PATIENCE, "the job")


def embedding(client: FlaskClient, job: str) -> None:
    """Wait until a job embeds."""

    def begun() -> bool | None:
        stages = client.get(f"/api/jobs/{job}").json["progress"]
        return any(stage["name"] == "Embedding passages" for stage in stages) or None

    wait_for(begun, PATIENCE, "the embedding")


def left_of(settings: Settings) -> list[str]:
    """All that is kept for the collection but what is told of jobs."""
    kept = settings.ingest_root / COLLECTION
    return [p.name for p in kept.rglob("*") if p.is_file() and p.suffix != ".json"]


def test_a_job_that_is_cancelled_leaves_nothing(settings: Settings) -> None:
    with served_by(settings, slowly_hashing) as client:
        version = client.get("/api/config").json["collection_version"]
        job = job_of(send(client, BEES))
        embedding(client, job)
        assert client.delete(f"/api/jobs/{job}").json["cancelled"]
        told = ended(client, job)
        assert (told["state"], told["result"]) == ("cancelled", None)
        assert client.get("/api/config").json["collection_version"] == version
        assert not client.delete(f"/api/jobs/{job}").json["cancelled"]
    assert left_of(settings) == []
    with served_by(settings) as client:
        told = done(client, send(client, ANTS))
        assert told["result"]["documents_added"] == 1
        assert client.get("/api/documents/documents.bees").status_code == 404


def test_jobs_of_a_collection_wait_for_each_other(settings: Settings) -> None:
    with served_by(settings, waiting) as client:
        first = job_of(send(client, BEES))
        running(client, first)
        second = job_of(send(client, ANTS))
        third = job_of(send(client, {"flies.txt": "Flies are fast."}))
        assert client.get(f"/api/jobs/{second}").json["state"] == "queued"
        assert "names are kept: bees.txt" in detail(send(client, BEES), 409)
        told = client.delete(f"/api/jobs/{third}").json["job"]
        assert (told["state"], told["started"]) == ("cancelled", None)
        (settings.ingest_root / "go").touch()
        assert [ended(client, job)["state"] for job in (first, second)] == ["done", "done"]
        listed = [job["id"] for job in client.get("/api/jobs").json["jobs"]]
        assert listed == [third, second, first]
        assert documents(client)["documents"] == 2


def test_events_tell_of_a_job_until_its_end(client: FlaskClient) -> None:
    job = job_of(send(client, BEES))
    frames = client.get(f"/api/jobs/{job}/events").get_data(as_text=True).strip().split("\n\n")
    names = [frame.split("\n")[1] for frame in frames]
    assert names[-1] == "event: done"
    assert set(names[:-1]) <= {"event: progress"}
    last = json.loads(frames[-1].split("\n")[2].removeprefix("data: "))
    assert (last["id"], last["state"]) == (job, "done")
    # whoever comes late gets the end
    assert "event: done" in client.get(f"/api/jobs/{job}/events").get_data(as_text=True)
    assert "no job" in detail(client.get("/api/jobs/x/events"), 404)


def test_a_restart_says_what_was_interrupted(settings: Settings) -> None:
    with served_by(settings, waiting) as client:
        first, second = (job_of(send(client, files)) for files in (BEES, ANTS))
        running(client, first)
    with served_by(settings) as client:
        told = {job["id"]: job for job in client.get("/api/jobs").json["jobs"]}
        assert {told[job]["state"] for job in (first, second)} == {"interrupted"}
        assert "send it again" in told[first]["problem"]
        done(client, send(client, BEES))
        assert documents(client)["documents"] == 1


def test_a_kill_is_known_as_an_interruption_too(settings: Settings) -> None:
    with served_by(settings, waiting) as client:
        job = job_of(send(client, BEES))
        running(client, job)
        jobs = settings.ingest_root / COLLECTION / ".jobs"
        as_killed = (jobs / f"{job}.json").read_text()
    (jobs / f"{job}.json").write_text(as_killed)
    (jobs / job / "documents").mkdir(parents=True)
    (jobs / job / "documents" / "bees.txt").write_text("Bees give honey.")
    assert json.loads(as_killed)["state"] == "running"
    with served_by(settings) as client:
        assert client.get(f"/api/jobs/{job}").json["state"] == "interrupted"
        assert left_of(settings) == []


def test_a_process_that_dies_fails_its_job_alone(settings: Settings) -> None:
    with served_by(settings, waiting) as client:
        job = job_of(send(client, BEES))
        running(client, job)
        os.kill(wait_for(child, PATIENCE, "the process"), signal.SIGKILL)
        told = ended(client, job)
        assert (told["state"], told["result"]) == ("failed", None)
        assert "ended with -9" in told["problem"]
        (settings.ingest_root / "go").touch()
        done(client, send(client, BEES))


def child() -> int | None:
    """The number of the process that a job of this one started."""
    return next((process.pid for process in multiprocessing.active_children()), None)


def test_two_servers_do_not_take_files_into_one_root(
    settings: Settings, client: FlaskClient
) -> None:
    assert client.get("/api/jobs").json == {"jobs": []}
    with served_by(settings) as other:
        assert "Another server takes files" in detail(send(other, BEES), 409)
        assert other.post("/api/search", json={"question": "wool"}).status_code == 200


def test_a_job_waits_for_a_build_from_the_terminal(settings: Settings, client: FlaskClient) -> None:
    with lock(settings.collection_folder):
        job = job_of(send(client, BEES))

        def waits() -> bool | None:
            stages = client.get(f"/api/jobs/{job}").json["progress"]
            return any(stage["name"] == "Waiting for another build" for stage in stages) or None

        wait_for(waits, PATIENCE, "the job's turn")
    assert ended(client, job)["state"] == "done"
