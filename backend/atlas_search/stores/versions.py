"""The versions of a collection: folders beside its manifest, of which the manifest names one.

<collection>/manifest.json            the live version's manifest
<collection>/<version>/               parts, and a manifest of its own
<collection>/.<version>.partial/      a version that is being written
<collection>/staging.sqlite           what an unfinished build has read and embedded
<collection>/.sources.sqlite          digests of source files, by when they were changed last
<collection>/.pulled/                 files of a version that an unfinished pull has brought
<collection>/.build.lock              held while building, pulling, repairing or rolling back

Files of a version are checked by digest, each once for every state it is in.
What was found whole is kept beside the versions, so that a restart does not read all of it again;
where that cannot be written, it is known only until the process ends.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import xxhash
from filelock import FileLock, Timeout

from atlas_search.core.errors import BuildRunning, DamagedStore, SourceError
from atlas_search.core.files import writing
from atlas_search.stores.manifest import FILE_NAME, Manifest, readable_manifest
from atlas_search.stores.order import RECENT


def file_digest(path: Path) -> str:
    """Return a file's digest as in `Manifest.files`: `xxh3:` and its XXH3 of 128 bits. Raises
    OSError.

    It is there to find damage, in every build all that is copied; whoever changes a file on purpose
    can change the manifest too. It reads 7 GB a second where SHA-256 reads 1.4.
    """
    with path.open("rb") as file:
        return "xxh3:" + hashlib.file_digest(file, xxhash.xxh3_128).hexdigest()


def is_as_written(version: Path, manifest: Manifest, name: str) -> bool:
    """Return whether a file of a version has the digest that the manifest gives. Raises OSError."""
    return file_digest(version / name) == manifest.files[name]


def files_of(manifest: Manifest, part: str) -> list[str]:
    """Return the names of a part's files that have a digest, relative to the version's folder."""
    return [name for name in manifest.files if part_of(name) == part]


def part_of(name: str) -> str:
    """Name the part of a file; a part that is one file has what is recent in another beside it."""
    return name.split("/")[0].removesuffix(f".{RECENT}")


def damaged_files(
    version: Path,
    manifest: Manifest,
    names: Iterable[str],
    go_on: Callable[[], bool] = lambda: True,
) -> dict[str, str]:
    """Return what is wrong with each damaged file of `names`, a sentence without a stop.

    Reading ends where `go_on` says so.
    """
    problems: dict[str, str] = {}
    for name in names:
        if not go_on():
            break
        try:
            if not is_as_written(version, manifest, name):
                problems[name] = f"{name} is not as it was written"
        except OSError as error:
            problems[name] = f"{name} cannot be read ({error.strerror})"
    return problems


def is_part_whole(version: Path, manifest: Manifest, part: str) -> bool:
    """Return whether all files of a part are as they were written; they are read."""
    return not damaged_files(version, manifest, files_of(manifest, part))


def check_files(version: Path, manifest: Manifest, part: str) -> None:
    """Raise DamagedStore, naming them, if files of a part are not as they were written."""
    problems = damaged_files(version, manifest, files_of(manifest, part))
    if problems:
        raise DamagedStore("; ".join(problems.values()))


def files_written_later(version: Path, names: Iterable[str]) -> list[str]:
    """Return the files of a version written to later than its manifest; all if it has lost that.

    Raises DamagedStore if one is missing.
    """
    manifest = version / FILE_NAME
    try:
        written_at = manifest.stat().st_mtime_ns if manifest.exists() else 0
        return [name for name in names if (version / name).stat().st_mtime_ns > written_at]
    except OSError as error:
        raise DamagedStore(f"{error.filename} cannot be read ({error.strerror})") from error


def check_sizes(version: Path, manifest: Manifest) -> None:
    """Raise DamagedStore if a part's files are missing, or shorter or longer than written.

    It reads none of them: a mapped file that was cut short would end the process.
    """
    if problem := _size_problem(version, manifest):
        raise DamagedStore(
            f"{version} is damaged: {problem}. Run `atlas store repair {version.parent.name}`."
        )


def visible_problem(version: Path, manifest: Manifest) -> str:
    """Return what `check_sizes` or `check_touched` would find, without a stop; empty for
    nothing."""
    if problem := _size_problem(version, manifest):
        return problem
    names = files_written_later(version, manifest.files)
    return "; ".join(damaged_files(version, manifest, names).values())


def _size_problem(version: Path, manifest: Manifest) -> str:
    for part, expected in manifest.sizes.items():
        names = files_of(manifest, part)
        try:
            size = sum((version / name).stat().st_size for name in names)
        except OSError as error:
            return f"{error.filename} cannot be read ({error.strerror})"
        if size != expected:
            return f"{part} has {size} bytes, not {expected} as it was written"
    return ""


KEPT = ".checked.json"

State = list[int]
"""Inode, bytes, and when the content and the entry were changed last, in nanoseconds."""


class CheckedVersion:
    """Version of the collection in `folder` that is looked at again and again."""

    def __init__(self, folder: Path, manifest: Manifest):
        self._folder = folder
        self._version = folder / manifest.version
        self._manifest = manifest
        kept = _read(folder / KEPT)
        # each question asks for the state of all: to make the paths takes twice as long as to ask
        self._paths = {name: os.path.join(self._version, name) for name in manifest.files}
        self._whole: dict[str, State] = kept.pop(manifest.version, {}) or self._shared(kept)
        self._damaged: dict[str, tuple[State, str]] = {}

    def problems(self, go_on: Callable[[], bool] = lambda: True) -> list[str]:
        """Return what is wrong, file by file; empty for a whole version.

        Only files that were never checked in their present state are read, until `go_on` says no.
        """
        states = self._states()
        changed = self._unchecked(states)
        result = damaged_files(self._version, self._manifest, changed, go_on)
        for name in changed if go_on() else ():
            if name in result:
                self._damaged[name] = (states[name], result[name])
            else:
                self._whole[name] = states[name]
        if changed and go_on():
            self._keep()
        missing = [f"{name} is missing" for name in self._manifest.files if name not in states]
        wrong = [
            problem for name, (state, problem) in self._damaged.items() if states.get(name) == state
        ]
        return missing + wrong

    def whole(self) -> set[str]:
        """Return the names of the files that are as they were written; `problems` reads them."""
        self.problems()
        states = self._states()
        return {name for name, state in self._whole.items() if states.get(name) == state}

    def _shared(self, kept: Mapping[str, Mapping[str, State]]) -> dict[str, State]:
        """Return the files found whole in another version, which shares them with this one.

        A new name changes the time of a file's entry, the last of its state.
        """
        known = {(name, *state[:-1]) for of in kept.values() for name, state in of.items()}
        states = self._states().items()
        return {name: state for name, state in states if (name, *state[:-1]) in known}

    def _states(self) -> dict[str, State]:
        result = {name: _state(path) for name, path in self._paths.items()}
        return {name: state for name, state in result.items() if state}

    def _unchecked(self, states: Mapping[str, State]) -> list[str]:
        return [
            name
            for name, state in states.items()
            if self._whole.get(name) != state and self._damaged.get(name, ([], ""))[0] != state
        ]

    def _keep(self) -> None:
        temporary = self._folder / f"{KEPT}.partial"
        kept = {
            version: states
            for version, states in _read(self._folder / KEPT).items()
            if (self._folder / version).is_dir()
        }
        try:
            temporary.write_text(json.dumps(kept | {self._manifest.version: self._whole}))
            temporary.replace(self._folder / KEPT)
        except OSError:  # a disk that is full or only for reading
            return


def _state(path: str) -> State:
    """Return the state of a file, empty if there is none."""
    try:
        result = os.stat(path)
    except OSError:
        return []
    return [result.st_ino, result.st_size, result.st_mtime_ns, result.st_ctime_ns]


def _read(path: Path) -> dict[str, dict[str, State]]:
    try:
        result = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return result if isinstance(result, dict) else {}


CHROMA, RECORDS, IDS, KEYWORDS = "chroma", "records.sqlite", "ids", "keywords"
TOKENS, WORDS, EMBEDDINGS, ORDER = "tokens", "words", "embeddings", "order"
PARTS = (RECORDS, IDS, TOKENS, WORDS, EMBEDDINGS, KEYWORDS, CHROMA)
"""Parts of every version; one that was not written whole has ORDER besides."""
RECENT_RECORDS = f"{RECORDS}.{RECENT}"
"""File beside the part RECORDS, which has no folder."""
STAGING = "staging.sqlite"

_LOCK_SECONDS = 1.0  # a process that a killed build was just starting holds the lock until it runs

VERSION = re.compile(r"\d{8}T\d{6}\.\d{6}-[0-9a-f]{8}")
_PARTIAL = re.compile(rf"\.{VERSION.pattern}\.partial")


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
    """Make a folder, and those missing above it, with a `mode`; what is there keeps its own."""
    for path in (*reversed(folder.parents), folder):
        if not path.exists():
            path.mkdir(mode, exist_ok=True)


def new_name(content_digest: str) -> str:
    """Return a name for a version made now; names sort by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{content_digest[:8]}"


def versions(folder: Path) -> list[Manifest]:
    """Return the whole versions on disk, newest first."""
    paths = sorted(folder.iterdir() if folder.is_dir() else (), reverse=True)
    named = (path for path in paths if VERSION.fullmatch(path.name) and path.is_dir())
    # others are of another schema, or without what makes them whole
    return [manifest for path in named if (manifest := readable_manifest(path))]


def collections_beside(folder: Path) -> list[Path]:
    """Return the folders of other collections in the same place, in order."""
    try:
        others = sorted(path for path in folder.parent.iterdir() if path.name != folder.name)
        return [path for path in others if (path / FILE_NAME).is_file()]
    except OSError:  # the place is made with the first collection
        return []


def go_live(folder: Path, manifest: Manifest) -> None:
    """Make a version that is written completely the live one, in one atomic step."""
    manifest.write(folder)


@contextmanager
def remove_unless_live(folder: Path, version: str) -> Iterator[None]:
    """Remove a version that is written whole if the block fails before it is live.

    Nobody may go back to it: it may hold what was cancelled.
    """
    try:
        yield
    except BaseException:  # Ctrl-C too
        live = readable_manifest(folder)
        if live is None or live.version != version:
            with suppress(OSError):  # what went wrong first is told
                _take_out(folder / version)
                _remove_partial(folder)
        raise


def rollback(folder: Path, version: str = "") -> Manifest:
    """Make `version` live, or the newest one before the live one. Raises SourceError."""
    with lock(folder):
        live = Manifest.read(folder)
        others = {m.version: m for m in versions(folder) if m.version != live.version}
        older = [name for name in others if name < live.version]
        chosen = version or next(iter(older), "")
        if chosen not in others:
            listed = ", ".join(others) or "none"
            raise SourceError(
                f"{live.collection} has no {'version ' + version if version else 'earlier version'}"
                f" to go back to. Live is {live.version}; other versions on disk: {listed}."
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
        if VERSION.fullmatch(path.name) and path.name not in kept and not _is_in_use(path):
            _take_out(path)
    _remove_partial(folder)


def _take_out(version: Path) -> None:
    """Rename it first: a kill must not leave half a version that looks like a whole one."""
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
