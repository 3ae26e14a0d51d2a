"""The jobs of a server: one at a time for each collection, kept on disk so that a restart knows.

<INGEST_ROOT>/.lock                           held by the server that takes files
<INGEST_ROOT>/<collection>/.jobs/<id>.json    a job in its last state
<INGEST_ROOT>/<collection>/.jobs/<id>/        what it brings, until it is over

Whoever may write to a folder of INGEST_ROOT can put anything there. So a job is that of the place
of its file, whatever the file says; no link is followed, and what is no job is left alone.
"""

import logging
import os
import re
import shutil
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from atlas_search.building.flow import MOST_REFUSED, build_root, stage_spans
from atlas_search.building.kept_files import JOBS
from atlas_search.core.errors import AtlasError, Cancelled, Conflict, NotFound
from atlas_search.core.files import folder_below, not_kept, open_below, writing
from atlas_search.core.ids import is_collection_name, moment
from atlas_search.core.telemetry.span import AttributeValue, Span
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.server.ingest.arrival import check_clash
from atlas_search.server.ingest.documents import OPEN, JobOut, ResultOut, StageOut, State
from atlas_search.server.ingest.work import Task, run_task
from atlas_search.stores.manifest import Manifest

log = logging.getLogger(__name__)
LARGEST = 16_000_000  # bytes of what is told: 1000 files with the longest names take 7 MB

_ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")


def new_id() -> str:
    """An id for a job; ids sort by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"


@dataclass(frozen=True)
class JobFiles:
    """The places of one job's files."""

    root: Path
    collection: str
    id: str

    @property
    def inner(self) -> Path:
        """The folder of the files that the job brings, from the root."""
        return Path(self.collection, JOBS, self.id)

    @property
    def folder(self) -> Path:
        return self.root / self.inner

    def keep(self, told: JobOut) -> None:
        """Write the job's record, whole or not at all. Raises OSError."""
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
        """Remove the files that the job brought, if they lie where a job's do."""
        with suppress(OSError), folder_below(self.root, self.inner.parent) as jobs:
            shutil.rmtree(self.id, ignore_errors=True, dir_fd=jobs)
        for folder in (Path(self.collection, JOBS), Path(self.collection)):
            # if it was made for this job alone
            with suppress(OSError), folder_below(self.root, folder.parent) as above:
                os.rmdir(folder.name, dir_fd=above)

    def forget(self) -> None:
        """Remove the job's record."""
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
    """Yield the jobs that are kept below `root`; an unreadable one is left alone, and logged."""
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
    """Remove what a kill left of jobs: files, and unfinished records. No job may be open."""
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
    """The names of what lies in the folder of a collection's jobs; none without a folder."""
    with suppress(OSError), folder_below(root, Path(collection, JOBS)) as jobs:
        # a descriptor to pass through is not one to list
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=jobs)
        try:
            return os.listdir(descriptor)
        finally:
            os.close(descriptor)
    return []


def _read(files: JobFiles) -> JobOut:
    """Read a job. Raises OSError, and ValueError if another belongs there."""
    if not _ID.fullmatch(files.id):
        raise ValueError("its name is not a job's")
    with open_below(files.root, files.inner.with_suffix(".json")) as file:
        text = file.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST} bytes")
    job = JobOut.model_validate_json(text)
    if (job.id, job.collection) != (files.id, files.collection):
        raise ValueError("it tells of another job")
    return job


def describe_job(root: Span, result: ResultOut, folder: Path) -> None:
    """Say of a trace what the job did for the collection in `folder`.

    Another version may have replaced that of the job by now.
    """
    if not root.recorded:
        return
    refused = [remark for remark in result.remarks if remark.refused]
    root.set(
        version=result.version,
        documents=result.documents,
        passages=result.passages,
        added=result.documents_added,
        changed=result.documents_changed,
        removed=result.documents_removed,
        passages_added=result.passages_added,
        refused=len(refused),
        unchanged=result.unchanged,
        seconds=result.seconds,
    )
    with suppress(AtlasError):  # dropped meanwhile; the job is done all the same
        root.set(embedding_model=Manifest.read(folder).embedding.name)
    for remark in refused[:MOST_REFUSED]:
        root.warn(f"{remark.source}: {'; '.join(remark.remarks)}")


def _attributes(job: JobOut) -> dict[str, AttributeValue]:
    attributes: dict[str, AttributeValue] = {
        "job": job.id,
        "collection": job.collection,
        "corpus": job.corpus,
        "files": len(job.files),
        "left_out": len(job.left_out),
    }
    if job.chunks:
        attributes |= {"chunk_size": job.chunks.size, "chunk_overlap": job.chunks.overlap}
    return attributes


KEPT = 200  # ended jobs of a collection that are remembered
CLOSING_SECONDS = 1.5  # for what goes live when the server ends; then it is ended too

Published = Callable[[str], None]
"""Called with the name of a collection that has a new version, before its job is over."""

Ended = Callable[[JobOut, float], None]
"""Called with a job that is over, and the seconds it ran."""


@dataclass
class _Job:
    """A job as it is told to readers (`told`), the number of changes to that, and its task.

    `told` is replaced and never changed, so it is handed out without a copy.
    """

    told: JobOut
    files: JobFiles
    task: Task | None = None
    revision: int = 0
    gone: threading.Event = field(default_factory=threading.Event)
    committed: bool = False
    begun: float = 0.0


class Jobs:
    """The jobs that change collections below `root`. Safe to use from several threads."""

    def __init__(
        self,
        root: Path,
        published: Published,
        ended: Ended = lambda *_: None,
        *,
        tracer: Tracer,
    ):
        self._root = root
        self._published = published
        self._ended = ended
        self._tracer = tracer
        self._jobs: dict[str, _Job] = {}
        self._lanes: dict[str, ThreadPoolExecutor] = {}
        self._changed = threading.Condition()
        self._opening = threading.Lock()
        self._lock = FileLock(root / ".lock", timeout=0, thread_local=False)
        self._closing = False
        self._given_up = threading.Event()

    def new(self, collection: str) -> JobFiles:
        """Choose a place for the files of another job. Raises Conflict."""
        self._open()
        check_place(self._root, collection)
        return JobFiles(self._root, collection, new_id())

    def submit(self, told: JobOut, task: Task) -> JobOut:
        """Let a job wait for its turn, and return it as it is now.

        Raises Conflict, and Unavailable if the disk does not take it.
        """
        job = _Job(told, JobFiles(self._root, told.collection, told.id), task)
        with self._changed:
            try:
                self._check_names(told)
                job.files.keep(told)
            except (Conflict, OSError) as error:
                job.files.forget_brought()
                if isinstance(error, Conflict):
                    raise
                raise not_kept("The job", "INGEST_ROOT", error) from error
            self._jobs[told.id] = job
            lane = self._lanes.setdefault(
                told.collection, ThreadPoolExecutor(1, thread_name_prefix="ingest")
            )
            lane.submit(self._run, job)
            return job.told

    def _check_names(self, told: JobOut) -> None:
        """Raise Conflict for a name that another request brings too, or if the server stops."""
        if self._closing:
            raise Conflict("The server is stopping. Send it again when it is back.")
        new = {file.name for file in told.files if not file.replaces}
        place = told.collection, told.corpus
        for job in self._jobs.values():
            if job.told.state not in OPEN or (job.told.collection, job.told.corpus) != place:
                continue
            coming = {file.name for file in job.told.files}
            if taken := new & coming:
                raise Conflict(f"Another request brings {min(taken)!r} too. Wait for its end.")
            check_clash([file.name for file in told.files], coming)

    def get(self, id_: str) -> JobOut:
        """Return a job as it is now. Raises NotFound."""
        return self.after(id_, -1, 0)[1]

    def all(self) -> list[JobOut]:
        """Return every job, newest first."""
        self._open()
        with self._changed:
            told = [job.told for job in self._jobs.values()]
        return sorted(told, key=lambda job: (job.created, job.id), reverse=True)

    def after(self, id_: str, revision: int, seconds: float) -> tuple[int, JobOut]:
        """Return a job and its revision once it changed since `revision`, or after `seconds`.

        Raises NotFound.
        """
        self._open()
        with self._changed:
            job = self._jobs.get(id_)
            if job is None:
                raise NotFound(f"There is no job {id_!r}, or it is no longer remembered.")
            self._changed.wait_for(lambda: job.revision > revision, seconds)
            return job.revision, job.told

    def over(self, id_: str, seconds: float) -> bool:
        """Wait for the end of a job, but not longer than `seconds`; return True if it is over."""
        with self._changed:
            job = self._jobs.get(id_)
            return job is None or self._changed.wait_for(
                lambda: job.told.state not in OPEN, seconds
            )

    def at_work(self) -> tuple[int, int]:
        """Count the jobs of this server that run, and those that wait."""
        with self._changed:
            states = Counter(job.told.state for job in self._jobs.values())
        return states["running"], states["queued"]

    def waiting_names(self, collection: str) -> set[str]:
        """The files that jobs which are not over bring to a collection."""
        return {
            f"{job.corpus}/{file.name}"
            for job in self.all()
            if job.collection == collection and job.state in OPEN
            for file in job.files
        }

    def cancel(self, id_: str) -> tuple[bool, JobOut]:
        """End a job, unless it is over or its version is about to go live; whether it will end.

        Raises NotFound.
        """
        told = self.get(id_)
        with self._changed:
            job = self._jobs[id_]
            ends = job.told.state in OPEN and not job.committed
            if ends:
                job.gone.set()
                if job.told.state == "queued":
                    self._end(job, "cancelled", "It was cancelled before it began.")
            told = job.told
        return ends, told

    def close(self) -> None:
        """End every job; one that was not over is marked as interrupted."""
        with self._changed:
            self._closing = True
            for job in self._jobs.values():
                job.gone.set()
                if job.told.state == "queued":
                    self._end(job, "interrupted", _INTERRUPTED)
        last = threading.Timer(CLOSING_SECONDS, self._given_up.set)
        last.daemon = True
        last.start()
        for lane in self._lanes.values():
            lane.shutdown(wait=True, cancel_futures=True)
        last.cancel()
        self._lock.release()

    def _run(self, job: _Job) -> None:
        state: State = "failed"
        result, problem = None, ""
        try:
            if not self._begin(job) or job.task is None:
                return
            result = self._work(job, job.task)
            self._publish(job)
            state = "done"
        except Cancelled as error:
            state = "interrupted" if self._closing else "cancelled"
            problem = _INTERRUPTED if self._closing else str(error)
        except AtlasError as error:
            problem = str(error)
        except Exception:
            log.exception("The job %s failed.", job.told.id)
            problem = "Something went wrong in the server; its log says what."
        with self._changed:
            self._end(job, state, problem, result)

    def _work(self, job: _Job, task: Task) -> ResultOut:
        """Do the task, traced by the server: the process may be killed. Raises AtlasError."""
        tracer, attributes = self._tracer, _attributes(job.told)
        with build_root(tracer, job.told.kind, attributes) as root, stage_spans(tracer) as stage:
            with self._changed:
                self._tell(job, trace_id=root.trace_id)
                self._keep(job)

            def tell(name: str, done: int, total: int) -> None:
                stage(name, done, total)
                self._progress(job, name, done, total)

            result = run_task(
                task, tell, lambda: self._commit(job), job.gone.is_set, self._given_up.is_set
            )
            describe_job(root, result, task.settings.collection_folder)
            return result

    def _publish(self, job: _Job) -> None:
        """Let the new version be served. It is live, and followed, whatever fails here."""
        try:
            self._published(job.told.collection)
        except AtlasError:
            pass  # the server says itself why it does not serve a version
        except Exception:
            log.exception("The version of the job %s is served later.", job.told.id)

    def _begin(self, job: _Job) -> bool:
        """Begin a job; return False if it ended while it waited."""
        with self._changed:
            if job.told.state != "queued":
                return False
            job.begun = time.monotonic()
            self._tell(job, state="running", started=moment("milliseconds"))
            self._keep(job)
            return True

    def _commit(self, job: _Job) -> bool:
        """Return True if a job may go live; from then on it cannot be cancelled."""
        with self._changed:
            job.committed = not job.gone.is_set()
            return job.committed

    def _progress(self, job: _Job, name: str, done: int, total: int) -> None:
        with self._changed:
            stages = [stage for stage in job.told.progress if stage.name != name]
            self._tell(job, progress=[*stages, StageOut(name=name, done=done, total=total)])

    def _end(self, job: _Job, state: State, problem: str, result: ResultOut | None = None) -> None:
        job.files.forget_brought()
        job.task = None
        self._tell(job, state=state, ended=moment("milliseconds"), problem=problem, result=result)
        self._ended(job.told, time.monotonic() - job.begun if job.begun else 0.0)
        self._keep(job)
        self._forget_old(job.told.collection)

    def _tell(self, job: _Job, **changes: object) -> None:
        job.told = job.told.model_copy(update=changes)
        job.revision += 1
        self._changed.notify_all()

    def _keep(self, job: _Job) -> None:
        """Write the job's record if the disk takes it; else a restart shows an older state."""
        try:
            job.files.keep(job.told)
        except OSError as error:
            log.warning("What is told of the job %s cannot be kept: %s.", job.told.id, error)

    def _forget_old(self, collection: str) -> None:
        ended = [
            job
            for job in self._jobs.values()
            if job.told.collection == collection and job.told.state not in OPEN
        ]
        for job in sorted(ended, key=lambda each: each.told.id)[:-KEPT]:
            job.files.forget()
            del self._jobs[job.told.id]

    def _open(self) -> None:
        """Read what earlier servers kept, once. Raises Conflict if another server is at it."""
        with self._opening:
            if self._lock.is_locked or self._closing:
                return
            try:
                with writing(self._root):
                    self._root.mkdir(parents=True, exist_ok=True)
                    self._lock.acquire()
            except Timeout:
                raise Conflict(
                    f"Another server takes files into {self._root}. Ask that one, or give this "
                    "one an INGEST_ROOT of its own."
                ) from None
            earlier = [_Job(told, files) for files, told in kept_jobs(self._root)]
            with self._changed:
                self._jobs.update((job.told.id, job) for job in earlier)
                for job in earlier:
                    if job.told.state in OPEN:
                        self._end(job, "interrupted", _INTERRUPTED)
            forget_left_over(self._root)


_INTERRUPTED = "The server stopped before it was over. Nothing is lost: send it again."
