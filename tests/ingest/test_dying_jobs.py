"""A job whose process dies at its end: told by what is live then."""

import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.building import go_live as build
from atlas_search.core.settings import Settings
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import BEES, documents, done, ended, job_of, send, served_by


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying_once_live(settings: Settings) -> HashEmbedder:
    """What a process embeds with that is killed as soon as its version is live."""
    as_it_is: Callable[..., None] = build.make_live

    def last(*given: Any) -> None:
        as_it_is(*given)
        die()

    build.make_live = last  # type: ignore[assignment]  # of the job's own process
    return HashEmbedder()


def failing_once_live(settings: Settings) -> HashEmbedder:
    """The same of one that fails then."""
    as_it_is: Callable[..., None] = build.make_live

    def fails(*given: Any) -> None:
        as_it_is(*given)
        raise OSError(28, "No space left on device")

    build.make_live = fails  # type: ignore[assignment]
    return HashEmbedder()


def dying_unread(settings: Settings) -> HashEmbedder:
    """The same of one that is killed before it reads whether it may go live."""

    def receive(pipe: Connection) -> None:
        pipe.poll(30)
        die()

    Connection.recv = receive  # type: ignore[method-assign,assignment]
    return HashEmbedder()


@pytest.mark.parametrize("opens", [dying_once_live, failing_once_live])
def test_what_is_live_is_done(settings: Settings, opens: Callable[..., Any]) -> None:
    with served_by(settings, opens) as client:
        told = done(client, send(client, BEES))
        result = told["result"]
        assert (result["documents"], result["documents_added"], result["passages_added"]) == (
            4,
            1,
            1,
        )
        assert "as soon as this version was live" in result["remarks"][0]["remarks"][0]
        assert documents(client)["documents"] == 1
        assert client.get("/api/config").json["collection_version"] == result["version"]


def test_a_process_that_dies_with_an_answer_unread_says_how(settings: Settings) -> None:
    with served_by(settings, dying_unread) as client:
        told = ended(client, job_of(send(client, BEES)))
    assert told["state"] == "failed"
    assert "ended with -9" in told["problem"]
    assert "Nothing of it is live" in told["problem"]


def test_a_version_that_cannot_be_shown_at_once_is_done(client: FlaskClient, caplog) -> None:
    jobs = client.application.extensions["jobs"]

    def fails(_: str) -> None:
        raise RuntimeError("of the server")

    jobs._published = fails
    told = done(client, send(client, BEES))
    assert told["problem"] == ""
    assert [r.getMessage() for r in caplog.records if r.exc_info] == [
        f"The version of the job {told['id']} is served later."
    ]
