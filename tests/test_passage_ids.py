"""The ids of passages by row, and rows by id."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.core.errors import DamagedStore
from atlas_search.stores import embedded as passage_ids
from atlas_search.stores.embedded import PassageIds, read_ids
from atlas_search.stores.order import RECENT, KeyCounts, Order

SOME = ["farm.cows:0-15", "farm.schäfer:0-7", "farm.羊:0-1", "town.trade:0-20"]


@given(st.lists(st.text(), unique=True), st.data())
def test_every_id_is_found_by_its_row_and_every_row_by_its_id(
    ids: list[str], data: st.DataObject
) -> None:
    found = PassageIds.of(ids)
    assert len(found) == len(ids)
    rows = data.draw(st.lists(st.sampled_from(range(len(ids))))) if ids else []
    assert found.of_rows(rows) == [ids[row] for row in rows]
    assert found.rows_of([ids[row] for row in rows]).tolist() == rows
    strange = data.draw(st.text().filter(lambda text: text not in ids))
    assert found.rows_of([strange]).tolist() == [-1]


def test_ids_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_ids, "_hash", len)
    ids = ["aa", "bb", "c", "dd"]
    found = PassageIds.of(ids)
    assert found.rows_of([*reversed(ids), "ee", "eee"]).tolist() == [3, 2, 1, 0, -1, -1]


def test_what_can_be_no_id_is_unknown() -> None:
    assert PassageIds.of(SOME).rows_of(["\ud800", ""]).tolist() == [-1, -1]


def test_they_are_the_same_on_disk(tmp_path: Path) -> None:
    PassageIds.of(SOME).write(tmp_path / "ids")
    found = PassageIds.read(tmp_path / "ids")
    assert found.of_rows(range(4)) == SOME
    assert found.rows_of(SOME).tolist() == [0, 1, 2, 3]


def test_those_of_a_changed_version_are_of_its_base_and_of_what_is_recent(tmp_path: Path) -> None:
    PassageIds.of(["a", "b", "c"]).write(tmp_path / "ids")
    PassageIds.of(["b", "new"]).write(tmp_path / "ids" / RECENT)
    # `b` was changed in its place, `c` is gone
    order = Order(np.array([0, 4, 3]), np.arange(3), KeyCounts(5, 5, 3, 3), {})
    found = read_ids(tmp_path / "ids", order)
    assert len(found) == 3
    assert found.of_rows([2, 0, 1]) == ["new", "a", "b"]
    assert found.rows_of(["a", "b", "c", "new", "none"]).tolist() == [0, 1, -1, 2, -1]


def test_files_that_disagree_are_damage(tmp_path: Path) -> None:
    PassageIds.of(SOME).write(tmp_path / "ids")
    np.save(tmp_path / "ids" / "rows.npy", np.arange(3))
    with pytest.raises(DamagedStore, match="disagree"):
        PassageIds.read(tmp_path / "ids")
