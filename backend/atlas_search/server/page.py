"""The page's files, joined and compressed, and the files that documents were read from.

A file at an address with its version never changes there, so that browsers keep it and do not ask
again. The HTML alone is asked for at each visit, and names the version to load.

A collection does not copy its sources. Its manifest remembers the folders that `atlas create` read,
and the records the digest of each file. So a file is shown only if it still lies there, unchanged,
and nothing that a request says is ever part of a path.
"""

import gzip
import hashlib
import json
import mimetypes
import os
import posixpath
import re
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from importlib.util import find_spec
from io import BytesIO
from itertools import product
from pathlib import Path, PurePosixPath
from typing import IO, Any

from cachetools import LRUCache, cached
from flask import Response, abort, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field

from atlas_search.building.kept_files import INGEST
from atlas_search.core.domain import Document
from atlas_search.core.errors import MissingLibrary, NotFound, ServerBusy
from atlas_search.core.files import open_below
from atlas_search.core.settings import Settings
from atlas_search.server.documents import ById
from atlas_search.server.limits import waiting
from atlas_search.server.requests import CollectionQuery
from atlas_search.server.serving import Serve
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.record_files import DocumentOrigin

STATIC = "static/"
_MARK = "v-"
_DIGITS = 16  # of SHA-256, in hex

_ADDRESS = re.compile(rf'((?:href|src)="{STATIC})')
_SHEETS = re.compile(
    rf'(?:^ *<link rel="stylesheet" href="{STATIC}[^"]+"(?: media="[^"]+")? />\n){{2,}}',
    re.MULTILINE,
)
_SHEET = re.compile(rf'href="{STATIC}([^"]+)"(?: media="([^"]+)")?')
_PICTURE_ADDRESS = re.compile(r'(?<=url\(")(?!\w+:|[/#])[^"]+')
_ENTRY = re.compile(rf'<script type="module" src="{STATIC}([^"]+)">')

_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_OTHER_FORM = re.compile(r"^(?:import|export)\b(?!\().*", re.MULTILINE)
_LATE_IMPORT = re.compile(r'\bimport\((["`])(\.[^"`]+)')

Stamp = tuple[int, int]
"""When a file was written, in nanoseconds, and its bytes."""


@dataclass(frozen=True)
class Version:
    """The files of a folder as they are served, their digest, and by name what tells a change."""

    digest: str
    stamps: Mapping[str, Stamp]
    files: Mapping[str, bytes]

    @property
    def folder(self) -> str:
        """The beginning of addresses of its files: `v-0123456789abcdef/`."""
        return f"{_MARK}{self.digest}/"

    @property
    def last_write(self) -> datetime:
        """The time of the last change to any of them."""
        nanoseconds = max(time for time, _ in self.stamps.values())
        return datetime.fromtimestamp(nanoseconds // 10**9, UTC)


def read_version(folder: Path) -> Version:
    """Return the present version; equal files have the same on every server."""
    stamps = read_stamps(folder)  # first: what is written while it is read is seen as a change
    files = join_files({name: (folder / name).read_bytes() for name in stamps})
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{len(name)} {len(content)} {name}".encode() + content)
    return Version(digest.hexdigest()[:_DIGITS], stamps, files)


def read_stamps(folder: Path) -> dict[str, Stamp]:
    """Return the stamp of each file below a folder, by its name with slashes."""
    files = ((path, path.stat()) for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): (status.st_mtime_ns, status.st_size)
        for path, status in files
    }


def split_version(name: str) -> tuple[str, str]:
    """Split off the version that a name begins with, as `Version.folder` writes it, or nothing."""
    first, slash, rest = name.partition("/")
    return (first + slash, rest) if slash and first.startswith(_MARK) else ("", name)


def join_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files as they are served: a page asks for one style sheet and one script at first.

    Modules and sheets stay small files on disk, which a browser would ask for one by one. The
    script that a page names holds all modules that it imports, and a part that is imported late
    holds what the page does not have yet. Raises ValueError for what cannot be joined.
    """
    output = dict(files)
    entries = []
    for page in (name for name in files if name.endswith(".html")):
        html = files[page].decode()
        entries += _ENTRY.findall(html)
        if links := _SHEETS.search(html):
            sheets = _SHEET.findall(links[0])
            rules = "".join(_rules(files[name].decode(), name, media) for name, media in sheets)
            sheet = page.replace(".html", ".css")
            link = f'    <link rel="stylesheet" href="{STATIC}{sheet}" />\n'
            output |= {sheet: rules.encode(), page: html.replace(links[0], link).encode()}
    scripts = {name: text.decode() for name, text in files.items() if name.endswith(".js")}
    return output | {name: text.encode() for name, text in _join_scripts(scripts, entries)}


def _rules(text: str, name: str, media: str) -> str:
    """Return the rules of a sheet, as they stand in one at the root of the folder."""
    rules = _PICTURE_ADDRESS.sub(lambda match: _resolve(name, match[0]), text)
    return f"@media {media} {{\n{rules}}}\n" if media else rules


def _join_scripts(scripts: Mapping[str, str], entries: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield by name the scripts of these entries, and of the parts that are imported late."""
    parts: dict[str, set[str]] = {}  # by name: the modules that every page has before it
    for entry in entries:
        first = _load_order(scripts, entry)
        if len(first) > 1:
            yield entry, _join(scripts, first, entry)
        queue = list(first)
        for name in queue:  # grows meanwhile
            for _, address in _LATE_IMPORT.findall(scripts[name]):
                part = _resolve(name, address)
                if "$" in part:
                    continue  # a file of strings, which imports nothing
                parts[part] = parts.get(part, set(first)) & set(first)
                queue += [each for each in _load_order(scripts, part) if each not in queue]
    for part, before in parts.items():
        own = [name for name in _load_order(scripts, part) if name not in before]
        names = ", ".join(_EXPORT.findall(scripts[part]))
        yield part, f'{_join(scripts, own, part)}export const {{ {names} }} = modules["{part}"];\n'


def _load_order(scripts: Mapping[str, str], entry: str) -> list[str]:
    """List a module and all that it needs, in the order in which a browser runs them."""
    order: list[str] = []

    def load(name: str, importers: tuple[str, ...]) -> None:
        if name not in scripts:
            raise ValueError(f"{name} is imported, and is not there.")
        if name in importers:
            raise ValueError(f"{name} imports itself by way of {', '.join(importers)}.")
        if name not in order:
            for _, address in _IMPORT.findall(scripts[name]):
                load(_resolve(name, address), (*importers, name))
            order.append(name)

    load(entry, ())
    return order


def _join(scripts: Mapping[str, str], names: Sequence[str], address: str) -> str:
    """Make one script of modules, each a block with names of its own that runs once in a page."""
    blocks = (_block(name, scripts[name], posixpath.dirname(address)) for name in names)
    return "const modules = (globalThis.modules ??= {});\n" + "".join(blocks)


def _block(name: str, text: str, folder: str) -> str:
    """Make a block of a module for a script in this folder: `modules` holds what it exports."""

    def relative(target: str) -> str:
        return f"./{posixpath.relpath(target, folder or '.')}"

    def binding(match: re.Match[str]) -> str:
        names = (match[1] or "").replace(" as ", ": ")
        return f'const {{{names}}} = modules["{_resolve(name, match[2])}"];\n'

    def late_import(match: re.Match[str]) -> str:
        return f"import({match[1]}{relative(_resolve(name, match[2]))}"

    exports = ", ".join(_EXPORT.findall(text))
    text = _EXPORT.sub("", _IMPORT.sub(binding, text))
    if other := _OTHER_FORM.search(text):
        raise ValueError(f"{name}: no module of the page imports or exports so: {other[0]}")
    text = _LATE_IMPORT.sub(late_import, text)
    text = text.replace("import.meta.url", f'new URL("{relative(name)}", import.meta.url)')
    return f'if (!modules["{name}"]) {{\n{text}modules["{name}"] = {{ {exports} }};\n}}\n'


def _resolve(name: str, address: str) -> str:
    """Return the name of the file that a file of this name means by an address."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), address))


_TEXTS = frozenset({"application/javascript", "application/json", "image/svg+xml"})
_KEPT = 365 * 24 * 3600  # seconds

mimetypes.add_type("font/woff2", ".woff2")  # which not every system knows


class PageFiles:
    """The files of a folder, joined. Each is compressed once, and again when it has changed."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._version = read_version(folder)
        self._packed: dict[str, bytes] = {}  # by the tag of what is packed

    def page(self, name: str) -> Response:
        """Return the HTML of this name, whose parts have the addresses of the present version.

        It is asked for again at each visit.
        """
        version = self._present()
        html = _ADDRESS.sub(rf"\1{version.folder}", version.files[name].decode())
        return self._response(name, html.encode())

    def send(self, name: str) -> Response:
        """Return the file of this name, which may begin with a version. Raises NotFound.

        A page that was open before an upgrade asks for parts of the old version. It gets the
        present ones, which most likely still fit, and so does a page that one of several servers
        sent while another was upgraded. Only what is of the version that was asked for is kept.
        """
        folder, name = split_version(name)
        version, name = self._present(), posixpath.normpath(name)
        if name not in version.files:
            abort(404)
        response = self._response(name, version.files[name], version.last_write)
        if folder == version.folder:
            response.cache_control.no_cache = None
            response.cache_control.public = True
            response.cache_control.max_age = _KEPT
            response.cache_control.immutable = True
        return response

    def _present(self) -> Version:
        with suppress(OSError):  # in the midst of an upgrade the files are as they were
            if self._version.stamps != read_stamps(self._folder):
                self._version = read_version(self._folder)
                self._packed = {}
        return self._version

    def _response(self, name: str, content: bytes, last_write: datetime | None = None) -> Response:
        media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        response = Response(content, mimetype=media_type)
        response.cache_control.no_cache = True
        response.last_modified = last_write
        response.add_etag()
        if media_type.startswith("text/") or media_type in _TEXTS:
            response.vary.add("Accept-Encoding")
            if request.accept_encodings.quality("gzip"):
                self._compress(response)
        whole = not response.content_encoding  # parts of what is compressed are of use to nobody
        response.make_conditional(request, accept_ranges=whole, complete_length=len(content))
        return response

    def _compress(self, response: Response) -> None:
        tag = str(response.get_etag()[0])
        content = self._packed.get(tag) or gzip.compress(response.get_data(), mtime=0)
        self._packed[tag] = content
        response.set_data(content)
        response.content_encoding = "gzip"
        response.set_etag(f"{tag}-gzip")


SECONDS = 15  # of computing
MEMORY = 1_000_000_000  # bytes that are written to
CANNOT = 3
"""The status of a process that says in one sentence why there is no picture."""


def draw(job: dict[str, Any]) -> bytes:
    """Draw the page that the job names, as PNG, or find boxes on it, as JSON. Raises ValueError.

    Of a scan it names the image of the page, as JSON.
    """
    if job["name"].lower().endswith(_CONVERTED):
        return _converted(job)
    if not job["name"].lower().endswith(".pdf"):
        return _on_scan(job)
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


def _on_scan(job: dict[str, Any]) -> bytes:
    from atlas_search.readers.html import parse as parse_html
    from atlas_search.readers.scans import mets
    from atlas_search.readers.scans.hocr import hocr_pages
    from atlas_search.readers.scans.page_files import READERS
    from atlas_search.readers.scans.pages import marks
    from atlas_search.readers.xml.parse import Parsed, parse

    with open(job["file"], "rb") as file:
        data = file.read()
    if job["name"].lower().endswith(".xml"):
        root = parsed.root if isinstance(parsed := parse(data, ""), Parsed) else None
        if root is not None and root.tag == mets.ROOT:
            pages = mets.mets_pages(root, Path(job["place"]), job["key"], job["whole"])
            if not pages:
                raise ValueError(CHANGED)
        else:
            scan = None if root is None else READERS.get(root.tag)
            pages = scan(root) if scan else []
    else:
        pages = hocr_pages(parse_html(data.decode(errors="replace"), xml=False))
    if job["page"] >= len(pages):
        raise ValueError(NO_PICTURE)
    page = pages[job["page"]]
    if "width" in job:
        return json.dumps(page.image).encode()
    return json.dumps(marks(page, job["text"], job["start"], job["end"])).encode()


def _converted(job: dict[str, Any]) -> bytes:
    """An image that no browser shows, as JPEG."""
    if find_spec("PIL") is None:
        raise ValueError(NO_IMAGE)
    from PIL import Image

    try:
        with open(job["file"], "rb") as file, Image.open(file) as image:
            shown, output = image.convert("RGB"), BytesIO()
        shown.thumbnail((job["width"], 4 * job["width"]))
        shown.save(output, "jpeg")
        return output.getvalue()
    except (OSError, Image.DecompressionBombError) as error:
        raise ValueError("The image of this page is damaged or too large.") from error


def main(job: dict[str, Any]) -> None:
    """Do the job, and write the result to the standard output."""
    _limit(resource.RLIMIT_CPU, SECONDS)
    _limit(resource.RLIMIT_DATA, MEMORY)
    _limit(resource.RLIMIT_CORE, 0)
    try:
        output = draw(job)
    except ValueError as error:
        sys.stdout.write(str(error))
        sys.stdout.flush()
        os._exit(CANNOT)
    sys.stdout.buffer.write(output)


def _limit(which: int, most: int) -> None:
    with suppress(ValueError, OSError):
        resource.setrlimit(which, (most, most))


AT_ONCE = 2  # processes; a page takes about half a second of one processor
AT_MOST = 12  # pages that are drawn or wait for it: each keeps a thread of the server
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
_taken_places = threading.BoundedSemaphore(AT_MOST)


def drawn(file: IO[bytes], **job: Any) -> bytes:
    """Run `draw` on a page of an open PDF, in a process of its own.

    Raises NotFound if the page cannot be drawn, ServerBusy, and MissingLibrary.
    """
    if job["name"].lower().endswith(".pdf") and find_spec("pypdfium2") is None:
        raise MissingLibrary(
            "Pages are drawn by pypdfium2, which is not installed. Run "
            "`pip install atlas-research-search[pdf]`."
        )
    busy = ServerBusy("Too many pages are being drawn. Try again in a moment.", RETRY_SECONDS)
    if not _taken_places.acquire(blocking=False):
        raise busy
    try:
        if not _drawn_places.acquire(timeout=WAIT_SECONDS):
            raise busy
        try:
            return _run(file, job)
        finally:
            _drawn_places.release()
    finally:
        _taken_places.release()


def _run(file: IO[bytes], job: dict[str, Any]) -> bytes:
    job_text = json.dumps({**job, "file": file.fileno(), "path": sys.path})
    try:
        process = subprocess.run(
            [sys.executable, "-P", "-c", _START],
            input=job_text.encode(),
            capture_output=True,
            pass_fds=[file.fileno()],
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NotFound(TOO_MUCH) from error
    if process.returncode == CANNOT:
        raise NotFound(process.stdout.decode(errors="replace"))
    if process.returncode:
        raise NotFound(TOO_MUCH)
    return process.stdout


Check = Callable[[], None]
"""Raises where nobody waits any more."""

NO_PICTURE = "This document was read from no PDF and no scan, so there is no picture of its pages."
NO_IMAGE = (
    "There is no image of this page beside the file that it was read from. Put a JPEG or PNG there "
    "that has the name of that file, or the one that the file states."
)
GONE = "The file that this document was read from is not on this server any more."
CHANGED = (
    "The file has changed since the document was read from it. Build the collection again to see "
    "its pages."
)
UNKNOWN = (
    "This collection does not say which file the document was read from: it was built by an "
    "earlier Atlas, or imported. Build it again with `--force` to see its pages."
)
_DRAWN = (".pdf", ".xml", ".html", ".htm", ".xhtml", ".hocr")
_IMAGES = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png"}
"""The beginnings of images that browsers show; TIFF is none of them."""

_ENDINGS = (".jpg", ".jpeg", ".png")
_CONVERTED = (".tif", ".tiff", ".jp2")
"""Endings of images that Pillow makes a JPEG of, where it is installed."""
_LARGEST = 64_000_000  # bytes of an image
_BLOCK = 1 << 20


def original(
    origin: DocumentOrigin, manifest: Manifest, settings: Settings, check: Check
) -> IO[bytes]:
    """The file of a document, open. Raises NotFound that says in plain words why there is none."""
    if not origin.source.lower().endswith(_DRAWN):
        raise NotFound(NO_PICTURE)
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
        return [settings.kept_folder]
    known = manifest.origins.get(origin.origin)
    named = known.arguments.get("source") if known else None
    paths = [Path(each) for each in named or () if isinstance(each, str)]
    return [path for path in paths if path.is_absolute()]


def image_beside(source: str, image: str, roots: Sequence[Path], width: int) -> bytes:
    """The image of a page of a scan: of the name that its file states, else of the file's own.

    It lies in the folder of the file, below it, or in the one above. Raises NotFound.
    """
    stated, own = PurePosixPath(image.replace("\\", "/")), PurePosixPath(source)
    plain, same = PurePosixPath(stated.name), PurePosixPath(own.name)
    folder, above = own.parent, own.parent.parent
    for place, name in ((folder, stated), *product((folder, above), (plain, same))):
        if not name.name or name.is_absolute() or ".." in name.parts:
            continue
        endings = (name.suffix, *_ENDINGS, *_CONVERTED)
        for path in (place / name.with_suffix(each) for each in endings):
            try:
                file = _open(str(path), roots)
            except NotFound:
                continue
            with file:
                if path.suffix.lower() in _CONVERTED:
                    return drawn(file, name=path.name, page=0, width=width)
                content = file.read(_LARGEST)
                if content.startswith(tuple(_IMAGES)):
                    return content
    raise NotFound(NO_IMAGE)


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
    """Yield where a source of this name may lie, as `atlas create` names what it finds."""
    for root in roots:
        if root.name == str(name):
            yield root.parent, name
        if len(roots) == 1:
            yield root, name
        elif name.parts[0] == root.name and len(name.parts) > 1:
            yield root, PurePosixPath(*name.parts[1:])


def _digest(file: IO[bytes], check: Check) -> bytes:
    """The SHA-256 of an open file; computed anew only if the file is another or has changed."""
    stat = os.fstat(file.fileno())
    return _read_digest((stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns), file, check)


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
    200: {
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}} for kind in _IMAGES.values()
        }
    },
    304: {"description": "It is the picture that the caller has"},
}


class PageQuery(CollectionQuery):
    """The page wanted."""

    page: int = Field(ge=1, le=1_000_000, description="Of the file, from 1")


class ImageQuery(PageQuery):
    """The page wanted, and its size."""

    width: int = Field(
        1000,
        ge=100,
        le=WIDEST,
        description="Pixels; a very high page gets fewer, and a scan has its own",
    )


class BoxesQuery(PageQuery):
    """Characters of the document; those on other pages are left out."""

    start: int = Field(ge=0, le=10**10)
    end: int = Field(ge=0, le=10**10)


class BoxOut(BaseModel):
    """A rectangle from its left upper corner, in shares of the page's width and height."""

    left: float
    top: float
    width: float
    height: float


class BoxesOut(BaseModel):
    """Places of the characters: a box for each line, in reading order."""

    page: int
    boxes: list[BoxOut]


def pages_blueprint(serve: Serve, whole: Serve) -> APIBlueprint:
    """The routes of pages as pictures. `serve` gives what the caller may see, `whole` all."""
    blueprint = APIBlueprint("pages", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")])
    kept: LRUCache[tuple[bytes, int, object], bytes] = LRUCache(KEPT_BYTES, getsizeof=len)
    lock = threading.Lock()

    def draw(document: Document, page: int, **job: Any) -> bytes:
        services, stop = whole().services, waiting()
        origin = serve().services.store.origin_of(document.id)
        _page_start(document, page)
        manifest = services.store.manifest
        roots = _roots(origin, manifest, services.settings)
        with original(origin, manifest, services.settings, stop.check) as file:
            key = (origin.content, page, job.get("width"))
            with lock:
                content = kept.get(key) if "width" in job else None
            if content is not None:
                return content
            if origin.source.lower().endswith(".xml"):
                places = _original_places(PurePosixPath(origin.source), roots)
                place = next((r / below for r, below in places if (r / below).is_file()), "")
                job |= {"whole": document.text, "key": origin.key, "place": str(place)}
            content = drawn(file, name=origin.source, page=page - 1, **job)
            if "width" not in job:
                return content
            if not origin.source.lower().endswith(".pdf"):
                return image_beside(origin.source, json.loads(content), roots, job["width"])
            if len(content) <= KEPT_BYTES:
                with lock:
                    kept[key] = content
            return content

    @blueprint.get("/page-image/<any_id:id>", summary="A page of a PDF or scan", responses=_PICTURE)
    def get_image(path: ById, query: ImageQuery) -> Response:
        atlas = serve()
        made = draw(atlas.document(path.id), query.page, width=query.width)
        kind = next(kind for head, kind in _IMAGES.items() if made.startswith(head))
        response = Response(made, content_type=kind)
        # another key of the same browser asks again, and is answered by its own rights
        response.headers["Cache-Control"] = "private, no-cache"
        response.add_etag()
        response.make_conditional(request)
        return response

    @blueprint.get(
        "/page-boxes/<any_id:id>",
        summary="Where characters stand on a page of a PDF or scan",
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
