"""`python -m benchmarks.chroma_forms`: what one Chroma collection for each corpus saves.

Compared, within one run, with one collection of all passages that holds their texts and is filtered
by the metadata field `corpus`: 3 corpora of 10,000 passages of 1,000 characters, 200 neighbours of
each for 30 questions. Vectors are random; which are near makes no difference to either.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import chromadb
import numpy as np
from numpy.typing import NDArray

CORPORA, PASSAGES, DIMENSION, QUESTIONS, DEPTH = 3, 10_000, 384, 30, 200
AT_ONCE = 5000  # Chroma refuses more than 5461
TEXT = "Sheep give wool. " * 60


def main() -> None:
    """Build both, ask both, and print what each took."""
    generator = np.random.default_rng(0)
    vectors = [_unit(generator, PASSAGES) for _ in range(CORPORA)]
    questions = _unit(generator, QUESTIONS)
    with TemporaryDirectory() as one, TemporaryDirectory() as each:
        for name, folder, whole in (("one, filtered", one, True), ("one a corpus", each, False)):
            client = chromadb.PersistentClient(folder)
            begun = time.perf_counter()
            collections = [_fill(client, n, own, whole=whole) for n, own in enumerate(vectors)]
            built = time.perf_counter() - begun
            _ask(collections, questions[:3], whole=whole)  # once, to open what is opened late
            begun = time.perf_counter()
            _ask(collections, questions, whole=whole)
            asked = (time.perf_counter() - begun) / QUESTIONS * 1000
            size = sum(f.stat().st_size for f in Path(folder).rglob("*") if f.is_file()) / 1e6
            print(f"{name}: {asked:.0f} ms a question, {size:.0f} MB, built in {built:.0f} s")


def _unit(generator: np.random.Generator, count: int) -> NDArray[np.float32]:
    vectors = generator.standard_normal((count, DIMENSION)).astype(np.float32)
    result: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return result


def _fill(client: Any, corpus: int, vectors: NDArray[np.float32], *, whole: bool) -> Any:
    name = "all" if whole else f"corpus-{corpus}"
    space = {"hnsw": {"space": "cosine"}}
    collection = client.get_or_create_collection(name, configuration=space)
    for start in range(0, PASSAGES, AT_ONCE):
        about: dict[str, Any] = {}
        if whole:
            about["documents"] = [f"{TEXT}{n}" for n in range(AT_ONCE)]
            about["metadatas"] = [
                {"corpus": str(corpus), "page": 1, "date": "1950-01-01"}
            ] * AT_ONCE
        ids = [f"{corpus}-{n}" for n in range(start, start + AT_ONCE)]
        collection.add(ids=ids, embeddings=vectors[start : start + AT_ONCE], **about)
    return collection


def _ask(collections: list[Any], questions: NDArray[np.float32], *, whole: bool) -> None:
    for question in questions:
        for corpus, collection in enumerate(collections):
            where = {"where": {"corpus": str(corpus)}} if whole else {}
            collection.query([question], n_results=DEPTH, include=["distances"], **where)


if __name__ == "__main__":
    main()
