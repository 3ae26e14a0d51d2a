"""All that a store tells of a collection, however its files lie, so that stores can be compared."""

from pathlib import Path
from typing import Any

import numpy as np

from atlas_search.stores.arrays import Ragged
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.qdrant import open_store
from atlas_search.stores.store import PermittedStore, Store
from atlas_search.stores.terms import TokenTable
from atlas_search.stores.words import WordTable
from tests.hash_embedder import HashEmbedder


def all_of(folder: Path) -> dict[str, Any]:
    """All but the scores of keywords, which count removed passages."""
    store = open_store(folder)
    try:
        permitted = PermittedStore(store, [store.corpora[0].id], {})
        return {
            **_records(store),
            "manifest": _manifest(store.manifest),
            "tokens": _tokens(store.tokens),
            "words": _words(store.words),
            "hits": _hits(store),
            "permitted": _tokens(permitted.tokens),
        }
    finally:
        store.close()


def assert_same(folder: Path, other: Path) -> None:
    """Check that two collections tell the same."""
    seen, expected = all_of(folder), all_of(other)
    for name in expected:
        assert seen[name] == expected[name], name


def _manifest(manifest: Manifest) -> dict[str, Any]:
    described = manifest.model_dump(
        mode="json", include={"content_digest", "fields", "truncated_share", "embedding"}
    )
    # the language that a corpus reads like is judged when it is built whole
    apart = {"seconds", "reads_like"}
    corpora = [corpus.model_dump(exclude=apart) for corpus in manifest.corpora]
    origins = {k: o.model_dump(exclude={"arguments"}) for k, o in manifest.origins.items()}
    return {**described, "corpora": corpora, "origins": origins}


def _records(store: Store) -> dict[str, Any]:
    rows = range(store.manifest.passages)
    ids = store.passage_ids(rows)
    documents = np.arange(store.manifest.documents)
    listed = {
        order: store.list_documents(documents, order, 1000, 0)
        for order in ("id", "title", "date", "-date")
    }
    fields = sorted(store.manifest.fields)
    return {
        "ids": ids,
        "passages": store.passages(rows),
        "alone": [store.passage(id_) for id_ in ids],
        "documents": [store.document(each.id) for each in listed["id"]],
        "document_passages": [store.document_passages(each.id) for each in listed["id"]],
        "origins_of": [store.origin_of(each.id) for each in listed["id"]],
        "listed": listed,
        "corpora_of": store.corpus_of(np.arange(len(ids))).tolist(),
        "corpora_of_documents": store.corpus_of_documents(documents).tolist(),
        "content_types": store.content_types(np.arange(len(ids))),
        "titled": store.titled(documents, "the").tolist(),
        "field_values": {field: list(store.field_values(field)) for field in fields},
        "value_counts": store.value_counts(documents, fields),
        "metadata": list(store.metadata([corpus.id for corpus in store.corpora])),
        "origins": store.origins([corpus.id for corpus in store.corpora]),
        "days": [store.days.first.tolist(), store.days.last.tolist()],
        "texts": store.texts([(document, 0, 9) for document in documents.tolist()]),
        "sources": store.read_sources(1000, 0),
        "vectors": store.vectors(np.arange(len(ids))).tolist(),
    }


def _tokens(table: TokenTable) -> dict[str, Any]:
    terms = {id_: term for term, id_ in table.vocabulary.items()}

    # of a permitted table, terms of other corpora have no name
    def named(ragged: Ragged, row: int) -> list[str | None]:
        return [terms.get(id_) for id_ in ragged.row(row).tolist()]

    rows, documents = range(table.passages), range(table.documents)
    every = np.array(sorted(terms), dtype=np.int64)
    corpora = range(len(table.passages_of))
    return {
        "terms": sorted(table.vocabulary),
        "words": [named(table.words, row) for row in rows],
        "parts": [named(table.parts, row) for row in rows],
        "titles": [named(table.titles, document) for document in documents],
        "contexts": [named(table.contexts, int(table.context_of[row])) for row in rows],
        "values": [
            [named(table.values, value) for value in table.values_of.row(document).tolist()]
            for document in documents
        ],
        "fields": [
            np.unique(table.value_field[table.values_of.row(document)], return_inverse=True)[
                1
            ].tolist()
            for document in documents
        ],
        "document_of": table.document_of.tolist(),
        "frequency": {terms[id_]: int(table.passage_frequency[id_]) for id_ in terms},
        "of_corpora": [
            dict(
                zip(
                    [terms[id_] for id_ in every.tolist()],
                    table.frequency(every, [corpus]).tolist(),
                    strict=True,
                )
            )
            for corpus in corpora
        ],
        "lengths": table.lengths(np.arange(table.passages)).tolist(),
        "mean": table.mean_length(),
        "taken": table.words.take(np.arange(table.passages)[::-1]).row.tolist(),
    }


def _words(table: WordTable) -> dict[str, Any]:
    forms = np.arange(len(table.forms))
    mask = np.arange(len(table.tokens)) % 3 > 0
    return {
        "forms": [*table.forms],
        "folded": [table.folded[at] for at in table.folded_of.tolist()],
        "terms": [table.terms[at] for at in table.term_of.tolist()],
        "lists": [[*table.folded], [*table.terms]],
        "tokens": table.tokens[:].tolist(),
        "some": [table.tokens[mask].tolist(), table.tokens[np.flatnonzero(mask)].tolist()],
        "starts": table.starts[:].tolist(),
        "lengths": table.lengths[:].tolist(),
        "ends": table.ends.tolist(),
        "bounds": [table.firsts.tolist(), table.lasts.tolist()],
        "places": [table.places.row(form).tolist() for form in forms.tolist()],
        "sizes": table.places.sizes.tolist(),
        "every": [part.tolist() for part in table.places.take(forms)],
        "of_all": table.places_of(forms).tolist(),
        "first": int(table.starts[0]) if len(table.starts) else None,
    }


def _hits(store: Store) -> dict[str, Any]:
    every: dict[str, Any] = {}
    rows = np.arange(store.manifest.passages)
    for number, vector in enumerate(HashEmbedder().embed(["sheep wool", "the king"])):
        for corpus in store.corpora:
            for depth in (1, 3, 1000):
                hits = store.nearest(corpus.id, vector, depth, None)
                indexed = store.nearest(corpus.id, vector, depth, None, how="hnsw")
                every[f"near {number} {corpus.id} {depth}"] = [
                    hits.rows.tolist(),
                    hits.scores.tolist(),
                    indexed.rows.tolist(),
                ]
                scores = store.vectors(indexed.rows) @ vector
                assert np.allclose(indexed.scores, scores, atol=1e-3)
        some = store.scope({})
        assert some.rows.tolist() == rows.tolist()
    for term in sorted(store.tokens.vocabulary):
        for corpus in store.corpora:
            hits = store.matching(corpus.id, [term], 1000, None)
            every[f"holds {term} {corpus.id}"] = sorted(hits.rows.tolist())
    return every
