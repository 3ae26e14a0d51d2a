"""`/api/ingest` and `/api/jobs`: files for a collection, and the jobs that build them."""

from collections.abc import Iterator, Sequence
from functools import partial
from io import BufferedRandom, BytesIO
from operator import attrgetter
from pathlib import Path
from urllib.parse import urlsplit

from flask import Response, g, request, stream_with_context
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, ValidationError
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import parse_form_data

from atlas_search.building.chunking import Chunking, chunking
from atlas_search.building.kept_files import INGEST, describe
from atlas_search.building.sources import DATES, CorpusNote, corpus_id
from atlas_search.core.errors import Conflict, MissingStore, NotAllowed, RequestError, SourceError
from atlas_search.core.files import MEGABYTE, not_kept
from atlas_search.core.ids import check_id, moment
from atlas_search.core.settings import Settings
from atlas_search.language.dates import bounds
from atlas_search.providers.open import EmbedderFactory
from atlas_search.providers.zotero import LOCAL
from atlas_search.readers.files import files_reader
from atlas_search.readers.zotero import list_collections
from atlas_search.server.access.caller import is_beside, is_loopback
from atlas_search.server.api import FORM, JSON
from atlas_search.server.collections import ServedCollections
from atlas_search.server.events import POLL_SECONDS, Silence
from atlas_search.server.ingest.arrival import (
    MOST_FILES,
    Arrival,
    FormFiles,
    Handed,
    Places,
    UploadLimits,
    files_below,
    files_in_zotero,
    path_below,
    take_in,
)
from atlas_search.server.ingest.documents import (
    OPEN,
    ChunksOut,
    ClampedOut,
    IngestBody,
    JobOut,
    JobsOut,
    LeftOut,
    ZoteroCollectionOut,
    ZoteroCollectionsOut,
)
from atlas_search.server.ingest.jobs import Jobs
from atlas_search.server.ingest.work import Task
from atlas_search.server.limits import Gone, gone
from atlas_search.server.problems import Problem, validation_response
from atlas_search.stores.manifest import Manifest, Origin

LEAST, MOST = 100, 4000  # characters of a passage


def ingest_origin(settings: Settings) -> Origin | None:
    """The manifest's entry for ingested documents; None if there is no manifest, or no entry."""
    try:
        return Manifest.read(settings.collection_folder).origins.get(INGEST)
    except MissingStore:
        return None


def choose_chunks(
    size: int | None, overlap: int | None, before: Origin | None
) -> tuple[Chunking, ChunksOut]:
    """Choose the cut of all ingested documents of a collection, and report it.

    What is not asked for stays as it is `before`. A size is brought within LEAST and MOST, an
    overlap within 0 and half the size.
    """
    is_default = size is None and overlap is None
    if size is None and before:
        size, overlap = before.size, before.overlap if overlap is None else overlap
    clamped = []
    if size is not None and (used := min(max(size, LEAST), MOST)) != size:
        clamped.append(ClampedOut(setting="chunk_size", asked=size, used=used))
        size = used
    chosen = chunking(size=size)
    if overlap is not None:
        used = min(max(overlap, 0), chosen.size // 2)
        if used != overlap:
            clamped.append(ClampedOut(setting="chunk_overlap", asked=overlap, used=used))
        chosen = chunking(size=chosen.size, overlap=used)
    recut = before is not None and (chosen.size, chosen.overlap) != (before.size, before.overlap)
    chunks = ChunksOut(
        size=chosen.size,
        overlap=chosen.overlap,
        defaults=is_default,
        clamped=clamped,
        recut=before.documents if before and recut else 0,
    )
    return chosen, chunks


LONGEST_CORPUS = 128  # characters of its id, which is a folder's name too


def order_files(
    collections: ServedCollections,
    jobs: Jobs,
    open_embedder: EmbedderFactory,
    wish: IngestBody,
    handed: Sequence[Handed] | None,
    missing: Sequence[LeftOut] = (),
) -> tuple[JobOut, Task]:
    """A job for files that were handed over, or that lie at `wish.path` if none were; `missing`
    are those that could not be.

    Raises RequestError, Conflict and Unavailable; nothing is kept of the files then.
    """
    settings = collections.settings_of(wish.collection, new=True)
    chunking, chunks = choose_chunks(wish.chunk_size, wish.chunk_overlap, ingest_origin(settings))
    corpus = _corpus(wish)
    if wish.date and not bounds(wish.date):
        raise RequestError(f"{wish.date!r} is not a date: {DATES}.")
    files = jobs.new(settings.chroma_collection_name)
    arrival = Arrival([], [])
    if handed is None:
        handed = _files_at(wish.path, settings)
    if handed is not None:
        waiting = jobs.waiting_names(settings.chroma_collection_name)
        try:
            arrival = take_in(
                handed,
                Places(files.root, files.inner / corpus, Path(files.collection, corpus)),
                _limits(settings),
                replace=wish.replace,
                waiting={name.removeprefix(f"{corpus}/") for name in waiting},
                missing=missing,
            )
        except BaseException:
            files.forget_brought()
            raise
    if said := wish.model_dump(include={*CorpusNote.model_fields}, exclude_none=True):
        try:
            describe(settings.kept_folder, corpus, said)
        except OSError as error:
            raise not_kept("The name of the corpus", "INGEST_ROOT", error) from error
    job = JobOut(
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
    brings = handed is not None
    return job, Task(settings, open_embedder, files.folder, chunking, brings=brings)


def _files_at(path: str, settings: Settings) -> list[Handed] | None:
    """The files at a path in INGEST_ROOT; None for what is kept, which is built as it is."""
    place = path_below(settings.ingest_root, path)
    if place.is_relative_to(settings.kept_folder.resolve()):
        return None
    return files_below(settings.ingest_root, place, files_reader().suffixes)


def order_removal(
    collections: ServedCollections, jobs: Jobs, open_embedder: EmbedderFactory, document: str
) -> tuple[JobOut, Task]:
    """A job that removes an ingested document and its file.

    Raises NotFound, and Conflict for a document of another kind of source, or whose file gave
    others too.
    """
    services = collections().services
    settings = services.settings
    corpus, source, origin, siblings, *_ = services.store.origin_of(document)
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
    job = JobOut(
        id=files.id,
        kind="remove",
        collection=settings.chroma_collection_name,
        corpus=corpus,
        created=moment("milliseconds"),
    )
    return job, Task(settings, open_embedder, files.folder, removed=source)


def _corpus(wish: IngestBody) -> str:
    is_named = "corpus" in wish.model_fields_set
    id_ = corpus_id(wish.label) if wish.label and not is_named else wish.corpus
    if len(id_) > LONGEST_CORPUS:
        raise RequestError(f"A corpus id has at most {LONGEST_CORPUS} characters.")
    try:
        return check_id(id_, "corpus")
    except SourceError as error:
        raise RequestError(str(error)) from error


def _limits(settings: Settings) -> UploadLimits:
    return UploadLimits(
        settings.ingest_max_file_mb * MEGABYTE,
        settings.ingest_max_request_mb * MEGABYTE,
        files_reader().suffixes,
    )


_FIELDS = 16  # parts a form has beside its files
_MARGIN = 1_000_000  # bytes likewise


class JobPath(BaseModel):
    """A job's id in the path."""

    job_id: str


class DocumentPath(BaseModel):
    """A document's id in the path."""

    id: str


class CancelledOut(BaseModel):
    """A cancelled job as it is now, and whether it ends before anything of it is live."""

    cancelled: bool
    job: JobOut


_FORM = {
    "type": "object",
    "required": ["files"],
    "additionalProperties": False,
    "properties": {
        "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
        **{
            name: {"type": kind}
            for name, kind in {
                "collection": "string",
                "corpus": "string",
                "label": "string",
                "date": "string",
                "description": "string",
                "chunk_size": "integer",
                "chunk_overlap": "integer",
                "replace": "boolean",
            }.items()
        },
    },
}


def ingest_blueprint(
    collections: ServedCollections, jobs: Jobs, open_embedder: EmbedderFactory
) -> APIBlueprint:
    """Routes that bring documents into collections while they are served."""
    blueprint = APIBlueprint("ingest", __name__, url_prefix="/api", abp_tags=[Tag(name="ingest")])
    settings = collections().services.settings

    @blueprint.post(
        "/ingest",
        summary="Bring files into a collection",
        description="Files in a form (`multipart/form-data`), or the path of some on the server's "
        "machine. A job reads them and makes a new version live.",
        responses={202: JobOut, 409: Problem, 413: Problem},
        openapi_extensions={
            "requestBody": {
                "required": True,
                "content": {
                    FORM: {"schema": _FORM},
                    JSON: {"schema": IngestBody.model_json_schema()},
                },
            }
        },
    )
    def post_ingest() -> Response:
        try:
            body, handed = _handed(settings)
            g.ingested = body  # for the audit log
        except ValidationError as error:
            return validation_response(error)
        missing: Sequence[LeftOut] = ()
        if body.zotero:
            address = _zotero_beside(settings)
            if not address:
                raise NotAllowed(_ELSEWHERE)
            handed, missing = files_in_zotero(address, body.zotero, _limits(settings))
        job, task = order_files(collections, jobs, open_embedder, body, handed, missing)
        return _accepted(jobs.submit(job, task))

    @blueprint.get(
        "/ingest/zotero",
        summary="The collections of Zotero that can be brought in",
        responses={200: ZoteroCollectionsOut},
    )
    def get_zotero_collections() -> dict[str, object]:
        address = _zotero_beside(settings)
        problem, found = "", list[tuple[str, str]]()
        try:
            found = list_collections(address) if address else []
        except SourceError as error:
            problem = str(error)
        return ZoteroCollectionsOut(
            offered=bool(address),
            problem=problem,
            collections=[ZoteroCollectionOut(key=key, name=name) for key, name in found],
        ).model_dump()

    _add_jobs(blueprint, jobs)
    return blueprint


_ELSEWHERE = (
    "Zotero is read for whoever uses the machine on which it and this server run. Export the "
    "collection with its files in Zotero, and add that folder."
)


def _zotero_beside(settings: Settings) -> str:
    """The address of the Zotero on this machine, if the caller is at it; else empty."""
    address = settings.zotero_address or LOCAL
    is_here = is_loopback(urlsplit(address).hostname or "")
    return address if is_here and is_beside(settings, request.environ) else ""


def _add_jobs(blueprint: APIBlueprint, jobs: Jobs) -> None:
    """Add the routes of jobs: to list, follow and cancel them."""

    @blueprint.get(
        "/jobs", summary="The jobs, newest first", responses={200: JobsOut, 409: Problem}
    )
    def get_jobs() -> dict[str, object]:
        return JobsOut(jobs=jobs.all()).model_dump(mode="json")

    @blueprint.get(
        "/jobs/<job_id>", summary="A job", responses={200: JobOut, 404: Problem, 409: Problem}
    )
    def get_job(path: JobPath) -> dict[str, object]:
        return jobs.get(path.job_id).model_dump(mode="json")

    @blueprint.get(
        "/jobs/<job_id>/events",
        summary="A job as it goes on, as server-sent events",
        description="`progress` with the job whenever it changes, `done` with the job at its end.",
        responses={
            200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
            409: Problem,
        },
    )
    def get_job_events(path: JobPath) -> Response:
        jobs.get(path.job_id)
        return Response(
            stream_with_context(_frames(jobs, path.job_id, gone())),
            content_type="text/event-stream; charset=utf-8",
            headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
        )

    @blueprint.delete(
        "/jobs/<job_id>",
        summary="Cancel a job: nothing of it becomes live",
        responses={200: CancelledOut, 404: Problem, 409: Problem},
    )
    def delete_job(path: JobPath) -> dict[str, object]:
        cancelled, job = jobs.cancel(path.job_id)
        return CancelledOut(cancelled=cancelled, job=job).model_dump(mode="json")


def add_removal(
    blueprint: APIBlueprint,
    collections: ServedCollections,
    jobs: Jobs,
    open_embedder: EmbedderFactory,
) -> APIBlueprint:
    """Let documents be removed: beside the route that gives them, which has the same path."""

    @blueprint.delete(
        "/documents/<any_id:id>",
        summary="Remove a document that was ingested, and its file",
        responses={202: JobOut, 404: Problem, 409: Problem},
    )
    def delete_document(path: DocumentPath) -> Response:
        job, task = order_removal(collections, jobs, open_embedder, path.id)
        return _accepted(jobs.submit(job, task))

    return blueprint


def _handed(settings: Settings) -> tuple[IngestBody, list[Handed] | None]:
    """Read the fields of the request, and its files if it brings any. Raises ValidationError."""
    if request.mimetype != FORM:
        return IngestBody.model_validate(g.get("body", {})), None
    body = request.environ["wsgi.input"]
    try:
        _, form, parts = parse_form_data(
            request.environ,
            FormFiles(body) if isinstance(body, BufferedRandom | BytesIO) else None,
            request.max_form_memory_size,
            settings.ingest_max_request_mb * MEGABYTE + _MARGIN,
            max_form_parts=MOST_FILES + _FIELDS,
        )
        files = parts.getlist("files")
        if len(files) > MOST_FILES:
            raise RequestEntityTooLarge
    except RequestEntityTooLarge as error:
        raise RequestEntityTooLarge(
            f"An upload has at most {MOST_FILES} files, and {settings.ingest_max_request_mb} MB "
            "(INGEST_MAX_REQUEST_MB). Send the rest in another one."
        ) from error
    fields = {name or "": value for name, value in form.items()}
    body = IngestBody.model_validate({**fields, "path": "."})
    stream = attrgetter("stream")
    return body, [Handed(each.filename or "", partial(stream, each)) for each in files]


def _accepted(job: JobOut) -> Response:
    return Response(
        job.model_dump_json(),
        status=202,
        content_type=JSON,
        headers={"Location": f"/api/jobs/{job.id}"},
    )


def _frames(jobs: Jobs, id_: str, gone: Gone) -> Iterator[str]:
    """The job as it is, and when it has changed, though not at each of its steps."""
    revision, silence = -1, Silence()
    while not gone():
        before = revision
        revision, job = jobs.after(id_, revision, POLL_SECONDS)
        if revision == before:
            yield from silence.goes_on(POLL_SECONDS)
            continue
        silence = Silence()
        over = job.state not in OPEN
        name = "done" if over else "progress"
        yield f"id: {revision}\nevent: {name}\ndata: {job.model_dump_json()}\n\n"
        if over:
            return
        # with a thousand files one event is a megabyte, and a build has a step for each batch
        jobs.over(id_, POLL_SECONDS)
