"""From what a request wants to a job: checked against the collection, its files taken in."""

from collections.abc import Sequence
from pathlib import Path

from atlas_search.building.kept_files import INGEST
from atlas_search.core.errors import Conflict, RequestError, SourceError
from atlas_search.core.ids import check_id, moment
from atlas_search.core.settings import Settings
from atlas_search.providers.open import EmbedderFactory
from atlas_search.readers.files import files_reader
from atlas_search.server.collections import Collections
from atlas_search.server.ingest.arrival import (
    MEGABYTE,
    Arrival,
    Handed,
    Limits,
    Places,
    take_in,
)
from atlas_search.server.ingest.below_root import files_below, path_below
from atlas_search.server.ingest.chunks import choose_chunks, ingest_origin
from atlas_search.server.ingest.documents import IngestBody, JobOut
from atlas_search.server.ingest.jobs import Jobs
from atlas_search.server.ingest.work import Task

LONGEST_CORPUS = 128  # characters of its id, which is a folder's name too


def order_files(
    collections: Collections,
    jobs: Jobs,
    open_embedder: EmbedderFactory,
    wish: IngestBody,
    handed: Sequence[Handed] | None,
) -> tuple[JobOut, Task]:
    """A job for files that were handed over, or that lie at `wish.path` if none were.

    Raises RequestError, Conflict and Unavailable; nothing is kept of the files then.
    """
    settings = collections.settings_of(wish.collection, new=True)
    kept = settings.ingest_root / settings.chroma_collection_name
    chunking, chunks = choose_chunks(wish.chunk_size, wish.chunk_overlap, ingest_origin(settings))
    corpus = _corpus(wish.corpus)
    files = jobs.new(settings.chroma_collection_name)
    arrival = Arrival([], [])
    if handed is None:
        found = path_below(settings.ingest_root, wish.path)
        # what is kept already is built as it is
        handed = (
            None
            if found.is_relative_to(kept.resolve())
            else files_below(settings.ingest_root, found, files_reader().suffixes)
        )
    if handed is not None:
        waiting = jobs.waiting_names(settings.chroma_collection_name)
        try:
            arrival = take_in(
                handed,
                Places(files.root, files.inner / corpus, Path(files.collection, corpus)),
                _limits(settings),
                replace=wish.replace,
                waiting={name.removeprefix(f"{corpus}/") for name in waiting},
            )
        except BaseException:
            files.forget_brought()
            raise
    told = JobOut(
        id=files.id,
        kind="ingest",
        collection=settings.chroma_collection_name,
        corpus=corpus,
        created=moment("milliseconds"),
        files=arrival.files,
        left_out=arrival.left_out,
        more_left_out=arrival.more_left_out,
        chunks=chunks,
    )
    return told, Task(
        settings, kept, open_embedder, files.folder, chunking, brings=handed is not None
    )


def order_removal(
    collections: Collections, jobs: Jobs, open_embedder: EmbedderFactory, document: str
) -> tuple[JobOut, Task]:
    """A job that removes an ingested document and its file.

    Raises NotFound, and Conflict for a document of another kind of source, or whose file gave
    others too.
    """
    services = collections().services
    settings = services.settings
    corpus, source, origin, siblings, _ = services.store.origin_of(document)
    if origin != INGEST:
        raise Conflict(
            f"{document} was not ingested but built by `atlas create {origin}`. Remove it from "
            "those sources, and build them again."
        )
    if siblings:
        raise Conflict(
            f"{source} holds {siblings} other documents. Send it again without this one, with "
            "`replace`."
        )
    files = jobs.new(settings.chroma_collection_name)
    told = JobOut(
        id=files.id,
        kind="remove",
        collection=settings.chroma_collection_name,
        corpus=corpus,
        created=moment("milliseconds"),
    )
    kept = settings.ingest_root / settings.chroma_collection_name
    return told, Task(settings, kept, open_embedder, files.folder, removed=source)


def _corpus(id_: str) -> str:
    if len(id_) > LONGEST_CORPUS:
        raise RequestError(f"A corpus id has at most {LONGEST_CORPUS} characters.")
    try:
        return check_id(id_, "corpus")
    except SourceError as error:
        raise RequestError(str(error)) from error


def _limits(settings: Settings) -> Limits:
    return Limits(
        settings.ingest_max_file_mb * MEGABYTE,
        settings.ingest_max_request_mb * MEGABYTE,
        files_reader().suffixes,
    )
