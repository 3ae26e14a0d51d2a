"""The versions of a collection: folders beside its manifest, of which the manifest names one.

<collection>/manifest.json            the live version's manifest
<collection>/<version>/               parts, and a manifest of its own
<collection>/.<version>.partial/      a version that is being written
<collection>/staging.sqlite           what an unfinished build has read and embedded
<collection>/.sources.sqlite          digests of source files, by when they were changed last
<collection>/.build.lock              held while building, repairing or rolling back
"""

import fcntl
import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from atlas_search.core.errors import BuildRunning, DamagedStore, MissingStore, SourceError
from atlas_search.core.files import writing
from atlas_search.stores.digests import visible_problem
from atlas_search.stores.manifest import FILE_NAME, Manifest
from atlas_search.stores.order import RECENT

CHROMA, RECORDS, IDS, KEYWORDS, TOKENS, WORDS, EMBEDDINGS, ORDER = (
    "chroma",
    "records.sqlite",
    "ids",
    "keywords",
    "tokens",
    "words",
    "embeddings",
    "order",
)
PARTS = (RECORDS, IDS, TOKENS, WORDS, EMBEDDINGS, KEYWORDS, CHROMA)
"""What every version has; one that was not written whole has ORDER besides."""
RECENT_RECORDS = f"{RECORDS}.{RECENT}"
"""Of the part RECORDS, which has no folder."""
STAGING = "staging.sqlite"

_LOCK_SECONDS = 1.0  # a process that a killed build was just starting holds the lock until it runs

_VERSION = re.compile(r"\d{8}T\d{6}\.\d{6}-[0-9a-f]{8}")
_PARTIAL = re.compile(rf"\.{_VERSION.pattern}\.partial")


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Keep other builds of the collection out while it is changed.

    What killed builds left is removed first: nobody else can be writing it, and this one needs the
    room. Raises BuildRunning if one is running, and UnwritableFolder if the disk is full or closed.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".build.lock", timeout=_LOCK_SECONDS)
        try:
            lock.acquire()
        except Timeout:
            raise BuildRunning(
                f"Another build of {folder.name} is running. Wait for it, or end it."
            ) from None
        try:
            _remove_partial(folder)
            yield
        finally:
            lock.release()


def make_folder(folder: Path, mode: int) -> None:
    """Make a folder, and those above it that are missing, with a `mode`; what is there keeps its
    own."""
    for path in (*reversed(folder.parents), folder):
        if not path.exists():
            path.mkdir(mode, exist_ok=True)


def new_name(content_digest: str) -> str:
    """A name for a version made now; names sort by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{content_digest[:8]}"


def versions(folder: Path) -> list[Manifest]:
    """The whole versions on disk, newest first."""
    found = []
    for path in sorted(folder.iterdir() if folder.is_dir() else (), reverse=True):
        if _VERSION.fullmatch(path.name) and path.is_dir():
            try:
                found.append(Manifest.read(path))
            except (MissingStore, DamagedStore):
                continue  # of another schema, or without what makes it whole
    return found


def collections_beside(folder: Path) -> list[Path]:
    """The folders of other collections in the same place, in order."""
    try:
        others = sorted(path for path in folder.parent.iterdir() if path.name != folder.name)
        return [path for path in others if (path / FILE_NAME).is_file()]
    except OSError:  # the place is made with the first collection
        return []


def go_live(folder: Path, manifest: Manifest) -> None:
    """Make a version that is written completely the live one, in one atomic step."""
    manifest.write(folder)


@contextmanager
def removed_unless_live(folder: Path, version: str) -> Iterator[None]:
    """Remove a version that is written whole if the block fails before it is live.

    Nobody may go back to it: it may hold what was cancelled.
    """
    try:
        yield
    except BaseException:  # Ctrl-C too
        if not _is_live(folder, version):
            with suppress(OSError):  # what went wrong first is told
                _take_out(folder / version)
                _remove_partial(folder)
        raise


def _is_live(folder: Path, version: str) -> bool:
    try:
        return Manifest.read(folder).version == version
    except (MissingStore, DamagedStore):
        return False


def rollback(folder: Path, version: str = "") -> Manifest:
    """Make `version` live, or the newest one before the live one. Raises SourceError."""
    with lock(folder):
        live = Manifest.read(folder)
        others = {m.version: m for m in versions(folder) if m.version != live.version}
        older = [name for name in others if name < live.version]
        chosen = version or next(iter(older), "")
        if chosen not in others:
            known = ", ".join(others) or "none"
            raise SourceError(
                f"{live.collection} has no {'version ' + version if version else 'earlier version'}"
                f" to go back to. Live is {live.version}; other versions on disk: {known}."
            )
        if problem := visible_problem(folder / chosen, others[chosen]):
            raise SourceError(f"{chosen} is damaged: {problem}. {live.version} stays live.")
        go_live(folder, others[chosen])
        return others[chosen]


@contextmanager
def in_use(version: Path) -> Iterator[None]:
    """Keep `remove_old` from removing a version, in this process and others."""
    descriptor = os.open(version, os.O_RDONLY)
    try:
        with suppress(OSError):  # some disks know no locks; they are mostly those nobody writes to
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def remove_old(folder: Path, kept: Collection[str]) -> None:
    """Remove all versions but `kept`, and what killed builds left behind.

    A version that is in use stays until the next time: Chroma opens its file again when more is
    asked of it at once.
    """
    for path in list(folder.iterdir()):
        if _VERSION.fullmatch(path.name) and path.name not in kept and not _is_in_use(path):
            _take_out(path)
    _remove_partial(folder)


def _take_out(version: Path) -> None:
    """A kill must not leave half a version that looks like a whole one."""
    version.rename(version.with_name(f".{version.name}.partial"))


def _remove_partial(folder: Path) -> None:
    for path in list(folder.iterdir()):
        if _PARTIAL.fullmatch(path.name):
            shutil.rmtree(path)


def _is_in_use(version: Path) -> bool:
    descriptor = os.open(version, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
