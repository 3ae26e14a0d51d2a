"""The product itself, over the collection that has been built."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from atlas_search.atlas import Atlas
from benchmarks.performance.embedder import Given
from benchmarks.performance.systems.worker import Passages


class SYSTEM:
    """See System. Built and changed elsewhere."""

    packages = ("atlas-research-search",)
    note = ""

    def build(self, corpora: Mapping[str, Passages], folder: Path) -> None:
        """Open it; `folder` is the collection."""
        embedder = Given(folder.parent / "questions.json")
        self._atlas = Atlas.open(folder, embedder=embedder)

    def ask(self, question: str, vector: Any) -> list[tuple[str, str]]:
        """See System."""
        found = self._atlas.search(question)
        return [(each.passage.id, each.passage.text) for each in found.passages]

    def nearest(self, corpus: str, vector: Any) -> list[str]:
        """See System."""
        raise NotImplementedError

    def change(self, corpus: str, gone: Sequence[str], passages: Passages) -> None:
        """See System."""
        raise NotImplementedError
