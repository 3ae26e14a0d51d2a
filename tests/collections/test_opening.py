"""Collections are opened beside each other, bounded, and none stays open that nobody knows of."""

import gc
import random
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from atlas_search.core.errors import MissingStore
from atlas_search.core.settings import Settings
from atlas_search.server import collections
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from tests.hash_embedder import HashEmbedder

PATIENCE = 30.0


@pytest.fixture
def many_turns() -> Iterator[None]:
    """Threads take turns at almost every step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def followed() -> list[Serving]:
    """What looks for new versions; one whose opening failed never began to."""
    found = (each for each in gc.get_objects() if type(each) is Serving)
    begun = (each for each in found if hasattr(each, "_watcher"))
    return [each for each in begun if each._watcher.is_alive() and not each._stopped.is_set()]


def test_what_is_opened_while_another_is_closed_is_not_lost(
    settings: Settings, many_turns: None
) -> None:
    few = settings.model_copy(update={"collections": "*", "collections_open": 1})
    served = ServedCollections(few, HashEmbedder())
    before = len(followed())
    served.follow()
    chance = random.Random(1)
    names = [chance.choice(["sea", "wood"]) for _ in range(60)]
    with ThreadPoolExecutor(4) as executor:
        opened = list(executor.map(served, names))
    assert [each.services.store.manifest.collection for each in opened] == names
    assert len(followed()) - before == 2
    served.close()
    assert len(followed()) == before


def test_who_wants_one_that_is_open_waits_for_no_other(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = settings.model_copy(update={"collections": "*", "collections_open": 1})
    served = ServedCollections(few, HashEmbedder())
    served("wood")
    begun, go_on = threading.Event(), threading.Event()
    as_it_is = collections.Serving

    def slow(*given: Any, **named: Any) -> Serving:
        begun.set()
        go_on.wait(PATIENCE)
        return as_it_is(*given, **named)

    monkeypatch.setattr(collections, "Serving", slow)
    with ThreadPoolExecutor(2) as executor:
        coming = executor.submit(served, "sea")
        begun.wait(PATIENCE)
        try:
            wood = executor.submit(served, "wood").result(PATIENCE / 3)
        finally:
            go_on.set()
        assert wood.document("wood.trees").text == "Trees give timber."
        assert coming.result(PATIENCE).document("sea.fish").text == "Fish give oil."
    assert (served.is_open("sea"), served.is_open("wood")) == (True, False)
    served.close()


def test_one_that_cannot_be_opened_takes_no_place(settings: Settings) -> None:
    two = settings.model_copy(update={"collections": "sea, wood, hills", "collections_open": 2})
    served = ServedCollections(two, HashEmbedder())
    served("sea")
    served("wood")
    with pytest.raises(MissingStore):
        served("hills")
    served("wood")
    assert served.is_open("sea")
    served.close()


def test_closing_leaves_nothing_that_was_being_opened(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = ServedCollections(settings, HashEmbedder())
    served.follow()
    before = len(followed()) - 1
    as_it_is = collections.Serving

    def opened_at_the_end(*given: Any, **named: Any) -> Serving:
        served.close()
        return as_it_is(*given, **named)

    monkeypatch.setattr(collections, "Serving", opened_at_the_end)
    served("sea")
    assert len(followed()) == before
