"""Handing files to a server, and waiting for what becomes of them."""

import io
import multiprocessing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient
from pydantic import SecretStr
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.test import TestResponse, encode_multipart

from atlas_search.core.settings import Settings
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from tests.hash_embedder import HashEmbedder
from tests.server.ingest.embedders import hashing
from tests.servers import wait_for

COLLECTION = "farm"
ADMINISTRATOR = {"Authorization": "Bearer open sesame"}
PATIENCE = 90.0
BEES = {"bees.txt": "Bees give honey."}


def settings_for(folder: Path, **changes: Any) -> Settings:
    own = {
        "chroma_persist_directory": folder / "stores",
        "chroma_collection_name": COLLECTION,
        "ingest_root": folder / "ingest",
        "atlas_state_directory": folder / "state",
        "atlas_admin_token": SecretStr("open sesame"),
    }
    return Settings(**(own | changes))


@contextmanager
def served_by(settings: Settings, open_embedder: Any = hashing) -> Iterator[FlaskClient]:
    """A client of a server, which is closed when the block ends."""
    served = ServedCollections(Serving(settings, HashEmbedder()))
    app = create_app(served, open_embedder=open_embedder)
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = ADMINISTRATOR["Authorization"]
    try:
        yield client
    finally:
        app.extensions["jobs"].close()
        app.extensions["runs"].close()
        served.close()


def send(client: FlaskClient, files: Mapping[str, str | bytes], **fields: Any) -> TestResponse:
    """Upload files by their names."""
    parts = [
        FileStorage(io.BytesIO(content.encode() if isinstance(content, str) else content), name)
        for name, content in files.items()
    ]
    # encoded here: the client would leave a temporary file open
    boundary, body = encode_multipart(MultiDict([*(("files", p) for p in parts), *fields.items()]))
    kind = f"multipart/form-data; boundary={boundary}"
    return client.post("/api/ingest", data=body, content_type=kind)


def job_of(response: TestResponse) -> str:
    """The id of the job that a request began."""
    assert response.status_code == 202, response.get_json(force=True)
    return str(response.get_json()["id"])


def ended(client: FlaskClient, job: str) -> dict[str, Any]:
    """A job once it is over."""

    def over() -> dict[str, Any] | None:
        state: dict[str, Any] = client.get(f"/api/jobs/{job}").get_json()
        return state if state["state"] not in ("queued", "running") else None

    return wait_for(over, PATIENCE, f"the end of {job}")


def done(client: FlaskClient, response: TestResponse) -> dict[str, Any]:
    """The job that a request began, when it ended well."""
    job = ended(client, job_of(response))
    assert job["state"] == "done", job
    return job


def detail(response: TestResponse, status: int) -> str:
    """The reason of a refusal."""
    assert response.status_code == status, response.data
    return str(response.get_json(force=True)["detail"])


def documents(client: FlaskClient) -> dict[str, int]:
    """Documents by corpus, as they are served."""
    corpora = client.get("/api/corpora").get_json()["corpora"]
    return {corpus["id"]: corpus["documents"] for corpus in corpora}


def running(client: FlaskClient, job: str) -> None:
    """Wait until the process of a job is at work."""
    wait_for(
        lambda: client.get(f"/api/jobs/{job}").get_json()["state"] == "running" or None,
        PATIENCE,
        "the job",
    )


def stage(client: FlaskClient, job: str, name: str) -> None:
    """Wait until a job has come to the stage of that name."""

    def begun() -> bool | None:
        stages = client.get(f"/api/jobs/{job}").get_json()["progress"]
        return any(stage["name"] == name for stage in stages) or None

    wait_for(begun, PATIENCE, name)


def embedding(client: FlaskClient, job: str) -> None:
    """Wait until a job embeds."""
    stage(client, job, "Embedding passages")


def child() -> int | None:
    """The number of the process that a job of this one started."""
    return next((process.pid for process in multiprocessing.active_children()), None)
