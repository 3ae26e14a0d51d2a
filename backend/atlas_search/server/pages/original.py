"""The file that a document was read from: found where its collection says, and checked.

A collection does not copy its sources. Its manifest remembers the folders that `atlas create` read,
and the records the digest of each file. So a file is shown only if it still lies there, unchanged,
and nothing that a request says is ever part of a path.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from cachetools import LRUCache, cached

from atlas_search.building.kept_files import INGEST
from atlas_search.core.errors import NotFound
from atlas_search.core.files import open_below
from atlas_search.core.settings import Settings
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.record_files import DocumentOrigin

Check = Callable[[], None]
"""Raises where nobody waits any more."""

NO_PDF = "This document was not read from a PDF, so there is no picture of its pages."
GONE = "The PDF is not on this server any more."
CHANGED = (
    "The PDF has changed since the document was read from it. Build the collection again to see "
    "its pages."
)
UNKNOWN = (
    "This collection does not say which PDF the document was read from: it was built by an earlier "
    "Atlas, or imported. Build it again with `--force` to see its pages."
)
_BLOCK = 1 << 20


def original(
    origin: DocumentOrigin, manifest: Manifest, settings: Settings, check: Check
) -> IO[bytes]:
    """The PDF of a document, open. Raises NotFound that says in plain words why it is not there."""
    if not origin.source.lower().endswith(".pdf"):
        raise NotFound(NO_PDF)
    if not origin.content:
        raise NotFound(UNKNOWN)
    file = _open(origin.source, _roots(origin, manifest, settings))
    try:
        if _digest(file, check) != origin.content:
            raise NotFound(CHANGED)
    except BaseException:
        file.close()
        raise
    return file


def _roots(origin: DocumentOrigin, manifest: Manifest, settings: Settings) -> list[Path]:
    """The files and folders that documents of this kind were built from."""
    if origin.origin == INGEST:
        return [settings.ingest_root / settings.chroma_collection_name]
    known = manifest.origins.get(origin.origin)
    named = known.arguments.get("source") if known else None
    paths = [Path(each) for each in named or () if isinstance(each, str)]
    return [path for path in paths if path.is_absolute()]


def _open(name: str, roots: Sequence[Path]) -> IO[bytes]:
    for root, below in _places(PurePosixPath(name), roots):
        try:
            return open_below(root, below)
        except (OSError, ValueError):
            continue
    raise NotFound(GONE)


def _places(name: PurePosixPath, roots: Sequence[Path]) -> Iterator[tuple[Path, PurePosixPath]]:
    """Where a source of this name may lie, as `atlas create` names what it finds."""
    for root in roots:
        if root.name == str(name):
            yield root.parent, name
        if len(roots) == 1:
            yield root, name
        elif name.parts[0] == root.name and len(name.parts) > 1:
            yield root, PurePosixPath(*name.parts[1:])


def _digest(file: IO[bytes], check: Check) -> bytes:
    """SHA-256 of an open file; computed again only if the file is another or was written to."""
    found = os.fstat(file.fileno())
    return _read_digest((found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns), file, check)


@cached(LRUCache(1024), key=lambda identity, _file, _check: identity, lock=threading.Lock())
def _read_digest(identity: tuple[int, ...], file: IO[bytes], check: Check) -> bytes:  # noqa: ARG001
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        check()
        digest.update(block)
    file.seek(0)
    return digest.digest()
