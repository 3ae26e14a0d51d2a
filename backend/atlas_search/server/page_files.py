"""The files of a page, and what it asks for first, compressed for whoever takes them so."""

import gzip
import posixpath
from pathlib import Path

from flask import Response, request, send_from_directory

from atlas_search.server.page_version import (
    addressed,
    read_stamps,
    read_version,
    split_version,
    stamp,
)

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
