"""What is told of a job costs little, however much that is and however often it changes."""

import pytest
from pydantic import ValidationError

from atlas_search.core.settings import Settings
from atlas_search.server.ingest import routes
from tests.ingest.embedders import waiting
from tests.ingest.handing import BEES, done, job_of, send, served_by


def test_a_job_is_handed_out_as_it_is_and_nobody_can_change_it(settings: Settings) -> None:
    with served_by(settings) as client:
        told = done(client, send(client, BEES))
        jobs = client.application.extensions["jobs"]
        job = jobs.get(told["id"])
        assert jobs.get(told["id"]) is job
        assert jobs.all()[0] is job
        with pytest.raises(ValidationError):
            job.state = "failed"


def test_the_steps_between_two_events_are_one_and_the_end_comes_at_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "POLL_SECONDS", 60.0)
    with served_by(settings, waiting) as client:
        job = job_of(send(client, BEES))
        (settings.ingest_root / "go").touch()
        text = client.get(f"/api/jobs/{job}/events").get_data(as_text=True)
    assert [line for line in text.splitlines() if line.startswith("event")] == [
        "event: progress",
        "event: done",
    ]
