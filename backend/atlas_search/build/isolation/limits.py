"""What reading one file may take, and what is said of a file that took more."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from atlas_search.build.prepare import Prepared, Remark, VectoredDocument, characters_of
from atlas_search.stores.staging import KeptDocument, StagedDocument

if TYPE_CHECKING:  # every process that reads would wait for it
    from atlas_search.core.settings import Settings

MOST_REMARKS = 10_000
"""On one file; a table without any text has millions of rows to complain of."""

_EXPANSION = 100  # characters for each byte of a file; packed books and papers come to 20


@dataclass(frozen=True)
class Limits:
    """What reading one file may take; `workers` processes read at once.

    Without `workers` files are read by the build itself, where only `characters` hold. `seconds`
    are those of computing without a new document. `memory` is in megabytes. `characters` are those
    of one document with all its passages; a file may have a hundred for each of its bytes.
    """

    workers: int = 1
    seconds: int = 300
    memory: int = 4000
    characters: int = 200_000_000

    @property
    def patience(self) -> int:
        """Seconds by the clock without a new document: a busy machine computes more slowly."""
        return 4 * self.seconds

    @property
    def too_slow(self) -> str:
        """Why a file is left out."""
        return _left_out(f"reading it took more than {self.seconds} seconds", "FILE_SECONDS")

    @property
    def too_large(self) -> str:
        """Why a file is left out."""
        size = f"{self.memory / 1000:g} GB" if self.memory >= 1000 else f"{self.memory} MB"
        return _left_out(f"reading it took more than {size} of memory", "FILE_MEMORY_MB")

    @property
    def too_long(self) -> str:
        """Why a file is left out."""
        return _left_out(f"it gives more than {self.characters:,} characters", "FILE_CHARACTERS")

    def fingerprint(self, fingerprint: bytes) -> bytes:
        """That of a file which was left out: it is read again if it changes, or a limit does."""
        said = f"{self.seconds} {self.memory} {self.characters}"
        return hashlib.sha256(fingerprint + said.encode()).digest()


def limits_from(settings: "Settings") -> Limits:
    """The limits that the settings name."""
    named = settings.read_workers
    return Limits(
        workers=_processors() if named is None else named,
        seconds=settings.file_seconds,
        memory=settings.file_memory_mb,
        characters=settings.file_characters,
    )


@dataclass(frozen=True)
class End:
    """A file has been read, or is left out for the reason `failure`.

    `again` says that it may well be read the next time.
    """

    seconds: float
    failure: str = ""
    again: bool = False


class TooLong(Exception):
    """A file gives more characters than it may."""


def measured(given: Iterator[Prepared], limits: Limits, size: int) -> Iterator[Prepared]:
    """What a file of `size` bytes gives, and no more remarks than MOST_REMARKS. Raises TooLong."""
    total = remarks = 0
    for prepared in given:
        if isinstance(prepared, Remark):
            remarks += 1
            if remarks > MOST_REMARKS:
                continue
            yield prepared
            continue
        characters = _characters(prepared)
        total += characters
        if characters > limits.characters or total > max(limits.characters, size * _EXPANSION):
            raise TooLong
        yield prepared
    if remarks > MOST_REMARKS:
        yield Remark(f"{remarks - MOST_REMARKS:,} more remarks on it are not shown")


def _characters(prepared: StagedDocument | VectoredDocument | KeptDocument) -> int:
    if isinstance(prepared, KeptDocument):
        return prepared.characters
    staged = prepared.staged if isinstance(prepared, VectoredDocument) else prepared
    return characters_of(staged.document) + sum(len(p.embedded) for p in staged.passages)


def _processors() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _left_out(reason: str, setting: str) -> str:
    return f"{reason}; it was left out. If nothing is wrong with it, raise {setting}"
