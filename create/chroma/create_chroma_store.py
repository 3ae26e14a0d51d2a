"""Build a collection from an existing Chroma collection."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.errors import SourceError
from create.chroma.read import ChromaReader
from create.command import run, store_command
from create.corpora import Rule, SourceFile, Sources, checked_id
from create.source import Reader

CORPUS_FIELD = "corpus"


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


def locate(
    source: Sequence[Path], reader: Reader, given: Mapping[str, Any], folder: Path
) -> Sources:
    """The folder as one source. Raises SourceError for what is not a Chroma folder."""
    if given.get("corpora"):
        raise SourceError("--corpora is for files; records have --corpus-field or --corpus.")
    if len(source) > 1:
        raise SourceError("Give one Chroma folder; ids of two could be the same.")
    (path,) = source
    if not (path / "chroma.sqlite3").is_file():
        raise SourceError(f"{path} is not a Chroma folder: it has no chroma.sqlite3.")
    rule = (
        Rule(checked_id(given["corpus"], "--corpus"))
        if given["corpus"]
        else Rule(corpus_field=given["corpus_field"] or CORPUS_FIELD)
    )
    name = path.resolve().name
    return Sources((SourceFile(path, name, name, rule),), (), {})


create_chroma_store = store_command("chroma", chroma_reader, locate)

if __name__ == "__main__":
    run(create_chroma_store)
