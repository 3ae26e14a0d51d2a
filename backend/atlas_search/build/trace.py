"""A build as one trace: a root with what came of it, and a span for each stage."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

from atlas_search.build.build import LAST_STAGE, BuildOptions, BuildReport
from atlas_search.build.kept_files import INGEST
from atlas_search.build.version import Progress
from atlas_search.core.settings import Settings

if TYPE_CHECKING:  # 0.14 s to import: only who traces pays
    from atlas_search.core.tracing.span import AttributeValue, Span
    from atlas_search.core.tracing.tracer import Tracer

CREATE = "create"
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
"""Of the spans, by what the build calls its stages."""


def trace_build(
    settings: Settings,
    options: BuildOptions,
    progress: Progress,
    work: Callable[[Progress], BuildReport],
) -> BuildReport:
    """What `work` gives, told in a trace if the settings say where to; `progress` is told too."""
    if not settings.phoenix_collector_endpoint:
        return work(progress)
    from atlas_search.core.tracing.open import open_tracer

    with closing(open_tracer(settings)) as tracer:
        return tell_build(tracer, settings, options, progress, work)


def tell_build(
    tracer: "Tracer",
    settings: Settings,
    options: BuildOptions,
    progress: Progress,
    work: Callable[[Progress], BuildReport],
) -> BuildReport:
    """What `work` gives, and its trace."""
    name = INGEST if options.origin == INGEST else CREATE
    with build_root(tracer, name, _asked(settings, options)) as root, stage_spans(tracer) as tell:

        def both(stage: str, done: int, total: int) -> None:
            tell(stage, done, total)
            progress(stage, done, total)

        report = work(both)
        _describe(root, report)
        return report


@contextmanager
def build_root(
    tracer: "Tracer", name: str, asked: "Mapping[str, AttributeValue]"
) -> "Iterator[Span]":
    """The root of a build, marked as cancelled if the process is interrupted meanwhile."""
    with tracer.root(name, "CHAIN") as root:
        root.set(**asked)
        try:
            yield root
        except KeyboardInterrupt:
            root.set(cancelled=True, cancelled_because=INTERRUPTED)
            raise


@contextmanager
def stage_spans(tracer: "Tracer") -> Iterator[Progress]:
    """To be told of a build's progress, in the thread of the block: a span for each stage.

    A span ends with its stage, or when the next one begins.
    """
    with ExitStack() as open_stage:
        present = ""
        span: Span | None = None

        def tell(stage: str, done: int, total: int) -> None:
            nonlocal present, span
            if stage != present:
                open_stage.close()
                present = stage
                name = _NAMES.get(stage, stage.lower())
                span = open_stage.enter_context(tracer.span(name, "CHAIN"))
            if span:
                span.set(done=done, total=total)
                if done >= total:
                    open_stage.close()
                    span = None

        yield tell


def _asked(settings: Settings, options: BuildOptions) -> "dict[str, AttributeValue]":
    return {
        "collection": options.collection,
        "source_type": options.origin,
        "splitter": options.chunking.splitter,
        "chunk_size": options.chunking.size,
        "chunk_overlap": options.chunking.overlap,
        "embedding_model": settings.embedding_model,
    }


def _describe(root: "Span", report: BuildReport) -> None:
    """What a build did. Files that were refused are named where traces hold texts."""
    manifest = report.manifest
    root.set(
        version=manifest.version,
        documents=manifest.documents,
        passages=manifest.passages,
        embedding_model=manifest.embedding.name,
        pooling=manifest.embedding.pooling,
        files=len(report.files),
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
