"""Where the texts, stores and files of one size lie, and making them."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from benchmarks.build_store import SHARES, write_texts
from benchmarks.performance.embedder import Given, near, vectors_of
from benchmarks.performance.fresh import fresh

QUESTIONS = 200
WORDS = 9  # of a question
DEPTH = 200
"""Candidates per corpus and leg, those of a search of all corpora."""
RECALLED = 40
"""Questions whose true neighbours are found by comparing everything."""
TWENTY = {f"corpus-{number:02}": 0.05 for number in range(20)}
MANY_CHANGED = 1000
PASSAGES_A_PARAGRAPH = 1.285
"""Measured: some of the generated paragraphs are longer than a passage."""


@dataclass(frozen=True)
class Site:
    """The folder of one size. All of it can be made again."""

    root: Path
    size: int
    twenty: bool = False

    @property
    def folder(self) -> Path:
        """Everything of this size."""
        return self.root / f"{self.size}{'-twenty' if self.twenty else ''}"

    @property
    def sources(self) -> Path:
        """Text files, a folder for each corpus."""
        return self.folder / "sources"

    @property
    def store(self) -> Path:
        """The built collection."""
        return self.folder / "store"

    @property
    def questions(self) -> Path:
        """The questions; their vectors are beside them."""
        return self.folder / "questions.json"

    @property
    def exported(self) -> Path:
        """What other systems read."""
        return self.folder / "exported"

    def write_sources(self) -> None:
        """Write the texts, unless they are there."""
        if not self.sources.exists():
            partial = self.folder / "sources.partial"
            shutil.rmtree(partial, ignore_errors=True)
            paragraphs = round(self.size / PASSAGES_A_PARAGRAPH)
            write_texts(partial, paragraphs, TWENTY if self.twenty else SHARES)
            partial.rename(self.sources)

    def require_store(self) -> None:
        """Build the collection and write its questions, unless they are there."""
        self.write_sources()
        if not (self.store / "manifest.json").exists():
            fresh("rows.building:build_store", sources=self.sources, store=self.store)
        if not vectors_of(self.questions).exists():
            fresh("site:write_questions", store=self.store, questions=self.questions)

    def require_exported(self) -> None:
        """Write what other systems read, unless it is there."""
        self.require_store()
        if not (self.exported / "nearest.npy").exists():
            given = {"store": self.store, "questions": self.questions, "folder": self.exported}
            fresh("site:export", **given)

    def passages(self) -> int:
        """How many the built collection has: `size`, about."""
        return Manifest.read(self.store).passages

    def documents(self) -> list[Path]:
        """The source files, in the order of their corpora and names."""
        return sorted(self.sources.glob("*/*.txt"))


def write_questions(store: str, questions: str) -> None:
    """Words from the middle of passages spread over the collection, with a vector near theirs."""
    opened = EmbeddedStore(Path(store))
    rows = np.linspace(0, opened.manifest.passages - 1, QUESTIONS).astype(int)
    texts = [passage.text.split() for passage in opened.passages(rows.tolist())]
    asked = [" ".join(words[len(words) // 2 :][:WORDS]) for words in texts]
    Path(questions).write_text(json.dumps(asked, indent=1))
    np.save(vectors_of(Path(questions)), near(opened.vectors(rows), 3))
    opened.close()


def export(store: str, questions: str, folder: str) -> None:
    """Passages, vectors, a document as it is after a change, and the true neighbours.

    The last are rows of `passages.jsonl`, of shape (RECALLED, corpora, DEPTH), -1 where a corpus
    has fewer passages.
    """
    opened, target = EmbeddedStore(Path(store)), Path(folder)
    target.mkdir(exist_ok=True)
    count = opened.manifest.passages
    with (target / "passages.jsonl").open("w") as file:
        for start in range(0, count, 5000):
            for each in opened.passages(range(start, min(start + 5000, count))):
                kept = {
                    "id": each.id,
                    "corpus": each.corpus,
                    "document": each.document_id,
                    "text": each.text,
                }
                file.write(json.dumps(kept) + "\n")
    np.save(target / "vectors.npy", opened.vectors(np.arange(count)))
    _export_change(opened, target)
    asked = np.load(vectors_of(Path(questions)))[:: QUESTIONS // RECALLED]
    corpora = opened.corpus_of(np.arange(count))
    nearest = np.full((len(asked), len(opened.corpora), DEPTH), -1)
    for number in range(len(opened.corpora)):
        rows = np.flatnonzero(corpora == number)
        found = np.argsort(-(opened.vectors(rows) @ asked.T), axis=0)[:DEPTH]
        nearest[:, number, : len(found)] = rows[found].T
    np.save(target / "nearest.npy", nearest)  # last: who finds it finds all
    opened.close()


def _export_change(opened: EmbeddedStore, target: Path) -> None:
    """The passages of the first document of the second corpus, the last of which has changed."""
    second = opened.corpora[1].id
    row = int(np.flatnonzero(opened.corpus_of(np.arange(opened.manifest.passages)) == 1)[0])
    document = opened.passages([row])[0].document_id
    own = opened.document_passages(document)
    texts = [passage.text for passage in own]
    texts[-1] += " Something was added here."
    kept = [
        {"id": p.id, "corpus": second, "document": document, "text": text}
        for p, text in zip(own, texts, strict=True)
    ]
    (target / "changed.json").write_text(json.dumps(kept))
    np.save(target / "changed.npy", Given().embed(texts))
