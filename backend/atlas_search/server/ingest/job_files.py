"""What is kept of jobs on disk, so that a restart knows of them.

<INGEST_ROOT>/<collection>/.jobs/<id>.json    a job as it was told last
<INGEST_ROOT>/<collection>/.jobs/<id>/        what it brings, until it is over

Whoever may write to a folder of INGEST_ROOT can put anything there. So a job is that of the place
of its file, whatever the file says; no link is followed, and what is no job is left alone.
"""

import logging
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from atlas_search.building.kept_files import JOBS
from atlas_search.core.errors import Conflict
from atlas_search.core.files import folder_below, open_below
from atlas_search.core.ids import is_collection_name
from atlas_search.server.ingest.documents import JobOut

log = logging.getLogger(__name__)
LARGEST = 16_000_000  # bytes of what is told: 1000 files with the longest names take 7 MB

_ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")


def new_id() -> str:
    """An id for a job; ids sort by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"


@dataclass(frozen=True)
class JobFiles:
    """Where the files of one job lie."""

    root: Path
    collection: str
    id: str

    @property
    def inner(self) -> Path:
        """The folder of what it brings, from the root."""
        return Path(self.collection, JOBS, self.id)

    @property
    def folder(self) -> Path:
        """The folder of what it brings."""
        return self.root / self.inner

    def keep(self, told: JobOut) -> None:
        """Write what is told of it, whole or not at all. Raises OSError."""
        name, partial = f"{self.id}.json", f"{self.id}.partial"
        with folder_below(self.root, self.inner.parent, make=True) as jobs:
            with suppress(FileNotFoundError):
                os.unlink(partial, dir_fd=jobs)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            descriptor = os.open(partial, flags, 0o666, dir_fd=jobs)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(told.model_dump_json(indent=1))
            os.replace(partial, name, src_dir_fd=jobs, dst_dir_fd=jobs)

    def forget_brought(self) -> None:
        """Remove what it brought, if it lies where that of a job does."""
        with suppress(OSError), folder_below(self.root, self.inner.parent) as jobs:
            shutil.rmtree(self.id, ignore_errors=True, dir_fd=jobs)
        for folder in (Path(self.collection, JOBS), Path(self.collection)):
            # if it was made for this job alone
            with suppress(OSError), folder_below(self.root, folder.parent) as above:
                os.rmdir(folder.name, dir_fd=above)

    def forget(self) -> None:
        """Remove what is told of it."""
        with suppress(OSError), folder_below(self.root, self.inner.parent) as jobs:
            os.unlink(f"{self.id}.json", dir_fd=jobs)


def check_place(root: Path, collection: str) -> None:
    """Raise Conflict if the jobs of a collection cannot lie where they should."""
    for place in (root / collection, root / collection / JOBS):
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise Conflict(
                f"The files of {collection!r} cannot be kept: in INGEST_ROOT its name is that of a "
                "file or a link. Choose another name, or move that away."
            )


def kept_jobs(root: Path) -> Iterator[tuple[JobFiles, JobOut]]:
    """The jobs that are told of below `root`; what cannot be read is left as it is, and logged."""
    for collection in _collections(root):
        for name in sorted(_names(root, collection)):
            if not name.endswith(".json"):
                continue
            files = JobFiles(root, collection, name.removesuffix(".json"))
            try:
                yield files, _read(files)
            except (OSError, ValueError) as error:
                reason = str(error).splitlines()[0]
                log.warning("%s is not read as a job: %s.", root / collection / JOBS / name, reason)


def forget_left_over(root: Path) -> None:
    """Remove what a kill left: what jobs brought, and what was being told. No job may be open."""
    for collection in _collections(root):
        for name in _names(root, collection):
            if _ID.fullmatch(name.removesuffix(".partial")):
                _remove(root, collection, name)


def _remove(root: Path, collection: str, name: str) -> None:
    with suppress(OSError), folder_below(root, Path(collection, JOBS)) as jobs:
        if name.endswith(".partial"):
            os.unlink(name, dir_fd=jobs)
        else:
            shutil.rmtree(name, ignore_errors=True, dir_fd=jobs)


def _collections(root: Path) -> list[str]:
    return [name for name in sorted(os.listdir(root)) if is_collection_name(name)]


def _names(root: Path, collection: str) -> list[str]:
    """What lies in the folder of its jobs, if it has one."""
    with suppress(OSError), folder_below(root, Path(collection, JOBS)) as jobs:
        # a descriptor to pass through is not one to list
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=jobs)
        try:
            return os.listdir(descriptor)
        finally:
            os.close(descriptor)
    return []


def _read(files: JobFiles) -> JobOut:
    """Raises OSError, and ValueError for what is not the job that belongs there."""
    if not _ID.fullmatch(files.id):
        raise ValueError("its name is not a job's")
    with open_below(files.root, files.inner.with_suffix(".json")) as file:
        text = file.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST} bytes")
    told = JobOut.model_validate_json(text)
    if (told.id, told.collection) != (files.id, files.collection):
        raise ValueError("it tells of another job")
    return told
