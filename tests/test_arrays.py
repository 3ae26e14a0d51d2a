"""Arrays of a store are mapped by many threads at once."""

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from atlas_search.stores.arrays import map_array


@pytest.fixture
def many_turns() -> Iterator[None]:
    """Threads take turns at almost every step, also while a header is parsed."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()

    def turn(*_: object) -> None:
        sum(range(50))

    sys.setswitchinterval(1e-6)
    gc.set_threshold(20)
    gc.callbacks.append(turn)
    yield
    gc.callbacks.remove(turn)
    gc.set_threshold(*threshold)
    sys.setswitchinterval(interval)


def test_arrays_are_mapped_by_many_threads_at_once(tmp_path: Path, many_turns: None) -> None:
    np.save(tmp_path / "rows.npy", np.arange(5))
    with ThreadPoolExecutor(4) as executor:
        mapped = list(executor.map(lambda _: map_array(tmp_path / "rows.npy"), range(2000)))
    assert all(array.tolist() == [0, 1, 2, 3, 4] for array in mapped)
