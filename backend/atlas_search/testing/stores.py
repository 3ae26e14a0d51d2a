"""The contract of stores: what search and answering rely on, whatever engine finds candidates."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.core.errors import Cancelled, NotFound
from atlas_search.core.stop import Stop
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.store import LegHits, Scope, Store

Ask = Callable[[Store, str, int, Scope | None], LegHits]
"""Asks a store for so many passages of a corpus in a scope, by one leg."""

DEPTHS = (1, 3, 20, 100_000)
HALF = 5e-4  # by which half precision may change a cosine


def _near(store: Store, corpus: str, depth: int, scope: Scope | None) -> LegHits:
    return store.nearest(corpus, _vector(store), depth, scope)


def _indexed(store: Store, corpus: str, depth: int, scope: Scope | None) -> LegHits:
    return store.nearest(corpus, _vector(store), depth, scope, how="hnsw")


def _holding(store: Store, corpus: str, depth: int, scope: Scope | None) -> LegHits:
    return store.matching(corpus, _terms(store), depth, scope)


def _vector(store: Store) -> NDArray[np.float32]:
    """Return the middle of the first and the last passage."""
    vector = store.vectors(np.array([0, store.manifest.passages - 1])).sum(axis=0)
    result: NDArray[np.float32] = vector / np.linalg.norm(vector)
    return result


def _terms(store: Store) -> Sequence[str]:
    """Return words of the first passage: the most frequent one and the rarest."""
    name = {id_: term for term, id_ in store.tokens.vocabulary.items()}
    own = store.tokens.words.row(0)
    order = own[np.argsort(store.tokens.passage_frequency[own], kind="stable")]
    return [name[int(order[-1])], name[int(order[0])]]


def _rows_of(store: Store, corpus: str) -> IntArray:
    number = [each.id for each in store.corpora].index(corpus)
    rows = np.arange(store.manifest.passages)
    own: IntArray = rows[store.corpus_of(rows) == number]
    return own


def _some(store: Store) -> Scope:
    """Return the scope of every third document."""
    ids = [
        each.id
        for each in store.list_documents(np.arange(store.manifest.documents), "id", 10**9, 0)
    ]
    return store.scope({"document_id": tuple(ids[::3])})


LEGS = pytest.mark.parametrize("ask", [_near, _indexed, _holding])


class StoreContract:
    """Give the fixture `store`: two corpora or more, and some ten documents with a few passages.

    Some passages have equal texts.
    """

    @LEGS
    def test_a_leg_finds_passages_of_its_corpus_alone(self, store: Store, ask: Ask) -> None:
        for scope in (None, _some(store)):
            for corpus in store.corpora:
                rows = ask(store, corpus.id, 100_000, scope).rows
                assert len(np.unique(rows)) == len(rows)
                assert np.isin(rows, _rows_of(store, corpus.id)).all()

    @LEGS
    def test_nothing_outside_a_scope_is_found(self, store: Store, ask: Ask) -> None:
        scope = _some(store)
        assert 0 < len(scope.rows) < store.manifest.passages
        for corpus in store.corpora:
            inside = np.isin(ask(store, corpus.id, 100_000, None).rows, scope.rows)
            every = ask(store, corpus.id, 100_000, None).rows[inside]
            assert ask(store, corpus.id, 100_000, scope).rows.tolist() == every.tolist()

    @LEGS
    def test_the_best_come_first_and_ties_by_row(self, store: Store, ask: Ask) -> None:
        for corpus in store.corpora:
            rows, scores = ask(store, corpus.id, 100_000, None)
            pairs = list(zip((-scores).tolist(), rows.tolist(), strict=True))
            assert pairs == sorted(pairs)

    @LEGS
    def test_fewer_are_the_first_of_more(self, store: Store, ask: Ask) -> None:
        for corpus in store.corpora:
            for scope in (None, _some(store)):
                found = [ask(store, corpus.id, depth, scope).rows.tolist() for depth in DEPTHS]
                for fewer, more in pairwise(found):
                    assert more[: len(fewer)] == fewer

    @LEGS
    def test_the_same_is_found_again_and_by_several_threads(self, store: Store, ask: Ask) -> None:
        corpus = store.corpora[0].id
        with ThreadPoolExecutor(4) as threads:
            every = list(threads.map(lambda _: ask(store, corpus, 20, None), range(12)))
        assert {tuple(hits.rows.tolist()) for hits in every} == {tuple(every[0].rows.tolist())}
        assert {tuple(hits.scores.tolist()) for hits in every} == {tuple(every[0].scores.tolist())}

    def test_the_nearest_are_nearest(self, store: Store) -> None:
        vector, scope = _vector(store), _some(store)
        for corpus in store.corpora:
            own = _rows_of(store, corpus.id)
            for within in (None, scope):
                rows = own if within is None else own[np.isin(own, within.rows)]
                cosines = store.similarities(rows, vector)
                assert cosines == pytest.approx(store.vectors(rows) @ vector, abs=HALF)
                best = rows[np.lexsort((rows, -cosines))]
                for depth in DEPTHS:
                    hits = store.nearest(corpus.id, vector, depth, within, how="exact")
                    assert hits.rows.tolist() == best[:depth].tolist()
                    assert hits.scores.tolist() == np.sort(cosines)[::-1][:depth].tolist()

    def test_the_index_finds_the_nearest_but_for_a_few(self, store: Store) -> None:
        for corpus in store.corpora:
            exact = store.nearest(corpus.id, _vector(store), 20, None, how="exact")
            hits = store.nearest(corpus.id, _vector(store), 20, None, how="hnsw")
            assert len(np.intersect1d(hits.rows, exact.rows)) >= 0.95 * len(exact.rows)
            rows = np.sort(hits.rows)
            cosines = store.similarities(rows, _vector(store))
            assert hits.scores.tolist() == cosines[np.searchsorted(rows, hits.rows)].tolist()

    def test_every_passage_with_a_word_is_found_by_it(self, store: Store) -> None:
        table = store.tokens
        rows = np.arange(store.manifest.passages)
        columns = [of.take(at) for of, at in table.indexed(rows)]
        for term, id_ in sorted(table.vocabulary.items()):
            holds = np.unique(np.concatenate([of.row[of.value == id_] for of in columns]))
            for corpus in store.corpora:
                own = holds[np.isin(holds, _rows_of(store, corpus.id))]
                found = store.matching(corpus.id, [term], 100_000, None).rows
                assert np.sort(found).tolist() == own.tolist()

    def test_words_that_no_passage_has_find_nothing(self, store: Store) -> None:
        for terms in ([], ["xyzzyx"]):
            hits = store.matching(store.corpora[0].id, terms, 10, None)
            assert (len(hits.rows), len(hits.scores)) == (0, 0)

    def test_phrases_are_required_and_excluded(self, store: Store) -> None:
        name = {id_: term for term, id_ in store.tokens.vocabulary.items()}
        words = [
            [name[i] for i in store.tokens.words.row(r).tolist()]
            for r in range(store.tokens.passages)
        ]
        phrase = words[0][:2]
        holds = [row for row, own in enumerate(words) if list(phrase) in map(list, pairwise(own))]
        every = set(range(store.tokens.passages))
        assert store.scope({}, required=[phrase]).rows.tolist() == holds
        assert store.scope({}, excluded=[phrase]).rows.tolist() == sorted(every.difference(holds))
        assert store.scope({}, required=[["xyzzyx"]]).rows.tolist() == []

    def test_an_empty_scope_holds_nothing(self, store: Store) -> None:
        scope = store.scope({"document_id": ("none",)})
        for ask in (_near, _holding):
            assert len(ask(store, store.corpora[0].id, 10, scope).rows) == 0

    def test_a_stop_ends_a_comparison(self, store: Store) -> None:
        stop = Stop()
        stop.set()
        with pytest.raises(Cancelled):
            store.nearest(store.corpora[0].id, _vector(store), 5, None, stop, how="exact")

    def test_passages_are_pieces_of_their_documents(self, store: Store) -> None:
        rows = range(store.manifest.passages)
        passages = store.passages(rows)
        assert [passage.id for passage in passages] == store.passage_ids(rows)
        for passage in passages:
            assert store.passage(passage.id) == passage
            document = store.document(passage.document_id)
            assert passage.text == document.text[passage.start : passage.end]
        with pytest.raises(NotFound):
            store.passage("none")

    def test_closing_twice_is_no_fault(self, store: Store) -> None:
        store.close()
        store.close()
