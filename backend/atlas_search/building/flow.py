"""The build shared by every source type: documents in, a live version out.

Read what is new, place all documents, embed what has no vector, write a version beside the live
one, make it live in one step. A build that is killed goes on where it was.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from itertools import chain, compress
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atlas_search.building.chunking import Chunking, chunking
from atlas_search.building.document_ids import Changes, KeptDocuments, changes
from atlas_search.building.go_live import (
    LAST_STAGE,
    Contents,
    Indexing,
    Progress,
    Site,
    weigh_terms,
    write_live,
)
from atlas_search.building.kept_files import INGEST
from atlas_search.building.materials import Live, open_live
from atlas_search.building.prepare import Preparation
from atlas_search.building.reading import Plan, read_sources
from atlas_search.building.sheets import with_sheets
from atlas_search.building.source_file import FileDigests
from atlas_search.building.sources import Sources, note_of, rare_collections
from atlas_search.building.workers import ReadingLimits
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import Embedder
from atlas_search.readers import Reader
from atlas_search.readers.metadata import name_of
from atlas_search.stores.manifest import CorpusStatistics, Manifest, Origin
from atlas_search.stores.record_files import remark_of
from atlas_search.stores.staging import Staging
from atlas_search.stores.versions import STAGING, lock, remove_old, versions

if TYPE_CHECKING:
    from atlas_search.core.telemetry.span import AttributeValue, Span
    from atlas_search.core.telemetry.tracer import Tracer


@dataclass(frozen=True)
class BuildOptions:
    """Options of a build.

    `arguments` are those of the command, kept for a repair; `rename` are new names of metadata
    fields by their old ones; `limits` hold for each file. `beside` are folders of other
    collections, whose vectors of equal texts are taken over. `indexing` is the engine of the coming
    version.
    """

    collection: str
    origin: str
    chunking: Chunking = field(default_factory=chunking)
    force: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)
    rename: Mapping[str, str] = field(default_factory=dict)
    limits: ReadingLimits = field(default_factory=ReadingLimits)
    beside: Sequence[Path] = ()
    indexing: Indexing = field(default_factory=lambda: Indexing("auto"))


class FileReport(NamedTuple):
    """Result of one source file, and what was left out of it or repaired.

    It is `refused` if it is of a kind that is read and gave no document; `refused_records` are
    those of its records that gave none while others did.
    """

    source: str
    documents: int
    passages: int
    remarks: tuple[str, ...] = ()
    refused: bool = False
    refused_records: int = 0


@dataclass(frozen=True)
class BuildReport:
    """Result of a build.

    `told` are the files of which there is something to tell: a remark, or that they were refused or
    left out. `all_files` gives the reports of all `sources` of this build, which may be tens of
    thousands; `read` is how many of them were read, `embedded` the texts that had no vector.
    `seconds` is the time of this run.
    """

    manifest: Manifest
    told: tuple[FileReport, ...]
    all_files: Callable[[], tuple[FileReport, ...]] = field(repr=False, compare=False)
    sources: int
    changes: Changes
    read: int
    embedded: int
    unchanged: bool
    seconds: float

    @cached_property
    def files(self) -> tuple[FileReport, ...]:
        return self.all_files()

    @property
    def refused(self) -> list[FileReport]:
        """Files that gave no document although their kind is read."""
        return [file for file in self.told if file.refused]

    @property
    def refused_records(self) -> int:
        """Number of records of the other files that gave no document."""
        return sum(file.refused_records for file in self.told)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, with every file."""
        return {
            "manifest": self.manifest.model_dump(mode="json"),
            "files": [file._asdict() for file in self.files],
            "changes": asdict(self.changes),
            "read": self.read,
            "embedded": self.embedded,
            "unchanged": self.unchanged,
            "seconds": self.seconds,
        }


@rare_collections()
def build(
    folder: Path,
    sources: Sources,
    reader: Reader,
    embedder: Embedder,
    options: BuildOptions,
    progress: Progress,
) -> BuildReport:
    """Bring the collection in `folder` up to date with `sources`.

    Documents of other origins stay. The version before stays on disk. Raises SourceError if the
    sources give no document, or if another build of the collection is running.
    """
    started = time.monotonic()
    sources = with_sheets(sources)
    with lock(folder), _open(folder, or_none=options.force) as (live, staging):
        plan = read_sources(
            sources,
            _preparation(reader, embedder, live, options),
            options.limits,
            live,
            staging,
            FileDigests(folder, options.origin, read_all=options.force),
            embedder,
            lambda done, total: progress("Reading files", done, total),
            every=options.force,
        )
        contents = _contents(sources, plan, live, options)
        given = list(_documents(plan, live, staging, options.origin))
        did = changes(live.columns if live else None, plan.documents)
        if (unchanged := _is_same(live, contents, embedder, options)) and live:
            manifest, embedded = live.manifest, 0
            weigh_terms(folder, manifest, embedder, progress)
            remove_old(folder, {manifest.version, *_to_go_back_to(folder, manifest.version)})
        else:
            site = Site(
                folder,
                live,
                staging,
                embedder,
                progress,
                fresh=options.force,
                beside=options.beside,
                indexing=options.indexing,
            )
            manifest, embedded = write_live(site, contents)
        with suppress(OSError, sqlite3.DatabaseError):  # it is live; the next build forgets this
            staging.finish(options.origin)
    report = partial(_file_reports, sources, _remarks(plan, options.origin), given)
    return BuildReport(
        manifest,
        report(told_only=True),
        report,
        len({*(file.name for file in sources.files), *sources.sheets}) + len(sources.left_out),
        did,
        plan.read,
        embedded,
        unchanged,
        round(time.monotonic() - started, 3),
    )


@contextmanager
def _open(folder: Path, *, or_none: bool) -> Iterator[tuple[Live | None, Staging]]:
    """Open the live version, if there is one, and the staging area."""
    with ExitStack() as opened:
        live = open_live(folder, or_none=or_none)
        if live:
            opened.callback(live.close)
            opened.enter_context(live.reporting_damage())
        staging = opened.enter_context(closing(Staging(folder / STAGING)))
        yield live, staging


def _preparation(
    reader: Reader, embedder: Embedder, live: Live | None, options: BuildOptions
) -> Preparation:
    return Preparation(
        options.origin,
        reader,
        options.chunking,
        embedder.token_spans,
        embedder.fingerprint,
        {corpus.id: corpus.language for corpus in _corpora_of_others(live, options)},
        {name_of(old): name_of(new) for old, new in options.rename.items()},
    )


def _to_go_back_to(folder: Path, live: str) -> list[str]:
    """Return the version to keep beside the live one, if there is another.

    A killed build may not have removed what is too old, or have left a version that was never live,
    which is newer.
    """
    others = [found.version for found in versions(folder) if found.version != live]
    return sorted(others, key=lambda version: version > live)[:1]


def _is_same(
    live: Live | None, contents: Contents, embedder: Embedder, options: BuildOptions
) -> bool:
    if live is None or options.force:
        return False
    manifest, wanted = live.manifest, options.indexing
    return (
        manifest.content_digest == contents.digest(embedder.fingerprint)
        and wanted.vector_search in (None, manifest.index.vector_search)
        and wanted.engine in (None, manifest.index.engine)
    )


def _contents(sources: Sources, plan: Plan, live: Live | None, options: BuildOptions) -> Contents:
    """Return the contents of a version; notes on corpora that another origin fills stay."""
    notes = {c.id: note_of(c) for c in _corpora_of_others(live, options)} | dict(sources.notes)
    own = Origin(
        arguments=dict(options.arguments), **asdict(options.chunking), documents=0, passages=0
    )
    origins = {**(live.manifest.origins if live else {}), options.origin: own}
    return Contents(options.collection, plan, notes, origins)


def _corpora_of_others(live: Live | None, options: BuildOptions) -> list[CorpusStatistics]:
    if live is None:
        return []
    return [
        corpus
        for corpus, own in zip(
            live.manifest.corpora, live.documents_by_corpus.values(), strict=True
        )
        if {*live.columns.origins[own.start : own.stop]} - {options.origin}
    ]


class _Documents(NamedTuple):
    """Documents of the build's origin: sources, keys, and numbers of passages."""

    sources: Sequence[str]
    keys: Sequence[str]
    passages: Sequence[int]


def _documents(
    plan: Plan, live: Live | None, staging: Staging, origin: str
) -> Iterator[_Documents]:
    counts = np.diff(live.first_rows).tolist() if live else []
    for part in plan.documents:
        if isinstance(part, KeptDocuments):
            own = slice(part.documents.start, part.documents.stop)
            columns = (part.sources, part.columns.keys[own], counts[own])
            for is_own in (is_own for of, is_own in part.of_origins() if of == origin):
                yield _Documents(*(list(compress(each, is_own)) for each in columns))
        elif part.found.provenance.origin == origin:
            found = part.found
            count = counts[found.number] if found.kept else len(staging.passages(found.number))
            yield _Documents([found.source], [found.provenance.key], [count])


def _remarks(plan: Plan, origin: str) -> dict[str, Sequence[tuple[str, str]]]:
    """Return the remarks on the sources that have some, pairs of a key and a text."""
    return {row.name: row.remarks for row in plan.sources if row.remarks and row.origin == origin}


def _file_reports(
    sources: Sources,
    remarks: Mapping[str, Sequence[tuple[str, str]]],
    given: Sequence[_Documents],
    *,
    told_only: bool = False,
) -> tuple[FileReport, ...]:
    """Report on the files, or those alone of which there is something to tell, on what is left out,
    and on tables of metadata: what is wrong in one is a record that is refused."""
    names = [file.name for file in sources.files]
    if told_only:
        gave = set(chain.from_iterable(each.sources for each in given))
        gave |= {file.name for file in sources.files if file.replaced}
        names = [n for n in names if n not in gave or n in remarks or sources.sheets.get(n)]
    passages: dict[str, list[int]] = {name: [] for name in names}
    # few files have a remark, so few keys are asked for
    keys: dict[str, set[str]] = {name: set() for name in names if name in remarks}
    for of in given if names else ():
        for source, key, count in zip(*of, strict=True):
            if source in passages:
                passages[source].append(count)
            if source in keys:
                keys[source].add(key)
    files = {file.name: file for file in sources.files if file.name in passages}
    wrong = {name: each for name, each in sources.sheets.items() if each}
    reports = [FileReport(name, 0, 0, (reason,)) for name, reason in sources.left_out]
    reports += [FileReport(n, 0, 0, w, False, len(w)) for n, w in wrong.items() if n not in files]
    for name, counts in passages.items():
        refused = not counts and not files[name].replaced
        report = FileReport(name, len(counts), sum(counts), wrong.get(name, ()), refused)
        reports.append(_with_remarks(report, remarks[name], keys[name]) if name in keys else report)
    return tuple(sorted(reports, key=attrgetter("source")))


def _with_remarks(
    report: FileReport, remarks: Sequence[tuple[str, str]], keys: set[str]
) -> FileReport:
    """Return a report with its `remarks`, pairs of a key and a text; `keys` are those of its
    documents."""
    records = {key for key, _ in remarks if key} - keys
    said = tuple(remark_of(*remark) for remark in remarks)
    return report._replace(
        remarks=(*said, *report.remarks), refused_records=len(records) if report.documents else 0
    )


CREATE = "create"
UNTRACED: dict[str, Any] = {
    "phoenix_collector_endpoint": "",
    "otel_exporter_otlp_endpoint": "",
    "otel_exporter_otlp_traces_endpoint": "",
}
"""Settings with which no trace is sent."""

INTERRUPTED = "It was interrupted."
MOST_REFUSED = 50  # files that are named; of a span's events the SDK keeps 128

_NAMES = {
    "Waiting for another build": "wait",
    "Reading files": "read",
    "Embedding passages": "embed",
    "Writing documents": "write",
    "Writing the vector index": "index",
    LAST_STAGE: "activate",
}
"""Names of spans, by the stages of a build."""


def trace_build(
    settings: Settings,
    options: BuildOptions,
    progress: Progress,
    work: Callable[[Progress], BuildReport],
) -> BuildReport:
    """Do `work`, with a trace if the settings say where to; `progress` is told too."""
    if not any(getattr(settings, name) for name in UNTRACED):
        return work(progress)
    from atlas_search.core.telemetry.tracer import open_tracer

    with closing(open_tracer(settings)) as tracer:
        return tell_build(tracer, options, progress, work)


def tell_build(
    tracer: "Tracer",
    options: BuildOptions,
    progress: Progress,
    work: Callable[[Progress], BuildReport],
) -> BuildReport:
    """Do `work` in a trace of its own."""
    name = INGEST if options.origin == INGEST else CREATE
    with build_root(tracer, name, _attributes(options)) as root, stage_spans(tracer) as tell:

        def both(stage: str, done: int, total: int) -> None:
            tell(stage, done, total)
            progress(stage, done, total)

        report = work(both)
        _describe(root, report)
        return report


@contextmanager
def build_root(
    tracer: "Tracer", name: str, attributes: "Mapping[str, AttributeValue]"
) -> "Iterator[Span]":
    """Open the root of a build, marked as cancelled if the process is interrupted meanwhile."""
    with tracer.root(name, "CHAIN") as root:
        root.set(attributes)
        try:
            yield root
        except KeyboardInterrupt:
            root.set(cancelled=True, cancelled_because=INTERRUPTED)
            raise


@contextmanager
def stage_spans(tracer: "Tracer") -> Iterator[Progress]:
    """Open a span for each stage of a build that tells its progress, in the thread of the block.

    A span ends with its stage, or when the next one begins. Counts are set once: a build tells of
    each file.
    """
    name, counts = "", {"done": 0, "total": 0}
    span: Span | None = None
    with ExitStack() as present:

        def describe() -> None:
            if span:
                span.set(**counts)

        def end() -> None:
            nonlocal span
            describe()
            span = None
            present.close()

        def tell(stage: str, done: int, total: int) -> None:
            nonlocal name, span
            if stage != name:
                end()
                name = stage
                shown = _NAMES.get(stage, stage.lower())
                span = present.enter_context(tracer.span(shown, "CHAIN"))
            counts.update(done=done, total=total)
            if done >= total:
                end()

        try:
            yield tell
        finally:
            describe()


def _attributes(options: BuildOptions) -> "dict[str, AttributeValue]":
    return {
        "collection": options.collection,
        "source_type": options.origin,
        "splitter": options.chunking.splitter,
        "chunk_size": options.chunking.size,
        "chunk_overlap": options.chunking.overlap,
    }


def _describe(root: "Span", report: BuildReport) -> None:
    """Set what a build did. Files that were refused are named where traces hold texts."""
    manifest = report.manifest
    root.set(
        version=manifest.version,
        documents=manifest.documents,
        passages=manifest.passages,
        embedding_model=manifest.embedding.name,
        pooling=manifest.embedding.pooling,
        files=report.sources,
        read=report.read,
        embedded=report.embedded,
        added=report.changes.added,
        changed=report.changes.changed,
        removed=report.changes.removed,
        refused=len(report.refused),
        refused_records=report.refused_records,
        unchanged=report.unchanged,
        seconds=report.seconds,
    )
    for file in report.refused[:MOST_REFUSED]:
        root.warn(f"{file.source}: {'; '.join(file.remarks)}")
