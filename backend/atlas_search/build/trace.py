"""A build as one trace: a root with what came of it, and a span for each stage."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any

from atlas_search.build.build import LAST_STAGE, BuildOptions, BuildReport
from atlas_search.build.kept_files import INGEST
from atlas_search.build.version import Progress
from atlas_search.core.settings import Settings

if TYPE_CHECKING:  # 0.14 s to import: only who traces pays
    from atlas_search.core.telemetry.span import AttributeValue, Span
    from atlas_search.core.telemetry.tracer import Tracer

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
"""Of the spans, by what the build calls its stages."""


def trace_build(
    settings: Settings,
    options: BuildOptions,
    progress: Progress,
    work: Callable[[Progress], BuildReport],
) -> BuildReport:
    """What `work` gives, told in a trace if the settings say where to; `progress` is told too."""
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
    """What `work` gives, and its trace."""
    name = INGEST if options.origin == INGEST else CREATE
    with build_root(tracer, name, _asked(options)) as root, stage_spans(tracer) as tell:

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
    with ExitStack() as present:
        stages = _Stages(tracer, present)
        try:
            yield stages.tell
        finally:
            stages.describe()


class _Stages:
    """The span of the `present` stage, and how far that is.

    Counts are set once: a build tells of each file.
    """

    def __init__(self, tracer: "Tracer", present: ExitStack):
        self._tracer = tracer
        self._present = present
        self._span: Span | None = None
        self._name = ""
        self._done = 0
        self._total = 0

    def tell(self, name: str, done: int, total: int) -> None:
        """See Progress."""
        if name != self._name:
            self._end()
            self._name = name
            self._span = self._present.enter_context(
                self._tracer.span(_NAMES.get(name, name.lower()), "CHAIN")
            )
        self._done, self._total = done, total
        if done >= total:
            self._end()

    def describe(self) -> None:
        """Say in the span of the present stage how far it came."""
        if self._span:
            self._span.set(done=self._done, total=self._total)

    def _end(self) -> None:
        self.describe()
        self._span = None
        self._present.close()


def _asked(options: BuildOptions) -> "dict[str, AttributeValue]":
    return {
        "collection": options.collection,
        "source_type": options.origin,
        "splitter": options.chunking.splitter,
        "chunk_size": options.chunking.size,
        "chunk_overlap": options.chunking.overlap,
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
