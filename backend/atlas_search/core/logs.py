"""Lines of the log: text, or JSON that says to which question and trace each belongs."""

import json
import logging
import re
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType

from opentelemetry import trace
from pydantic import SecretStr

from atlas_search.core.settings import Settings

LONGEST = 8000  # characters of a message; of an exception the last ones
SHORTEST_SECRET = 6  # characters; a shorter one would be hidden within common words
HIDDEN = "[hidden]"
TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

# one line a request and one a file would bury what matters
_CHATTY = ("httpx", "httpx2", "urllib3", "filelock")

# whoever reads the log would read the answer behind a link too
_LINK = re.compile(r"(/api/shared/)[^\s/?\"']+")
# a line that a caller ended within a message would pass for one of the server's own
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")

_About = dict[str, str]
_about: ContextVar[_About | None] = ContextVar("about", default=None)
_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


@contextmanager
def log_context(**ids: str) -> Iterator[None]:
    """Name these in every line that this thread logs while the block runs."""
    token = _about.set(dict(ids))
    try:
        yield
    finally:
        _about.reset(token)


def note_in_log(**ids: str) -> None:
    """Name these too until the present context ends; nothing happens outside of one."""
    if (about := _about.get()) is not None:
        about.update(ids)


class TextLines(logging.Formatter):
    """Lines as people read them. Without `content` exceptions are shown without their messages.

    None of the `secrets` is ever written.
    """

    def __init__(self, secrets: Sequence[str] = (), *, content: bool = True):
        super().__init__(TEXT)
        self._secrets = [each for each in secrets if len(each) >= SHORTEST_SECRET]
        self._content = content

    def format(self, record: logging.LogRecord) -> str:
        """Return a line without secrets."""
        return self._hide(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the message as one line."""
        record.message = _escape(record.message).replace("\n", "\\n")
        return super().formatMessage(record)

    def formatException(self, ei: _Raised) -> str:
        """Return the end of a traceback, if it is long."""
        error = ei[1]
        if error is None:
            return ""
        text = super().formatException(ei) if self._content else _without_messages(error)
        return _escape(self._hide(text))[-LONGEST:]

    def _hide(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return _LINK.sub(rf"\1{HIDDEN}", text)


class JsonLines(TextLines):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a line with the ids of the present question and span."""
        when = datetime.fromtimestamp(record.created, UTC)
        line = {
            "time": when.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": _escape(self._hide(record.getMessage()))[:LONGEST],
            **_present_span(),
            **(_about.get() or {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def _escape(text: str) -> str:
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def set_up_logs(settings: Settings) -> None:
    """Let this process write its log to stderr as the settings say, unless it has one already."""
    secrets = [
        value.get_secret_value()
        for name in type(settings).model_fields
        if isinstance(value := getattr(settings, name), SecretStr)
    ]
    secrets += settings.header_secrets
    lines = JsonLines if settings.atlas_log_format == "json" else TextLines
    handler = logging.StreamHandler()
    handler.setFormatter(lines(secrets, content=settings.trace_content))
    logging.basicConfig(level=settings.atlas_log_level, handlers=[handler])
    for chatty in _CHATTY:
        logging.getLogger(chatty).setLevel(logging.WARNING)
    if settings.atlas_log_format == "json":
        _log_uncaught()


def _log_uncaught() -> None:
    """Let warnings and errors that nobody caught be lines of the log too."""
    logging.captureWarnings(True)
    log = logging.getLogger("atlas_search")

    def log_error(
        kind: type[BaseException], error: BaseException, frames: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, frames)
        else:
            log.critical("An error that nothing caught", exc_info=(kind, error, frames))

    def log_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            log_error(args.exc_type, args.exc_value, args.exc_traceback)

    sys.excepthook = log_error
    threading.excepthook = log_thread


def _present_span() -> _About:
    context = trace.get_current_span().get_span_context()
    if not (context.is_valid and context.trace_flags.sampled):
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


def _without_messages(error: BaseException) -> str:
    """Return kinds and places of an exception and its causes; messages may quote a question."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    before = f"{_without_messages(cause)}\n\n" if cause else ""
    places = "".join(traceback.format_tb(error.__traceback__))
    return f"{before}Traceback (most recent call last):\n{places}{type(error).__name__}"
