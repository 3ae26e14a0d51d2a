"""Cosines of a question and passages: each worked out once, and the same however it was."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.vectors import AT_ONCE, Cosines, cosines

COUNT = 40
VECTORS = np.random.default_rng(3).normal(size=(COUNT, 24)).astype(np.float32)
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)
ROWS = st.lists(st.integers(0, COUNT - 1), unique=True).map(
    lambda rows: np.array(sorted(rows), int)
)
STRETCHES = st.lists(st.integers(0, COUNT), unique=True, max_size=6).map(sorted)


@given(ROWS, STRETCHES)
def test_what_is_known_is_not_compared_again(rows: NDArray[np.int64], edges: list[int]) -> None:
    compared: list[int] = []

    def vectors_of(asked: NDArray[np.integer]) -> NDArray[np.float32]:
        compared.extend(asked.tolist())
        return VECTORS[asked]

    asked = Cosines(VECTORS[0], vectors_of)
    known: set[int] = set()
    for start, end in zip(edges[::2], edges[1::2], strict=False):
        asked.keep(start, cosines(VECTORS[start:end], VECTORS[0]).astype(np.float64))
        known.update(range(start, end))
    np.testing.assert_array_equal(asked.of(rows), cosines(VECTORS, VECTORS[0])[rows])
    assert compared == [row for row in rows.tolist() if row not in known]


def test_a_passage_has_one_cosine_whichever_way_it_is_worked_out(store: EmbeddedStore) -> None:
    every = np.arange(store.manifest.passages)
    vector = store.vectors(np.array([7]))[0]
    alone, after = Cosines(vector, store.vectors), Cosines(vector, store.vectors)
    hits = [store.nearest(corpus.id, vector, 9, None, None, after) for corpus in store.corpora]
    np.testing.assert_array_equal(after.of(every), alone.of(every))
    for found in hits:
        own = after.of(np.sort(found.rows))[np.argsort(np.argsort(found.rows))]
        np.testing.assert_array_equal(own, found.scores)


def test_equal_vectors_have_equal_cosines_wherever_they_stand() -> None:
    many = np.tile(VECTORS, (2 * AT_ONCE // COUNT, 1))
    found = Cosines(VECTORS[1], lambda rows: many[rows]).of(np.arange(len(many)))
    assert len(np.unique(found[::COUNT])) == 1
