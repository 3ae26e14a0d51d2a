"""Masking the texts of spans before they leave.

The redaction `contacts` masks e-mail addresses, telephone numbers and keys. It knows them by their
form alone, which names and addresses of houses do not have.
"""

import json
import logging
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from openinference.semconv.trace import SpanAttributes
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Status
from opentelemetry.util.types import AttributeValue

from atlas_search.core.registry import Registry
from atlas_search.core.settings import Settings, listed
from atlas_search.core.telemetry.names import CONVERSATION

Redaction = Callable[[str], str]
"""Returns a text without what nobody may read. Called by several threads at once."""

RedactionFactory = Callable[[Settings], Redaction]
"""Opens a redaction, ready to use. Raises ConfigurationError."""

REDACTIONS: Registry[RedactionFactory] = Registry(
    "atlas_search.redactions",
    "redaction",
    {"contacts": "atlas_search.core.telemetry.redaction:contacts"},
)
"""The redactions, by their names in TRACE_REDACT."""

FAILED = "[redaction failed]"
LOG_SECONDS = 60.0

_FIXED = frozenset(
    {
        SpanAttributes.OPENINFERENCE_SPAN_KIND,
        SpanAttributes.INPUT_MIME_TYPE,
        SpanAttributes.OUTPUT_MIME_TYPE,
        SpanAttributes.SESSION_ID,
        SpanAttributes.USER_ID,
        CONVERSATION,
        "qa_id",
    }
)
"""Kinds of spans, and ids, by which spans are brought together: no text."""
_FIXED_ENDS = (".message.role", ".document.id")

log = logging.getLogger(__name__)


def open_redactions(settings: Settings) -> tuple[Redaction, ...]:
    """Open the redactions of TRACE_REDACT, in its order. Raises ConfigurationError."""
    setting = f"TRACE_REDACT={settings.trace_redact}"
    return tuple(REDACTIONS.load(name, setting)(settings) for name in listed(settings.trace_redact))


class _Masked(ReadableSpan):
    """A copy with other texts."""

    dropped_attributes = 0  # of the span itself


class SpanMask:
    """Applies redactions, one after another, to every text of a span and of its events.

    In a text that is JSON they get each text of it on its own. A text at which one fails is
    dropped: FAILED stands in its place.
    """

    def __init__(self, redactions: Sequence[Redaction]):
        self._redactions = redactions
        self._log_again = -math.inf  # when the log gets the next line

    def __call__(self, span: ReadableSpan) -> ReadableSpan:
        """Return a copy of the span; the span itself if there is nothing to apply."""
        if not self._redactions:
            return span
        masked = _Masked(
            name=span.name,
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes=self._attributes(span.attributes),
            events=[
                Event(event.name, self._attributes(event.attributes), event.timestamp)
                for event in span.events
            ],
            links=span.links,
            kind=span.kind,
            status=self._status(span.status),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )
        masked.dropped_attributes = span.dropped_attributes
        return masked

    def _attributes(
        self, attributes: Mapping[str, AttributeValue] | None
    ) -> dict[str, AttributeValue]:
        return {
            name: value if name in _FIXED or name.endswith(_FIXED_ENDS) else self._value(value)
            for name, value in (attributes or {}).items()
        }

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        return [self._value(each) for each in value] if isinstance(value, tuple) else value

    def _status(self, status: Status) -> Status:
        if not status.description:
            return status
        return Status(status.status_code, self.text(status.description))

    def text(self, text: str) -> str:
        """Return a text with all redactions applied, or FAILED."""
        try:
            parts = _parts(text)
            return self._plain(text) if parts is None else json.dumps(self._in(parts))
        except Exception as error:  # a redaction of others may raise anything
            fault, now = type(error).__name__, time.monotonic()
            if now >= self._log_again:
                self._log_again = now + LOG_SECONDS
                log.warning("A redaction of TRACE_REDACT fails (%s); the texts are dropped.", fault)
            return FAILED

    def _in(self, part: Any) -> Any:
        """Redact each text in a part of JSON."""
        if isinstance(part, str):
            return self._plain(part)
        if isinstance(part, list):
            return [self._in(each) for each in part]
        if isinstance(part, dict):
            return {self._plain(name): self._in(value) for name, value in part.items()}
        return part

    def _plain(self, text: str) -> str:
        for redact in self._redactions:
            text = redact(text)
            if not isinstance(text, str):
                raise TypeError
        return text


def _parts(text: str) -> Any:
    """Read the list or object that a text is as JSON; None if it is none."""
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


# each repetition is bounded: a long text takes no more than its length
_KEY = re.compile(
    r"""
    -----BEGIN\ [A-Z ]{1,40}-----.{1,10000}?-----END\ [A-Z ]{1,40}-----  # a file of a key
    | \beyJ[\w-]{5,2000}\.[\w-]{5,4000}\.[\w-]{5,2000}                 # a signed token (JWT)
    | \b(?:sk|pk|rk|hf|ghp|gho|ghs|glpat|xox[abeprs]|atlas|github_pat)[-_][\w-]{16,200}
    | \b(?:AKIA|ASIA|AIza)[\w-]{16,60}
    | \b(?=[A-Za-z]{0,64}\d)(?=\d{0,64}[A-Za-z])[A-Za-z0-9]{32,200}\b     # as providers make them
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMED_KEY = re.compile(
    r"(?i)\b(bearer\s{1,3}|basic\s{1,3}|(?:api[_ -]?key|password|passwd|secret|token)"
    r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?)[^\s\"',;]{6,500}"
)
_LOGIN = re.compile(r"(?<=://)[^\s/@:]{1,200}:[^\s/@]{1,200}@")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[\w-]{2,63}")
_PHONE = re.compile(
    r"""
    (?<![\w.-])(?:
      (?:\+|00)[1-9](?:[ ./()-]{0,2}\d){7,13}          # with the code of a country
      | \(\d{2,5}\)[ ]?\d(?:[ ./-]?\d){4,9}              # with the area in brackets
      | 0\d{2,4}[ /-]\d(?:[ -]?\d){4,8}                  # with the area before a blank
      | \d{3}[-. ]\d{3}[-. ]\d{4}
    )(?![\w-])
    """,
    re.VERBOSE,
)


def contacts(_: Settings) -> Redaction:
    """Open the redaction `contacts`; there is nothing to set."""
    return mask_contacts


def mask_contacts(text: str) -> str:
    """Return a text with `[email]`, `[phone]` and `[key]` in their place."""
    text = _LOGIN.sub("[key]@", text)
    text = _EMAIL.sub("[email]", text)
    text = _KEY.sub("[key]", text)
    text = _NAMED_KEY.sub(r"\1[key]", text)
    return _PHONE.sub("[phone]", text)
