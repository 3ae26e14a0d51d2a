"""Both engines beside each other: `python -m benchmarks.performance.engines FOLDER [--size N]`.

A collection of generated text is built for the embedded engine and copied into Qdrant's in this
process. Searches go through both in turns; the stores, which take 9 KB a passage, stay in FOLDER.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from atlas_search.stores.manifest import Manifest
from benchmarks.performance.fresh import fresh, processor
from benchmarks.performance.site import DEPTH, QUESTIONS, Site
from benchmarks.performance.turns import medians

SIZES = (20_000, 200_000)
ENGINES = ("embedded", "qdrant")
ASKED = 60
ROUNDS = 3
ORDERED = 1000
"""Questions by which the order of BM25 in the engine is held against the formula."""


def main(
    folder: Annotated[Path, typer.Argument(help="Where the stores are made, and stay")],
    size: Annotated[list[int] | None, typer.Option(help="Passages; again for another")] = None,
) -> None:
    """Print what a search, a build and a passage take with each engine."""
    for each in size or SIZES:
        site = Site(folder, each)
        site.require_store()
        copy = site.folder / "qdrant" / "store"
        if not (copy / "manifest.json").exists():
            took = fresh("engines:copy", store=site.store, copy=copy)
            print(f"{each:>9,}  copied into Qdrant: {took:,.0f} passages a CPU second")
        stores = dict(zip(ENGINES, (site.store, copy), strict=True))
        found = fresh("engines:measure", stores=stores, questions=site.questions)
        for name, values in found.items():
            print(f"{each:>9,}  {name}: " + ", ".join(f"{e} {v:,.3f}" for e, v in values.items()))
        for engine, store in stores.items():
            opened = fresh("rows.opening:open_and_ask", store=store, questions=site.questions)
            kept = opened["resident"] / opened["passages"] / 1000
            manifest = Manifest.read(store)
            parts = {n: s / manifest.passages for n, s in manifest.sizes.items()}
            if engine == "qdrant":
                parts["qdrant"] = _bytes_below(store / "qdrant") / manifest.passages
            listed = ", ".join(f"{name} {size:,.0f}" for name, size in parts.items())
            print(f"{each:>9,}  {engine}: {kept:.2f} KB of memory a passage; bytes: {listed}")


def _bytes_below(folder: Path) -> int:
    """Bytes that files take on disk; those of Qdrant have holes."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def copy(store: str, copy: str) -> float:
    """Copy a collection into Qdrant, and give the passages a second of processor."""
    from atlas_search.building.go_live import Indexing
    from atlas_search.building.maintain import compact
    from benchmarks.performance.embedder import Given

    shutil.copytree(store, copy)
    began = processor()
    manifest = compact(Path(copy), Given(), lambda *_: None, Indexing(engine="qdrant"))
    assert manifest
    return manifest.passages / (processor() - began)


def measure(stores: Mapping[str, str], questions: str) -> dict[str, dict[str, float]]:
    """Give milliseconds of processor, and shares, by engine."""
    from atlas_search.atlas import Atlas
    from benchmarks.performance.embedder import Given, vectors_of

    every = json.loads(Path(questions).read_text())
    asked = every[:: QUESTIONS // ASKED]
    opened = {
        engine: Atlas.open(Path(store), embedder=Given(Path(questions)))
        for engine, store in stores.items()
    }
    ways: dict[str, Callable[[Any], object]] = {}
    for engine, atlas in opened.items():
        store = atlas.services.searcher.store
        half = [each.id for each in store.list_documents(_documents(store), "id", 10**9, 0)][::2]
        scope = store.scope({"document_id": tuple(half)})
        ways[f"search {engine}"] = atlas.search
        ways[f"legs {engine}"] = _legs(atlas, None)
        ways[f"legs in a filter {engine}"] = _legs(atlas, scope)
    took = medians(ways, asked, ROUNDS)
    found = {
        f"{name}, CPU ms": {engine: took[f"{name} {engine}"] for engine in opened}
        for name in ("search", "legs", "legs in a filter")
    }
    vectors = np.load(vectors_of(Path(questions)))[:ASKED]
    found[f"recall@{DEPTH}"] = {e: _recall(a.services.store, vectors) for e, a in opened.items()}
    found[f"same {DEPTH} by words in the order of the formula"] = {
        "qdrant": _in_order(opened["qdrant"].services.store)
    }
    for atlas in opened.values():
        atlas.close()
    return found


def _documents(store: Any) -> Any:
    return np.arange(store.manifest.documents)


def _legs(atlas: Any, scope: Any) -> Callable[[str], None]:
    """Both legs of every corpus for a question whose words are known beforehand."""
    from atlas_search.search.query import parse_query

    searcher = atlas.services.searcher
    store = searcher.store

    def legs(question: str) -> None:
        vector = searcher.embedder.embed_query(question)
        query = parse_query(question)
        for corpus in store.corpora:
            terms = query.in_language(corpus.language).spelt
            store.nearest(corpus.id, vector, DEPTH, scope)
            store.matching(corpus.id, terms, DEPTH, scope)

    return legs


def _recall(store: Any, vectors: Any) -> float:
    """The mean share of the nearest that are found, in the corpus where it is worst."""
    worst = 1.0
    for corpus in store.corpora:
        shares = []
        for vector in vectors:
            exact = store.nearest(corpus.id, vector, DEPTH, None, how="exact").rows
            hits = store.nearest(corpus.id, vector, DEPTH, None).rows
            shares.append(len(np.intersect1d(exact, hits)) / max(len(exact), 1))
        worst = min(worst, float(np.mean(shares)))
    return worst


def _in_order(store: Any) -> float:
    """The share of questions whose passages are those of the formula over all, in its order."""
    from atlas_search.stores.terms import idf

    table, random = store.tokens, np.random.default_rng(0)
    rows_of = {corpus.id: store._rows_of[corpus.id] for corpus in store.corpora}
    terms = np.array([*table.vocabulary], dtype=object)
    same = 0
    for number in range(ORDERED):
        row = int(random.integers(store.manifest.passages))
        ids = np.unique(random.choice(table.words.row(row), 6))
        corpus = store.corpora[number % len(store.corpora)].id
        weights = idf(table.passage_frequency[ids], store.manifest.passages)
        rows = rows_of[corpus]
        scores = store._scores(rows, ids, weights)
        order = np.lexsort((rows, -scores))
        order = order[scores[order] > 0][:DEPTH]
        hits = store.matching(corpus, terms[ids].tolist(), DEPTH, None)
        same += hits.rows.tolist() == rows[order].tolist()
    return same / ORDERED


if __name__ == "__main__":
    typer.run(main)
