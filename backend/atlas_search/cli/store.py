"""`atlas store`: looking after built collections."""

import inspect
import json
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from atlas_search.atlas import settings_for
from atlas_search.building.backup import (
    collection_of,
    export_collection,
    export_to_chroma,
    import_collection,
)
from atlas_search.building.go_live import Indexing, weigh_terms
from atlas_search.building.maintain import NeedsSources, compact, drop, repair, write_digests
from atlas_search.building.materials import remedy
from atlas_search.building.pull import RemoteCollection, open_remote, pull
from atlas_search.building.write import write_missing
from atlas_search.cli.ask import print_whole
from atlas_search.cli.create import COMMANDS, print_refused, print_report, progress_bars
from atlas_search.core import errors
from atlas_search.core.errors import DamagedStore, MissingStore, OutdatedStore, SourceError
from atlas_search.core.settings import Settings, load_settings
from atlas_search.providers.open import open_embedder
from atlas_search.server.ingest.routes import choose_chunks, ingest_origin
from atlas_search.server.ingest.work import build_kept
from atlas_search.stores.manifest import Engine, Manifest
from atlas_search.stores.qdrant import QdrantPlace
from atlas_search.stores.verify import Finding, verify
from atlas_search.stores.versions import RECORDS, rollback, versions

store_app = typer.Typer(help="Look after built collections.", no_args_is_help=True)

Collection = Annotated[
    str, typer.Argument(help="Name of a collection (default: the configured one)")
]


@store_app.command("list")
def list_command() -> None:
    """List the collections and their versions; the live one has a star."""
    root = load_settings().chroma_persist_directory
    table = Table("Collection", "Version", "Documents", "Passages", "Model")
    for folder in sorted(p for p in root.iterdir() if p.is_dir()) if root.is_dir() else ():
        live, problem = _live_version(folder)
        if problem:
            table.add_row(folder.name, f"[red]{escape(problem)}[/red]")
        for manifest in versions(folder):
            star = "* " if manifest.version == live else "  "
            counts = (f"{manifest.documents:,}", f"{manifest.passages:,}")
            table.add_row(
                folder.name, star + manifest.version, *counts, escape(manifest.embedding.name)
            )
    print_whole(Console(), table)


@store_app.command("verify")
def verify_command(
    collection: Collection = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document")] = False,
    write: Annotated[
        bool,
        typer.Option("--write", help="Give a whole version of an earlier Atlas all its digests"),
    ] = False,
) -> None:
    """Check every part of the live version against the manifest and each other."""
    settings = _settings(collection)
    folder, place = settings.collection_folder, QdrantPlace.of(settings)
    findings = verify(folder, Manifest.read(folder), place)
    if write and not any(finding.problem for finding in findings):
        write_digests(folder)
        findings = verify(folder, Manifest.read(folder), place)
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        _print(findings)
    damaged = {finding.part for finding in findings if finding.problem}
    if RECORDS in damaged:
        raise DamagedStore(f"The documents are damaged. {_remedy(folder)}")
    if damaged:
        raise DamagedStore(f"Run `atlas store repair {folder.name}`.")


@store_app.command("repair")
def repair_command(collection: Collection = "") -> None:
    """Make damaged parts of the live version anew from those that are whole."""
    settings = _settings(collection)
    folder = settings.collection_folder
    console, place = Console(stderr=True), QdrantPlace.of(settings)
    try:
        with progress_bars(console) as progress:
            manifest, findings, embedded = repair(folder, open_embedder(settings), progress, place)
    except NeedsSources as error:
        raise SourceError(f"{error} {_remedy(folder)}") from error
    _print(findings)
    if any(finding.problem for finding in findings):
        print(f"Repaired: version {manifest.version} is live, {embedded} passages embedded.")
    else:
        print("Every part is whole.")


@store_app.command("rollback")
def rollback_command(
    collection: Collection = "",
    version: Annotated[
        str, typer.Option(help="The version (default: the one before the live one)")
    ] = "",
) -> None:
    """Make an earlier version live again."""
    manifest = rollback(_settings(collection).collection_folder, version)
    print(f"Version {manifest.version} is live: {manifest.documents} documents.")


@store_app.command("drop")
def drop_command(
    corpus: Annotated[str, typer.Argument(help="Id of the corpus")], collection: Collection = ""
) -> None:
    """Remove a corpus; the next build brings it back if its sources are still there."""
    settings = _settings(collection)
    with progress_bars(Console(stderr=True)) as progress:
        place, embedder = QdrantPlace.of(settings), open_embedder(settings)
        manifest = drop(settings.collection_folder, corpus, embedder, progress, place)
    print(f"Version {manifest.version} is live: {manifest.documents} documents.")


@store_app.command("compact")
def compact_command(collection: Collection = "") -> None:
    """Write a collection whole that shares files with its earlier version after small changes."""
    settings = _settings(collection)
    indexing = Indexing(place=QdrantPlace.of(settings))
    with progress_bars(Console(stderr=True)) as progress:
        manifest = compact(settings.collection_folder, open_embedder(settings), progress, indexing)
    if manifest is None:
        print("Nothing to do: it was written whole.")
    else:
        print(f"Version {manifest.version} is live, written whole: {manifest.passages} passages.")


@store_app.command("copy")
def copy_command(
    engine: Annotated[Engine, typer.Option(help="The engine that shall find candidates")],
    collection: Collection = "",
    engine_url: Annotated[
        str, typer.Option(help="Address of a Qdrant server (default: QDRANT_URL)")
    ] = "",
) -> None:
    """Copy a collection into another engine; it stays what it was, and embeds nothing again."""
    settings = _settings(collection)
    if engine_url:
        settings = settings_for(collection, qdrant_url=engine_url)
    indexing = Indexing(engine=engine, place=QdrantPlace.of(settings))
    with progress_bars(Console(stderr=True)) as progress:
        manifest = compact(settings.collection_folder, open_embedder(settings), progress, indexing)
    if manifest is None:
        print(f"Nothing to do: it is in {engine}.")
        return
    print(f"Version {manifest.version} is live, in {engine}: {manifest.passages} passages.")
    if engine_url:
        print(f"Set QDRANT_URL={engine_url} where it is served.")


@store_app.command("pull")
def pull_command(
    place: Annotated[
        str,
        typer.Option(
            "--from",
            help="Folder of another store, its URL (`s3://bucket/stores`), or the address of a "
            "server, with the key of an administrator in ATLAS_API_KEY",
        ),
    ],
    collection: Collection = "",
    watch: Annotated[
        float, typer.Option(min=0, help="Seconds until it is looked at again, without end; 0: once")
    ] = 0,
) -> None:
    """Bring the live version of a collection here, from another store or server."""
    settings = settings_for(collection)
    source = open_remote(place, settings.chroma_collection_name, settings.atlas_api_key)
    while True:
        try:
            _pull(settings, source, quiet=watch > 0)
        except errors.AtlasError as error:
            if not watch:
                raise
            typer.echo(error, err=True)  # the next look may go well
        if not watch:
            return
        time.sleep(watch)


def _pull(settings: Settings, source: RemoteCollection, *, quiet: bool) -> None:
    folder = settings.collection_folder

    def prepare(manifest: Manifest) -> None:
        tell = partial(progress, "Writing the engine")
        write_missing(folder, manifest, QdrantPlace.of(settings), tell)
        if settings.sparse_model:
            weigh_terms(folder, manifest, open_embedder(settings), progress)

    with progress_bars(Console(stderr=True, quiet=quiet)) as progress:
        pulled = pull(folder, source, progress, prepare)
    if pulled:
        manifest, copied = pulled
        different = len(set(manifest.files.values()))
        held = f"{_held(manifest)}; {copied} of {different} files came"
        print(f"Version {manifest.version} is live: {held}.", flush=True)
    elif not quiet:
        print("Nothing to do: the version that is live there is live here.")


@store_app.command("ingest")
def ingest_command(
    collection: Collection = "",
    force: Annotated[bool, typer.Option(help="Read every file again, changed or not")] = False,
) -> None:
    """Build again what a running server was handed, from the files it keeps in INGEST_ROOT."""
    settings = settings_for(collection)  # of one that is lost too
    folder = settings.collection_folder
    source = settings.kept_folder
    if not source.is_dir():
        raise SourceError(f"There is no {source}: nothing is kept of it. Check INGEST_ROOT.")
    cut, _ = choose_chunks(None, None, ingest_origin(settings))
    console = Console(stderr=True)
    with progress_bars(console) as progress:
        report = build_kept(source, folder, open_embedder(settings), progress, cut=cut, force=force)
    print_report(console, report, every_file=False)
    print_refused(console, report)


@store_app.command("export")
def export_command(
    collection: Annotated[str, typer.Argument(help="Name of a collection")],
    path: Annotated[Path, typer.Argument(help="A new folder, or a new file that ends in .zip")],
    form: Annotated[
        Literal["atlas", "langchain-chroma"],
        typer.Option(help="What shall read it; that of LangChain is a folder"),
    ] = "atlas",
) -> None:
    """Write a collection to a folder or .zip that later versions of Atlas can read.

    With `--form langchain-chroma` it is a folder that `Chroma` of LangChain opens.
    """
    folder = _settings(collection).collection_folder
    export = export_collection if form == "atlas" else export_to_chroma
    with progress_bars(Console(stderr=True)) as progress:
        manifest = export(folder, path, progress)
    print(f"{path} holds {_held(manifest)} of version {manifest.version}.")


@store_app.command("import")
def import_command(
    path: Annotated[Path, typer.Argument(help="What `atlas store export` wrote")],
    collection: Annotated[
        str, typer.Option(help="Name of the collection (default: as it was exported)")
    ] = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Also if there is one; it stays to go back to")
    ] = False,
) -> None:
    """Make a collection of an export, with the vectors in it if the model is the same."""
    settings = load_settings(chroma_collection_name=collection or collection_of(path))
    with progress_bars(Console(stderr=True)) as progress:
        done = import_collection(
            path,
            settings.collection_folder,
            open_embedder(settings),
            progress,
            replace=replace,
            characters=settings.file_characters,
            indexing=Indexing.of(settings),
        )
    if not done.is_same_model:
        print(
            f"The export has {f'vectors of {done.model}' if done.model else 'no vectors'}: "
            f"{done.embedded} texts were embedded with {done.manifest.embedding.name}."
        )
    print(
        f"Version {done.manifest.version} of {settings.chroma_collection_name} is live: "
        f"{_held(done.manifest)}."
    )


def _held(manifest: Manifest) -> str:
    return f"{manifest.documents} documents, {manifest.passages} passages"


def _settings(collection: str) -> Settings:
    """The settings for a collection that is there. Raises MissingStore."""
    chosen = settings_for(collection)
    if not chosen.collection_folder.is_dir():
        Manifest.read(chosen.collection_folder)  # says what is missing; locking would make a folder
    return chosen


def _print(findings: list[Finding]) -> None:
    table = Table("Part", "State", "Checked")
    for finding in findings:
        state = f"[red]damaged: {escape(finding.problem)}[/red]" if finding.problem else "whole"
        table.add_row(finding.part, state, escape(finding.checked))
    print_whole(Console(), table)


def _live_version(folder: Path) -> tuple[str, str]:
    """The name of the live version, and what is wrong with the manifest; empty where there is none.

    One damaged collection must not hide the others.
    """
    try:
        return Manifest.read(folder).version, ""
    except (OutdatedStore, DamagedStore) as error:
        return "", str(error)
    except MissingStore:
        return "", ""


def _remedy(folder: Path) -> str:
    """The command that brings damaged documents back, with all options but the defaults."""
    return remedy(folder, Manifest.read(folder), {RECORDS}, _defaults)


def _defaults(kind: str) -> dict[str, object]:
    parameters = inspect.signature(COMMANDS[kind]).parameters if kind in COMMANDS else {}
    return {name: parameter.default for name, parameter in parameters.items()}
