"""Reading an existing Chroma collection: each record is a document, its vector its own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from atlas_search.readers import EmbeddedDraft, Read, Skipped
from atlas_search.stores.vectors import read_collection


@dataclass(frozen=True)
class ChromaReader:
    """Reads one collection of a Chroma folder; ids and vectors are kept as they are.

    `collection` may be empty where the folder has only one.
    """

    collection: str = ""
    suffixes: ClassVar[frozenset[str]] = frozenset({"chroma.sqlite3"})

    @property
    def options(self) -> Mapping[str, object]:
        """The collection."""
        return {"version": 1, "collection": self.collection}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """Every record in order of id. Raises SourceError for a folder that cannot be opened."""
        for record in read_collection(path, self.collection):
            if not record.text.strip():
                yield Skipped("it holds no text", record.id)
                continue
            if not record.vector.any():
                yield Skipped("its vector is zero", record.id)
                continue
            yield EmbeddedDraft(
                text=record.text,
                title=str(record.metadata.get("title") or ""),
                key=record.id,
                metadata=dict(record.metadata),
                passage_id=record.id,
                vector=tuple(record.vector.tolist()),
            )


def chroma_reader(
    from_collection: Annotated[
        str, typer.Option(help="The Chroma collection (default: the only one of the folder)")
    ] = "",
) -> ChromaReader:
    """Build a collection from a Chroma folder: ids and vectors are kept, nothing is embedded.

    The corpus of a record is its metadata field `corpus`, unless --corpus-field or --corpus says
    otherwise. EMBEDDING_MODEL must be the model that made the vectors: a sample is checked.
    """
    return ChromaReader(from_collection)
