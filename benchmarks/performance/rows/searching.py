"""Searches with the vector given, against their engines alone; recall; many corpora."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.performance.fresh import fresh
from benchmarks.performance.records import Record
from benchmarks.performance.site import DEPTH, QUESTIONS, RECALLED, Site
from benchmarks.performance.turns import medians

ROUNDS = 3
ASKED = 60


def vector_given(site: Site) -> list[Record]:
    """A search, and the two legs alone."""
    site.require_store()
    took = fresh("rows.searching:search", store=site.store, questions=site.questions)
    return [
        Record(
            "search, vector given", "CPU ms", took["search"], site.size, 12.0, floor=took["engines"]
        ),
        Record(
            "search, vector given, against its engines alone",
            "times",
            took["search"] / took["engines"],
            site.size,
            3.0,
        ),
    ]


def recall(site: Site) -> list[Record]:
    """How many of the true nearest are found, in the corpus where that is worst."""
    site.require_store()
    found = fresh("rows.searching:recalled", store=site.store, questions=site.questions)
    of_corpora = ", ".join(f"{corpus} {share:.3f}" for corpus, share in found.items())
    return [
        Record(
            f"recall@{DEPTH}", "", min(found.values()), site.size, 0.99, "higher", note=of_corpora
        )
    ]


def twenty_corpora(site: Site) -> list[Record]:
    """Twenty equal corpora against three unequal ones of the same total."""
    many = Site(site.root, site.size, twenty=True)
    site.require_store()
    many.require_store()
    took = fresh(
        "rows.searching:search_both",
        stores=[str(site.store), str(many.store)],
        questions=[str(site.questions), str(many.questions)],
    )
    return [
        Record(
            "20 corpora against 3 of the same total",
            "times",
            took["20"] / took["3"],
            site.size,
            3.0,
            note=f"{took['20']:.1f} and {took['3']:.1f} CPU ms",
        )
    ]


def search(store: str, questions: str) -> dict[str, float]:
    """Milliseconds of processor of a search and of its engines alone, in turns."""
    from atlas_search.atlas import Atlas
    from benchmarks.performance.embedder import Given

    embedder = Given(Path(questions))
    asked = json.loads(Path(questions).read_text())[:: QUESTIONS // ASKED]
    with Atlas.open(Path(store), embedder=embedder) as atlas:
        ways = {"search": atlas.search, "engines": engines_alone(atlas, asked)}
        return medians(ways, asked, ROUNDS)


def engines_alone(atlas: Any, asked: list[str]) -> Callable[[str], object]:
    """Both legs of every corpus for a question whose words are known beforehand."""
    from atlas_search.search.query import parse_query

    searcher = atlas.services.searcher
    store = searcher.store
    queries = {question: parse_query(question) for question in asked}
    spelt = {
        (question, corpus.id): query.in_language(corpus.language).spelt
        for question, query in queries.items()
        for corpus in store.corpora
    }

    def legs(question: str) -> None:
        vector = searcher.embedder.embed_query(question)
        for corpus in store.corpora:
            store.nearest(corpus.id, vector, DEPTH, None)
            store.matching(corpus.id, spelt[question, corpus.id], DEPTH, None)

    return legs


def search_both(stores: list[str], questions: list[str]) -> dict[str, float]:
    """Milliseconds of processor of a search of two collections, by how many corpora they have."""
    from atlas_search.atlas import Atlas
    from benchmarks.performance.embedder import Given

    opened = [
        Atlas.open(Path(store), embedder=Given(Path(asked)))
        for store, asked in zip(stores, questions, strict=True)
    ]
    asked = [json.loads(Path(file).read_text())[:: QUESTIONS // ASKED] for file in questions]
    ways = {
        str(len(atlas.corpora)): lambda at, atlas=atlas, own=own: atlas.search(own[at])
        for atlas, own in zip(opened, asked, strict=True)
    }
    found = medians(ways, range(ASKED), ROUNDS)
    for atlas in opened:
        atlas.close()
    return found


def recalled(store: str, questions: str) -> dict[str, float]:
    """The mean share of the true nearest that the dense leg finds, by corpus."""
    from atlas_search.stores.embedded import EmbeddedStore
    from benchmarks.performance.embedder import vectors_of

    opened = EmbeddedStore(Path(store))
    asked = np.load(vectors_of(Path(questions)))[:: QUESTIONS // RECALLED]
    owners = opened.corpus_of(np.arange(opened.manifest.passages))
    shares = {}
    for number, corpus in enumerate(opened.corpora):
        rows = np.flatnonzero(owners == number)
        exact = np.argsort(-(opened.vectors(rows) @ asked.T), axis=0)[:DEPTH]
        found = [
            len(np.intersect1d(opened.nearest(corpus.id, vector, DEPTH, None).rows, rows[own]))
            for vector, own in zip(asked, exact.T, strict=True)
        ]
        shares[corpus.id] = float(np.mean(found) / min(DEPTH, len(rows)))
    opened.close()
    return shares
