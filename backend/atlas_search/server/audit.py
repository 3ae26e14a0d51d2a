"""The audit log: one line of JSON for each request, with its caller and its outcome."""

import errno
import fcntl
import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from flask import Response, g, request
from werkzeug.exceptions import HTTPException

from atlas_search.core.errors import ConfigurationError
from atlas_search.core.ids import LONGEST, moment
from atlas_search.core.settings import Settings
from atlas_search.core.telemetry.names import silent
from atlas_search.server.access.caller import NOBODY, Caller
from atlas_search.server.collections import chosen_collection
from atlas_search.server.ingest.documents import IngestBody
from atlas_search.server.runs import Run

LONGEST_VALUE = 500  # characters of a question, or of the corpora: a body may have megabytes

log = logging.getLogger(__name__)


def audit(settings: Settings) -> Callable[[Response], Response]:
    """Return a function to call after each request: it writes a line once the response is sent.

    The line holds the question only if traces may hold texts, those of this request too. Raises
    ConfigurationError if the file cannot be written. A file that a tool moves away (logrotate) is
    begun anew.
    """
    if not settings.audit_log:
        return lambda response: response
    path = settings.audit_log
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _append(path, "")
    except OSError as error:
        raise ConfigurationError(f"AUDIT_LOG={path}: {error.strerror}.") from error

    default = settings.chroma_collection_name

    def note(response: Response) -> Response:
        entry = _entry(response, default, with_question=settings.trace_content and not silent())
        run: Run | None = g.get("run")
        rated: str | None = g.get("qa_id")
        response.call_on_close(lambda: _write(path, entry | _outcome(run, rated)))
        return response

    return note


def _append(path: Path, text: str) -> None:
    """Add to the file, which only its owner may read, all of a text or nothing."""
    # opened for each line: one that was moved away is begun anew, and nothing is left to close
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # what is cut off is no line of another thread
        size, content = os.fstat(descriptor).st_size, text.encode()
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            content = b"\n" + content  # a process was killed while it wrote
        if os.write(descriptor, content) < len(content):
            os.ftruncate(descriptor, size)
            raise OSError(errno.ENOSPC, "The disk is full", str(path))
    finally:
        os.close(descriptor)


def _entry(response: Response, default: str, *, with_question: bool) -> dict[str, object]:
    caller: Caller = g.get("caller", NOBODY)
    fields = g.get("body", {})
    ingested: IngestBody | None = g.get("ingested")
    chosen = ingested.collection if ingested else _chosen()
    entry: dict[str, object] = {
        "when": moment("milliseconds"),
        "key": caller.name or None,
        "key_id": caller.key.id if caller.key else None,
        "address": request.remote_addr,
        "method": request.method,
        "route": request.url_rule.rule if request.url_rule else None,
        "collection": (chosen or default)[:LONGEST],
        "corpora": [ingested.corpus] if ingested else _brief(fields.get("corpus_filter")),
        "status": response.status_code,
    }
    if with_question:
        entry["question"] = _brief(fields.get("question", fields.get("query")))
    return entry


def _brief(value: object) -> object:
    """A value of a body, cut if it is long."""
    text = str(value)
    return value if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _chosen() -> str:
    """The collection that the request names, be it in its path; empty if none."""
    if request.url_rule and request.url_rule.rule.startswith("/api/collections/"):
        return str((request.view_args or {}).get("name", ""))
    with suppress(HTTPException):  # from a body that was too large to be read
        return chosen_collection()
    return ""


def _outcome(run: Run | None, qa_id: str | None) -> dict[str, object]:
    """The outcome of an answer; it has no decision yet if it goes on after its reader left."""
    return {
        "qa_id": run.qa_id if run else qa_id,
        "decision": run.document.get("decision") if run else None,
        "cost": run.cost if run else None,
    }


def _write(path: Path, entry: dict[str, object]) -> None:
    try:
        _append(path, f"{json.dumps(entry, ensure_ascii=True, default=str)}\n")
    except OSError:
        log.exception("A line of the audit log could not be written.")
