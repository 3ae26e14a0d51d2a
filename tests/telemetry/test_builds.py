"""A build, or a job of the server, is one trace with a span for each stage, however it ends."""

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.atlas import Atlas
from atlas_search.building.flow import BuildOptions, BuildReport, tell_build
from atlas_search.core.errors import SourceError
from atlas_search.core.settings import Settings
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.ingest.documents import ResultOut
from atlas_search.server.ingest.jobs import describe_job
from atlas_search.server.serving import Serving
from tests.hash_embedder import HashEmbedder
from tests.recorded_spans import Recorded, recording, said
from tests.server.ingest.embedders import hashing, slowly_hashing, waiting
from tests.server.ingest.handing import (
    ADMINISTRATOR,
    COLLECTION,
    PATIENCE,
    done,
    ended,
    job_of,
    send,
    settings_for,
)
from tests.servers import wait_for
from tests.tiny import FARM, build_tiny, write_sources

STAGES = ["read", "embed", "write", "activate"]
BROKEN = {**FARM, "farm/swans.txt": ""}


def built(folder: Path, recorded_by: Any, files: dict[str, str], **options: Any) -> BuildReport:
    """Build a collection from files, told to a tracer."""
    source = write_sources(folder / "source", files)
    settings = settings_for(folder)
    return tell_build(
        recorded_by,
        BuildOptions(COLLECTION, "files", **options),
        lambda *_: None,
        lambda tell: Atlas.build(
            source, settings.collection_folder, embedder=HashEmbedder(), progress=tell
        ),
    )


@pytest.mark.parametrize("content", [True, False])
def test_a_build_names_the_files_it_refused_only_with_content(
    tmp_path: Path, *, content: bool
) -> None:
    with recording(content=content) as (tracer, recorded):
        report = built(tmp_path, tracer, BROKEN)
    root = said(recorded.root("create"))
    assert [span.name for span in recorded.spans] == [*STAGES, "create"]
    assert (root["refused"], root["version"]) == (1, report.manifest.version)
    assert root["seconds"] == report.seconds
    assert ("swans" in recorded.text) is content


def test_a_vector_index_is_a_stage_where_one_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VECTOR_SEARCH", "hnsw")
    with recording() as (tracer, recorded):
        built(tmp_path, tracer, FARM)
    names = [span.name for span in recorded.spans]
    assert names == ["read", "embed", "write", "index", "activate", "create"]


def test_a_build_that_finds_nothing_new_reads_and_ends(tmp_path: Path) -> None:
    with recording() as (tracer, recorded):
        built(tmp_path, tracer, FARM)
        recorded.clear()
        built(tmp_path, tracer, FARM)
    assert [span.name for span in recorded.spans] == ["read", "create"]
    assert said(recorded.root("create"))["unchanged"] is True


def test_a_build_that_fails_is_marked(tmp_path: Path) -> None:
    with recording() as (tracer, recorded), pytest.raises(SourceError):
        built(tmp_path, tracer, {"farm/swans.txt": ""})
    assert not recorded.root("create").status.is_ok


def test_a_build_that_is_interrupted_is_marked() -> None:
    def interrupted(tell: Any) -> BuildReport:
        tell("Reading files", 1, 4)
        raise KeyboardInterrupt

    options = BuildOptions(COLLECTION, "files")
    with recording() as (tracer, recorded), pytest.raises(KeyboardInterrupt):
        tell_build(tracer, options, lambda *_: None, interrupted)
    root = said(recorded.root("create"))
    assert (root["cancelled"], root["cancelled_because"]) == (True, "It was interrupted.")
    assert [span.name for span in recorded.spans] == ["read", "create"]


@pytest.fixture(params=["absent", "hanging"])
def endpoint(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that is not there, or that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        if request.param == "absent":
            listening.close()
        yield address


def test_a_build_does_not_wait_for_who_takes_its_trace(tmp_path: Path, endpoint: str) -> None:
    source = write_sources(tmp_path / "source", FARM)
    report = Atlas.build(
        source,
        tmp_path / "stores" / COLLECTION,
        embedder=HashEmbedder(),
        phoenix_collector_endpoint=endpoint,
    )
    assert report.manifest.documents == 3


def test_a_build_without_an_endpoint_needs_no_tracing() -> None:
    program = "import sys, atlas_search.building.flow; print('opentelemetry.sdk' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    stores = tmp_path / "stores"
    build_tiny(write_sources(tmp_path / "source", FARM), stores / COLLECTION, HashEmbedder())
    return settings_for(tmp_path)


@contextmanager
def taking_in(
    settings: Settings, open_embedder: Any = hashing
) -> Iterator[tuple[FlaskClient, Recorded]]:
    """The administrator at a server, and its spans."""
    collections = ServedCollections(Serving(settings, HashEmbedder()))
    recorded = Recorded(collections().services.tracer)
    app = create_app(collections, open_embedder=open_embedder)
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = ADMINISTRATOR["Authorization"]
    try:
        yield client, recorded
    finally:
        app.extensions["jobs"].close()
        app.extensions["runs"].close()
        collections.close()


@pytest.mark.thorough
def test_jobs_name_their_traces(settings: Settings) -> None:
    with taking_in(settings) as (client, recorded):
        job = done(client, send(client, {"bees.txt": "Bees give honey.", "ants.txt": ""}))
        root = recorded.root("ingest")
        assert [span.name for span in recorded.spans] == [*STAGES, "ingest"]
        assert format(root.context.trace_id, "032x") == job["trace_id"]
        assert (said(root)["job"], said(root)["refused"]) == (job["id"], 1)
        assert said(root)["version"] == job["result"]["version"]
        recorded.clear()
        removed = done(client, client.delete("/api/documents/documents.bees"))
        assert removed["trace_id"] != job["trace_id"]
        assert said(recorded.root("remove"))["removed"] == 1


def wait_for_job(client: FlaskClient, job: str, stage: str = "") -> None:
    """Wait until the process of a job is at work, in this stage if one is named."""

    def began() -> bool | None:
        state = client.get(f"/api/jobs/{job}").json
        stages = {each["name"] for each in state["progress"]}
        return (stage in stages if stage else state["state"] == "running") or None

    wait_for(began, PATIENCE, stage or "the job")


@pytest.mark.thorough
def test_a_job_that_is_cancelled_says_so_although_its_process_is_killed(
    settings: Settings,
) -> None:
    with taking_in(settings, slowly_hashing) as (client, recorded):
        job = job_of(send(client, {"bees.txt": "Bees give honey."}))
        wait_for_job(client, job, "Embedding passages")
        client.delete(f"/api/jobs/{job}")
        assert ended(client, job)["state"] == "cancelled"
        root = said(recorded.root("ingest"))
    assert (root["cancelled"], root["cancelled_because"]) == (True, "It was cancelled.")
    assert recorded.last("embed")["cancelled"] is True


@pytest.mark.thorough
def test_a_job_whose_process_dies_is_marked_as_failed(settings: Settings) -> None:
    with taking_in(settings, waiting) as (client, recorded):
        job = job_of(send(client, {"bees.txt": "Bees give honey."}))
        wait_for_job(client, job)
        (child,) = wait_for(lambda: multiprocessing.active_children() or None, PATIENCE, "it")
        assert child.pid
        os.kill(child.pid, signal.SIGKILL)
        assert ended(client, job)["state"] == "failed"
        root = recorded.root("ingest")
    assert not root.status.is_ok
    assert "ended with -9" in str(root.status.description)


def test_a_job_whose_collection_is_dropped_at_once_is_still_told(tmp_path: Path) -> None:
    counts = dict.fromkeys(
        ("documents", "passages", "documents_added", "documents_changed", "documents_removed"), 1
    )
    result = ResultOut(version="v1", passages_added=1, unchanged=False, seconds=0.1, **counts)
    with recording() as (tracer, recorded), tracer.root("ingest", "CHAIN") as root:
        describe_job(root, result, tmp_path / "dropped")
    told = said(recorded.root("ingest"))
    assert told["version"] == "v1"
    assert "embedding_model" not in told
