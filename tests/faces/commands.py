"""The `atlas` command: the help of all commands, and what some of them print."""

import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from unittest.mock import patch

import click
import typer

from atlas_search.atlas import Atlas
from atlas_search.cli.main import app, main
from tests.faces.answers import LIBEL
from tests.faces.exports import answer_document, bundle
from tests.faces.world import Face, World
from tests.servers import app_of, served
from tests.tiny import FARM, write_sources

WIDE = {"COLUMNS": "300", "NO_COLOR": "1", "TERM": "dumb"}
NARROW = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}

ASKING: dict[str, Sequence[str]] = {
    "ask": ("ask", LIBEL),
    "ask-declined": ("ask", "How long should I roast a whole chicken at 200C?"),
    "ask-compare": ("ask", "--compare", "How is criticism of government protected?"),
    "search": ("search", "right to a lawyer", "--where", "date=1960..1969", "--signals", "-k", "3"),
    "search-plain": ("search", "privacy", "--corpus", "legal_uk", "-k", "2"),
    "kwic": ("kwic", "sue NEAR/5 libel", "--sort", "left", "-n", "5"),
    "kwic-csv": ("kwic", "libel*", "--csv", "-n", "5"),
    "trends": ("trends", "libel*", "--by", "decade", "--corpus", "legal_uk"),
    "trends-csv": ("trends", "libel*", "--by", "decade", "--csv"),
    "counts": ("counts", "right to silence", "--by", "corpus"),
    "counts-csv": ("counts", "right to silence", "--by", "corpus", "--csv"),
    "collocates": ("collocates", "court", "--right", "3", "--left", "0", "--no-function-words"),
    "collocates-csv": ("collocates", "libel*", "--csv"),
    "keywords": ("keywords", "--corpus", "legal_uk", "--against", "legal_us"),
    "keywords-csv": ("keywords", "--corpus", "legal_uk", "--against", "legal_us", "--csv"),
    "frequencies": ("frequencies", "--pattern", "libel*"),
    "frequencies-csv": ("frequencies", "--corpus", "legal_uk", "--no-function-words", "--csv"),
    "refused": ("search", "privacy", "--corpus", "sea"),
    "store-list": ("store", "list"),
    "store-verify": ("store", "verify", "atlas_demo"),
    "no-store": ("store", "verify", "sea"),
    "no-option": ("store", "verify", "--colour", "red"),
}

_PROGRAM = re.compile(r"(Usage: |Try ')(python -m \S+|\S+)")


def faces() -> dict[str, Face]:
    asking = {f"commands/{name}.txt": _asking(typed) for name, typed in ASKING.items()}
    return {
        "help.txt": help_of_all,
        "commands/create.txt": create,
        "commands/export.txt": export,
        "commands/replay.txt": replay,
        "commands/eval.txt": evaluate,
    } | asking


def help_of_all(world: World) -> str:
    """What `--help` says of every command, those without commands of their own included."""
    with patch.dict(os.environ, WIDE):
        said = [_run([*names, "--help"]) for names in _commands()]
    lines = world.plain_text("\n\n".join(said)).split("\n")
    return "\n".join(re.sub(r"(?<=\S) {3,}", "  ", re.sub("─{2,}", "──", line)) for line in lines)


def export(world: World) -> str:
    """What is printed of an answer's document."""
    path = world.folder / "answer.json"
    given = answer_document(world, "answer")
    path.write_text(json.dumps(given), encoding="utf-8")
    return _said(world, "export", str(path), "--format", "ris")


def replay(world: World) -> str:
    """What is printed of a run that is searched again."""
    path = world.folder / "bundle.json"
    path.write_text(json.dumps(bundle(world, "answer")), encoding="utf-8")
    return _said(world, "replay", str(path))


def evaluate(world: World) -> str:
    """What is printed of a small evaluation."""
    out = world.folder / "runs"
    typed = ("eval", "--search-only", "--limit", "6", "--split", "test", "--out", str(out))
    return _said(world, *typed)


def _said(world: World, *typed: str) -> str:
    with _environment(world):
        return world.plain_text(_run(typed))


def create(world: World) -> str:
    """What a build prints, when it reads all and when nothing changed."""
    source = write_sources(world.folder / "created", {**FARM, "farm/swans.txt": ""})
    typed = ["create", "txt", str(source), "--collection", "farm"]
    stores = {"CHROMA_PERSIST_DIRECTORY": str(world.folder / "stores")}
    with patch.dict(os.environ, WIDE | stores):  # no line is cut, however long the folder's name
        text = "\n".join(_run(each) for each in (typed, typed))
    text = re.sub(r"\d\.\d\d(?=    │$)", "~.~~", world.plain_text(text), flags=re.MULTILINE)
    return re.sub(r"\d+(\.\d+)? ?s\b|\d+:\d\d:\d\d", "SECONDS", text)


def _commands() -> Iterator[list[str]]:
    """The words of each command, of groups first."""
    group = typer.main.get_command(app)
    yield []
    yield from _below(group, click.Context(group), [])


def _below(group: click.Command, context: click.Context, names: list[str]) -> Iterator[list[str]]:
    if not hasattr(group, "list_commands"):
        return
    for name in group.list_commands(context):
        with context.scope(cleanup=False):
            _, command, _ = group.resolve_command(context, [name])
        yield [*names, name]
        yield from _below(command, click.Context(command, parent=context), [*names, name])


def _asking(typed: Sequence[str]) -> Face:
    return lambda world: _said(world, *typed)


@contextmanager
def _environment(world: World) -> Iterator[None]:
    """A server that commands find, and its settings."""
    settings = world.services.settings
    own = app_of(Atlas(world.services))
    with ExitStack() as stack:
        address = stack.enter_context(served(own))
        given = {
            "CHROMA_PERSIST_DIRECTORY": str(settings.chroma_persist_directory),
            "CHROMA_COLLECTION_NAME": settings.chroma_collection_name,
            "ATLAS_PORT": address.rpartition(":")[2],
        }
        stack.enter_context(patch.dict(os.environ, NARROW | given))
        yield
    own.extensions["runs"].close()


def _run(typed: Sequence[str]) -> str:
    """What a command prints, with its errors and its status."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(list(typed))
        except SystemExit as end:
            status = int(end.code or 0)
    text = _PROGRAM.sub(r"\1atlas", f"{out.getvalue()}{err.getvalue()}")
    lines = [line.rstrip() for line in text.split("\n")]
    return "\n".join([f"$ atlas {' '.join(typed)}", *lines, f"status {status}"])
