"""Attributes that are made when a span is sent: no request waits for them."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace import Span as OpenSpan

ATTRIBUTE_BYTES = 100  # of an attribute besides its text

log = logging.getLogger(__name__)


class Late(NamedTuple):
    """What makes attributes of things that do not change any more; about how many bytes, says
    `size`."""

    size: Callable[[], int]
    make: Callable[[], Mapping[str, Any]]


class Made(NamedTuple):
    """Attributes that were made, and how many parts of the span `failed`."""

    attributes: Mapping[str, Any]
    failed: int


class LateSpan(ReadableSpan):
    """An ended span whose late attributes are made anew whenever they are read; `plain` is
    without them."""

    def __init__(self, span: ReadableSpan, late: Sequence[Late]):
        self.__dict__.update(span.__dict__)  # copied by its properties, a span costs 20 µs
        self.plain = span
        self._late = late

    @property
    def attributes(self) -> dict[str, Any]:
        """All that can be sent."""
        made = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in self.made().attributes.items()
            if can_send(value)
        }
        return {**(self.plain.attributes or {}), **made}

    def made(self) -> Made:
        """The late ones alone. Of those that cannot be made the log has a line."""
        made: dict[str, Any] = {}
        failed = 0
        for late in self._late:
            try:
                made.update(late.make())
            except Exception as error:  # an error's text may repeat a text
                failed += 1
                log.warning("A part of `%s` is not traced (%s).", self.name, type(error).__name__)
        return Made(made, failed)

    @property
    def dropped_attributes(self) -> int:
        """Those that the span was too small for, late ones that cannot be sent, and what could not
        be made, each list as one."""
        made = self.made()
        unsent = sum(not can_send(value) for value in made.attributes.values())
        return self.plain.dropped_attributes + unsent + made.failed

    @property
    def size(self) -> int:
        """About how many bytes it takes. Nothing is made for it."""
        return size_of(self.plain) + sum(late.size() for late in self._late)


class Ends(SpanProcessor):
    """Gives ended spans, each with its late attributes, to all that take them."""

    def __init__(self) -> None:
        self._late: dict[int, Sequence[Late]] = {}
        self._takers: list[SpanProcessor] = []
        self._held: ContextVar[_Held | None] = ContextVar("held", default=None)

    def add(self, taker: SpanProcessor) -> None:
        """Give it those that end from now on."""
        self._takers.append(taker)

    def keep(self, span_id: int, late: Sequence[Late]) -> None:
        """Remember the late attributes of a span that is about to end."""
        self._late[span_id] = late

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Give spans that end in the block, in its threads too, only when it ends: what they are
        to say late may still be found out."""
        if self._held.get() is not None:
            yield
            return
        held = _Held()
        before = self._held.set(held)
        try:
            yield
        finally:
            self._held.reset(before)
            for span in held.release():
                self._give(span)

    def on_start(self, span: OpenSpan, parent_context: Context | None = None) -> None:
        """See SpanProcessor."""

    def on_end(self, span: ReadableSpan) -> None:
        """See SpanProcessor."""
        late = self._late.pop(span.context.span_id, ())
        whole = LateSpan(span, late) if late else span
        held = self._held.get()
        if held is None or not held.take(whole):
            self._give(whole)

    def _give(self, span: ReadableSpan) -> None:
        for taker in self._takers:
            taker.on_end(span)

    def shutdown(self) -> None:
        """See SpanProcessor."""
        for taker in self._takers:
            taker.shutdown()


class _Held:
    """Ended spans that wait for the end of a block. A thread of it may go on after that."""

    def __init__(self) -> None:
        self._spans: list[ReadableSpan] | None = []
        self._lock = threading.Lock()

    def take(self, span: ReadableSpan) -> bool:
        """Whether it waits now; not after the end."""
        with self._lock:
            if self._spans is None:
                return False
            self._spans.append(span)
            return True

    def release(self) -> list[ReadableSpan]:
        """The end: those that waited, in the order in which they ended."""
        with self._lock:
            spans, self._spans = self._spans or [], None
            return spans


def can_send(value: object) -> bool:
    """Whether OTLP has a place for it: not for half a character, nor for a number of NumPy's."""
    if isinstance(value, list | tuple):
        return all(map(can_send, value))
    if not isinstance(value, str):
        return isinstance(value, float | bool | int)
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def size_of(span: ReadableSpan) -> int:
    """About how many bytes a span takes: the characters of its texts, and its attributes."""
    if isinstance(span, LateSpan):
        return span.size
    size = 0
    for attributes in (span.attributes, *(event.attributes for event in span.events)):
        size += size_of_attributes(attributes or {})
    return size


def size_of_attributes(attributes: Mapping[str, Any]) -> int:
    """Likewise of attributes alone."""
    texts = sum(len(value) for value in attributes.values() if isinstance(value, str))
    return len(attributes) * ATTRIBUTE_BYTES + texts
