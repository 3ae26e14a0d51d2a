"""What a build tells people: a progress bar, tables in the terminal, the readable manifest."""

import re
from collections.abc import Iterator
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
    TimeRemainingColumn,
)
from rich.table import Table

from backend.stores.manifest import Manifest
from create import build

TRUNCATION_WARNING = 0.05


@contextmanager
def progress_bar(console: Console) -> Iterator[build.Progress]:
    """A bar of embedded passages with the time left."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("Embedding passages", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def print_report(console: Console, report: build.BuildReport, *, every_file: bool) -> None:
    """The per-file report (skipped files always), then one line per corpus."""
    table = Table("Source", "Passages", "Remark", title="Files")
    for file in report.files:
        if every_file or file.reason:
            table.add_row(escape(file.source), str(file.passages), escape(file.reason))
    if table.row_count:
        console.print(table)
    manifest = report.manifest
    corpora = Table("Corpus", "Documents", "Passages", "Words", title=manifest.collection)
    for corpus in manifest.corpora:
        counts = (corpus.documents, corpus.passages, corpus.words)
        corpora.add_row(corpus.id, *(f"{count:,}" for count in counts))
    console.print(corpora)
    if manifest.truncated_share > TRUNCATION_WARNING:
        console.print(
            f"[yellow]{manifest.truncated_share:.0%} of the passages are longer than the "
            f"{manifest.embedding.max_tokens} tokens the model reads; choose a smaller "
            "--chunk-size.[/yellow]"
        )
    if report.unchanged:
        console.print("Nothing has changed; the live version stays.")
    else:
        console.print(
            f"Version {manifest.version} is live: {report.embedded} passages embedded, "
            f"{manifest.durations['total']} s."
        )


def write_readable(path: Path, manifest: Manifest) -> None:
    """The manifest as KEY=VALUE lines."""
    lines = [
        f"COLLECTION={manifest.collection}",
        f"VERSION={manifest.version}",
        f"CREATED={manifest.created}",
        f"CONTENT_DIGEST={manifest.content_digest}",
        f"EMBEDDING_MODEL={manifest.embedding.name}",
        f"EMBEDDING_DIGEST={manifest.embedding.digest}",
        f"EMBEDDING_DIMENSION={manifest.embedding.dimension}",
        f"EMBEDDING_MAX_TOKENS={manifest.embedding.max_tokens}",
        f"POOLING={manifest.embedding.pooling}",
        f"SPLITTER={manifest.chunking.splitter}",
        f"CHUNK_SIZE={manifest.chunking.size}",
        f"CHUNK_OVERLAP={manifest.chunking.overlap}",
        f"TRUNCATED_SHARE={manifest.truncated_share}",
        f"MULTI_CORPUS_METADATA={','.join(corpus.id for corpus in manifest.corpora)}",
        f"DOCUMENTS={manifest.documents}",
        f"PASSAGES={manifest.passages}",
        f"METADATA_FIELDS={','.join(manifest.fields)}",
    ]
    for corpus in manifest.corpora:
        prefix = f"CORPUS_{corpus.id}"
        lines += [
            f"{prefix}_LABEL={corpus.label}",
            f"{prefix}_DOCUMENTS={corpus.documents}",
            f"{prefix}_PASSAGES={corpus.passages}",
            f"{prefix}_CHARACTERS={corpus.characters}",
            f"{prefix}_WORDS={corpus.words}",
            f"{prefix}_SOURCE_DIGEST={corpus.source_digest}",
        ]
    for prefix, values in (
        ("SECONDS", manifest.durations),
        ("BYTES", manifest.sizes),
        ("BUILT_WITH", manifest.built_with),
    ):
        lines += [f"{prefix}_{_key(name)}={value}" for name, value in values.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _key(name: str) -> str:
    return re.sub(r"\W", "_", name).upper()
