"""Names for files that others have named."""

import re
import unicodedata
from collections.abc import Collection
from pathlib import PurePosixPath

from atlas_search.core.errors import RequestError

LONGEST = 200  # bytes of one part: file systems take 255, and a temporary name needs some
DEEPEST = 16  # folders

_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\ud800-\udfff]')


def safe_name(given: str) -> str:
    """A path below a folder for a file that is called `given`: no way out of it, nothing hidden.

    Folders stay, as a browser sends them with a folder. Raises RequestError if nothing is left.
    """
    parts = [_part(part) for part in re.split(r"[/\\]", given)]
    kept = [part for part in parts if part]
    if not kept or not _part(re.split(r"[/\\]", given)[-1]):
        raise RequestError(f"{given[:80]!r} is no name for a file.")
    if len(kept) > DEEPEST:
        raise RequestError(f"{given[:80]!r} lies in more than {DEEPEST} folders.")
    return PurePosixPath(*kept).as_posix()


def find_clash(names: Collection[str], others: Collection[str]) -> str:
    """The first of `names` that is a folder in `others`, or has a file of theirs for a folder.

    Empty if there is none.
    """
    folders = {folder for other in others for folder in _folders(other)}
    taken = set(others)
    clashing = (name for name in names if name in folders or taken & _folders(name))
    return min(clashing, default="")


def _folders(name: str) -> set[str]:
    return {parent.as_posix() for parent in PurePosixPath(name).parents}


def _part(name: str) -> str:
    """One part of a path, without the dots that hide it or lead upward."""
    plain = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", name)).strip().lstrip(".").rstrip(". ")
    stem, dot, suffix = plain.rpartition(".")
    ending = f"{dot}{suffix}" if stem and len(suffix) <= 16 else ""
    room = LONGEST - len(ending.encode())
    whole = plain.removesuffix(ending) if ending else plain
    return whole.encode()[:room].decode(errors="ignore") + ending
