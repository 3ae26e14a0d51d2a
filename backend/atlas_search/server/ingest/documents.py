"""Documents that the routes of ingestion send, and that keep a job on disk."""

from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator

from atlas_search.server.requests import Strict

State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
OPEN: frozenset[State] = frozenset({"queued", "running"})
"""The states of a job that has not ended."""


class IngestBody(Strict):
    """Files on the server's machine, or in Zotero there, and where their documents belong."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["path"]}, {"required": ["zotero"]}]}
    )

    path: str = Field(
        "",
        min_length=1,
        max_length=4000,
        description="A file or folder, meant from INGEST_ROOT; the folder of the collection builds "
        "again what is kept of it",
    )
    zotero: str = Field(
        "",
        pattern="^([A-Z0-9]{8}|library)$",
        description="In place of a path: the key of a collection of the Zotero that runs on the "
        "server's machine, or `library` for all of it",
    )
    collection: str = Field("", description="Name of a collection; the configured one if absent")
    corpus: str = Field(
        "documents",
        description="Id of the corpus the documents belong to; made of its label if only that is "
        "given",
    )
    label: str | None = Field(None, max_length=200, description="Name of the corpus for readers")
    date: str | None = Field(
        None, max_length=200, description="Date of its documents that state none"
    )
    description: str | None = Field(
        None, max_length=1000, description="What it holds, in a sentence or two"
    )
    chunk_size: int | None = Field(None, description="Characters of a passage, 100 to 4000")
    chunk_overlap: int | None = Field(None, description="Of them repeated, 0 to half the size")
    replace: bool = Field(False, description="Whether other files of the same names are replaced")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if bool(self.path) == bool(self.zotero):
            raise ValueError("Give either `path` or `zotero`.")
        return self


class ZoteroCollectionOut(Strict):
    """A collection of Zotero."""

    key: str
    name: str = Field(description="Its name after those it lies in: `Coast > Ports`")


class ZoteroCollectionsOut(Strict):
    """The collections of the Zotero that runs on the server's machine."""

    offered: bool = Field(description="Whether the caller is on that machine, as they must be")
    problem: str = Field("", description="Why there are none, and what to do")
    collections: list[ZoteroCollectionOut] = Field(default_factory=list)


class ClampedOut(Strict):
    """A setting that was out of bounds."""

    setting: Literal["chunk_size", "chunk_overlap"]
    asked: int
    used: int


class ChunksOut(Strict):
    """Sizes by which ingested documents are cut, in characters."""

    size: int
    overlap: int
    defaults: bool = Field(description="Whether the request asked for nothing of it")
    clamped: list[ClampedOut]
    recut: int = Field(
        description="Ingested documents that are cut anew, for all of them are cut alike"
    )


class TakenFile(Strict):
    """A file that was taken in: as it was called, and the name it is kept by below its corpus."""

    sent_as: str
    name: str
    bytes: int
    replaces: bool = Field(description="Whether it takes the place of another text of its name")


class LeftOut(Strict):
    """A file that was not taken in, and why."""

    name: str
    reason: str


class StageOut(Strict):
    """The progress of a stage of the build."""

    name: str
    done: int
    total: int


class RemarkOut(Strict):
    """A remark of the build on a file of the job; a `refused` one gave no document."""

    source: str
    refused: bool
    remarks: list[str]


class ResultOut(Strict):
    """The result of a job; `documents` and `passages` are those of the whole collection."""

    version: str
    documents: int
    passages: int
    documents_added: int
    documents_changed: int
    documents_removed: int
    passages_added: int = Field(description="More passages than before; fewer are negative")
    unchanged: bool
    seconds: float
    remarks: list[RemarkOut] = Field(default_factory=list)


class JobOut(Strict):
    """A change of a collection: waiting, being made, or over."""

    id: str
    kind: Literal["ingest", "remove"]
    collection: str
    corpus: str
    state: State = "queued"
    created: str
    started: str | None = None
    ended: str | None = None
    files: list[TakenFile] = Field(default_factory=list)
    left_out: list[LeftOut] = Field(default_factory=list)
    more_left_out: int = Field(0, description="Files that were left out beyond those")
    chunks: ChunksOut | None = None
    progress: list[StageOut] = Field(default_factory=list)
    result: ResultOut | None = None
    problem: str = Field("", description="Why it did not end well, and what to do")
    trace_id: str = Field("", description="Its trace, once it runs")


class JobsOut(Strict):
    """The jobs of all served collections, newest first."""

    jobs: list[JobOut]
