"""Every source type by the name of its command: options, reader, and where its files are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from atlas_search.building.sources import (
    LEADS_OUT,
    Rule,
    SourceFile,
    Sources,
    leads_out,
    real_paths,
)
from atlas_search.cli.build_report import progress_bars
from atlas_search.cli.create import Locate, locate_files, store_command
from atlas_search.core.errors import ConfigurationError, SourceError
from atlas_search.core.ids import check_id
from atlas_search.readers import Reader
from atlas_search.readers.fetch import LIST_SUFFIXES, FetchOptions
from atlas_search.readers.files import READERS
from atlas_search.stores.versions import lock

PAGES = "pages"
"""The folder inside that of the collection to which pages are fetched."""

CORPUS_FIELD = "corpus"


def locate_pages(
    source: Sequence[Path], reader: Reader, given: Mapping[str, Any], folder: Path
) -> Sources:
    """The pages of a list after fetching them, or files as for any other type.

    Addresses that cannot be fetched are left out. Raises SourceError.
    """
    if not any(path.is_file() and path.suffix.lower() in LIST_SUFFIXES for path in source):
        return locate_files(source, reader, given, folder)
    if len(source) > 1:
        raise SourceError("Give a list of addresses alone, without other sources.")
    left_out = _fetch(source[0], given, folder)
    sources = locate_files([folder / PAGES], reader, given, folder)
    return replace(sources, left_out=tuple(sorted((*sources.left_out, *left_out))))


def _fetch(list_file: Path, given: Mapping[str, Any], folder: Path) -> list[tuple[str, str]]:
    from atlas_search.readers.fetch import fetch_urls

    options = FetchOptions(
        given["contact"],
        given["delay"],
        given["refresh"],
        allow_private=given["allow_private"],
    )
    with lock(folder), progress_bars(Console(stderr=True)) as tell:
        report = fetch_urls(
            list_file, folder / PAGES, options, lambda *done: tell("Fetching pages", *done)
        )
    failures = [(failure.url, failure.reason) for failure in report.failures]
    if not report.pages:
        raise SourceError(f"No address of {list_file} gave a page; {': '.join(failures[0])}.")
    return failures


def locate_chroma(
    source: Sequence[Path], reader: Reader, given: Mapping[str, Any], folder: Path
) -> Sources:
    """The folder as one source. Raises SourceError for what is not a Chroma folder."""
    if given.get("corpora"):
        raise SourceError("--corpora is for files; records have --corpus-field or --corpus.")
    if len(source) > 1:
        raise SourceError("Give one Chroma folder; ids of two could be the same.")
    (path,) = source
    if not (path / "chroma.sqlite3").is_file():
        raise SourceError(f"{path} is not a Chroma folder: it has no chroma.sqlite3.")
    strangers = (each for each in path.rglob("*") if leads_out(each, real_paths([path])))
    if stranger := next(strangers, None):
        raise SourceError(f"{stranger} is {LEADS_OUT}. Put the file itself there.")
    rule = (
        Rule(check_id(given["corpus"], "--corpus"))
        if given["corpus"]
        else Rule(corpus_field=given["corpus_field"] or CORPUS_FIELD)
    )
    name = path.resolve().name
    return Sources((SourceFile(str(path), name, name, rule),), (), {})


LOCATE: Mapping[str, Locate] = {"html": locate_pages, "chroma": locate_chroma}
"""The source types whose files are not just those that are given."""

Command = Callable[..., None]


class _Commands(Mapping[str, Command]):
    """The command of every source type, made when it is asked for: its reader may be slow to
    import, or lack a library, and then ConfigurationError is raised."""

    def __getitem__(self, kind: str) -> Command:
        factory = READERS.load(kind, f"atlas create {kind}")
        return store_command(kind, factory, LOCATE.get(kind))

    def __iter__(self) -> Iterator[str]:
        return iter(READERS.names())

    def __len__(self) -> int:
        return len(READERS.names())


COMMANDS: Mapping[str, Command] = _Commands()


class CreateGroup(TyperGroup):
    """`atlas create`, which makes its commands when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names of the source types."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command of a source type, or one that says why there is none."""
        if cmd_name not in list(COMMANDS):
            return None
        single = typer.Typer()
        try:
            single.command(cmd_name)(COMMANDS[cmd_name])
        except ConfigurationError as error:
            anything = {"allow_extra_args": True, "ignore_unknown_options": True}
            single.command(cmd_name, context_settings=anything)(_refusal(error))
        return typer.main.get_command(single)


def _refusal(error: ConfigurationError) -> Command:
    """A command that takes any arguments and raises `error`."""

    def refuse(ctx: typer.Context) -> None:
        raise error

    refuse.__doc__ = str(error)
    return refuse


create_app = typer.Typer(
    cls=CreateGroup, help="Build a collection from a folder of sources.", no_args_is_help=True
)
