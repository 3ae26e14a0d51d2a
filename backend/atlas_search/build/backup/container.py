"""The files of an export, in a folder or a .zip: written and read as streams."""

import hashlib
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Protocol

from atlas_search.build.backup.form import FileDigest
from atlas_search.core.errors import SourceError

ZIP = ".zip"


class Sink(Protocol):
    """What bytes are written to."""

    def write(self, content: bytes, /) -> object:
        """Add some bytes."""


class NewExport:
    """An export that is being written. `files` are those that are finished."""

    def __init__(self, partial: Path, archive: zipfile.ZipFile | None):
        self._partial = partial
        self._archive = archive
        self.files: dict[str, FileDigest] = {}

    @contextmanager
    def file(self, name: str) -> Iterator[Sink]:
        """A new file, open until the block ends."""
        with self._open(name) as stream:
            counting = _Counting(stream)
            yield counting
        self.files[name] = FileDigest(bytes=counting.bytes, sha256=counting.digest.hexdigest())

    def _open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        if self._archive:
            return self._archive.open(name, "w", force_zip64=True)
        return (self._partial / name).open("wb")


class _Counting:
    """Passes bytes on, and notes how many and their digest."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        self.bytes = 0
        self.digest = hashlib.sha256()

    def write(self, content: bytes, /) -> None:
        self._stream.write(content)
        self.bytes += len(content)
        self.digest.update(content)


@contextmanager
def new_export(path: Path) -> Iterator[NewExport]:
    """A folder, or a file if `path` ends in .zip, which is there once the block has ended.

    Raises SourceError if something is there already, or if it cannot be written.
    """
    if path.exists():
        raise SourceError(f"{path} is there already. Give another name, or remove it.")
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(partial)  # what a killed export left
        try:
            yield from _new(path, partial)
            _sync(partial)
            partial.rename(path)
        finally:
            _remove(partial)
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error.strerror or error}.") from error


def _new(path: Path, partial: Path) -> Iterator[NewExport]:
    if path.suffix == ZIP:
        with zipfile.ZipFile(partial, "x", zipfile.ZIP_DEFLATED) as archive:
            yield NewExport(partial, archive)
    else:
        partial.mkdir()
        yield NewExport(partial, None)


class Export:
    """An export to be read. Whatever is wrong with its files is a SourceError."""

    def __init__(self, path: Path, archive: zipfile.ZipFile | None):
        self.path = path
        self._archive = archive

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """One of its files, from its beginning."""
        try:
            with self._archive.open(name) if self._archive else (self.path / name).open("rb") as f:
                yield f
        except (KeyError, FileNotFoundError) as error:
            raise SourceError(f"{self.path}: {name} is missing. {WHOLE}") from error
        except (
            OSError,
            EOFError,
            zipfile.BadZipFile,
            zlib.error,
            NotImplementedError,  # a compression that Python does not know
            RuntimeError,  # encrypted
        ) as error:
            raise SourceError(f"{self.path}: {name} cannot be read ({error}). {WHOLE}") from error


WHOLE = "Nothing was imported; give an export that is whole."


@contextmanager
def open_export(path: Path) -> Iterator[Export]:
    """The export at `path`. Raises SourceError if there is none."""
    if path.is_dir():
        yield Export(path, None)
        return
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise SourceError(f"There is no export at {path}.") from None
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:  # the last: of no version
        raise SourceError(
            f"{path} is no export: neither a folder nor a whole .zip ({error}). {WHOLE}"
        ) from error
    with archive:
        yield Export(path, archive)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Bring it to disk before it bears its name: a backup must outlast a power failure."""
    for each in (path, *(path.iterdir() if path.is_dir() else ())):
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
