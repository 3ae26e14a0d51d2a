"""Builds, jobs and refused requests in a real Phoenix, as the processes that traced them said."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.servers import ATLAS, running, wait_for
from tests.tiny import FARM, write_sources
from tests.without_model import settings_without_model

pytestmark = pytest.mark.phoenix

PROJECT = "atlas-requests"
TOKEN = {"Authorization": "Bearer open sesame"}
STAGES = {"read", "embed", "write", "index", "activate"}


@pytest.fixture
def settings(tmp_path: Path, phoenix: str) -> Iterator[dict[str, str]]:
    with settings_without_model(tmp_path) as found:
        yield found | {
            "PHOENIX_COLLECTOR_ENDPOINT": phoenix,
            "PHOENIX_PROJECT_NAME": PROJECT,
            "INGEST_ROOT": str(tmp_path / "ingest"),
            "ATLAS_ADMIN_TOKEN": "open sesame",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }


def trace_of(phoenix: str, root: str, **wanted: Any) -> dict[str, dict[str, Any]]:
    """The spans by name of the trace whose root bears a name and has these attributes."""

    def arrived() -> list[dict[str, Any]] | None:
        found = httpx2.get(f"{phoenix}/v1/projects/{PROJECT}/spans", params={"limit": 500})
        spans = found.json()["data"] if found.is_success else []
        for span in spans:
            if span["name"] == root and wanted.items() <= span["attributes"].items():
                trace = span["context"]["trace_id"]
                return [each for each in spans if each["context"]["trace_id"] == trace]
        return None

    spans = wait_for(arrived, 60, root)
    assert [span["name"] for span in spans if span["parent_id"] is None] == [root]
    return {span["name"]: span for span in spans}


def test_each_is_one_trace_that_says_what_was_done(
    phoenix: str, settings: dict[str, str], tmp_path: Path
) -> None:
    source = write_sources(tmp_path / "more", {**FARM, "farm/swans.txt": ""})
    create = (*ATLAS, "create", "txt", source, "--collection", "barn", "--chunk-size", "300")
    with running(*create, environment=settings, folder=tmp_path) as process:
        assert process.process.wait(120) == 0, process.lines
    spans = trace_of(phoenix, "create", collection="barn")
    assert set(spans) == {"create", *STAGES}
    assert {span["status_code"] for span in spans.values()} == {"OK"}
    attributes = spans["create"]["attributes"]
    assert (attributes["documents"], attributes["added"], attributes["refused"]) == (3, 3, 1)
    assert (attributes["source_type"], attributes["chunk_size"]) == ("txt", 300)
    assert attributes["embedding_model"] == "mistral-embed"
    assert "swans" in str(spans["create"]["events"])

    with running(*ATLAS, "serve", environment=settings, folder=tmp_path) as server:
        address = server.address("Atlas")
        with httpx2.Client(base_url=address, timeout=60) as client:
            files = {"files": ("bees.txt", b"Bees give honey.")}
            told = client.post("/api/ingest", files=files, headers=TOKEN).json()

            def over() -> dict[str, Any] | None:
                job = client.get(f"/api/jobs/{told['id']}", headers=TOKEN).json()
                return None if job["state"] in ("queued", "running") else job

            job = wait_for(over, 90, "the end of the job")
            assert job["state"] == "done", (job, server.lines)
            spans = trace_of(phoenix, "ingest", job=job["id"])
            assert set(spans) == {"ingest", *STAGES}
            assert spans["ingest"]["context"]["trace_id"] == job["trace_id"]
            assert spans["ingest"]["attributes"]["version"] == job["result"]["version"]

            assert client.post("/api/ingest", files=files).status_code == 403
            spans = trace_of(phoenix, "refused", status=403)
            assert set(spans) == {"refused"}
            assert spans["refused"]["attributes"]["route"] == "/api/ingest"
            assert spans["refused"]["status_code"] == "OK"
        assert server.stop() == 0
