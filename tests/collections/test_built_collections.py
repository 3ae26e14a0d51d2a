"""The folder of collections is listed when it changed, not for every request."""

import os
from pathlib import Path

import pytest

from atlas_search.core.settings import Settings
from atlas_search.server.collections import ServedCollections
from tests.hash_embedder import HashEmbedder

LONG_AGO = (1_000_000_000, 1_000_000_000)


@pytest.fixture
def served(settings: Settings) -> ServedCollections:
    every = settings.model_copy(update={"collections": "*"})
    opened = ServedCollections(every, HashEmbedder())
    yield opened
    opened.close()


@pytest.fixture
def root(settings: Settings) -> Path:
    return settings.chroma_persist_directory


def make(folder: Path) -> None:
    """A folder that has a manifest."""
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").touch()


def test_a_folder_that_did_not_change_is_not_listed_again(
    served: ServedCollections, root: Path
) -> None:
    os.utime(root, LONG_AGO)
    assert served.names() == ["farm", "sea", "wood"]
    make(root / "hill")
    os.utime(root, LONG_AGO)
    assert served.names() == ["farm", "sea", "wood"]


def test_what_comes_and_goes_is_known_at_once(served: ServedCollections, root: Path) -> None:
    os.utime(root, LONG_AGO)
    assert "hill" not in served.names()
    for name in ("hill", "lake"):  # within one step of the clock
        make(root / name)
        assert name in served.names()
    (root / "lake").rename(root / "pond")
    assert served.names() == ["farm", "hill", "pond", "sea", "wood"]


def test_a_build_that_ends_later_is_known_then(served: ServedCollections, root: Path) -> None:
    (root / "hill").mkdir()
    os.utime(root, LONG_AGO)
    assert "hill" not in served.names()
    make(root / "hill")
    assert "hill" in served.names()
