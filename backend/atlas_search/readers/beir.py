"""Reading the corpus of a retrieval benchmark in the form of BEIR.

A folder holds `corpus.jsonl` (or `docs.jsonl`), a JSON object a line with `_id` (or `id`), `title`,
`text` and optional `metadata`; beside it `queries.jsonl` and qrels, see `evaluation.labels.beir`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.columns import Columns
from atlas_search.readers.jsonl import JsonlReader

CORPUS_FILES = ("corpus.jsonl", "docs.jsonl")
_RECORDS = JsonlReader(Columns(text=("text",)))


@dataclass(frozen=True)
class BeirReader:
    """Reads corpora of benchmarks: metadata `record_id` is the id that judgements speak of."""

    suffixes: ClassVar[frozenset[str]] = frozenset(CORPUS_FILES)

    @property
    def options(self) -> Mapping[str, object]:
        """There is nothing to set."""
        return {"version": 1, "records": _RECORDS.options["version"]}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """One draft or Skipped for every line of a corpus, in order."""
        if path.name not in CORPUS_FILES:
            yield Skipped(f"not a corpus: only {' and '.join(CORPUS_FILES)} are read")
            return
        for read in _RECORDS.read(path, encoding):
            yield _with_record_id(read) if isinstance(read, Draft) else read


def beir_reader() -> BeirReader:
    """Build a collection from benchmark folders (corpus.jsonl or docs.jsonl), each a corpus."""
    return BeirReader()


def _with_record_id(draft: Draft) -> Draft:
    return replace(draft, metadata={**draft.metadata, "record_id": draft.key})
