"""Openers of embedders for the process of a job, which imports this module; so nothing of a server
is here. Some make that process wait, fail or die."""

import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from atlas_search.building import go_live
from atlas_search.core.settings import Settings
from tests.hash_embedder import HashEmbedder


def hashing(settings: Settings) -> HashEmbedder:
    """Vectors of hashes."""
    return HashEmbedder()


def slowly_hashing(settings: Settings) -> HashEmbedder:
    """Vectors of hashes, so slowly that a build can be met."""
    return HashEmbedder(delay=20.0)


def waiting(settings: Settings) -> HashEmbedder:
    """Vectors of hashes, once there is a file `go` beside the kept files."""
    while not (settings.ingest_root / "go").exists():
        time.sleep(0.05)
    return HashEmbedder()


def other_model(settings: Settings) -> HashEmbedder:
    """The vectors of another model."""
    return HashEmbedder("another")


def failing_before_live(settings: Settings) -> HashEmbedder:
    """The disk is full as the version is to go live."""
    return _with_last_step(_no_space)


def failing_once_live(settings: Settings) -> HashEmbedder:
    """The disk is full as soon as the version is live."""
    return _with_last_step(go_live.make_live, _no_space)


def dying_once_live(settings: Settings) -> HashEmbedder:
    """The process is killed as soon as its version is live."""
    return _with_last_step(go_live.make_live, _die)


def dying_unread(settings: Settings) -> HashEmbedder:
    """The process is killed before it reads whether its version may go live."""

    def receive(pipe: Connection) -> None:
        pipe.poll(30)
        _die()

    Connection.recv = receive  # type: ignore[method-assign,assignment]
    return HashEmbedder()


def _with_last_step(*steps: Callable[..., None]) -> HashEmbedder:
    """Let these steps make a version live, in the process of the job."""

    def make_live(*arguments: Any) -> None:
        for step in steps:
            step(*arguments)

    go_live.make_live = make_live
    return HashEmbedder()


def _no_space(*_: object) -> None:
    raise OSError(28, "No space left on device")


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
