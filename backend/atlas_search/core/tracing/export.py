"""Sending spans, however late the server that takes them comes."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import ReadableSpan

from atlas_search.core.otlp import Destination
from atlas_search.core.tracing.encode import encode
from atlas_search.core.tracing.queue import SpanQueue

if TYPE_CHECKING:
    import httpx2

EXPORT_SECONDS = 60.0  # spans that the server cannot take at present are sent again until then
ANSWER_SECONDS = 30.0  # for one answer of the server
LAST_SECONDS = 2.0  # for an answer once the process ends
PROBE_SECONDS = 1.0  # between two tries
LOG_SECONDS = 60.0  # between two lines that spans do not arrive
MAX_ANSWER = 64_000  # bytes of an answer that are read

_LATER = frozenset({408, 429, 500, 502, 503, 504})
_TOO_LARGE = 413

log = logging.getLogger(__name__)

Fate = Literal["taken", "absent", "later", "refused", "too large"]
Mask = Callable[[ReadableSpan], ReadableSpan]


class _Reply(NamedTuple):
    """What became of some spans; `rejected` are those that the server names as not taken."""

    fate: Fate
    reason: str = ""
    rejected: int = 0


class Delivery:
    """Spans on their way to one destination; `queue` is where they wait, and counts them.

    They wait for a server that does not answer, however late it comes; one that answers with an
    error of its own gets them again for EXPORT_SECONDS. What it refuses is dropped. `mask` is
    applied to each span before it leaves. `problem` says why they do not arrive; empty if they do.

    The SDK's exporter is not used: it drops a batch after a minute, sends the headers meant for
    one server to each, and says nothing of what was dropped.
    """

    def __init__(
        self,
        destination: Destination,
        mask: Mask,
        delay: float,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.destination = destination
        self.problem = ""
        self._mask = mask
        self._clock = clock
        self._stopped = threading.Event()
        self._told_at, self._told_as = 0.0, logging.NOTSET
        self._told_lost = 0
        self._said_so = False  # the last that was said is that no spans arrive
        self._client: httpx2.Client | None = None
        self.queue = SpanQueue(self._deliver, delay)

    def stop(self) -> None:
        """Try once more to send what waits, and no more than once."""
        self._stopped.set()
        self.queue.end()

    def close(self, seconds: float) -> None:
        """Wait so long for that; what has not arrived then is dropped."""
        self.queue.give_up(seconds)
        if self._client:
            self._client.close()
        if self.queue.dropped:
            log.warning(
                "%s: of the spans %d arrived, %d were dropped.",
                self._where,
                self.queue.exported,
                self.queue.dropped,
            )

    @property
    def _where(self) -> str:
        return f"{self.destination.name} at {self.destination.shown}"

    def _deliver(self, spans: Sequence[ReadableSpan]) -> int:
        try:
            return self._send([self._mask(span) for span in spans])
        except Exception as error:  # the thread must go on; an error's text may repeat a text
            self._fail(f"they cannot be sent ({type(error).__name__})", len(spans))
            return 0

    def _send(self, spans: Sequence[ReadableSpan]) -> int:
        """How many arrived."""
        began = self._clock()
        body, fault = _encode(spans)  # once: a server that is away is tried every second
        while True:
            reply = _Reply("too large", fault) if fault else self._post(body)
            if reply.fate == "taken":
                arrived = max(0, len(spans) - reply.rejected)
                self._note(reply, len(spans) - arrived)
                return arrived
            if reply.fate == "too large" and len(spans) > 1:
                half = len(spans) // 2
                return self._send(spans[:half]) + self._send(spans[half:])
            late = self._clock() - began > EXPORT_SECONDS
            if reply.fate in ("refused", "too large") or (reply.fate == "later" and late):
                self._fail(reply.reason, len(spans))
                return 0
            self._fail(reply.reason)
            if self._stopped.wait(PROBE_SECONDS):
                return 0

    def _post(self, body: bytes) -> _Reply:
        import httpx2  # 0.1 s: only who traces pays

        if self._client is None:
            self._client = httpx2.Client(follow_redirects=False)
        headers = {**self.destination.headers, "content-type": "application/x-protobuf"}
        seconds = LAST_SECONDS if self._stopped.is_set() else ANSWER_SECONDS
        try:
            with self._client.stream(
                "POST", self.destination.url, content=body, headers=headers, timeout=seconds
            ) as response:
                return self._read(response, self._clock() + seconds)
        except httpx2.ConnectError as error:
            return _Reply("absent", f"it does not answer ({error})")
        except httpx2.TransportError as error:
            # by its kind alone: the text of an illegal header is the header
            return _Reply("absent", f"it does not answer ({type(error).__name__})")

    def _read(self, response: "httpx2.Response", end: float) -> _Reply:
        status = response.status_code
        if status == _TOO_LARGE:
            return _Reply("too large", f"it answers {status}")
        if not response.is_success:
            return _Reply("later" if status in _LATER else "refused", f"it answers {status}")
        rejected = _rejected(self._content(response, end))
        return _Reply("taken", "it takes some, not all" if rejected else "", rejected)

    def _content(self, response: "httpx2.Response", end: float) -> bytes:
        """The beginning of the body; empty if it is broken, for the spans were taken."""
        import httpx2

        content = b""
        try:
            for piece in response.iter_bytes():
                content += piece
                if len(content) > MAX_ANSWER or self._clock() > end:
                    return b""
        except httpx2.HTTPError:
            return b""
        return content

    def _note(self, reply: _Reply, lost: int) -> None:
        if lost:
            self._fail(reply.reason, lost)
            return
        self.problem = ""
        if self._said_so:
            self._said_so = False
            log.info("%s gets spans now.", self._where)

    def _fail(self, reason: str, lost: int = 0) -> None:
        """Remember why spans do not arrive, and say so at most once in LOG_SECONDS.

        It is a warning if some were lost since the last one: Phoenix may be installed while spans
        wait, and what was lost an hour ago is told.
        """
        self.problem = reason
        now = self._clock()
        waiting, dropped = self.queue.waiting - lost, self.queue.dropped + lost
        is_loss = dropped > self._told_lost
        level = logging.WARNING if is_loss else logging.INFO
        if level <= self._told_as and now - self._told_at < LOG_SECONDS:
            return
        self._told_at, self._told_as, self._said_so = now, level, True
        self._told_lost = dropped
        log.log(
            level,
            "%s gets no spans%s: %s. Waiting: %d, dropped: %d.",
            self._where,
            "" if is_loss else " yet",
            reason,
            waiting,
            dropped,
        )


def _encode(spans: Sequence[ReadableSpan]) -> tuple[bytes, str]:
    """What is sent of them; if one cannot be encoded, which halving finds, nothing and why."""
    try:
        return encode(spans), ""
    except Exception as error:
        return b"", f"they cannot be encoded ({type(error).__name__})"


def _rejected(content: bytes) -> int:
    """How many spans an answer says were not taken; 0 if it cannot be read."""
    try:
        answer = ExportTraceServiceResponse.FromString(content)
    except DecodeError:
        return 0
    return int(answer.partial_success.rejected_spans)
