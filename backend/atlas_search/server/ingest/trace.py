"""A job as one trace, told by the server: it says what became of the process even if that dies."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from atlas_search.building.flow import MOST_REFUSED, build_root, stage_spans
from atlas_search.building.version import Progress
from atlas_search.core.errors import AtlasError
from atlas_search.core.telemetry.span import AttributeValue, Span
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.server.ingest.documents import JobOut, ResultOut
from atlas_search.server.ingest.work import Task
from atlas_search.stores.manifest import Manifest


@dataclass(frozen=True)
class JobTrace:
    """The trace of a job for the collection in `folder`: `tell` it of the progress."""

    root: Span
    tell: Progress
    folder: Path

    @property
    def id(self) -> str:
        """The trace's."""
        return self.root.trace_id

    def describe(self, result: ResultOut) -> None:
        """Say what the job did, of a version that another may have replaced by now."""
        if not self.root.recorded:
            return
        refused = [remark for remark in result.remarks if remark.refused]
        self.root.set(
            version=result.version,
            documents=result.documents,
            passages=result.passages,
            added=result.documents_added,
            changed=result.documents_changed,
            removed=result.documents_removed,
            passages_added=result.passages_added,
            refused=len(refused),
            unchanged=result.unchanged,
            seconds=result.seconds,
        )
        with suppress(AtlasError):  # dropped meanwhile; the job is done all the same
            self.root.set(embedding_model=Manifest.read(self.folder).embedding.name)
        for remark in refused[:MOST_REFUSED]:
            self.root.warn(f"{remark.source}: {'; '.join(remark.remarks)}")


@contextmanager
def job_trace(tracer: Tracer, told: JobOut, task: Task) -> Iterator[JobTrace]:
    """The trace of a job, whose root bears the job's kind."""
    with build_root(tracer, told.kind, _asked(told)) as root, stage_spans(tracer) as tell:
        yield JobTrace(root, tell, task.settings.collection_folder)


def _asked(told: JobOut) -> dict[str, AttributeValue]:
    asked: dict[str, AttributeValue] = {
        "job": told.id,
        "collection": told.collection,
        "corpus": told.corpus,
        "files": len(told.files),
        "left_out": len(told.left_out),
    }
    if told.chunks:
        asked |= {"chunk_size": told.chunks.size, "chunk_overlap": told.chunks.overlap}
    return asked
