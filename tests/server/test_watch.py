"""`atlas watch` keeps a collection like a folder."""

import contextlib
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.cli.watch import watch
from atlas_search.providers.embedding import Embedder
from tests.conftest import free_port
from tests.hash_embedder import HashEmbedder
from tests.servers import ATLAS, running, wait_for
from tests.tiny import FARM, document_ids, write_sources
from tests.without_model import settings_without_model


class EndOfTheDay(Exception):
    """Ends a watch."""


def watched(
    folder: Path,
    store: Path,
    *steps: Callable[[], object],
    embedder: Embedder | None = None,
    ask: Callable[[], object] = lambda: None,
) -> list[str]:
    """The lines of a watch while one step after the other is done between two looks."""
    lines: list[str] = []
    left = iter(steps)

    def wait(_seconds: float) -> None:
        step = next(left, None)
        if step is None:
            raise EndOfTheDay
        step()

    with contextlib.suppress(EndOfTheDay):
        watch(folder, store, "", embedder or HashEmbedder(), 1.0, lines.append, wait, ask)
    return lines


def nothing() -> None:
    """Nothing happens."""


def test_every_change_is_built_once_it_is_over(tmp_path: Path) -> None:
    folder, store = write_sources(tmp_path / "sources", FARM), tmp_path / "store"
    bees = folder / "farm" / "bees.txt"
    lines = watched(
        folder,
        store,
        nothing,
        lambda: bees.write_text("Bees"),
        lambda: bees.write_text("Bees give honey."),  # still being written
        nothing,
        nothing,
        lambda: (folder / "farm" / "cows.txt").unlink(),
        nothing,
        nothing,
    )
    assert lines[0].startswith("Watching")
    assert [line.partition(": ")[2] for line in lines[1:]] == [
        "3 added, 0 changed, 0 unchanged, 0 removed.",
        "1 added, 0 changed, 3 unchanged, 0 removed.",
        "0 added, 0 changed, 3 unchanged, 1 removed.",
    ]
    assert document_ids(store) == ["farm.bees", "farm.sheep", "town.trade"]


def test_a_fault_is_said_and_the_watch_goes_on(tmp_path: Path) -> None:
    folder, store = tmp_path / "sources", tmp_path / "store"
    lines = watched(
        folder,
        store,
        folder.mkdir,
        lambda: write_sources(folder, {"stray.pages": "Of a kind that is not read."}),
        nothing,
        lambda: write_sources(folder, FARM),
        nothing,
        lambda: (store / "manifest.json").write_text("{"),
        lambda: (folder / "town" / "trade.txt").write_text("Merchants buy cloth."),
        nothing,
    )
    assert "Not built: " in lines[1]
    assert "does not exist" in lines[1]
    assert "no source file gave a document" in lines[2]
    assert "3 added" in lines[3]
    assert "is not valid JSON" in lines[4]


class OfNetwork(HashEmbedder):
    """Asks a server for its vectors; `seconds` bounds the wait."""

    def __init__(self, address: tuple[str, int], seconds: float):
        super().__init__()
        self._address, self._seconds = address, seconds

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with socket.create_connection(self._address, self._seconds) as connection:
            try:
                connection.recv(1)
            except OSError as error:
                raise RuntimeError("no vectors") from error  # as libraries wrap it
        return super().embed(texts)


@pytest.mark.parametrize(
    ("listens", "reason"), [(False, "cannot be reached"), (True, "did not answer in time")]
)
def test_an_outage_is_a_sentence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, listens: bool, reason: str
) -> None:
    folder = write_sources(tmp_path / "sources", FARM)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if listens:
            server.listen()
        embedder = OfNetwork(server.getsockname(), 0.2)
        lines = watched(folder, tmp_path / "store", nothing, embedder=embedder)
    assert reason in lines[1]
    assert "Error" not in lines[1]
    assert "Errno" not in lines[1]
    assert not caplog.records


def test_a_fault_of_the_program_is_logged_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            try:
                raise TimeoutError
            except TimeoutError:
                raise KeyError("some text of a source") from None

    folder = write_sources(tmp_path / "sources", FARM)
    lines = watched(folder, tmp_path / "store", nothing, embedder=Broken())
    assert lines[1:] == ["Not built: a fault of the program (KeyError); the log says more."]
    assert [record.getMessage() for record in caplog.records] == ["A fault of the program."]


@pytest.mark.thorough
def test_the_command_watches_until_it_is_interrupted(tmp_path: Path) -> None:
    with settings_without_model(tmp_path) as settings:
        folder = tmp_path / "source"
        settings |= {"PHOENIX_COLLECTOR_ENDPOINT": f"http://127.0.0.1:{free_port()}"}
        command = ("watch", folder, "--collection", "farm", "--corpus", "all1", "--seconds", "0.2")
        with running(*ATLAS, *command, environment=settings, folder=tmp_path) as watching:

            def wait_for_line(words: str) -> None:
                wait_for(lambda: any(words in line for line in watching.lines) or None, 60, words)

            wait_for_line("is live in")
            (folder / "goats.txt").write_text("Goats climb.")
            wait_for_line("1 added")
            assert watching.stop() == 0
            wait_for_line("were dropped")
        waited = [line for line in watching.lines if "gets no spans yet" in line]
        assert all(" INFO atlas_search." in line for line in waited), waited
        lost = [line for line in watching.lines if "were dropped" in line]
        assert all(" WARNING atlas_search." in line for line in lost), lost
    assert "all1.goats" in document_ids(tmp_path / "stores" / "farm")
