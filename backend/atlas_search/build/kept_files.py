"""The files that a server was handed for a collection: a kind of source of its own.

<kept>/<corpus>/...              what the collection's documents of the kind `ingest` come from
<kept>/.jobs/<id>/<corpus>/...   what a job brings, until its version goes live

All of it is built each time, and only what changed is read, so earlier files stay.
"""

from dataclasses import replace
from pathlib import Path

from atlas_search.build.corpora import Sources, by_folder

INGEST = "ingest"
"""The kind of source, in manifests."""

JOBS = ".jobs"


def kept_sources(kept: Path, arriving: Path | None, suffixes: frozenset[str]) -> Sources:
    """The kept files, and those that are `arriving`, which go before kept ones of their name.

    Raises SourceError for a folder that cannot be listed.
    """
    before, new = (_by_corpus(folder, suffixes) for folder in (kept, arriving))
    coming = {file.name for file in new.files}
    files = [*(file for file in before.files if file.name not in coming), *new.files]
    ordered = tuple(sorted(files, key=lambda file: file.name))
    return replace(before, files=ordered, left_out=(*before.left_out, *new.left_out))


def move_in(kept: Path, arriving: Path) -> None:
    """Put the arriving files in their places, over kept ones of their names."""
    for path in sorted(arriving.rglob("*")):
        if path.is_file():
            place = kept / path.relative_to(arriving)
            place.parent.mkdir(parents=True, exist_ok=True)
            path.replace(place)


def _by_corpus(folder: Path | None, suffixes: frozenset[str]) -> Sources:
    if folder is None or not folder.is_dir():
        return Sources((), (), {})
    corpora = [path for path in folder.iterdir() if path.is_dir() and path.name[0] != "."]
    return by_folder([folder], suffixes, "") if corpora else Sources((), (), {})
