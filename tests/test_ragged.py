"""Rows of different length, read in one piece and in blocks, and which of them repeat."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.stores import arrays as ragged
from atlas_search.stores.arrays import Ragged, runs

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
    asked = np.array(data.draw(st.lists(st.integers(0, len(own) + len(added) - 1))), dtype=int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged, "AT_ONCE", block)
        blocks = list(table.blocks(asked))
    expected = [value for row in asked for value in [*own, *added][row].tolist()]
    assert [value for each in blocks for value in each.tolist()] == expected
    assert table.joined(asked).tolist() == expected
    assert [len(each) for each in blocks[:-1]] == [block] * (len(blocks) - 1)
    assert all(len(each) for each in blocks)


@given(st.lists(st.integers(0, 3)))
def test_a_value_that_comes_back_later_is_a_run_of_its_own(values: list[int]) -> None:
    distinct, back = runs(np.array(values, dtype=int))
    assert distinct[back].tolist() == values
    assert (np.diff(distinct) != 0).all()
    assert (np.diff(back) >= 0).all()
