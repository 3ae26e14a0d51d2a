"""The files of a page, and what it asks for first, compressed for whoever takes them so."""

import gzip
import posixpath
from pathlib import Path

from flask import Response, request, send_from_directory

_TEXTS = frozenset({"application/javascript", "application/json", "image/svg+xml"})
_WORTH_IT = 1_000  # bytes


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
        self._packed: dict[str, tuple[str, bytes]] = {}  # by name: what it is packed of, and how

    def send(self, name: str) -> Response:
        """The file of this name as a response. Raises NotFound."""
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
