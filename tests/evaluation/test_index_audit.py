"""The index of vectors against a comparison of every vector."""

from dataclasses import replace
from typing import Any

import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.errors import RequestError
from atlas_search.evaluation.index_audit import index_audit
from atlas_search.evaluation.metrics.catalogue import metric_of
from atlas_search.services import Services
from atlas_search.stores.store import Hits, Scope, Store

QUESTIONS = ["How long may a person be held?", "Who may search a house?", "What is privacy?"]


class Forgetful:
    """A store whose index of one corpus misses the nearest passage, and finds one further on."""

    def __init__(self, store: Store, corpus: str):
        self._store, self._corpus = store, corpus

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def nearest(self, corpus: str, vector: Any, depth: int, scope: Scope | None) -> Hits:
        if scope is not None or corpus != self._corpus:
            return self._store.nearest(corpus, vector, depth, scope)
        hits = self._store.nearest(corpus, vector, depth + 1, None)
        return Hits(hits.rows[1:], hits.scores[1:])


def test_the_bundled_index_finds_nearly_all(services: Services) -> None:
    figures = index_audit(Atlas(services), QUESTIONS, 10)
    assert figures.keys() == {
        "index_recall",
        *(f"index_recall.{corpus.id}" for corpus in services.store.corpora),
    }
    assert all(0.9 <= figure.mean <= 1 and figure.questions == 3 for figure in figures.values())
    assert {metric_of(name).name for name in figures} == {"index_recall", "index_recall."}


def test_what_an_index_misses_is_counted_in_its_corpus(services: Services) -> None:
    sound = index_audit(Atlas(services), QUESTIONS, 10)
    first, *others = [corpus.id for corpus in services.store.corpora]
    forgetful: Any = Forgetful(services.store, first)
    figures = index_audit(Atlas(replace(services, store=forgetful)), QUESTIONS, 10)
    assert figures[f"index_recall.{first}"].mean == pytest.approx(9 / 10)
    assert all(figures[f"index_recall.{id_}"] == sound[f"index_recall.{id_}"] for id_ in others)
    shares = [figures[f"index_recall.{id_}"].mean for id_ in (first, *others)]
    assert figures["index_recall"].mean == pytest.approx(sum(shares) / len(shares))


def test_a_corpus_with_fewer_passages_than_the_depth_can_be_found_whole(
    services: Services,
) -> None:
    figures = index_audit(Atlas(services), QUESTIONS[:1], 100_000)
    assert all(0.9 <= figure.mean <= 1 for figure in figures.values())


def test_an_audit_needs_a_question(services: Services) -> None:
    with pytest.raises(RequestError, match="needs a question"):
        index_audit(Atlas(services), [], 10)
