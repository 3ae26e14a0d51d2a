"""Ended spans on their way: a bounded queue, emptied by a thread of its own."""

import threading
from collections import deque
from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from atlas_search.core.tracing.late import size_of

QUEUE = 2048  # spans that wait to be sent, of some 180 questions
QUEUE_BYTES = 64_000_000  # of their texts, which may be long
BATCH = 512

Send = Callable[[Sequence[ReadableSpan]], int]
"""Sends spans, however long that takes; how many arrived. Raises nothing."""


class SpanQueue(SpanProcessor):
    """Sends spans in batches, at the latest `delay` seconds after they ended.

    Whoever ends a span never waits. Of more than QUEUE spans or QUEUE_BYTES, those being sent
    included, the oldest that wait are dropped. `exported` and `dropped` count those that arrived
    and those that never will.
    """

    def __init__(self, send: Send, delay: float):
        self._send = send
        self._delay = delay
        self._waiting: deque[tuple[ReadableSpan, int]] = deque()
        self._bytes = 0
        self._sending = 0
        self._flushing = False
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
            return len(self._waiting) + self._sending

    def on_end(self, span: ReadableSpan) -> None:
        """See SpanProcessor."""
        if not span.context.trace_flags.sampled:
            return
        size = size_of(span)
        with self._changed:
            if self._ended:
                self.dropped += 1
                return
            self._waiting.append((span, size))
            self._bytes += size
            while self._waiting and self._is_full():
                self._bytes -= self._waiting.popleft()[1]
                self.dropped += 1
            if len(self._waiting) >= BATCH:
                self._changed.notify_all()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what waits now; whether all of it went within the time."""
        with self._changed:
            self._flushing = True
            self._changed.notify_all()
            return self._changed.wait_for(self._is_empty, timeout_millis / 1000)

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
            self.dropped += len(self._waiting) + self._sending
            self._waiting.clear()
            self._sending = self._bytes = 0

    def shutdown(self) -> None:
        """See SpanProcessor."""
        self.give_up(0)

    def _is_full(self) -> bool:
        return len(self._waiting) + self._sending > QUEUE or self._bytes > QUEUE_BYTES

    def _is_empty(self) -> bool:
        return not self._waiting and not self._sending

    def _is_due(self) -> bool:
        return self._ended or self._flushing or len(self._waiting) >= BATCH

    def _work(self) -> None:
        while batch := self._take():
            spans = [span for span, _ in batch]
            self._settle(len(batch), sum(size for _, size in batch), self._send(spans))

    def _take(self) -> list[tuple[ReadableSpan, int]]:
        """The oldest spans that wait, waited for; none if there will be no more."""
        with self._changed:
            while True:
                self._changed.wait_for(self._is_due, self._delay)
                if self._waiting or self._ended:
                    break
                self._flushing = False
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
            self._flushing = self._flushing and bool(self._waiting)
            self._changed.notify_all()
