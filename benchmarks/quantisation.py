"""What quantised vectors lose: `python -m benchmarks.scaling --quantisation [--data FOLDER]`.

The share of the 200 nearest of a question that Qdrant's engine finds in this process, in its graph,
when the graph holds vectors whole, in bytes (int8) or in bits. A search either takes the order that
rounded vectors give, or looks again at the whole vectors of so many times as many candidates.

Vectors are 30,000 made ones in 500 clusters (`benchmarks/performance/embedder.py`), or with
`--data` those that the default model gives the documents of all test sets in a folder
(docs/public-sets.md).
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import qdrant_edge as edge
from numpy.typing import NDArray

from atlas_search.stores.qdrant import EF_CONSTRUCTION, EF_SEARCH, M
from benchmarks.performance.embedder import Given, near

Vectors = NDArray[np.float32]
PASSAGES, QUESTIONS, DEPTH, AT_ONCE = 30_000, 200, 200, 1_000
AGAIN = {"rescore": True}
KINDS: dict[str, Any] = {
    "whole": None,
    "int8": edge.ScalarQuantizationConfig(edge.ScalarType.Int8, always_ram=True),
    "binary": edge.BinaryQuantizationConfig(always_ram=True),
}
SEARCHES: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "whole": (("200", {}),),
    "int8": (("200", {"rescore": False}), ("400, looked at again", AGAIN | {"oversampling": 2.0})),
    "binary": (
        ("200", {"rescore": False}),
        ("400, looked at again", AGAIN | {"oversampling": 2.0}),
        ("800, looked at again", AGAIN | {"oversampling": 4.0}),
    ),
}


def table(data: Path | None) -> Iterator[str]:
    """Measure, and give the lines of a table."""
    vectors, questions = _real(data) if data else _made()
    yield f"{len(vectors):,} passages, {len(questions)} questions\n"
    yield "| vectors | candidates | recall@200 | processor ms a search |\n|---|---|---|---|"
    for (kind, candidates), (recall, cost) in measure(vectors, questions).items():
        yield f"| {kind} | {candidates} | {recall:.3f} | {cost:.2f} |"


def _made() -> tuple[Vectors, Vectors]:
    vectors = Given().embed([str(n) for n in range(PASSAGES)])
    chosen = np.random.default_rng(2).integers(0, PASSAGES, QUESTIONS)
    return vectors, near(vectors[chosen], 3)


def _real(data: Path) -> tuple[Vectors, Vectors]:
    from atlas_search.core.settings import load_settings
    from atlas_search.providers.open import open_embedder

    embedder = open_embedder(load_settings())
    documents = [row for path in sorted(data.glob("*/docs.jsonl")) for row in _rows(path)]
    texts = [f"{row.get('title') or ''}\n{row['text']}".strip() for row in documents]
    asked = [r["text"] for path in sorted(data.glob("*/queries.jsonl")) for r in _rows(path)]
    chosen = np.random.default_rng(2).choice(len(asked), QUESTIONS, replace=False)
    began = time.process_time()
    batches = [embedder.embed(texts[at : at + AT_ONCE]) for at in range(0, len(texts), AT_ONCE)]
    cost = (time.process_time() - began) / len(texts) * 1000
    print(f"embedding: {cost:.1f} ms of processor a passage of {_mean(texts):.0f} characters")
    return np.concatenate(batches), np.array([embedder.embed_query(asked[n]) for n in chosen])


def _mean(texts: list[str]) -> float:
    return sum(map(len, texts)) / len(texts)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measure(vectors: Vectors, questions: Vectors) -> dict[tuple[str, str], tuple[float, float]]:
    """Return recall@200 and processor ms a search, by kind of vector and way of searching."""
    similarities = questions @ vectors.T
    nearest = [set(row) for row in np.argpartition(-similarities, DEPTH)[:, :DEPTH].tolist()]
    result = {}
    for kind, searches in SEARCHES.items():
        with TemporaryDirectory() as folder:
            shard = _write(Path(folder), vectors, KINDS[kind])
            for name, how in searches:
                result[kind, name] = _ask(shard, questions, nearest, how)
            shard.close()
    return result


def _write(folder: Path, vectors: Vectors, quantisation: Any) -> edge.EdgeShard:
    parameters = edge.EdgeVectorParams(
        size=vectors.shape[1], distance=edge.Distance.Dot, quantization_config=quantisation
    )
    graph = edge.HnswIndexConfig(m=M, ef_construct=EF_CONSTRUCTION, full_scan_threshold=10)
    optimizers = edge.EdgeOptimizersConfig(indexing_threshold=10, default_segment_number=1)
    config = edge.EdgeConfig(
        vectors=parameters, hnsw_config=graph, optimizers=optimizers, wal_enabled=False
    )
    shard = edge.EdgeShard.create(str(folder), config)
    for start in range(0, len(vectors), AT_ONCE):
        batch = enumerate(vectors[start : start + AT_ONCE].tolist(), start)
        points = [edge.Point(id=row, vector=vector, payload={}) for row, vector in batch]
        shard.update(edge.UpdateOperation.upsert_points(points))
    while shard.optimize():
        pass
    return shard


def _ask(
    shard: edge.EdgeShard, questions: Vectors, nearest: list[set[int]], how: dict[str, Any]
) -> tuple[float, float]:
    quantisation = edge.QuantizationSearchParams(**how)
    params = edge.SearchParams(hnsw_ef=EF_SEARCH, quantization=quantisation)
    queries = [edge.Query.Nearest(each, using=None) for each in questions.tolist()]
    began, shares = time.process_time(), []
    for query, best in zip(queries, nearest, strict=True):
        hits = shard.query(edge.QueryRequest(query=query, limit=DEPTH, params=params))
        shares.append(len({hit.id for hit in hits} & best) / DEPTH)
    return float(np.mean(shares)), (time.process_time() - began) / len(queries) * 1000
