"""`atlas watch`: a collection that follows a folder, and questions that are asked again."""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from socket import gaierror
from typing import Annotated

import typer

from atlas_search.atlas import Atlas, settings_for
from atlas_search.building.flow import BuildReport
from atlas_search.cli.create import refused, require_name
from atlas_search.cli.main import stop_on_signal
from atlas_search.core.errors import AtlasError, SourceError
from atlas_search.core.files import stamp, writing_anywhere
from atlas_search.core.ids import check_id
from atlas_search.core.logs import set_up_logs
from atlas_search.core.settings import load_settings
from atlas_search.documents.references import Base
from atlas_search.integrations.standing import PAGE, Questions, ask_again, read_questions, title
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.open import open_embedder

log = logging.getLogger(__name__)

State = dict[str, tuple[int, int, int]]
"""Each file's inode, size and time of change, which can be seen without reading it."""

_AGAIN = "Check the network and the settings; the next change of the folder is built with them."

CHANGED = 3
"""Status with --once where a reply changed; 1 is that of errors."""

Say = Callable[[str], None]
Wait = Callable[[float], object]


def watch_command(
    folder: Annotated[Path, typer.Argument(help="Folder of sources", file_okay=False)],
    collection: Annotated[str, typer.Option(help="Name of the collection to keep up to date")],
    corpus: Annotated[str, typer.Option(help="The one corpus all documents belong to")] = "",
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Between two looks; what changes meanwhile is waited for")
    ] = 2.0,
    questions: Annotated[
        Path | None, typer.Option(help="Asked after each build: a question a line, or TOML")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Folder for what changed; default: `standing` of the collection"),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Build once; status 3 if a reply changed, 1 on error")
    ] = False,
) -> None:
    """Build a collection from a folder, and again whenever the folder changes; Ctrl-C ends.

    As `atlas create files FOLDER` does: only what changed is read, and a running server follows.
    """
    require_name(collection)
    settings = settings_for(collection)
    if corpus:
        check_id(corpus, "--corpus")
    target = report or settings.collection_folder / "standing"
    standing = read_questions(questions) if questions else {}
    for path in (questions, target) if questions else ():
        if path and folder.resolve() in (path.resolve(), *path.resolve().parents):
            raise SourceError(f"{path} would be a source in {folder}. Name another place.")
    set_up_logs(settings)
    stop_on_signal()
    embedder = open_embedder(settings)
    ask = partial(ask_and_say, collection, embedder, standing, target, _print)
    if not once:
        with contextlib.suppress(KeyboardInterrupt):
            watch(folder, collection, corpus, embedder, seconds, _print, ask=ask)
        return
    _print(_sentence(_build(folder, collection, corpus, embedder)))
    raise typer.Exit(ask())


def ask_and_say(
    collection: str | Path, embedder: Embedder, questions: Questions, report: Path, say: Say
) -> int:
    """Ask questions again and say what came of it; the status of a command that does so."""
    if not questions:
        return 0
    served = load_settings()
    base = Base(served.atlas_public_url.rstrip("/"), served.chroma_collection_name)
    with Atlas.open(collection, embedder=embedder) as atlas:
        replies = ask_again(atlas, questions, report, base, datetime.now(UTC))
    say(f"{replies.changed} of {len(questions)} replies changed: {report / PAGE}")
    for key, why in replies.problems.items():
        say(f"Not asked: {title(key)}: {why}")
    return 1 if replies.problems else CHANGED if replies.changed else 0


def watch(
    folder: Path,
    collection: str | Path,
    corpus: str,
    embedder: Embedder,
    seconds: float,
    say: Say,
    wait: Wait = time.sleep,
    ask: Callable[[], object] = lambda: None,
) -> None:
    """Build now and after every change, then `ask`, until the process is interrupted.

    Errors are said, and the next change is waited for.
    """
    say(f"Watching {folder}. Ctrl-C ends.")
    for _ in changes(folder, seconds, wait):
        failed = "Not built"
        try:
            with writing_anywhere():
                say(_sentence(_build(folder, collection, corpus, embedder)))
                failed = "Built, but not asked"
                ask()
        except AtlasError as error:
            say(f"{failed}: {error}")
        except Exception as error:
            say(f"{failed}: {_reason(error)}")


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
    """The stamp of each file below `folder`; files that vanish are left out."""
    state: State = {}
    for base, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(base, name)
            if present := stamp(path):
                state[str(path)] = present
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
        return f"a service that is needed did not answer in time. {_AGAIN}"
    if any(isinstance(each, ConnectionError | gaierror) for each in chain):
        return f"a service that is needed cannot be reached, or hung up. {_AGAIN}"
    log.error("A fault of the program.", exc_info=error)
    return f"a fault of the program ({type(error).__name__}); the log says more."


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that it came from."""
    while error:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _print(line: str) -> None:
    print(line, flush=True)
