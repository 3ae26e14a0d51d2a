"""Whether the files of a version are as they were written: their sizes at once, their digests."""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

import xxhash

from atlas_search.core.errors import DamagedStore
from atlas_search.stores.manifest import FILE_NAME, Manifest
from atlas_search.stores.order import RECENT

CHROMA_DATABASE = "chroma/chroma.sqlite3"
"""Stores written before it had a digest were opened in place, and Chroma changed it then."""


_XXH3 = "xxh3:"


def file_digest(path: Path) -> str:
    """What `Manifest.files` says of a file: `xxh3:` and its XXH3 of 128 bits. Raises OSError.

    It is there to find damage, in every build all that is copied; whoever changes a file on purpose
    can change the manifest too. It reads 7 GB a second where SHA-256 reads 1.4.
    """
    with path.open("rb") as file:
        return _XXH3 + hashlib.file_digest(file, xxhash.xxh3_128).hexdigest()


def is_as_written(version: Path, manifest: Manifest, name: str) -> bool:
    """Whether a file of a version has the digest that the manifest gives. Raises OSError."""
    path, expected = version / name, manifest.files[name]
    if expected.startswith(_XXH3):
        return file_digest(path) == expected
    with path.open("rb") as file:  # an earlier Atlas wrote the SHA-256
        return hashlib.file_digest(file, "sha256").hexdigest() == expected


def files_of(manifest: Manifest, part: str) -> list[str]:
    """The names of a part's files that have a digest, relative to the version's folder."""
    return [name for name in manifest.files if _part_of(name) == part]


def _part_of(name: str) -> str:
    """A part that is one file has what is recent in another beside it."""
    return name.split("/")[0].removesuffix(f".{RECENT}")


def without_digest(manifest: Manifest) -> list[str]:
    """The files that a version written by an earlier Atlas has no digest of."""
    return [] if CHROMA_DATABASE in manifest.files else [CHROMA_DATABASE]


def damaged_files(
    version: Path,
    manifest: Manifest,
    names: Iterable[str],
    go_on: Callable[[], bool] = lambda: True,
) -> dict[str, str]:
    """What is wrong with each of `names`, a sentence without a stop; only those that are damaged.

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
    """Whether all files of a part are as they were written; they are read."""
    return not damaged_files(version, manifest, files_of(manifest, part))


def check_files(version: Path, manifest: Manifest, part: str) -> None:
    """Raise DamagedStore, naming them, if files of a part are not as they were written."""
    problems = damaged_files(version, manifest, files_of(manifest, part))
    if problems:
        raise DamagedStore("; ".join(problems.values()))


def touched(version: Path, names: Iterable[str]) -> list[str]:
    """Those of the files of a version that were written to later than its manifest; all of them if
    it has lost that.

    Raises DamagedStore if one is missing.
    """
    manifest = version / FILE_NAME
    try:
        written = manifest.stat().st_mtime_ns if manifest.exists() else 0
        return [name for name in names if (version / name).stat().st_mtime_ns > written]
    except OSError as error:
        raise DamagedStore(f"{error.filename} cannot be read ({error.strerror})") from error


def check_touched(version: Path, manifest: Manifest) -> None:
    """Raise DamagedStore if files of a version were written to later than its manifest, and
    are not as they were written. It reads only those."""
    _require_none(version, _touched_problem(version, manifest))


def check_sizes(version: Path, manifest: Manifest) -> None:
    """Raise DamagedStore if a part's files are missing, or shorter or longer than written.

    It reads none of them: a mapped file that was cut short would end the process.
    """
    _require_none(version, _size_problem(version, manifest))


def visible_problem(version: Path, manifest: Manifest) -> str:
    """What `check_sizes` or `check_touched` would find, without a stop; empty for nothing."""
    return _size_problem(version, manifest) or _touched_problem(version, manifest)


def _require_none(version: Path, problem: str) -> None:
    if problem:
        raise DamagedStore(
            f"{version} is damaged: {problem}. Run `atlas store repair {version.parent.name}`."
        )


def _touched_problem(version: Path, manifest: Manifest) -> str:
    names = touched(version, manifest.files)
    return "; ".join(damaged_files(version, manifest, names).values())


def _size_problem(version: Path, manifest: Manifest) -> str:
    for part, expected in manifest.sizes.items():
        names = files_of(manifest, part)
        try:
            found = sum((version / name).stat().st_size for name in names)
        except OSError as error:
            return f"{error.filename} cannot be read ({error.strerror})"
        is_complete = part != "chroma" or not without_digest(manifest)
        if is_complete and found != expected:
            return f"{part} has {found} bytes, not {expected} as it was written"
    return ""
