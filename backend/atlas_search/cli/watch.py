"""`atlas watch`: a collection that follows a folder."""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import gaierror
from typing import Annotated

import typer

from atlas_search.atlas import Atlas, settings_for
from atlas_search.building.flow import BuildReport
from atlas_search.cli.create import refused, require_name
from atlas_search.cli.main import stop_on_signal
from atlas_search.core.errors import AtlasError
from atlas_search.core.files import writing_anywhere
from atlas_search.core.ids import check_id
from atlas_search.core.logs import set_up_logs
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.open import open_embedder

log = logging.getLogger(__name__)

State = dict[str, tuple[int, int, int]]
"""Each file's inode, size and time of change, which can be seen without reading it."""

_AGAIN = "Check the network and the settings; the next change of the folder is built with them."

Say = Callable[[str], None]
Wait = Callable[[float], object]


def watch_command(
    folder: Annotated[Path, typer.Argument(help="Folder of sources", file_okay=False)],
    collection: Annotated[str, typer.Option(help="Name of the collection to keep up to date")],
    corpus: Annotated[str, typer.Option(help="The one corpus all documents belong to")] = "",
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Between two looks; what changes meanwhile is waited for")
    ] = 2.0,
) -> None:
    """Build a collection from a folder, and again whenever the folder changes; Ctrl-C ends.

    As `atlas create files FOLDER` does: only what changed is read, and a running server follows.
    """
    require_name(collection)
    settings = settings_for(collection)
    if corpus:
        check_id(corpus, "--corpus")
    set_up_logs(settings)
    stop_on_signal()
    with contextlib.suppress(KeyboardInterrupt):
        watch(folder, collection, corpus, open_embedder(settings), seconds, _print)


def watch(
    folder: Path,
    collection: str | Path,
    corpus: str,
    embedder: Embedder,
    seconds: float,
    say: Say,
    wait: Wait = time.sleep,
) -> None:
    """Build now and after every change, until the process is interrupted.

    Errors are said, and the next change is waited for.
    """
    say(f"Watching {folder}. Ctrl-C ends.")
    for _ in changes(folder, seconds, wait):
        try:
            with writing_anywhere():
                line = _sentence(_build(folder, collection, corpus, embedder))
        except AtlasError as error:
            line = f"Not built: {error}"
        except Exception as error:
            line = f"Not built: {_reason(error)}"
        say(line)


def changes(folder: Path, seconds: float, wait: Wait) -> Iterator[None]:
    """Once at first, then whenever files came, went or changed and have been still since a look."""
    built: State | None = None
    before = state_of(folder)
    while True:
        if before != built:
            built = before
            yield
        wait(seconds)
        now = state_of(folder)
        while now != before:  # somebody is still writing
            wait(seconds)
            before, now = now, state_of(folder)


def state_of(folder: Path) -> State:
    """The inode, size and time of each file below `folder`; files that vanish are left out."""
    state: State = {}
    for base, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(base, name)
            try:
                status = path.stat()
            except OSError:
                continue
            state[str(path)] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return state


def _build(folder: Path, collection: str | Path, corpus: str, embedder: Embedder) -> BuildReport:
    return Atlas.build(
        folder,
        collection,
        corpus=corpus,
        # those of `atlas create files`, so that a repair names that command
        arguments={"source": [str(folder.resolve())], "corpus": corpus},
        embedder=embedder,
    )


def _sentence(report: BuildReport) -> str:
    at = time.strftime("%H:%M:%S")
    if report.unchanged:
        return f"{at} Nothing has changed."
    lacking = f" {refusals}" if (refusals := refused(report)) else ""
    return (
        f"{at} Version {report.manifest.version} is live in {report.seconds:.1f} s: "
        f"{report.changes}.{lacking}"
    )


def _reason(error: Exception) -> str:
    """Explain an error that is not Atlas's own: one of a library, a plug-in or the program."""
    chain = list(_causes(error))
    if any(isinstance(each, TimeoutError) for each in chain):
        return f"a service that the build needs did not answer in time. {_AGAIN}"
    if any(isinstance(each, ConnectionError | gaierror) for each in chain):
        return f"a service that the build needs cannot be reached, or hung up. {_AGAIN}"
    log.error("The build failed.", exc_info=error)
    return f"the build failed ({type(error).__name__}); the log says more."


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that it came from."""
    while error:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _print(line: str) -> None:
    print(line, flush=True)
