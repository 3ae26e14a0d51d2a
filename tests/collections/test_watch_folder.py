"""`atlas watch` keeps a collection like a folder."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from atlas_search.cli.watch import watch
from tests.hash_embedder import HashEmbedder
from tests.servers import ATLAS, running, wait_for
from tests.tiny import FARM, document_ids, write_sources
from tests.without_model import settings_without_model


class EndOfTheDay(Exception):
    """Ends a watch."""


def watched(folder: Path, store: Path, *steps: Callable[[], object]) -> list[str]:
    """What a watch says while one step after the other is done between two looks."""
    said: list[str] = []
    left = iter(steps)

    def wait(_seconds: float) -> None:
        step = next(left, None)
        if step is None:
            raise EndOfTheDay
        step()

    with contextlib.suppress(EndOfTheDay):
        watch(folder, store, "", HashEmbedder(), 1.0, said.append, wait)
    return said


def nothing() -> None:
    """Nothing happens."""


def test_every_change_is_built_once_it_is_over(tmp_path: Path) -> None:
    folder, store = write_sources(tmp_path / "sources", FARM), tmp_path / "store"
    bees = folder / "farm" / "bees.txt"
    said = watched(
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
    assert said[0].startswith("Watching")
    assert [line.partition(": ")[2] for line in said[1:]] == [
        "3 added, 0 changed, 0 unchanged, 0 removed.",
        "1 added, 0 changed, 3 unchanged, 0 removed.",
        "0 added, 0 changed, 3 unchanged, 1 removed.",
    ]
    assert document_ids(store) == ["farm.bees", "farm.sheep", "town.trade"]


def test_what_goes_wrong_is_said_and_the_watch_goes_on(tmp_path: Path) -> None:
    folder, store = tmp_path / "sources", tmp_path / "store"
    said = watched(
        folder,
        store,
        lambda: folder.mkdir(),
        lambda: write_sources(folder, {"stray.txt": "Outside of every corpus."}),
        nothing,
        lambda: write_sources(folder, FARM),
        nothing,
        lambda: (store / "manifest.json").write_text("{"),
        lambda: (folder / "town" / "trade.txt").write_text("Merchants buy cloth."),
        nothing,
    )
    assert "Not built: " in said[1]
    assert "does not exist" in said[1]
    assert "has no sub-folder" in said[2]
    assert "3 added" in said[3]
    assert "is not valid JSON" in said[4]


def test_the_command_watches_until_it_is_interrupted(tmp_path: Path) -> None:
    with settings_without_model(tmp_path) as settings:
        folder = tmp_path / "source"
        command = ("watch", folder, "--collection", "farm", "--corpus", "all1", "--seconds", "0.2")
        with running(*ATLAS, *command, environment=settings, folder=tmp_path) as watching:

            def told(words: str) -> None:
                wait_for(lambda: any(words in line for line in watching.lines) or None, 60, words)

            told("is live in")
            (folder / "goats.txt").write_text("Goats climb.")
            told("1 added")
            assert watching.stop() == 0
    assert "all1.goats" in document_ids(tmp_path / "stores" / "farm")
