"""txtai: an Embeddings with its hybrid index for each corpus."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from txtai import Embeddings

from benchmarks.performance.systems.worker import DEPTH, KEPT, Passages

AT_HAND: dict[str, Any] = {}


def at_hand(texts: Sequence[str]) -> Any:
    """The vector of the question that is being asked, or those of the texts being added."""
    return np.stack([AT_HAND[text] for text in texts])


class SYSTEM:
    """See System."""

    packages = ("txtai", "faiss-cpu")
    note = (
        "A hybrid search asks ten times as many of each index as it gives: 20 a corpus. Faiss, "
        "with txtai's settings, looks into a sixteenth of the cells beyond 5,000 passages."
    )

    def build(self, corpora: Mapping[str, Passages], folder: Path) -> None:
        """See System."""
        self._folder = folder
        self._indexes = {}
        self._ids = {name: [row["id"] for row in of.rows] for name, of in corpora.items()}
        for corpus, passages in corpora.items():
            index = Embeddings(method="external", transform=at_hand, hybrid=True, content=True)
            self._add(index.index, passages)
            index.save(str(folder / corpus))
            self._indexes[corpus] = index

    def _add(self, into: Any, passages: Passages) -> None:
        texts = [row["text"] for row in passages.rows]
        AT_HAND.update(zip(texts, passages.vectors, strict=True))
        into((row["id"], row["text"], None) for row in passages.rows)
        AT_HAND.clear()

    def ask(self, question: str, vector: Any) -> list[tuple[str, str]]:
        """See System."""
        AT_HAND[question] = np.asarray(vector)
        found = [
            each
            for index in self._indexes.values()
            for each in index.search(question, limit=DEPTH // 10)
        ]
        AT_HAND.clear()
        found.sort(key=lambda each: (-each["score"], each["id"]))
        return [(each["id"], each["text"]) for each in found[:KEPT]]

    def nearest(self, corpus: str, vector: Any) -> list[str]:
        """See System."""
        # a search leaves out those whose cosine is below 0, of which a small corpus has many
        (found,) = self._indexes[corpus].ann.search(np.asarray(vector)[None, :], DEPTH)
        return [self._ids[corpus][number] for number, _ in found if number >= 0]

    def change(self, corpus: str, gone: Sequence[str], passages: Passages) -> None:
        """See System."""
        index = self._indexes[corpus]
        index.delete(list(gone))
        self._add(index.upsert, passages)
        index.save(str(self._folder / corpus))
