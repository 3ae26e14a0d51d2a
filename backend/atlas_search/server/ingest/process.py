"""The process of a job, as the server sees it: begun, heard, ended, and what became of it."""

import logging
import multiprocessing
import signal
import time
from collections.abc import Callable
from multiprocessing.context import SpawnProcess

from atlas_search.core.errors import AtlasError, Cancelled
from atlas_search.server.ingest.documents import RemarkOut, ResultOut
from atlas_search.server.ingest.work import MAY_GO_LIVE, Failure, Task, Tell, work
from atlas_search.stores.manifest import Manifest

log = logging.getLogger(__name__)
LOOK_SECONDS = 0.2


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
                before, committed = _live(task), may_go_live()
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
        said = str(error) if own else f"The process that built it ended with {process.exitcode}"
        after = _live(task)
        if committed and after and after.version != (before.version if before else ""):
            log.warning("%s is live, though its job failed: %s", after.version, said)
            return _cut_short(before, after, time.monotonic() - started)
        if own:
            raise
        raise AtlasError(
            f"{said}, perhaps for want of memory. Nothing of it is live. Send it again, or in "
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


def _live(task: Task) -> Manifest | None:
    """What is live; None if there is nothing that can be read."""
    try:
        return Manifest.read(task.settings.collection_folder)
    except AtlasError:
        return None


def _cut_short(before: Manifest | None, after: Manifest, seconds: float) -> ResultOut:
    """What is known of a job whose version went live before it could tell of it."""
    documents = after.documents - (before.documents if before else 0)
    lost = (
        "The job ended as soon as this version was live. Its remarks are lost, and documents_added "
        "and documents_removed are what the collection grew or shrank by."
    )
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
        remarks=[RemarkOut(source="", refused=False, remarks=[lost])],
    )
