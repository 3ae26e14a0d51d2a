"""The command of every source type: what all of them accept, and what they do."""

import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from rich.console import Console

from atlas_search.atlas import Atlas
from atlas_search.building.chunking import Splitter, Unit, chunking
from atlas_search.building.flow import BuildReport
from atlas_search.building.sources import FILE_NAME, Sources, find_sources, in_language
from atlas_search.cli.build_report import (
    print_refused,
    print_report,
    progress_bars,
    refused,
    write_readable,
)
from atlas_search.core.errors import AtlasError, MissingStore, SourceError
from atlas_search.core.files import checkout
from atlas_search.core.settings import load_settings
from atlas_search.language.text import ANALYSER_VERSION
from atlas_search.readers import Reader
from atlas_search.readers.files import READERS, ReaderFactory
from atlas_search.readers.tables import renames
from atlas_search.stores.manifest import Manifest

REFUSED = 3
"""The status of a command with `--strict` that built a collection without all of its sources."""

_OF_ONE_RUN = frozenset(
    {"collection", "if_missing", "force", "every_file", "strict", "report", "refresh"}
)
"""Options that a repair does not give again."""

Locate = Callable[[Sequence[Path], Reader, Mapping[str, Any], Path], Sources]
"""Finds the source files: given paths, reader, all options, the collection's folder."""


def _common(
    source: Annotated[list[Path], typer.Argument(help="Folder, or file, or several of them")],
    collection: Annotated[str, typer.Option(help="Name of the collection to build")],
    splitter: Annotated[Splitter, typer.Option(help="How documents are cut")] = "recursive",
    chunk_size: Annotated[
        int | None, typer.Option(help="Length of a passage (default: 1000; fixed: 800)")
    ] = None,
    chunk_overlap: Annotated[
        int | None,
        typer.Option(help="Length repeated from the passage before (default: 100; fixed: 120)"),
    ] = None,
    chunk_unit: Annotated[
        Unit, typer.Option(help="Lengths are in characters or in the model's tokens")
    ] = "characters",
    across_pages: Annotated[bool, typer.Option(help="Passages may run over a page's end")] = False,
    across_sections: Annotated[
        bool, typer.Option(help="Passages may run over the end of a speech or section")
    ] = False,
    corpora: Annotated[
        Path | None,
        typer.Option(help=f"Mapping of files to corpora (default: {FILE_NAME} in SOURCE)"),
    ] = None,
    corpus_field: Annotated[
        str, typer.Option(help="Metadata field that names each document's corpus")
    ] = "",
    corpus: Annotated[str, typer.Option(help="The one corpus all documents belong to")] = "",
    rename: Annotated[
        str, typer.Option(help="old=new, joined by commas: other names for metadata fields")
    ] = "",
    encoding: Annotated[str, typer.Option(help="Encoding of text files (default: UTF-8)")] = "",
    language: Annotated[
        str,
        typer.Option(help="ISO 639-1 code for corpora that do not state a language (default: en)"),
    ] = "",
    if_missing: Annotated[
        bool, typer.Option(help="Do nothing if the collection is there and can be read")
    ] = False,
    force: Annotated[bool, typer.Option(help="Read every file again, changed or not")] = False,
    every_file: Annotated[bool, typer.Option(help="List every file, not only remarks")] = False,
    strict: Annotated[
        bool,
        typer.Option(help="End with status 3 if a file or record gave no document"),
    ] = False,
    report: Annotated[
        Path | None, typer.Option(help="Write the report as JSON to this file")
    ] = None,
) -> None:
    """The options that all source types share; the docstring of a factory replaces this one."""


def store_command(
    kind: str, factory: ReaderFactory, locate: Locate | None = None
) -> Callable[..., None]:
    """The command `atlas create <kind>`: common options, and those that `factory` takes.

    The factory's docstring is the help of the command.
    """
    own = inspect.signature(factory).parameters

    def command(**given: Any) -> None:
        console = Console(stderr=True)
        try:
            require_name(given["collection"])
            if given["if_missing"] and _is_built(given["collection"]):
                return
            chosen = {name: given.pop(name) for name in own}
            # a reader that renames fields itself does so before it looks for the text
            rename = renames(given.get("rename", ""))
            report = create(
                kind, factory(**chosen), locate or locate_files, given | chosen, rename, console
            )
        except AtlasError as error:
            console.print(f"atlas: {error}", style="red", markup=False)
            sys.exit(1)
        _publish(kind, report, console, every_file=given["every_file"], path=given["report"])
        if given["strict"] and refused(report):
            sys.exit(REFUSED)

    command.__doc__ = factory.__doc__
    shared = inspect.signature(_common).parameters
    common = [parameter for name, parameter in shared.items() if name not in own]
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*_keywords(common), *_keywords(own.values())]
    )
    command.__annotations__ = _hints(_common) | _hints(factory)
    return command


def create(
    kind: str,
    reader: Reader,
    locate: Locate,
    given: Mapping[str, Any],
    rename: Mapping[str, str],
    console: Console,
) -> BuildReport:
    """Build or update a collection as the options of a command say.

    `rename` is left to the build.
    """
    _check(given)
    cut = chunking(
        given["splitter"],
        given["chunk_size"],
        given["chunk_overlap"],
        given["chunk_unit"],
        given["across_pages"],
        given["across_sections"],
    )

    def find(paths: Sequence[Path], reader: Reader, folder: Path) -> Sources:
        return in_language(locate(paths, reader, given, folder), given["language"])

    with progress_bars(console) as progress:
        return Atlas.build(
            given["source"],
            given["collection"],
            kind=kind,
            reader=reader,
            locate=find,
            chunking=cut,
            force=given["force"],
            rename=rename,
            arguments=_arguments(given),
            progress=progress,
        )


def locate_files(
    source: Sequence[Path],
    reader: Reader,
    given: Mapping[str, Any],
    folder: Path,  # noqa: ARG001
) -> Sources:
    """The files of `source`, with the corpus each belongs to. Raises SourceError."""
    names = ("corpora", "corpus_field", "corpus", "encoding")
    return find_sources(source, reader, **{name: given[name] for name in names})


def _check(given: Mapping[str, Any]) -> None:
    """Raise SourceError for options that contradict each other or cannot be followed."""
    ways = [bool(given["corpora"]), bool(given["corpus_field"]), bool(given["corpus"])]
    if sum(ways) > 1:
        raise SourceError("--corpora, --corpus-field and --corpus exclude each other. Give one.")
    if given["report"] and not given["report"].parent.is_dir():
        raise SourceError(f"--report {given['report']}: there is no such folder. Make it first.")


def require_name(collection: str) -> None:
    """Raise SourceError for an empty name, such as an unset variable of a script gives."""
    if not collection:
        raise SourceError("--collection is empty. Give the collection a name.")


def _is_built(collection: str) -> bool:
    """Whether there is a collection that this Atlas can read. Raises DamagedStore."""
    try:
        found = Manifest.read(load_settings(chroma_collection_name=collection).collection_folder)
    except MissingStore:
        return False
    return found.analyser == ANALYSER_VERSION


def _arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, so that the same command can run again from any folder."""
    plain: dict[str, Any] = {}
    for name, value in given.items():
        if name in _OF_ONE_RUN:
            continue
        if isinstance(value, list):
            plain[name] = [str(Path(item).resolve()) for item in value]
        else:
            plain[name] = str(value.resolve()) if isinstance(value, Path) else value
    return plain


def _publish(
    kind: str, report: BuildReport, console: Console, *, every_file: bool, path: Path | None
) -> None:
    readable = _readable(kind, report.manifest.collection)
    write_readable(readable, report)
    print_report(console, report, every_file=every_file)
    console.print(f"Manifest: {readable} and manifest.json in the collection's folder")
    if path:
        document = json.dumps(report.to_dict(), indent=2, ensure_ascii=False)
        path.write_text(f"{document}\n", encoding="utf-8")
    print_refused(console, report)


def _readable(kind: str, collection: str) -> Path:
    """Where the readable manifest goes: `create/<type>/output` of the checkout that the collection
    lies in, else into the collection's folder.

    A source type of another package has no folder in a checkout.
    """
    folder = load_settings(chroma_collection_name=collection).collection_folder
    root = checkout()
    if root and kind in READERS.built_in and _is_below(folder, root):
        return root / "create" / kind / "output" / f"{collection}.txt"
    return folder / f"{kind}.txt"


def _is_below(folder: Path, root: Path) -> bool:
    """Whether it is in `root` by its name, or by where a link leads."""
    return folder.is_relative_to(root) or folder.resolve().is_relative_to(root)


def _keywords(parameters: Any) -> list[inspect.Parameter]:
    return [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    hints = get_type_hints(function, include_extras=True)
    return {name: hint for name, hint in hints.items() if name != "return"}
