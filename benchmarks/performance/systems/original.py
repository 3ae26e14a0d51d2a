"""The original layout: one Chroma collection of all corpora, filtered, and regular expressions.

The nearest passages of each corpus are fetched with their texts and ordered by exact phrase (.5),
frequency of words (.3) and their nearness (.2), read out of every text.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.performance.systems.chroma import HNSW, batches, client
from benchmarks.performance.systems.worker import DEPTH, KEPT, Passages

WINDOW = 50  # characters between words that are near


class SYSTEM:
    """See System."""

    packages = ("chromadb",)
    note = "No keyword leg: it had none. `ef_search` 1000, as in the product."

    def build(self, corpora: Mapping[str, Passages], folder: Path) -> None:
        """See System."""
        self._corpora = list(corpora)
        self._collection = client(folder).create_collection(
            "all", configuration={"hnsw": HNSW}, embedding_function=None
        )
        for corpus, passages in corpora.items():
            self._add(corpus, passages)

    def _add(self, corpus: str, passages: Passages) -> None:
        for batch in batches(len(passages.rows)):
            rows = passages.rows[batch]
            self._collection.upsert(
                ids=[row["id"] for row in rows],
                embeddings=passages.vectors[batch],
                documents=[row["text"] for row in rows],
                metadatas=[{"corpus": corpus, "document": row["document"]} for row in rows],
            )

    def ask(self, question: str, vector: Any) -> list[tuple[str, str]]:
        """See System."""
        found: list[tuple[float, str, str]] = []
        for corpus in self._corpora:
            got = self._query(corpus, vector, ["documents", "metadatas", "distances"])
            for id_, text in zip(got["ids"][0], got["documents"][0], strict=True):
                found.append((-_score(question, text), id_, text))
        return [(id_, text) for _, id_, text in sorted(found)[:KEPT]]

    def nearest(self, corpus: str, vector: Any) -> list[str]:
        """See System."""
        ids: list[str] = self._query(corpus, vector, [])["ids"][0]
        return ids

    def _query(self, corpus: str, vector: Any, include: list[str]) -> Any:
        return self._collection.query(
            query_embeddings=np.asarray(vector)[None, :],
            n_results=DEPTH,
            where={"corpus": corpus},
            include=include,
        )

    def change(self, corpus: str, gone: Sequence[str], passages: Passages) -> None:
        """See System."""
        self._collection.delete(ids=list(gone))
        self._add(corpus, passages)


def _score(question: str, text: str) -> float:
    phrase = 0.5 if re.search(re.escape(question), text, re.IGNORECASE) else 0.0
    words = question.split()
    places = [
        [match.start() for match in re.finditer(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)]
        for word in words
    ]
    frequency = sum(map(len, places)) / max(len(text.split()), 1)
    pairs = [(a, b) for a, b in pairwise(places) if a and b]
    close = sum(any(abs(y - x) <= WINDOW for x in a for y in b) for a, b in pairs)
    return phrase + 0.3 * min(frequency, 1.0) + 0.2 * close / max(len(words) - 1, 1)
