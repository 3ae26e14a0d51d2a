"""The work of one job, in a process of its own, so that the server keeps its memory and pace."""

import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from atlas_search.atlas import Atlas
from atlas_search.building.chunking import Chunking
from atlas_search.building.flow import UNTRACED, BuildReport
from atlas_search.building.go_live import LAST_STAGE
from atlas_search.building.kept_files import INGEST, kept_sources, move_in, take_out
from atlas_search.building.maintain import remove_source
from atlas_search.core.errors import AtlasError, BuildRunning, Cancelled, MissingStore
from atlas_search.core.files import is_full
from atlas_search.core.logs import set_up_logs
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.open import EmbedderFactory
from atlas_search.readers.files import files_reader
from atlas_search.server.ingest.documents import RemarkOut, ResultOut
from atlas_search.services import check_embedder
from atlas_search.stores.manifest import Manifest, readable_manifest
from atlas_search.stores.qdrant import QdrantPlace

log = logging.getLogger(__name__)
KINDNESS = 10  # of the process: questions go before
WAIT_SECONDS = 1.0  # between two attempts while another build runs

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Task:
    """The work of a job: bring in the files in its folder `job`, or take out the source `removed`.

    If it is neither, the kept files are built.
    """

    settings: Settings
    open_embedder: EmbedderFactory
    job: Path
    chunking: Chunking | None = None
    brings: bool = False
    removed: str = ""

    @property
    def arriving(self) -> Path | None:
        """The folder of the files it brings, if it brings any."""
        return self.job if self.brings else None


@dataclass(frozen=True)
class Failure:
    """The reason why there is no result; without a message the fault is one of the program."""

    message: str


_Answer = ResultOut | Failure
MAY_GO_LIVE = "May it go live?"


def build_kept(
    kept: Path,
    folder: Path,
    embedder: Embedder,
    progress: Tell,
    *,
    arriving: Path | None = None,
    cut: Chunking | None = None,
    force: bool = False,
    **settings: Any,
) -> BuildReport:
    """Bring a collection up to date with the files that are kept of it, and those arriving.

    See `Atlas.build`.
    """
    return Atlas.build(
        kept,
        folder,
        kind=INGEST,
        locate=lambda _, reader, __: kept_sources(kept, arriving, reader.suffixes),
        reader=files_reader(),
        chunking=cut,
        force=force,
        # how many texts were embedded would tell what other collections hold
        share_vectors=False,
        arguments={"source": [str(kept)]},
        progress=progress,
        embedder=embedder,
        **settings,
    )


def work(task: Task, pipe: Connection) -> None:
    """Do the task in this process, and send the result to the other end of `pipe`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.nice(KINDNESS)
    answer: _Answer
    try:
        answer = do_task(task, pipe)
    except AtlasError as error:
        answer = Failure(str(error))
    except (BrokenPipeError, EOFError):
        return  # the server is gone
    except Exception as error:
        set_up_logs(task.settings)
        log.exception("A job failed.")
        answer = Failure(f"The build failed ({type(error).__name__}); the server's log says more.")
    pipe.send(answer)


def do_task(task: Task, pipe: Connection) -> ResultOut:
    """Do the task; the other end of `pipe` gets the progress, and says whether it may go live.

    Raises AtlasError, and then nothing has changed.
    """
    folder = task.settings.collection_folder
    embedder = task.open_embedder(task.settings)
    brings = _names(task)
    while True:
        before = _manifest(folder)
        if before:
            check_embedder(before, embedder, task.settings)
        try:
            with _settling(task, pipe) as tell:
                if task.removed:
                    started = time.monotonic()
                    manifest = remove_source(
                        folder,
                        (INGEST, task.removed),
                        embedder,
                        tell,
                        QdrantPlace.of(task.settings),
                    )
                    return _difference(before, manifest, time.monotonic() - started)
                report = build_kept(
                    task.settings.kept_folder,
                    folder,
                    embedder,
                    tell,
                    arriving=task.arriving,
                    cut=task.chunking,
                    **UNTRACED,  # the server tells of it, even if this process is killed
                )
        except BuildRunning:
            pipe.send(("Waiting for another build", 0, 1))
            time.sleep(WAIT_SECONDS)
        else:
            return _result(before, report, brings)


@contextmanager
def _settling(task: Task, pipe: Connection) -> Iterator[Tell]:
    """Yield a listener for the progress of a build, which moves the kept files as it goes live.

    If it does not go live after all, they are as before.
    """
    folder = task.settings.collection_folder
    with ExitStack() as moved:
        before = ""

        def tell(stage: str, done: int, total: int) -> None:
            nonlocal before
            if stage == LAST_STAGE and not done:
                pipe.send(MAY_GO_LIVE)
                if not pipe.recv():
                    raise Cancelled("It was cancelled.")
                before = _version(folder)
                moved.enter_context(_settle(task))
            pipe.send((stage, done, total))

        try:
            yield tell
        finally:
            if _version(folder) != before:  # it is live, whatever failed afterwards
                moved.pop_all()


def _settle(task: Task) -> ExitStack:
    """Bring the kept files to what the coming version holds; closing it takes that back."""
    kept = task.settings.kept_folder
    try:
        if task.removed:
            return take_out(kept, task.removed, task.job)
        return move_in(kept, task.job) if task.brings else ExitStack()
    except OSError as error:
        if is_full(error):
            raise  # the build says so
        raise AtlasError(
            f"A file cannot be put into or taken from {kept.name!r} in INGEST_ROOT "
            f"({error.strerror}): perhaps a link or a folder is in its place. Nothing has changed."
        ) from error


def _names(task: Task) -> set[str]:
    """The sources that the task brings; those of earlier jobs were reported by them."""
    if task.arriving is None:
        return set()
    return {p.relative_to(task.arriving).as_posix() for p in task.arriving.rglob("*")}


def _version(folder: Path) -> str:
    live = readable_manifest(folder)
    return live.version if live else ""


def _manifest(folder: Path) -> Manifest | None:
    try:
        return Manifest.read(folder)
    except MissingStore:
        return None


def _result(before: Manifest | None, report: BuildReport, names: set[str]) -> ResultOut:
    manifest = report.manifest
    return ResultOut(
        version=manifest.version,
        documents=manifest.documents,
        passages=manifest.passages,
        documents_added=report.changes.added,
        documents_changed=report.changes.changed,
        documents_removed=report.changes.removed,
        passages_added=manifest.passages - (before.passages if before else 0),
        unchanged=report.unchanged,
        seconds=report.seconds,
        remarks=[
            RemarkOut(source=file.source, refused=file.refused, remarks=list(file.remarks))
            for file in report.told
            if file.remarks and (not names or file.source in names)
        ],
    )


def _difference(
    before: Manifest | None, after: Manifest, seconds: float, remarks: Sequence[RemarkOut] = ()
) -> ResultOut:
    """Report a job by the collection before and after it, where no build reports."""
    documents = after.documents - (before.documents if before else 0)
    return ResultOut(
        version=after.version,
        documents=after.documents,
        passages=after.passages,
        documents_added=max(0, documents),
        documents_changed=0,
        documents_removed=max(0, -documents),
        passages_added=after.passages - (before.passages if before else 0),
        unchanged=False,
        seconds=round(seconds, 3),
        remarks=list(remarks),
    )


LOOK_SECONDS = 0.2
_LOST = (
    "The job ended as soon as this version was live. Its remarks are lost, and documents_added "
    "and documents_removed are what the collection grew or shrank by."
)


def run_task(
    task: Task,
    tell: Tell,
    may_go_live: Callable[[], bool],
    gone: Callable[[], bool],
    given_up: Callable[[], bool] = lambda: False,
) -> ResultOut:
    """Let a process do the task, and wait for it; `tell` hears of its progress.

    Until `may_go_live` was asked and said yes nothing changes that anybody sees; while it has not,
    the process is ended as soon as `gone`, and whatever it does as soon as it is `given_up`.
    Raises Cancelled then, and AtlasError if it fails; not if its version is live all the same.
    """
    folder = task.settings.collection_folder
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(task, theirs), name="atlas-ingest", daemon=True)
    _start(process)
    theirs.close()
    started, committed = time.monotonic(), False
    before: Manifest | None = None
    try:
        while True:
            if given_up() or (not committed and gone()):
                raise Cancelled("It was cancelled.")
            if not ours.poll(LOOK_SECONDS):
                continue
            message = ours.recv()
            if message == MAY_GO_LIVE:
                before, committed = readable_manifest(folder), may_go_live()
                ours.send(committed)
            elif isinstance(message, ResultOut):
                return message
            elif isinstance(message, Failure):
                raise AtlasError(message.message)
            else:
                tell(*message)
    except (EOFError, ConnectionError, AtlasError) as error:
        if given_up() or not committed:
            process.terminate()
        process.join()
        own = isinstance(error, AtlasError)
        reason = str(error) if own else f"The process that built it ended with {process.exitcode}"
        after = readable_manifest(folder)
        if committed and after and after.version != (before.version if before else ""):
            log.warning("%s is live, though its job failed: %s", after.version, reason)
            lost = RemarkOut(source="", refused=False, remarks=[_LOST])
            return _difference(before, after, time.monotonic() - started, [lost])
        if own:
            raise
        raise AtlasError(
            f"{reason}, perhaps for want of memory. Nothing of it is live. Send it again, or in "
            "smaller parts."
        ) from None
    finally:
        if given_up() or not committed:
            process.terminate()
        process.join()
        ours.close()


def _start(process: SpawnProcess) -> None:
    """Start it deaf to Ctrl-C, which is for the server: it would say so while it still imports."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
