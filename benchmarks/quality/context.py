"""What each part of a passage's context gains, in the vectors, in the keywords and in both.

`python -m benchmarks.quality.context --data FOLDER`: every set with titles, headings or
speakers is ranked whole by the default score, with some of them left out of one leg or the other,
and the mean nDCG@10 of both halves of its questions is printed. Choose on `dev`, report `test`.
Vectors are kept below `--store`, for embedding them takes long.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from atlas_search.core.domain import embedded_text
from atlas_search.core.settings import load_settings
from atlas_search.evaluation.label_files import BenchmarkQuery
from atlas_search.language.text import words
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.open import open_embedder
from atlas_search.search.query import parse_query
from atlas_search.search.ranking import FUSED_WEIGHTS, fuse
from atlas_search.search.signals import SignalTable, measure
from atlas_search.stores.terms import FloatArray, TokenTable, TokenWriter
from benchmarks.quality.sets import TestSet, read_sets, sampled
from benchmarks.quality.tune import CUT, Asked, mean_ndcg

PARTS = ("title", "section", "speaker")
FORMS: tuple[tuple[str, ...], ...] = ((), ("title",), ("title", "section"), PARTS)


@dataclass(frozen=True)
class Placed:
    """A record with its context, and the number of its document in the set."""

    key: str
    document: int
    title: str
    section: str
    speaker: str
    text: str

    def only(self, form: Sequence[str]) -> tuple[str, str, str]:
        """Title, section path and speaker, those that are not in `form` empty."""
        title, section, speaker = (getattr(self, part) if part in form else "" for part in PARTS)
        return title, section, speaker


def main(
    data: Annotated[Path, typer.Option(help="Folder with a sub-folder for each test set")],
    queries: Annotated[int, typer.Option(min=0, help="Questions of each half; 0 for all")] = 300,
    store: Annotated[Path, typer.Option(help="Where vectors are kept")] = Path("data/bench"),
) -> None:
    """Rank every set with every form of context."""
    console = Console(width=150)
    embedder = open_embedder(load_settings())
    table = Table("set", "in the vectors", "in the keywords", "dev", "test")
    for test_set in read_sets(data):
        records = placed(test_set)
        told = [part for part in PARTS if any(getattr(record, part) for record in records)]
        forms = list(dict.fromkeys(tuple(p for p in form if p in told) for form in FORMS))
        if len(forms) == 1:
            continue
        vectors = {form: _vectors(store, test_set.name, records, form, embedder) for form in forms}
        tables = {form: token_table(records, form) for form in forms}
        halves = [sampled(test_set.queries, queries, half) for half in ("dev", "test")]
        asked = {query.id: embedder.embed_query(query.text) for half in halves for query in half}
        for of_vectors in forms:
            for of_words in forms:
                row = [
                    mean_ndcg(
                        [
                            _ask(query, asked[query.id], test_set, records, found, tokens)
                            for query in half
                        ],
                        FUSED_WEIGHTS,
                    )
                    for half in halves
                    for found, tokens in [(vectors[of_vectors], tables[of_words])]
                ]
                names = (" > ".join(form) or "nothing" for form in (of_vectors, of_words))
                table.add_row(test_set.name, *names, *(f"{value:.4f}" for value in row))
    console.print(table)


def placed(test_set: TestSet) -> list[Placed]:
    """The records of a set in order."""
    found = []
    for number, group in enumerate(test_set.groups):
        for record in group.records:
            (segment,) = record.segments or (None,)
            section, speaker = (segment.section, segment.speaker) if segment else ("", "")
            found.append(
                Placed(record.key, number, record.title, section, speaker, record.text.strip())
            )
    return found


def token_table(records: Sequence[Placed], form: Sequence[str]) -> TokenTable:
    """The words of the records, with those of the context that `form` names."""
    writer = TokenWriter()
    before = -1
    for record in records:
        title, section, speaker = record.only(form)
        if record.document != before:
            before = record.document
            writer.document("set", writer.ids(word.term for word in words(title)), [])
        found, above = words(record.text), words(f"{section}\n{speaker}")
        writer.passage(
            writer.ids(word.term for word in found),
            writer.ids(part for word in found for part in word.parts),
            writer.ids([*(w.term for w in above), *(part for w in above for part in w.parts)]),
        )
    return writer.table()


def _vectors(
    store: Path, name: str, records: Sequence[Placed], form: Sequence[str], embedder: Embedder
) -> NDArray[np.float32]:
    path = store / "context" / f"{name}-{'-'.join(form) or 'nothing'}.npy"
    if path.exists():
        return np.asarray(np.load(path), dtype=np.float32)
    texts = [embedded_text(*record.only(form), record.text) for record in records]
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    found = np.empty((len(texts), embedder.info.dimension), dtype=np.float32)
    for start in range(0, len(order), 256):
        batch = order[start : start + 256]
        found[batch] = embedder.embed([texts[at] for at in batch])
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, found)
    return found


def _ask(
    query: BenchmarkQuery,
    vector: NDArray[np.float32],
    test_set: TestSet,
    records: Sequence[Placed],
    vectors: NDArray[np.float32],
    tokens: TokenTable,
) -> Asked:
    """The whole set measured; of one that says where a question belongs, only that document."""
    every = np.arange(len(records))
    mean = tokens.mean_length()
    found = measure(parse_query(query.text), vector, every, vectors.__getitem__, tokens, [0], mean)
    graded = test_set.qrels[query.id]
    grades = np.array([graded.get(record.key, 0) for record in records], dtype=np.float64)
    inside = _inside(query, test_set, records)
    best = _best(found, inside)
    kept = SignalTable(
        found.rows[best], {n: v[best] for n, v in found.signals.items()}, found.matches[best]
    )
    top = sorted(graded.values(), reverse=True)[:CUT]
    ideal = sum(grade / np.log2(place + 2) for place, grade in enumerate(top))
    return Asked(kept, grades[best], float(ideal))


def _inside(
    query: BenchmarkQuery, test_set: TestSet, records: Sequence[Placed]
) -> NDArray[np.bool_]:
    wanted = {name: query.metadata[name] for name in test_set.filter_fields}
    groups = [
        all(group.metadata.get(name) == value for name, value in wanted.items())
        for group in test_set.groups
    ]
    return np.array([groups[record.document] for record in records])


def _best(found: SignalTable, inside: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The few that can be among the best, ascending."""
    scores: FloatArray = np.where(inside, fuse(found), -1.0)
    return np.sort(np.argsort(-scores, kind="stable")[: 5 * CUT][: int(inside.sum())])


if __name__ == "__main__":
    typer.run(main)
