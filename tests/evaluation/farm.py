"""A tiny collection with questions about it, to run evaluations over."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atlas_search.atlas import Atlas
from atlas_search.core.errors import EmbeddingUnavailable
from atlas_search.evaluation.carry_out import (
    ProcessSubject,
    RunRequest,
    Subject,
    begin_run,
    choose_questions,
)
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.labels import Label
from atlas_search.providers.embedding import Embedder
from tests.conftest import TODAY
from tests.hash_embedder import HashEmbedder
from tests.replies import passage, reply
from tests.tiny import build_tiny, write_sources

GIVEN = {
    "sheep": "wool",
    "cows": "milk",
    "hens": "eggs",
    "bees": "honey",
    "geese": "down",
    "oxen": "labour",
}
SOURCES = {
    f"farm/{animal}.txt": f"{animal.title()} give {what}.\n" for animal, what in GIVEN.items()
}
LABELS = tuple(
    Label(f"q{number}", split, "factual", f"What do {animal} give?", (what,), gold)
    for number, (animal, what) in enumerate(GIVEN.items(), start=1)
    for split, gold in [("dev" if number % 3 == 0 else "test", frozenset({f"farm.{animal}"}))]
)
TARGET = "k10_extractive"
AWAY = "The embedding model is away."
Command = Callable[..., tuple[int, str, str]]
"""Types `atlas eval` with some arguments; its status, output and errors."""


class Away(HashEmbedder):
    """An embedding model that cannot be asked; `calls` were in vain."""

    calls = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        raise EmbeddingUnavailable(AWAY)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.embed([text])


def build_farm(folder: Path, embedder: Embedder | None = None) -> Path:
    """The collection `farm` in a folder of collections; its own folder."""
    sources = write_sources(folder.parent / "farm-sources", SOURCES)
    build_tiny(sources, folder / "farm", embedder or HashEmbedder())
    return folder / "farm"


@contextmanager
def opened_farm(folder: Path, target: str = TARGET, **settings: object) -> Iterator[ProcessSubject]:
    """A target of the collection in its folder, with hashes for vectors."""
    with Atlas.open(folder, embedder=HashEmbedder(), **settings) as atlas:
        yield ProcessSubject(atlas, target)


def new_run(
    folder: Path,
    subject: Subject,
    labels: Sequence[Label] = LABELS,
    request: RunRequest | None = None,
) -> RunFolder:
    """The folder of a run of which nothing is asked yet."""
    request = request or RunRequest(TODAY)
    questions = choose_questions(Path("labels.jsonl"), "", labels, request.limit, request.seed)
    begin_run(RunFolder(folder), subject, questions, request)
    return RunFolder(folder)


def answer_all(folder: RunFolder) -> None:
    """Give every question of a run a right answer, so that nothing is left to ask."""
    for label in folder.labels():
        (document,) = label.gold_document_ids
        (what,) = label.answers
        came = reply(
            "ANSWER",
            f"They give {what} [{document} p1].",
            label_id=label.id,
            passages=[passage(document, f"They give {what}."), passage("farm.other")],
            question=label.question,
            session_id=folder.spec().id,
        )
        folder.add(came)


def figures(folder: RunFolder) -> dict[str, dict[str, float]]:
    """Figures of each question."""
    return {one.label.id: dict(one.figures) for one in folder.load().scored}


def write_labels(path: Path, labels: Sequence[Label] = LABELS) -> Path:
    """A label set as a file."""
    lines = [
        {
            "id": label.id,
            "split": label.split,
            "category": label.category,
            "question": label.question,
            "answers": label.answers,
            "gold_document_ids": sorted(label.gold_document_ids),
        }
        for label in labels
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
