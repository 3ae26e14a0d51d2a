"""A server of the demo, and one of two corpora that asks for keys."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from atlas_search.server.access.keys import KeyFile, add_key
from tests.hash_embedder import HashEmbedder
from tests.server.two_corpora import COLLECTION, OPEN, guard, two_corpora
from tests.servers import app_of, served


class Guarded(NamedTuple):
    """A server that asks for keys: one sees every corpus, one the open one."""

    address: str
    whole: str
    narrow: str


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("parish")
    keys = Path(folder / "keys.json")
    whole = add_key(KeyFile(keys), "whole").text
    narrow = add_key(KeyFile(keys), "narrow", corpora={COLLECTION: [OPEN]}).text
    with two_corpora(folder, HashEmbedder()) as atlas:
        closed = guard(atlas, keys)
        with served(app_of(closed)) as address:
            yield Guarded(address, whole, narrow)
