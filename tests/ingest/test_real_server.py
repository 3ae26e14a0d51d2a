"""A server as a process: it takes files in from a client, goes on answering, and ends in order."""

from pathlib import Path

import httpx2

from tests.servers import ATLAS, running, wait_for
from tests.without_model import COLLECTION, settings_without_model

TOKEN = {"Authorization": "Bearer open sesame"}


def test_files_come_in_while_questions_are_answered(tmp_path: Path) -> None:
    with settings_without_model(tmp_path) as settings:
        environment = settings | {
            "ATLAS_ADMIN_TOKEN": "open sesame",
            "INGEST_ROOT": str(tmp_path / "ingest"),
        }
        with running(*ATLAS, "serve", environment=environment, folder=tmp_path) as server:
            address = server.address("Atlas")
            with httpx2.Client(base_url=address, headers=TOKEN, timeout=60) as client:
                files = {"files": ("bees.txt", b"Bees give honey.")}
                job = client.post("/api/ingest", files=files).json()
                answered = 0

                def over() -> dict | None:
                    nonlocal answered
                    asked = client.post("/api/search", json={"question": "Who gives wool?"})
                    answered += asked.is_success
                    told = client.get(f"/api/jobs/{job['id']}").json()
                    return None if told["state"] in ("queued", "running") else told

                told = wait_for(over, 90, "the end of the job")
                assert told["state"] == "done", (told, server.lines)
                assert answered > 1
                assert client.get("/api/health").json()["documents"] == 4
                events = client.get(f"/api/jobs/{job['id']}/events").text
                assert "event: done" in events
                # one that is at work when the server ends is ended with it
                client.post("/api/ingest", files={"files": ("ants.txt", b"Ants carry leaves.")})
            assert server.stop() == 0
        assert not [line for line in server.lines if "Traceback" in line], server.lines
    kept = tmp_path / "ingest" / COLLECTION
    assert [path.name for path in kept.rglob("*.txt")] == ["bees.txt"]
