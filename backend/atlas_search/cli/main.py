"""The `atlas` command."""

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, NamedTuple, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from atlas_search.core.errors import AtlasError, ConfigurationError
from atlas_search.core.files import writing_anywhere


class CommandEntry(NamedTuple):
    """A command, or a group of commands: its place, `module:attribute` here, and its help."""

    place: str
    help: str


class LazyGroup(TyperGroup):
    """A group of `entries`, by name in the order of its help."""

    entries: ClassVar[Mapping[str, CommandEntry]]

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names, without importing anything."""
        return list(self.entries)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command itself if it is to be run, else what help says of it."""
        if cmd_name not in self.entries:
            return None
        return self.commands.get(cmd_name) or TyperCommand(
            cmd_name, help=self.entries[cmd_name].help
        )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that `args` name, imported."""
        self.load(args[0])
        return super().resolve_command(ctx, args)

    def load(self, name: str) -> Any:
        """Import the command `name`, if there is one. Returns it or None."""
        if name in self.entries and name not in self.commands:
            module, attribute = self.entries[name].place.split(":")
            command = getattr(import_module(f"atlas_search.cli.{module}"), attribute)
            self.commands[name] = _command_of(name, command, self.entries[name].help)
        return self.commands.get(name)


def _command_of(name: str, command: Any, about: str) -> Any:
    """A command to run; one that is made of a request has its help from `about`."""
    if isinstance(command, typer.Typer):
        return typer.main.get_group(command)
    single = typer.Typer()
    single.command(name, help=command.__doc__ or about)(command)
    return typer.main.get_command(single)


PRIVATE = 0o077


@contextmanager
def private_files(umask: int = PRIVATE) -> Iterator[None]:
    """Folders made in it have the mode 0700 and files 0600, or those that another `umask` leaves.

    So have those of processes it starts.
    """
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)


def files_of_settings() -> AbstractContextManager[None]:
    """New files have the modes that ATLAS_UMASK leaves, within it; bad settings are passed over.

    The command itself reports them, if it needs the settings.
    """
    from atlas_search.core.settings import load_settings  # 0.3 s, which help can do without

    umask = PRIVATE
    with suppress(ConfigurationError):
        umask = load_settings().umask
    return private_files(umask)


class Commands(LazyGroup):
    """Every command of `atlas`."""

    entries: ClassVar = {
        "demo": CommandEntry(
            "serve:demo_command",
            "Build the bundled demo collection if it is missing, and serve it.",
        ),
        "run": CommandEntry(
            "serve:run_command",
            "Serve, with Phoenix beside it unless PHOENIX=0; Ctrl-C stops both.",
        ),
        "serve": CommandEntry("serve:serve_command", "Serve the page and the API."),
        "mcp": CommandEntry(
            "serve:mcp_command",
            "Serve MCP on standard input and output to the program that starts this command.",
        ),
        "phoenix": CommandEntry("serve:phoenix_command", "Run Phoenix alone until Ctrl-C."),
        "doctor": CommandEntry(
            "doctor:doctor_command",
            "Say what is set up, what is not, and what to do; status 1 if something needed is "
            "wrong.",
        ),
        "create": CommandEntry("create:create_app", "Build a collection from a folder of sources."),
        "watch": CommandEntry(
            "watch:watch_command",
            "Build a collection from a folder, and again whenever the folder changes; Ctrl-C ends.",
        ),
        "store": CommandEntry("store:store_app", "Look after built collections."),
        "ask": CommandEntry(
            "ask:ask_command", "Ask the running server and print the answer with its sources."
        ),
        "search": CommandEntry(
            "ask:search_command",
            "Search the running server and print the passages, what speaks to the question marked.",
        ),
        "kwic": CommandEntry(
            "words:kwic_command",
            "Show every hit of some words in its context (keyword in context), and count them.",
        ),
        "trends": CommandEntry(
            "words:trends_command",
            "Count the hits of some words by year, decade, corpus or metadata field.",
        ),
        "counts": CommandEntry(
            "words:counts_command",
            "Count the documents and passages that say something, at once or by a field.",
        ),
        "collocates": CommandEntry(
            "words:collocates_command",
            "List the words that stand near some words more often than elsewhere.",
        ),
        "keywords": CommandEntry(
            "words:keywords_command",
            "List the words that set some texts apart: those of a corpus, or with `--where`.",
        ),
        "frequencies": CommandEntry(
            "words:frequencies_command",
            "List the most frequent words, all of them or those like `--pattern 'strike*'`.",
        ),
        "export": CommandEntry(
            "doctor:export_command",
            "Write answers, such as `atlas ask --json` prints, for a reader or a reference "
            "manager.",
        ),
        "replay": CommandEntry(
            "doctor:replay_command",
            "Search again as a run did, and say what changed; status 1 if anything did.",
        ),
        "keys": CommandEntry("keys:keys_app", "API keys: who may ask, and which corpora."),
        "feedback": CommandEntry("keys:feedback_app", "What readers said of answers."),
        "eval": CommandEntry("evaluate:eval_app", "How good a target is."),
        "calibrate": CommandEntry(
            "evaluate_runs:calibrate_command",
            "Choose how much evidence an answer needs, and keep it in the collection's manifest.",
        ),
        "traces": CommandEntry(
            "traces:traces_app", "What Phoenix holds of requests; at first a list."
        ),
    }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that `args` name, imported; what it writes has the modes of the settings."""
        ctx.with_resource(files_of_settings())  # until the command has ended
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Commands,
    help="Balanced, explainable research search with verified citations.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _atlas() -> None:
    """Without a callback a Typer application has no group."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; errors Atlas raises on purpose end it with their message and status 1.

    So do a full disk and a folder that cannot be written, wherever a command meets them.
    """
    try:
        with private_files(), writing_anywhere():
            app(list(arguments) if arguments is not None else None)
    except AtlasError as error:
        print(f"atlas: {error}", file=sys.stderr)
        sys.exit(1)


def create_store(script: str) -> None:
    """Run `atlas create` for the script `create/<type>/create_<type>_store.py`.

    The readable manifest is written to `output` beside the script, wherever the store lies.
    """
    folder = Path(script).resolve().parent
    main(["create", folder.name, "--output", str(folder / "output"), *sys.argv[1:]])


if __name__ == "__main__":
    main()


LAST_SECONDS = 7.0  # then whatever still holds on is left behind

_groups: set["subprocess.Popen[bytes]"] = set()
"""Processes that lead a group of their own, which would outlive this one."""


def stop_on_signal() -> None:
    """Let SIGTERM, SIGINT and SIGHUP raise KeyboardInterrupt; the second ends everything at once.

    SIGINT too: a shell starts background commands with it ignored. SIGHUP is a closed terminal,
    which shell and system may both tell: a second one means nothing.
    """
    stopping = False

    def interrupt(number: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        if stopping and number == signal.SIGHUP:
            return
        if stopping:
            _end_at_once(128 + number)
        stopping = True
        last = threading.Timer(LAST_SECONDS, _give_up)
        last.daemon = True
        last.start()
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupt)


def end_process(code: int) -> NoReturn:
    """End now that all is closed and sent.

    Taking the interpreter apart writes nothing more, and takes seconds with the libraries of a
    model on a busy machine, when no timer runs that could cut it short.
    """
    for child in multiprocessing.active_children():
        child.kill()  # the interpreter would: they are daemons
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # whoever read it may have gone
            stream.flush()
    _end_at_once(code)


def end_with_this(process: "subprocess.Popen[bytes]") -> None:
    """Make a process that leads a group end with this one, even if this one has to end at once."""
    _groups.add(process)


def signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Send a signal to a process and those it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _give_up() -> None:
    print("atlas: not everything ended in time; it is left behind.", file=sys.stderr, flush=True)
    _end_at_once(1)


def _end_at_once(code: int) -> NoReturn:
    for process in list(_groups):
        if process.poll() is None:
            signal_group(process, signal.SIGKILL)
    os._exit(code)
