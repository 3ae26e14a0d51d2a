"""Sending spans, however late the server that takes them comes.

The queue is not the SDK's BatchSpanProcessor: that bounds the number of spans alone, and not their
bytes; it drops without a count, and waits for a server that hangs as long as it hangs. Nor is the
exporter the SDK's: that drops a batch after a minute, sends the headers meant for one server to
each, and says nothing of what was dropped.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SentSpan
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from atlas_search.core.addresses import Destination, bounded
from atlas_search.core.telemetry.span import LateSpan, size_of

if TYPE_CHECKING:
    import httpx2


_FIELDS = {str: "string_value", float: "double_value", bool: "bool_value", int: "int_value"}


def encode(spans: Sequence[ReadableSpan]) -> bytes:
    """Return a request that sends spans. A text that is no Unicode is left out, and counted as
    dropped.

    Lists are put into their place one by one: the SDK's encoder, which the rest goes through,
    copies each attribute four times, and took 12 ms for the lists of a search that now take 3.
    """
    by_id = {span.context.span_id: span for span in spans}
    request = encode_spans([_plain(span) for span in spans])
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for sent in scope.spans:
                span = by_id[int.from_bytes(sent.span_id)]
                # the SDK's encoder leaves out what it cannot encode, and counts nothing
                lost = len(_plain(span).attributes or {}) - len(sent.attributes)
                if isinstance(span, LateSpan):
                    lost += _add(sent, span)
                    time.sleep(0)  # a request that waits for the interpreter goes first
                sent.dropped_attributes_count += lost
    return bytes(request.SerializeToString())


def _plain(span: ReadableSpan) -> ReadableSpan:
    return span.plain if isinstance(span, LateSpan) else span


def _add(sent: SentSpan, span: LateSpan) -> int:
    """Put the late attributes into their place; how many were lost."""
    made, lost = span.make()
    add = sent.attributes.add
    for name, value in made.items():
        place = add()
        place.key = name
        try:
            # ids and scores of hits, of which a search has thousands
            if type(value) is str:
                place.value.string_value = value
            elif type(value) is float:
                place.value.double_value = value
            else:
                _put(place.value, value)
        except (TypeError, ValueError):  # a type that OTLP does not have; half a character
            sent.attributes.pop()
            lost += 1
    return lost


def _put(place: AnyValue, value: Any) -> None:
    if isinstance(value, list | tuple):
        for each in value:
            _put(place.array_value.values.add(), each)
        return
    # in this order: a truth value is a number too, and so is a float of NumPy's
    for kind, field in _FIELDS.items():
        if isinstance(value, kind):
            setattr(place, field, kind(value))
            return
    raise TypeError


QUEUE = 2048  # spans that wait to be sent, of some 180 questions
QUEUE_BYTES = 64_000_000  # of their texts, which may be long
BATCH = 512

Send = Callable[[Sequence[ReadableSpan]], int]
"""Sends spans, however long that takes; returns how many arrived. Raises nothing."""


class SpanQueue(SpanProcessor):
    """Sends spans in batches, at the latest `delay` seconds after they ended.

    The code that ends a span never waits. Of more than QUEUE spans or QUEUE_BYTES, those being sent
    included, the oldest that wait are dropped. `exported` and `dropped` count those that arrived
    and those that never will.
    """

    def __init__(self, send: Send, delay: float):
        self._send = send
        self._delay = delay
        self._waiting: deque[tuple[ReadableSpan, int]] = deque()
        self._bytes = 0
        self._sending = 0
        self._ended = False
        self._given_up = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="send-spans", daemon=True)
        self.exported = 0
        self.dropped = 0
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Spans that have neither arrived nor been dropped."""
        with self._changed:
            return self._count()

    def on_end(self, span: ReadableSpan) -> None:
        """Let a span wait, if it is one that is kept."""
        if not span.context.trace_flags.sampled:
            return
        size = size_of(span)
        with self._changed:
            if self._ended:
                self.dropped += 1
                return
            self._waiting.append((span, size))
            self._bytes += size
            while self._waiting and (self._count() > QUEUE or self._bytes > QUEUE_BYTES):
                self._bytes -= self._waiting.popleft()[1]
                self.dropped += 1
            if len(self._waiting) >= BATCH:
                self._changed.notify_all()

    def end(self) -> None:
        """Take no more spans, and send what waits now."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def give_up(self, seconds: float) -> None:
        """Wait so long for the end of sending; what has not arrived then is dropped."""
        self.end()
        self._thread.join(max(0.0, seconds))
        with self._changed:
            self._given_up = True
            self.dropped += self._count()
            self._waiting.clear()
            self._sending = self._bytes = 0

    def shutdown(self) -> None:
        """Send nothing more."""
        self.give_up(0)

    def _count(self) -> int:
        return len(self._waiting) + self._sending

    def _is_due(self) -> bool:
        return self._ended or len(self._waiting) >= BATCH

    def _work(self) -> None:
        while batch := self._take():
            spans = [span for span, _ in batch]
            self._settle(len(batch), sum(size for _, size in batch), self._send(spans))

    def _take(self) -> list[tuple[ReadableSpan, int]]:
        """Wait for spans and take the oldest; none if there will be no more."""
        with self._changed:
            self._changed.wait_for(self._is_due, self._delay)
            while not (self._waiting or self._ended):
                self._changed.wait_for(self._is_due, self._delay)
            count = min(BATCH, len(self._waiting))
            self._sending = count
            return [self._waiting.popleft() for _ in range(count)]

    def _settle(self, count: int, size: int, arrived: int) -> None:
        with self._changed:
            if self._given_up:  # they count as dropped, though they may have arrived just now
                return
            self._sending = 0
            self._bytes -= size
            self.exported += arrived
            self.dropped += count - arrived


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
    """The fate of some spans; `rejected` are those that the server names as not taken."""

    fate: Fate
    reason: str = ""
    rejected: int = 0


class Delivery:
    """Spans on their way to one destination; `queue` is where they wait, and counts them.

    They wait for a server that does not answer, however late it comes; one that answers with an
    error of its own gets them again for EXPORT_SECONDS. What it refuses is dropped. `mask` is
    applied to each span before it leaves. `problem` says why they do not arrive; empty if they do.
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
        self._logged_at, self._logged_level, self._logged_lost = 0.0, logging.NOTSET, 0
        self._is_away = False  # as the last line of the log has it
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
        """Send spans until they arrive or are lost; return how many arrived."""
        began = self._clock()
        body, fault = _encode(spans)  # once: a server that is away is tried every second
        while True:
            reply = _Reply("too large", fault) if fault else self._post(body)
            if reply.fate == "taken":
                lost = min(len(spans), reply.rejected)
                if lost:
                    self._fail(reply.reason, lost)
                else:
                    self._succeed()
                return len(spans) - lost
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
            self._client = bounded(httpx2.Client(follow_redirects=False), MAX_ANSWER)
        headers = {**self.destination.headers, "content-type": "application/x-protobuf"}
        seconds = LAST_SECONDS if self._stopped.is_set() else ANSWER_SECONDS
        try:
            with self._client.stream(
                "POST", self.destination.url, content=body, headers=headers, timeout=seconds
            ) as response:
                return self._read(response)
        except httpx2.ConnectError as error:
            return _Reply("absent", f"it does not answer ({error})")
        except httpx2.HTTPError as error:
            # by its kind alone: the text of an illegal header is the header
            return _Reply("absent", f"it does not answer ({type(error).__name__})")

    def _read(self, response: "httpx2.Response") -> _Reply:
        status = response.status_code
        if status == _TOO_LARGE:
            return _Reply("too large", f"it answers {status}")
        if not response.is_success:
            return _Reply("later" if status in _LATER else "refused", f"it answers {status}")
        rejected = _rejected(self._content(response))
        return _Reply("taken", "it takes some, not all" if rejected else "", rejected)

    def _content(self, response: "httpx2.Response") -> bytes:
        """Read the body; empty if it is broken or too long, for the spans were taken."""
        import httpx2

        try:
            return response.read()
        except httpx2.HTTPError:
            return b""

    def _succeed(self) -> None:
        self.problem = ""
        if self._is_away:
            self._is_away = False
            log.info("%s gets spans now.", self._where)

    def _fail(self, reason: str, lost: int = 0) -> None:
        """Remember why spans do not arrive, and say so at most once in LOG_SECONDS.

        It is a warning if some were lost since the last one: Phoenix may be installed while spans
        wait, and a loss of an hour ago is in the log already.
        """
        self.problem = reason
        now = self._clock()
        waiting, dropped = self.queue.waiting - lost, self.queue.dropped + lost
        is_loss = dropped > self._logged_lost
        level = logging.WARNING if is_loss else logging.INFO
        if level <= self._logged_level and now - self._logged_at < LOG_SECONDS:
            return
        self._logged_at, self._logged_level, self._logged_lost = now, level, dropped
        self._is_away = True
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
    """Return a request; if a span cannot be encoded, which halving finds, nothing and why."""
    try:
        return encode(spans), ""
    except Exception as error:
        return b"", f"they cannot be encoded ({type(error).__name__})"


def _rejected(content: bytes) -> int:
    """Read how many spans were not taken; 0 if the answer cannot be read."""
    try:
        answer = ExportTraceServiceResponse.FromString(content)
    except DecodeError:
        return 0
    return int(answer.partial_success.rejected_spans)
