"""The command of every source type: what all of them accept, and what they do."""

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table
from typer.core import TyperGroup

from atlas_search.atlas import Atlas
from atlas_search.building.chunking import Splitter, Unit, chunking
from atlas_search.building.flow import BuildReport
from atlas_search.building.go_live import Progress as Told
from atlas_search.building.source_file import CorpusRule, SourceFile
from atlas_search.building.sources import (
    FILE_NAME,
    LEADS_OUT,
    CorpusNote,
    Sources,
    corpus_id,
    find_sources,
    in_language,
    leads_out,
    real_paths,
    zotero_sources,
)
from atlas_search.cli.ask import print_whole, printable
from atlas_search.core.addresses import is_link
from atlas_search.core.errors import AtlasError, ConfigurationError, MissingStore, SourceError
from atlas_search.core.files import checkout
from atlas_search.core.ids import check_id
from atlas_search.core.settings import load_settings
from atlas_search.language.languages import LANGUAGES
from atlas_search.language.text import ANALYSER_VERSION
from atlas_search.readers import Reader
from atlas_search.readers.fetch import LIST_SUFFIXES, FetchOptions, fetch_urls
from atlas_search.readers.files import READERS, ReaderFactory, files_reader
from atlas_search.readers.tables import TextColumn as TextField
from atlas_search.readers.tables import renames
from atlas_search.readers.tesseract import Ocr
from atlas_search.stores.manifest import Engine, Manifest
from atlas_search.stores.versions import lock

TRUNCATION_WARNING = 0.05


@contextmanager
def progress_bars(console: Console) -> Iterator[Told]:
    """A bar for each stage with its rate and the time left."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        tasks: dict[str, object] = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=total)
            progress.update(tasks[stage], completed=done, total=total)  # type: ignore[arg-type]

        yield tell


def print_report(console: Console, report: BuildReport, *, every_file: bool) -> None:
    """Files with remarks (or all), one line per corpus, and what changed.

    Refused files have no line here: `print_refused` names them last.
    """
    table = Table("Source", "Documents", "Passages", "Remarks", title="Files")
    for file in report.files if every_file else report.told:
        if every_file or not file.refused:
            counts = (f"{file.documents:,}", f"{file.passages:,}")
            remarks = printable("\n".join(_few(file.remarks)))
            table.add_row(escape(printable(file.source)), *counts, escape(remarks))
    if table.row_count:
        print_whole(console, table)
    print_whole(console, _corpora(report.manifest))
    manifest = report.manifest
    if manifest.truncated_share > TRUNCATION_WARNING:
        console.print(
            f"[yellow]{manifest.truncated_share:.0%} of the passages are longer than the "
            f"{manifest.embedding.max_tokens} tokens the model reads; choose a smaller "
            "--chunk-size.[/yellow]"
        )
    for corpus, code in manifest.unnamed_languages.items():
        console.print(
            f"[yellow]{corpus} reads like another language than English: build it with --language "
            f"{code}, or name that in corpora.toml, so that search knows its words.[/yellow]"
        )
    if others := manifest.in_other_languages:
        named = ", ".join(f"{corpus.id} ({corpus.language})" for corpus in others)
        console.print(
            f"[yellow]{manifest.embedding.name} knows English alone: {named} will be found by "
            "words, hardly by meaning. Set EMBEDDING_MODEL to a multilingual model, by name or "
            "folder, such as intfloat/multilingual-e5-small.[/yellow]"
        )
    console.print(f"Documents: {report.changes}.")
    if report.unchanged:
        console.print(f"Nothing has changed; version {manifest.version} stays live.")
    else:
        console.print(
            f"Version {manifest.version} is live: {_count(report.read, 'file')} read, "
            f"{report.embedded} passages embedded, {report.seconds:.1f} s."
        )


def print_refused(console: Console, report: BuildReport) -> None:
    """In red the files and the number of records that gave no document, with the reasons."""
    for file in report.refused:
        reasons = "; ".join(_few(file.remarks, most=2))
        line = printable(f"Refused: {file.source}: {reasons}")
        console.print(line, style="red", markup=False)
    if refusals := refused(report):
        console.print(f"{refusals} The rest is built.", style="red", markup=False)


def refused(report: BuildReport) -> str:
    """Count the files and records that gave no document, in words; empty if all gave one."""
    files, records = len(report.refused), report.refused_records
    counts = [f"{_count(files, 'file')} gave no document"] * bool(files)
    counts += [f"{_count(records, 'record')} of other files gave none"] * bool(records)
    return f"Refused: {', '.join(counts)}." if counts else ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _few(remarks: tuple[str, ...], most: int = 5) -> list[str]:
    more = [f"... and {len(remarks) - most} more"] if len(remarks) > most else []
    return [*remarks[:most], *more]


def _corpora(manifest: Manifest) -> Table:
    names = ("Documents", "Passages", "Characters", "Words", "Tokens", "Bytes")
    corpus_column = Column("Corpus", overflow="fold", min_width=14)
    table = Table(corpus_column, *names, "Seconds", title=manifest.collection)
    for corpus in manifest.corpora:
        counts = (getattr(corpus, name.lower()) for name in names)
        table.add_row(corpus.id, *(f"{count:,}" for count in counts), f"{corpus.seconds:.2f}")
    return table


def write_readable(path: Path, report: BuildReport) -> None:
    """The manifest as KEY=VALUE lines, with the number of refused files and records."""
    manifest = report.manifest
    lines = [*_collection(manifest), *_origins(manifest), *_corpus_lines(manifest)]
    lines += [f"REFUSED_FILES={len(report.refused)}", f"REFUSED_RECORDS={report.refused_records}"]
    for name, field in manifest.fields.items():
        values = f"{field.values}{'+' if field.capped else ''}"
        lines.append(f"FIELD_{name}={field.type},documents:{field.documents},values:{values}")
    groups: dict[str, Mapping[str, object]] = {
        "SECONDS": manifest.durations,
        "BYTES": manifest.sizes,
        "BUILT_WITH": manifest.built_with,
    }
    for prefix, group in groups.items():
        lines += [f"{prefix}_{_key(name)}={value}" for name, value in group.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _found_by(manifest: Manifest, corpus: str) -> str:
    """Return how searches find the nearest of a corpus, unless a target says otherwise."""
    return manifest.index.algorithm if corpus in manifest.index_recalls else "exact"


def _collection(manifest: Manifest) -> list[str]:
    found_by = {_found_by(manifest, corpus.id) for corpus in manifest.corpora}
    return [
        f"COLLECTION={manifest.collection}",
        f"VERSION={manifest.version}",
        f"CREATED={manifest.created}",
        f"CONTENT_DIGEST={manifest.content_digest}",
        f"EMBEDDING_MODEL={manifest.embedding.name}",
        f"EMBEDDING_PROVIDER={manifest.embedding.provider}",
        f"EMBEDDING_DIGEST={manifest.embedding.digest}",
        f"EMBEDDING_DIMENSION={manifest.embedding.dimension}",
        f"EMBEDDING_MAX_TOKENS={manifest.embedding.max_tokens}",
        f"POOLING={manifest.embedding.pooling}",
        f"TRUNCATED_SHARE={manifest.truncated_share}",
        *(
            f"INDEX_{name.upper()}={','.join(value) if isinstance(value, tuple) else value}"
            for name, value in manifest.index
        ),
        f"INDEX_SEARCHED={'mixed' if len(found_by) > 1 else found_by.pop()}",
        f"INDEX_RECALL={min((of.recall for of in manifest.index_recalls.values()), default=1.0)}",
        f"EVIDENCE_THRESHOLD={manifest.calibration.threshold if manifest.calibration else ''}",
        f"MULTI_CORPUS_METADATA={','.join(corpus.id for corpus in manifest.corpora)}",
        f"DOCUMENTS={manifest.documents}",
        f"PASSAGES={manifest.passages}",
    ]


def _origins(manifest: Manifest) -> list[str]:
    lines = []
    for kind, origin in manifest.origins.items():
        prefix = f"SOURCE_{_key(kind)}"
        lines += [
            f"{prefix}_SPLITTER={origin.splitter}",
            f"{prefix}_CHUNK_SIZE={origin.size}",
            f"{prefix}_CHUNK_OVERLAP={origin.overlap}",
            f"{prefix}_CHUNK_UNIT={origin.unit}",
            f"{prefix}_DOCUMENTS={origin.documents}",
            f"{prefix}_PASSAGES={origin.passages}",
        ]
    return lines


def _corpus_lines(manifest: Manifest) -> list[str]:
    return [
        f"CORPUS_{corpus.id}_{name.upper()}={value}"
        for corpus in manifest.corpora
        for name, value in (
            corpus.model_dump(exclude={"id"})
            | {
                "stemmer": LANGUAGES[corpus.language] or "none",
                "index_searched": _found_by(manifest, corpus.id),
            }
        ).items()
    ]


def _key(name: str) -> str:
    return re.sub(r"\W", "_", name).upper()


REFUSED = 3
"""The status of a command with `--strict` that built a collection without all of its sources."""

_OF_ONE_RUN = frozenset(
    "collection engine engine_url every_file force if_missing output refresh report strict".split()
)
"""Options that a repair does not give again."""

Locate = Callable[[Sequence[Path], Reader, Mapping[str, Any], Path], Sources]
"""Finds the source files: given paths, reader, all options, the collection's folder."""


def _common(
    source: Annotated[list[Path], typer.Argument(help="Folder, or file, or several of them")],
    collection: Annotated[
        str | None,
        typer.Option(help="Name of the collection to build (default: CHROMA_COLLECTION_NAME)"),
    ] = None,
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
    engine: Annotated[
        Engine | None, typer.Option(help="Who finds candidates (default: SEARCH_ENGINE)")
    ] = None,
    engine_url: Annotated[
        str, typer.Option(help="Address of a Qdrant server (default: QDRANT_URL)")
    ] = "",
    if_missing: Annotated[
        bool, typer.Option(help="Do nothing if the collection is there and can be read")
    ] = False,
    force: Annotated[bool, typer.Option(help="Read every file again, changed or not")] = False,
    every_file: Annotated[bool, typer.Option(help="List every file, not only remarks")] = False,
    strict: Annotated[
        bool, typer.Option(help="End with status 3 if a file or record gave no document")
    ] = False,
    report: Annotated[
        Path | None, typer.Option(help="Write the report as JSON to this file")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder of the readable manifest, COLLECTION.txt")
    ] = None,
) -> None:
    """The options that all source types share; the docstring of a factory replaces this one."""


def store_command(kind: str) -> Callable[..., None]:
    """The command `atlas create <kind>`: common options, and those that its reader takes.

    The docstring of the reader's factory is the help of the command.
    """
    registered = READERS.load(kind, f"atlas create {kind}")
    factory, locate = _MAKERS.get(kind, registered), LOCATE.get(kind, locate_files)
    own = inspect.signature(factory).parameters

    def command(**given: Any) -> None:
        console = Console(stderr=True)
        try:
            given["collection"] = _collection_name(given["collection"])
            if given["if_missing"] and _is_built(given["collection"]):
                return
            chosen = {name: given.pop(name) for name in own}
            # a reader that renames fields itself does so before it looks for the text
            rename = renames(given.get("rename", ""))
            report = create(kind, factory(**chosen), locate, given | chosen, rename, console)
        except AtlasError as error:
            console.print(f"atlas: {error}", style="red", markup=False)
            sys.exit(1)
        _publish(kind, report, given, console)
        if given["strict"] and refused(report):
            sys.exit(REFUSED)

    command.__doc__ = registered.__doc__
    shared = inspect.signature(_common).parameters
    taken = [*(each for name, each in shared.items() if name not in own), *own.values()]
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in taken]
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
    names = "splitter chunk_size chunk_overlap chunk_unit across_pages across_sections"
    cut = chunking(*(given[name] for name in names.split()))

    def find(paths: Sequence[Path], reader: Reader, folder: Path) -> Sources:
        sources = locate(paths, reader, given, folder)
        for corpus, note in sources.notes.items():
            if corpus == corpus_id(note.label):
                console.print(f"The corpus {note.label!r} has the id {corpus}.", markup=False)
        return in_language(sources, given["language"])

    chosen = {"search_engine": given["engine"], "qdrant_url": given["engine_url"]}
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
            **{name: value for name, value in chosen.items() if value},
        )


def locate_files(
    source: Sequence[Path], reader: Reader, given: Mapping[str, Any], folder: Path
) -> Sources:
    """The files of `source`, with the corpus each belongs to. Raises SourceError."""
    names = ("corpora", "corpus_field", "corpus", "encoding")
    return find_sources(source, reader, **{name: given[name] for name in names})


def _check(given: Mapping[str, Any]) -> None:
    """Raise SourceError for options that contradict each other or cannot be followed."""
    if sum(bool(given[name]) for name in ("corpora", "corpus_field", "corpus")) > 1:
        raise SourceError("Give only one of --corpora, --corpus-field and --corpus.")
    if given["report"] and not given["report"].parent.is_dir():
        raise SourceError(f"--report {given['report']}: there is no such folder. Make it first.")


def _collection_name(given: str | None) -> str:
    """Return the name that is given, else that of the environment or `.env`.

    Raises SourceError if neither has one: the default is the bundled demo's.
    """
    if given is None:
        settings = load_settings()
        if "chroma_collection_name" not in settings.model_fields_set:
            raise SourceError(
                "The collection has no name. Give --collection, or set CHROMA_COLLECTION_NAME."
            )
        return settings.chroma_collection_name
    require_name(given)
    return given


def require_name(collection: str) -> None:
    """Raise SourceError for an empty name, such as an unset variable of a script gives."""
    if not collection:
        raise SourceError("--collection is empty. Give the collection a name.")


def _is_built(collection: str) -> bool:
    """Look for a collection that this Atlas can read. Raises DamagedStore."""
    try:
        manifest = Manifest.read(load_settings(chroma_collection_name=collection).collection_folder)
    except MissingStore:
        return False
    return manifest.analyser == ANALYSER_VERSION


def _arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options in a form with which the same command can run again from any folder."""
    plain: dict[str, Any] = {}
    for name, value in given.items():
        if name in _OF_ONE_RUN:
            continue
        if isinstance(value, list):
            plain[name] = [each if is_link(each) else str(Path(each).resolve()) for each in value]
        else:
            plain[name] = str(value.resolve()) if isinstance(value, Path) else value
    return plain


def _publish(kind: str, report: BuildReport, given: Mapping[str, Any], console: Console) -> None:
    readable = _readable(kind, report.manifest.collection, given["output"])
    write_readable(readable, report)
    print_report(console, report, every_file=given["every_file"])
    console.print(f"Manifest: {readable} and manifest.json in the collection's folder")
    if path := given["report"]:
        document = json.dumps(report.to_dict(), indent=2, ensure_ascii=False)
        path.write_text(f"{document}\n", encoding="utf-8")
    print_refused(console, report)


def _readable(kind: str, collection: str, output: Path | None) -> Path:
    """The path of the readable manifest: in `output`, else in `create/<type>/output` if the
    collection lies in a checkout, else in the collection's folder.

    A source type of another package has no folder in a checkout.
    """
    if output:
        return output / f"{collection}.txt"
    folder = load_settings(chroma_collection_name=collection).collection_folder
    root, paths = checkout(), (folder, folder.resolve())
    if root and kind in READERS.built_in and any(path.is_relative_to(root) for path in paths):
        return root / "create" / kind / "output" / f"{collection}.txt"
    return folder / f"{kind}.txt"


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    hints = get_type_hints(function, include_extras=True)
    return {name: hints[name] for name in inspect.signature(function).parameters}


PAGES = "pages"
"""The folder inside that of the collection to which pages are fetched."""


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
    with _fetching(given, folder) as (options, tell):
        report = fetch_urls(source[0], folder / PAGES, options, tell)
    if not report.pages:
        failure = ": ".join(report.failures[0])
        raise SourceError(f"No address of {source[0]} gave a page; {failure}.")
    sources = locate_files([folder / PAGES], reader, given, folder)
    return replace(sources, left_out=tuple(sorted((*sources.left_out, *report.failures))))


@contextmanager
def _fetching(
    given: Mapping[str, Any], folder: Path
) -> Iterator[tuple[FetchOptions, Callable[[int, int], None]]]:
    """The options of a fetch into the collection's folder, and its bar."""
    names = ("contact", "delay", "refresh", "allow_private")
    options = FetchOptions(**{name: given[name] for name in names})
    with lock(folder), progress_bars(Console(stderr=True)) as tell:
        yield options, lambda *done: tell("Fetching pages", *done)


def _rule(given: Mapping[str, Any], name: str) -> CorpusRule:
    """The rule for all that is fetched; its corpus is called by `name` if nobody says another."""
    if given["corpora"]:
        raise SourceError("--corpora is for files; what is fetched has --corpus-field or --corpus.")
    if given["corpus_field"]:
        return CorpusRule(corpus_field=given["corpus_field"])
    return CorpusRule(check_id(given["corpus"] or corpus_id(name), "--corpus"))


def locate_oai(
    source: Sequence[Path], reader: Reader, given: Mapping[str, Any], folder: Path
) -> Sources:
    """The records of a repository, and their files, after harvesting it. Raises SourceError."""
    if not any(map(is_link, given["source"])):
        return locate_files(source, reader, given, folder)
    if len(given["source"]) > 1:
        raise SourceError("Give one base URL: each repository has a collection of its own.")
    from atlas_search.readers.oai import LinkedFiles, fetch_files, harvest

    (url,) = given["source"]
    named = {"metadataPrefix": given["prefix"], "set": given["set"]}
    named |= {"from": given["since"], "until": given["until"]}
    records, files = folder / "oai", LinkedFiles()
    with _fetching(given, folder) as (options, tell):
        name = harvest(url, named, records, options, tell) or "oai"
        if given["files"]:
            files = fetch_files(records, folder / "oai-files", url, options, tell)
    rule = _rule(given, name)
    found = [
        SourceFile(str(path), f"oai/{path.name}", path.name, rule)
        for path in sorted(records.glob("[!.]*.xml"))
        if path not in files.replaced
    ]
    found += [
        SourceFile(str(path), f"oai-files/{path.name}", path.name, rule, metadata=metadata)
        for path, metadata in sorted(files.metadata.items())
    ]
    notes = {rule.corpus: CorpusNote(label=name)} if rule.corpus and not given["corpus"] else {}
    return Sources(tuple(found), tuple(sorted(files.failures)), notes)


def locate_iiif(
    source: Sequence[Path], reader: Reader, given: Mapping[str, Any], folder: Path
) -> Sources:
    """The manifests at some addresses, after fetching them and their texts. Raises SourceError."""
    if not any(map(is_link, given["source"])):
        return locate_files(source, reader, given, folder)
    from atlas_search.readers.iiif import fetch_manifests

    rule = _rule(given, "iiif")
    with _fetching(given, folder) as (options, tell):
        manifests, failures = fetch_manifests(
            given["source"], folder / "iiif" / "held", options, tell
        )
    if not manifests:
        raise SourceError(f"No address gave a manifest; {': '.join(failures[0])}.")
    found = (
        SourceFile(str(path), path.name, path.name, rule, parts=texts)
        for path, texts in sorted(manifests.items())
    )
    return Sources(tuple(found), tuple(sorted(failures)), {})


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
        CorpusRule(check_id(given["corpus"], "--corpus"))
        if given["corpus"]
        else CorpusRule(corpus_field=given["corpus_field"] or "corpus")
    )
    name = path.resolve().name
    return Sources((SourceFile(str(path), name, name, rule),), (), {})


def locate_zotero(
    source: Sequence[Path], reader: Reader, given: Mapping[str, Any], folder: Path
) -> Sources:
    """The files of Zotero. Raises SourceError."""
    if given["corpora"] or given["corpus_field"]:
        if not source:
            raise SourceError("--corpora and --corpus-field are for folders; give --corpus.")
        return locate_files(source, reader, given, folder)
    names = ("address", "library", "corpus")
    return zotero_sources(source, reader, folder, **{n: given[n] for n in names if given[n]})


LOCATE: Mapping[str, Locate] = {
    "html": locate_pages,
    "bib": lambda *given: replace(locate_files(*given), only_named=True),
    "zotero": locate_zotero,
    "oai": locate_oai,
    "iiif": locate_iiif,
    "chroma": locate_chroma,
}
"""The source types that find their files otherwise than by the paths given."""

Command = Callable[..., None]


def _any_files(text_column: TextField = "", ocr: Ocr = "") -> Reader:
    # not in its module: each process that reads would import the readers of tables for the option
    return files_reader(text_column, ocr)


_MAKERS: Mapping[str, ReaderFactory] = {"files": _any_files, "bib": lambda: files_reader()}
"""Factories of commands whose options are not those of the registered one."""


class _Commands(Mapping[str, Command]):
    """The command of every source type, made when it is asked for: its reader may be slow to
    import, or lack a library, and then ConfigurationError is raised."""

    def __getitem__(self, kind: str) -> Command:
        return store_command(kind)

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
