"""What a build tells people: progress bars, tables in the terminal, the readable manifest."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

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

from atlas_search.building.flow import BuildReport
from atlas_search.building.version import Progress as Told
from atlas_search.cli.printable import printable
from atlas_search.cli.tables import print_whole
from atlas_search.stores.manifest import Manifest

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
    if said := refused(report):
        console.print(f"{said} The rest is built.", style="red", markup=False)


def refused(report: BuildReport) -> str:
    """How many files and records gave no document; empty if all gave one."""
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
    names = ("Documents", "Passages", "Characters", "Words", "Tokens", "Bytes", "Seconds")
    corpus_column = Column("Corpus", overflow="fold", min_width=14)
    table = Table(corpus_column, *names, title=manifest.collection)
    for corpus in manifest.corpora:
        counts = (
            corpus.documents,
            corpus.passages,
            corpus.characters,
            corpus.words,
            corpus.tokens,
            corpus.bytes,
        )
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


def _collection(manifest: Manifest) -> list[str]:
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
        *(f"INDEX_{name.upper()}={_value(value)}" for name, value in manifest.index),
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
        for name, value in corpus.model_dump(exclude={"id"}).items()
    ]


def _value(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _key(name: str) -> str:
    return re.sub(r"\W", "_", name).upper()
