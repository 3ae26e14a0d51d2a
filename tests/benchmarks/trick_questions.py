"""Whether a passage without the answer is told from one that holds it:
`python -m tests.benchmarks.trick_questions --data FOLDER`.

FOLDER/squad2 is SQuAD 2.0 in the layout that `tests.benchmarks.quality` describes. Half of its
questions are trick questions: the passage is about their subject and does not answer them,
so retrieval cannot refuse them. Every question is put to its own passage alone, and the writer of
extractive answers finds a sentence in it or none. Printed are, of each kind of answer asked for:

    kept        answerable questions for which a sentence was found
    rejected    trick questions for which none was; of all, and of those that each check alone finds
                in the sentence that shares most with the question: `kind` (it holds no answer of
                the kind asked for) and the reasons of `answer.write.mismatch`

The checks were made with the questions of the `dev` half; those of `test` were not looked at. A
search finds more passages than one, and a figure may stand in any of them: it rejects fewer.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from atlas_search.answer.write.answer_kind import asked_for
from atlas_search.answer.write.extractive import Extract, ExtractiveWriter
from atlas_search.answer.write.mismatch import mismatch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from atlas_search.core.domain import CheckedPassage, Passage, RankedPassage
from atlas_search.evaluation.beir_labels import BenchmarkQuery, read_queries
from atlas_search.language.text import all_terms, content_terms, sentences
from atlas_search.providers.embedding.folder import DEFAULT_MODEL
from atlas_search.providers.embedding.local import LocalEmbedder
from atlas_search.readers import Draft
from tests.benchmarks.quality.records import read_groups
from tests.benchmarks.quality.sets import split_of

HALVES = ("dev", "test")
CHECKS = ("kind", "denial", "figure", "opposite")
WIDTH = 120
"""Columns of the table where the output is no terminal."""


@dataclass(frozen=True)
class Outcome:
    """One question: `found` is whether there was a sentence, `failed` the checks of the closest."""

    half: str
    kind: str
    trick: bool
    found: bool
    failed: frozenset[str]


class Remembering(LocalEmbedder):
    """Embeds each sentence once: a passage is asked about ten questions."""

    def __init__(self, model: str):
        super().__init__(model)
        self._known: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= dict(zip(new, super().embed(new), strict=True)) if new else {}
        return np.array([self._known[text] for text in texts], dtype=np.float32)


def main(
    data: Annotated[Path, typer.Option(help="Folder with the sub-folder squad2")],
) -> None:
    """Ask, print."""
    folder = data / "squad2"
    records = {r.key: r for group in read_groups(folder / "docs.jsonl") for r in group.records}
    weights = _weights([record.text for record in records.values()])
    embedder = Remembering(DEFAULT_MODEL)
    outcomes = [
        _asked(query, _passage(records[str(query.metadata["source_doc"])]), embedder, weights)
        for query in read_queries(folder)
        if query.metadata["source_doc"] in records
    ]
    table = Table(*"half kind answerable kept tricks rejected".split(), *CHECKS)
    for row in _rows(outcomes):
        table.add_row(*row)
    (Console() if Console().is_terminal else Console(width=WIDTH)).print(table)


def _asked(
    query: BenchmarkQuery,
    given: CheckedPassage,
    embedder: LocalEmbedder,
    weights: Mapping[str, float],
) -> Outcome:
    terms = content_terms(query.text)
    prompt = Extract(
        question=query.text,
        question_vector=embedder.embed_query(query.text),
        passages=(given,),
        term_weights={term: weights.get(term, max(weights.values())) for term in terms},
        sentence_limit=1,
    )
    return Outcome(
        half=split_of(query),
        kind=asked_for(query.text).name,
        trick=bool(query.metadata["is_impossible"]),
        found=any(True for _ in ExtractiveWriter(embedder).write(prompt)),
        failed=_failed(query.text, given.passage.text, prompt.term_weights),
    )


def _failed(question: str, text: str, weights: Mapping[str, float]) -> frozenset[str]:
    """The checks that the sentence with most of the question's terms fails, by weight."""

    def shared(sentence: str) -> float:
        return sum(weights.get(term, 0.0) for term in all_terms(sentence))

    closest = max((text[start:end] for start, end in sentences(text)), key=shared)
    held = asked_for(question).held(closest, text, question)
    return frozenset({mismatch(question, closest, text, text), "" if held else "kind"} - {""})


def _weights(texts: Sequence[str]) -> dict[str, float]:
    """Terms with their inverse passage frequency, as `atlas_search.search.signals` has it."""
    counts = Counter(term for text in texts for term in all_terms(text))
    return {
        term: log1p((len(texts) - count + 0.5) / (count + 0.5)) for term, count in counts.items()
    }


def _passage(record: Draft) -> CheckedPassage:
    found = Passage(
        row=0,
        id=record.key,
        document_id=record.key,
        corpus="squad2",
        title=record.key.rpartition("#")[0].replace("_", " "),
        text=record.text,
        start=0,
        end=len(record.text),
        page=1,
        line=1,
        section="",
        speaker="",
        date="",
        url="",
        metadata={},
    )
    return CheckedPassage(RankedPassage(found, 1.0, {}), True, 1.0, ())


def _rows(outcomes: Sequence[Outcome]) -> Iterable[list[str]]:
    kinds = sorted({outcome.kind for outcome in outcomes})
    for half in HALVES:
        own = [outcome for outcome in outcomes if outcome.half == half]
        yield [half, "all", *_shares(own)]
        for kind in kinds:
            yield [half, kind, *_shares([outcome for outcome in own if outcome.kind == kind])]


def _shares(outcomes: Sequence[Outcome]) -> list[str]:
    good = [outcome for outcome in outcomes if not outcome.trick]
    tricks = [outcome for outcome in outcomes if outcome.trick]
    return [
        str(len(good)),
        _share(outcome.found for outcome in good),
        str(len(tricks)),
        _share(not outcome.found for outcome in tricks),
        *(_share(check in outcome.failed for outcome in tricks) for check in CHECKS),
    ]


def _share(true: Iterable[bool]) -> str:
    found = list(true)
    return f"{np.mean(found):.1%}" if found else "-"


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    typer.run(main)
