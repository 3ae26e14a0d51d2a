"""The files of a page, and what it asks for first, compressed for whoever takes them so.

The version of the page's files, which stands in their addresses, and what its HTML names first.

A file at an address with its version never changes there, so that browsers keep it and do not ask
again. The HTML alone is asked for at each visit, and names the version to load.

The file that a document was read from: found where its collection says, and checked.

A collection does not copy its sources. Its manifest remembers the folders that `atlas create` read,
and the records the digest of each file. So a file is shown only if it still lies there, unchanged,
and nothing that a request says is ever part of a path.
"""

import gzip
import hashlib
import json
import os
import posixpath
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import IO, Any

from cachetools import LRUCache, cached
from flask import Response, request, send_from_directory
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, ConfigDict, Field

from atlas_search.building.kept_files import INGEST
from atlas_search.core.domain import Document
from atlas_search.core.errors import MissingLibrary, NotFound, ServerBusy
from atlas_search.core.files import open_below
from atlas_search.core.settings import Settings
from atlas_search.server.capacity import waiting
from atlas_search.server.documents import ById
from atlas_search.server.serving import Serve
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.record_files import DocumentOrigin

STATIC = "static/"
_MARK = "v-"
_DIGITS = 16  # of SHA-256, in hex

_ADDRESS = re.compile(rf'((?:href|src)="{STATIC})')
_ENTRY = re.compile(rf'^( *)<script type="module" src="{STATIC}([^"]+)"></script>$', re.MULTILINE)
_IMPORT = re.compile(r'^(?:import|export)\s(?:[^"\';()]*\sfrom\s)?"(\.[^"]+)"', re.MULTILINE)

Stamp = tuple[int, int]
"""When a file was written, in nanoseconds, and its bytes."""


@dataclass(frozen=True)
class Version:
    """The files of a folder as they were read: a digest of all, and by name what tells a change."""

    digest: str
    stamps: Mapping[str, Stamp]

    @property
    def folder(self) -> str:
        """What stands before the names of its files: `v-0123456789abcdef/`."""
        return f"{_MARK}{self.digest}/"


def read_version(folder: Path) -> Version:
    """The present version; equal files have the same on every server."""
    stamps = read_stamps(folder)  # first: what is written while it is read is seen as a change
    digest = hashlib.sha256()
    for name in sorted(stamps):
        content = (folder / name).read_bytes()
        digest.update(f"{len(name)} {len(content)} {name}".encode() + content)
    return Version(digest.hexdigest()[:_DIGITS], stamps)


def read_stamps(folder: Path) -> dict[str, Stamp]:
    """The stamp of each file below a folder, by its name with slashes."""
    return {
        path.relative_to(folder).as_posix(): stamp(path)
        for path in folder.rglob("*")
        if path.is_file()
    }


def stamp(path: Path) -> Stamp:
    """What is another once a file is written anew. Raises OSError."""
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


def split_version(name: str) -> tuple[str, str]:
    """The version that a name begins with, as `Version.folder` writes it or empty, and the rest."""
    first, slash, rest = name.partition("/")
    return (first + slash, rest) if slash and first.startswith(_MARK) else ("", name)


def addressed(html: str, folder: Path, version: Version) -> str:
    """The HTML with the addresses of a version, and all modules that it needs to begin.

    A browser that learns of modules from imports asks for one generation after another.
    """
    entries = list(_ENTRY.finditer(html))
    if entries:
        indent, end = entries[-1][1], entries[-1].end()
        links = (
            f'\n{indent}<link rel="modulepreload" href="{STATIC}{module}" />'
            for module in imported(folder, [entry[2] for entry in entries])
        )
        html = html[:end] + "".join(links) + html[end:]
    return _ADDRESS.sub(rf"\1{version.folder}", html)


def imported(folder: Path, entries: Sequence[str]) -> list[str]:
    """The names of all modules that these need before they run, nearest first, without these."""
    names = list(entries)
    for name in names:  # grows meanwhile
        text = (folder / name).read_text(encoding="utf-8")
        for address in _IMPORT.findall(text):
            module = posixpath.normpath(posixpath.join(posixpath.dirname(name), address))
            if module not in names:
                names.append(module)
    return names[len(entries) :]


_TEXTS = frozenset({"application/javascript", "application/json", "image/svg+xml"})
_WORTH_IT = 1_000  # bytes
_KEPT = 365 * 24 * 3600  # seconds


def compress_document(response: Response) -> Response:
    """A JSON document that was only fetched, compressed for whoever takes it so.

    Answers to what somebody sends are not: their length would tell of what else they hold (BREACH).
    """
    fetched = request.method == "GET" and response.status_code == 200 and response.is_json
    if not fetched or response.is_streamed or (response.content_length or 0) < _WORTH_IT:
        return response
    response.vary.add("Accept-Encoding")
    if not response.content_encoding and request.accept_encodings.quality("gzip"):
        response.set_data(gzip.compress(response.get_data(), 6, mtime=0))
        response.content_encoding = "gzip"
    return response


class PageFiles:
    """The files of a folder. Each is compressed once, and again when it has changed."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._version = read_version(folder)
        self._pages: dict[str, tuple[str, str]] = {}  # by name: of which version, and the HTML
        self._packed: dict[str, tuple[str, bytes]] = {}  # by name: what it is packed of, and how

    def page(self, name: str) -> Response:
        """The HTML of this name, whose parts have the addresses of the present version.

        It is asked for again at each visit.
        """
        version = self._version
        if version.stamps != read_stamps(self._folder):
            version = self._version = read_version(self._folder)
        if self._pages.get(name, ("", ""))[0] != version.digest:
            written = (self._folder / name).read_text(encoding="utf-8")
            self._pages[name] = version.digest, addressed(written, self._folder, version)
        response = Response(self._pages[name][1], mimetype="text/html")
        response.vary.add("Accept-Encoding")
        if request.accept_encodings.quality("gzip"):
            response.set_data(gzip.compress(response.get_data(), mtime=0))
            response.content_encoding = "gzip"
        response.cache_control.no_cache = True
        response.add_etag()
        response.make_conditional(request)
        return response

    def send(self, name: str) -> Response:
        """The file of this name, which may begin with a version. Raises NotFound.

        A page that was open before an upgrade asks for parts of the old version. It gets the
        present ones, which most likely still fit, and so does a page that one of several servers
        sent while another was upgraded. Only what is of the version that was asked for is kept.
        """
        version, name = split_version(name)
        response = self._file(name)
        if version == self._version.folder and self._is_unchanged(name):
            response.cache_control.no_cache = None
            response.cache_control.public = True
            response.cache_control.max_age = _KEPT
            response.cache_control.immutable = True
        return response

    def _is_unchanged(self, name: str) -> bool:
        known = posixpath.normpath(name)
        return self._version.stamps.get(known) == stamp(self._folder / known)

    def _file(self, name: str) -> Response:
        plain = send_from_directory(self._folder, name)
        if not _is_text(plain.mimetype):
            return plain
        plain.vary.add("Accept-Encoding")
        if not request.accept_encodings.quality("gzip"):
            return plain
        plain.close()
        return self._compressed(name)

    def _compressed(self, name: str) -> Response:
        whole = send_from_directory(self._folder, name, conditional=False)
        tag, _ = whole.get_etag()
        known = posixpath.normpath(name)
        if known not in self._packed or self._packed[known][0] != tag:
            whole.direct_passthrough = False
            self._packed[known] = str(tag), gzip.compress(whole.get_data(), mtime=0)
        whole.close()
        response = Response(self._packed[known][1], mimetype=whole.mimetype)
        response.cache_control.no_cache = True
        response.last_modified = whole.last_modified
        response.content_encoding = "gzip"
        response.vary.add("Accept-Encoding")
        response.set_etag(f"{tag}-gzip")
        response.make_conditional(request)
        return response


def _is_text(media_type: str | None) -> bool:
    return media_type is not None and (media_type.startswith("text/") or media_type in _TEXTS)


SECONDS = 15  # of computing
MEMORY = 1_000_000_000  # bytes that are written to
CANNOT = 3
"""The status of a process that says in one sentence why there is no picture."""


def draw(job: dict[str, Any]) -> bytes:
    """What the job asks of the page: the PNG, or the boxes as JSON. Raises ValueError."""
    from pypdfium2 import PdfDocument, PdfiumError

    from atlas_search.readers.pdf_picture import boxes, picture

    try:
        with open(job["file"], "rb") as file, PdfDocument(file) as document:
            page = document[job["page"]]
            if "width" in job:
                return picture(page, job["width"])
            return json.dumps(boxes(page, job["text"], job["start"], job["end"])).encode()
    except (PdfiumError, IndexError) as error:
        raise ValueError("The page cannot be drawn: the PDF is damaged there.") from error


def main(job: dict[str, Any]) -> None:
    """Do the job, and write what comes of it to the standard output."""
    _limit("RLIMIT_CPU", SECONDS)
    _limit("RLIMIT_DATA", MEMORY)
    _limit("RLIMIT_CORE", 0)
    try:
        made = draw(job)
    except ValueError as error:
        sys.stdout.write(str(error))
        sys.stdout.flush()
        os._exit(CANNOT)
    sys.stdout.buffer.write(made)


def _limit(name: str, most: int) -> None:
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        which = getattr(resource, name)
        resource.setrlimit(which, (most, most))


AT_ONCE = 2  # processes; a page takes about half a second of one processor
WAIT_SECONDS = 10.0
PATIENCE = 30.0  # seconds by the clock; a busy machine computes more slowly
RETRY_SECONDS = 2.0

TOO_MUCH = "The page takes too long or too much memory to draw."
_START = """
import json, sys
job = json.load(sys.stdin)
sys.path[:] = job["path"]
from atlas_search.server.page import main
main(job)
"""

_drawn_places = threading.BoundedSemaphore(AT_ONCE)


def drawn(file: IO[bytes], **job: Any) -> bytes:
    """What `child.draw` makes of a page of an open PDF.

    Raises NotFound if the page cannot be drawn, ServerBusy, and MissingLibrary.
    """
    if find_spec("pypdfium2") is None:
        raise MissingLibrary(
            "Pages are drawn by pypdfium2, which is not installed. Run "
            "`pip install atlas-research-search[pdf]`."
        )
    if not _drawn_places.acquire(timeout=WAIT_SECONDS):
        raise ServerBusy("Too many pages are being drawn. Try again in a moment.", RETRY_SECONDS)
    try:
        return _run(file, job)
    finally:
        _drawn_places.release()


def _run(file: IO[bytes], job: dict[str, Any]) -> bytes:
    said = json.dumps({**job, "file": file.fileno(), "path": sys.path})
    try:
        ended = subprocess.run(
            [sys.executable, "-P", "-c", _START],
            input=said.encode(),
            capture_output=True,
            pass_fds=[file.fileno()],
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NotFound(TOO_MUCH) from error
    if ended.returncode == CANNOT:
        raise NotFound(ended.stdout.decode(errors="replace"))
    if ended.returncode:
        raise NotFound(TOO_MUCH)
    return ended.stdout


Check = Callable[[], None]
"""Raises where nobody waits any more."""

NO_PDF = "This document was not read from a PDF, so there is no picture of its pages."
GONE = "The PDF is not on this server any more."
CHANGED = (
    "The PDF has changed since the document was read from it. Build the collection again to see "
    "its pages."
)
UNKNOWN = (
    "This collection does not say which PDF the document was read from: it was built by an earlier "
    "Atlas, or imported. Build it again with `--force` to see its pages."
)
_BLOCK = 1 << 20


def original(
    origin: DocumentOrigin, manifest: Manifest, settings: Settings, check: Check
) -> IO[bytes]:
    """The PDF of a document, open. Raises NotFound that says in plain words why it is not there."""
    if not origin.source.lower().endswith(".pdf"):
        raise NotFound(NO_PDF)
    if not origin.content:
        raise NotFound(UNKNOWN)
    file = _open(origin.source, _roots(origin, manifest, settings))
    try:
        if _digest(file, check) != origin.content:
            raise NotFound(CHANGED)
    except BaseException:
        file.close()
        raise
    return file


def _roots(origin: DocumentOrigin, manifest: Manifest, settings: Settings) -> list[Path]:
    """The files and folders that documents of this kind were built from."""
    if origin.origin == INGEST:
        return [settings.ingest_root / settings.chroma_collection_name]
    known = manifest.origins.get(origin.origin)
    named = known.arguments.get("source") if known else None
    paths = [Path(each) for each in named or () if isinstance(each, str)]
    return [path for path in paths if path.is_absolute()]


def _open(name: str, roots: Sequence[Path]) -> IO[bytes]:
    for root, below in _original_places(PurePosixPath(name), roots):
        try:
            return open_below(root, below)
        except (OSError, ValueError):
            continue
    raise NotFound(GONE)


def _original_places(
    name: PurePosixPath, roots: Sequence[Path]
) -> Iterator[tuple[Path, PurePosixPath]]:
    """Where a source of this name may lie, as `atlas create` names what it finds."""
    for root in roots:
        if root.name == str(name):
            yield root.parent, name
        if len(roots) == 1:
            yield root, name
        elif name.parts[0] == root.name and len(name.parts) > 1:
            yield root, PurePosixPath(*name.parts[1:])


def _digest(file: IO[bytes], check: Check) -> bytes:
    """SHA-256 of an open file; computed again only if the file is another or was written to."""
    found = os.fstat(file.fileno())
    return _read_digest((found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns), file, check)


@cached(LRUCache(1024), key=lambda identity, _file, _check: identity, lock=threading.Lock())
def _read_digest(identity: tuple[int, ...], file: IO[bytes], check: Check) -> bytes:  # noqa: ARG001
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        check()
        digest.update(block)
    file.seek(0)
    return digest.digest()


WIDEST = 1600  # pixels
KEPT_BYTES = 32_000_000

_PICTURE: dict[str | int | HTTPStatus, Any] = {
    200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}},
    304: {"description": "It is the picture that the caller has"},
}


class PageQuery(BaseModel):
    """Which page."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collection: str = Field("", description="Name of a collection; the configured one if absent")
    page: int = Field(ge=1, le=1_000_000, description="Of the file, from 1")


class ImageQuery(PageQuery):
    """Which page, and how large."""

    width: int = Field(1000, ge=100, le=WIDEST, description="Pixels; a very high page gets fewer")


class BoxesQuery(PageQuery):
    """Which characters of the document; those on other pages are left out."""

    start: int = Field(ge=0, le=10**10)
    end: int = Field(ge=0, le=10**10)


class BoxOut(BaseModel):
    """A rectangle from its left upper corner, in shares of the page's width and height."""

    left: float
    top: float
    width: float
    height: float


class BoxesOut(BaseModel):
    """Where the characters stand: a box for each line, in reading order."""

    page: int
    boxes: list[BoxOut]


def pages_blueprint(serve: Serve, whole: Serve) -> APIBlueprint:
    """Pages as pictures. `serve` gives what the caller may see, `whole` the collection."""
    blueprint = APIBlueprint("pages", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")])
    kept: LRUCache[tuple[bytes, int, object], bytes] = LRUCache(KEPT_BYTES, getsizeof=len)
    lock = threading.Lock()

    def draw(document: Document, page: int, **job: object) -> bytes:
        services, stop = whole().services, waiting()
        origin = serve().services.store.origin_of(document.id)
        _page_start(document, page)
        manifest = services.store.manifest
        with original(origin, manifest, services.settings, stop.check) as file:
            key = (origin.content, page, job.get("width"))
            with lock:
                found = kept.get(key) if "width" in job else None
            if found is None:
                found = drawn(file, page=page - 1, **job)
                if "width" in job and len(found) <= KEPT_BYTES:
                    with lock:
                        kept[key] = found
            return found

    @blueprint.get("/page-image/<any_id:id>", summary="A page of a PDF", responses=_PICTURE)
    def get_image(path: ById, query: ImageQuery) -> Response:
        atlas = serve()
        made = draw(atlas.document(path.id), query.page, width=query.width)
        response = Response(made, content_type="image/png")
        # another key of the same browser asks again, and is answered by its own rights
        response.headers["Cache-Control"] = "private, no-cache"
        response.add_etag()
        response.make_conditional(request)
        return response

    @blueprint.get(
        "/page-boxes/<any_id:id>",
        summary="Where characters stand on a page of a PDF",
        responses={200: BoxesOut},
    )
    def get_boxes(path: ById, query: BoxesQuery) -> dict[str, object]:
        document = serve().document(path.id)
        first = _page_start(document, query.page)
        text = document.text[first : _page_end(document, query.page)]
        start, end = max(0, query.start - first), min(len(text), query.end - first)
        made = draw(document, query.page, text=text, start=start, end=end) if start < end else b"[]"
        boxes = [BoxOut(left=a, top=b, width=c, height=d) for a, b, c, d in json.loads(made)]
        return BoxesOut(page=query.page, boxes=boxes).model_dump(mode="json")

    return blueprint


def _page_start(document: Document, page: int) -> int:
    if page > len(document.pages):
        raise NotFound(f"The document has {len(document.pages)} pages, no page {page}.")
    return document.pages[page - 1]


def _page_end(document: Document, page: int) -> int:
    return document.pages[page] if page < len(document.pages) else len(document.text)
