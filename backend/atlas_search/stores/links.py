"""A part of a version as a temporary folder of links, for libraries that write where they read.

Chroma changes its database when it opens it, and tantivy makes a lock beside its index. So that a
version never changes, and can be served from a read-only disk, both open a folder of their own:
links to the files, and copies of what is written to. Folders of processes that were killed are
removed by the next that makes one.
"""

import fcntl
import os
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from atlas_search.core.errors import ConfigurationError, DamagedStore, UnwritableFolder
from atlas_search.core.files import CLOSED, is_full

PREFIX = "atlas-open-"


class Linked:
    """The folder of links, `folder`, until `close` or the last reference to it is gone."""

    def __init__(
        self,
        part: Path,
        linked: Callable[[Path], bool] = lambda _: True,
        copies: Mapping[str, Callable[[Path, Path], object]] = MappingProxyType({}),
    ):
        """`linked` gets each file's path relative to `part`; `copies` are by name what copies a
        file that is not linked to another place. Raises DamagedStore."""
        self._part = part
        self.folder, descriptor = _new_folder()
        self._finalizer = weakref.finalize(self, _release, self.folder, descriptor)
        try:
            self._names = [name for name in _files(part) if linked(name)]
            for name in self._names:
                self._add(name)
            for copied, copy in copies.items():
                copy(part / copied, self.folder / copied)
        except (OSError, sqlite3.Error) as error:
            self.close()
            raise _explained(error, part) from error

    def _add(self, name: Path) -> None:
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to((self._part / name).absolute())

    def require_files(self) -> None:
        """Raise DamagedStore if a linked file is gone: Chroma would put an empty one there."""
        for name in self._names:
            if not (self.folder / name).exists():
                raise DamagedStore(
                    f"{self._part / name} is gone. Bring the folder back, or run "
                    "`atlas store repair`."
                )

    def close(self) -> None:
        """Remove the folder; what it linked to stays."""
        self._finalizer()


def link_or_copy(path: Path, target: Path) -> None:
    """Give a file a second name."""
    try:
        os.link(path, target)
    except OSError:  # not every disk knows links
        shutil.copyfile(path, target)


def _files(part: Path) -> list[Path]:
    return sorted(
        Path(folder, name).relative_to(part)
        for folder, _, names in os.walk(part, followlinks=True)
        for name in names
        if not name.startswith(".")
    )


def _new_folder() -> tuple[Path, int]:
    """A new folder with a lock that lasts as long as this process, and the lock's descriptor."""
    try:
        root = Path(tempfile.gettempdir())
        _remove_abandoned(root)
        while True:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
            # until it is locked, another process may take it for an abandoned one
            try:
                descriptor = os.open(folder, os.O_RDONLY)
            except FileNotFoundError:
                continue
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if folder.exists():
                return folder, descriptor
            os.close(descriptor)
    except OSError as error:
        raise _explained(error, Path()) from error


def _remove_abandoned(root: Path) -> None:
    for folder in root.glob(f"{PREFIX}*"):
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue  # another user's, or gone
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # in use
        finally:
            os.close(descriptor)


def _explained(error: OSError | sqlite3.Error, part: Path) -> ConfigurationError:
    """What is missing was a file of the part; else the temporary folder cannot be written."""
    is_closed = isinstance(error, OSError) and error.errno in CLOSED
    if is_full(error) or is_closed or not part.name:
        return UnwritableFolder(
            f"A store is opened through a temporary folder, which cannot be written "
            f"({getattr(error, 'strerror', None) or error}). Make room in the folder for temporary "
            "files, or set TMPDIR to one with room: some MB, and to verify or repair a store of a "
            "million passages 200 MB."
        )
    return DamagedStore(f"{part} cannot be read ({error}). Run `atlas store repair`.")


def _release(folder: Path, descriptor: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(descriptor)
