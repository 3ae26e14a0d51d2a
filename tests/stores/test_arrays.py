"""Arrays of a store: mapped by many threads, rows of different length, and the ids of passages."""

import gc
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.core.errors import DamagedStore
from atlas_search.stores import arrays, passage_ids
from atlas_search.stores.arrays import Ragged, map_array, runs
from atlas_search.stores.order import RECENT, KeyCounts, Order
from atlas_search.stores.passage_ids import PassageIds, read_ids

LENGTHS = st.lists(st.integers(0, 70), min_size=1, max_size=12)


def rows_of(lengths: Sequence[int], first: int = 0) -> list[np.ndarray]:
    """Rows of these lengths, all values of which differ."""
    values = np.split(np.arange(first, first + sum(lengths)), np.cumsum(lengths)[:-1])
    return [row.astype(np.int32) for row in values]


@given(LENGTHS, LENGTHS, st.data(), st.sampled_from([1, 7, 64, 1000]))
def test_blocks_are_what_is_joined(
    lengths: list[int], recent: list[int], data: st.DataObject, block: int
) -> None:
    own, added = rows_of(lengths), rows_of(recent, 10_000)
    table = Ragged.of(own).followed_by(Ragged.of(added), np.concatenate(added))
    rows = np.array(data.draw(st.lists(st.integers(0, len(own) + len(added) - 1))), dtype=int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "AT_ONCE", block)
        blocks = list(table.blocks(rows))
    expected = [value for row in rows for value in [*own, *added][row].tolist()]
    assert [value for each in blocks for value in each.tolist()] == expected
    assert table.joined(rows).tolist() == expected
    assert [len(each) for each in blocks[:-1]] == [block] * (len(blocks) - 1)
    assert all(len(each) for each in blocks)


@given(st.lists(st.integers(0, 3)))
def test_a_value_that_comes_back_later_is_a_run_of_its_own(values: list[int]) -> None:
    distinct, back = runs(np.array(values, dtype=int))
    assert distinct[back].tolist() == values
    assert (np.diff(distinct) != 0).all()
    assert (np.diff(back) >= 0).all()


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


# the ids of passages by row, and rows by id

SOME = ["farm.cows:0-15", "farm.schäfer:0-7", "farm.羊:0-1", "town.trade:0-20"]


@given(st.lists(st.text(), unique=True), st.data())
def test_every_id_is_found_by_its_row_and_every_row_by_its_id(
    ids: list[str], data: st.DataObject
) -> None:
    read = PassageIds.of(ids)
    assert len(read) == len(ids)
    rows = data.draw(st.lists(st.sampled_from(range(len(ids))))) if ids else []
    assert read.of_rows(rows) == [ids[row] for row in rows]
    assert read.rows_of([ids[row] for row in rows]).tolist() == rows
    strange = data.draw(st.text().filter(lambda text: text not in ids))
    assert read.rows_of([strange]).tolist() == [-1]


def test_ids_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_ids, "_hash", len)
    ids = ["aa", "bb", "c", "dd"]
    read = PassageIds.of(ids)
    assert read.rows_of([*reversed(ids), "ee", "eee"]).tolist() == [3, 2, 1, 0, -1, -1]


def test_a_text_that_can_be_no_id_is_unknown() -> None:
    assert PassageIds.of(SOME).rows_of(["\ud800", ""]).tolist() == [-1, -1]


def test_ids_are_the_same_on_disk(tmp_path: Path) -> None:
    PassageIds.of(SOME).write(tmp_path / "ids")
    read = PassageIds.read(tmp_path / "ids")
    assert read.of_rows(range(4)) == SOME
    assert read.rows_of(SOME).tolist() == [0, 1, 2, 3]


def test_ids_of_a_changed_version_are_of_its_base_and_of_recent_passages(tmp_path: Path) -> None:
    PassageIds.of(["a", "b", "c"]).write(tmp_path / "ids")
    PassageIds.of(["b", "new"]).write(tmp_path / "ids" / RECENT)
    # `b` was changed in its place, `c` is gone
    order = Order(np.array([0, 4, 3]), np.arange(3), KeyCounts(5, 5, 3, 3), {})
    read = read_ids(tmp_path / "ids", order)
    assert len(read) == 3
    assert read.of_rows([2, 0, 1]) == ["new", "a", "b"]
    assert read.rows_of(["a", "b", "c", "new", "none"]).tolist() == [0, 1, -1, 2, -1]


def test_files_that_disagree_are_damage(tmp_path: Path) -> None:
    PassageIds.of(SOME).write(tmp_path / "ids")
    np.save(tmp_path / "ids" / "rows.npy", np.arange(3))
    with pytest.raises(DamagedStore, match="disagree"):
        PassageIds.read(tmp_path / "ids")
