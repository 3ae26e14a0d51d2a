"""One step of a request."""

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import chain, repeat
from typing import Any, NamedTuple

from openinference.semconv.trace import (
    DocumentAttributes,
    EmbeddingAttributes,
    MessageAttributes,
    OpenInferenceMimeTypeValues,
    RerankerAttributes,
    SpanAttributes,
)
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace import Span as OpenSpan

from atlas_search.core.domain import Passage
from atlas_search.core.telemetry import names as gen_ai

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


AttributeValue = str | int | float | bool | Sequence[str]

FULL_TEXTS = 20  # documents of a list with their text; the rest have id, score and facts
DOCUMENT_BYTES = 200  # of a document in a list besides its text

_as_json = json.JSONEncoder(default=float).encode  # `dumps` makes an encoder for every document


class TracedDocument(NamedTuple):
    """A passage in a span; only the first FULL_TEXTS of a list need their `passage`.

    `facts` are told of it even where content is not: which leg found it, what kind `score` is of.
    """

    id: str
    score: float
    passage: Passage | None = None
    facts: Mapping[str, object] | None = None


class LateDocuments(NamedTuple):
    """So many documents, made when the span is sent; `shown` are the passages of the first."""

    length: int
    make: Callable[[], Iterable[TracedDocument]]
    shown: Sequence[Passage | None] = ()


def digest(id_: str) -> str:
    """What stands for the id of a passage without content: ids are made of the names of files."""
    return hashlib.sha256(id_.encode()).hexdigest()[:16]


class Span:
    """One step of a request. Content is left out if the tracer was told so.

    `recorded` is False when no one will see the span, so costly details need not be gathered, and
    `content` when texts will not be told.
    """

    def __init__(self, span: trace.Span, *, content: bool, recorded: bool):
        self._span = span
        self.content = content
        self.recorded = recorded
        self._told: dict[str, AttributeValue] = {}
        self.late: list[Late] = []

    def parts(self) -> list[Late]:
        """All it says. Attributes wait here too: the SDK checks, copies and locks for each."""
        told = self._told
        plain = [Late(lambda: size_of_attributes(told), lambda: told)] if told else []
        return [*plain, *self.late]

    @property
    def trace_id(self) -> str:
        """The trace's id in hexadecimal; empty if it is not kept, so that nothing leads to it."""
        context = self._span.get_span_context()
        return format(context.trace_id, "032x") if context.trace_flags.sampled else ""

    @property
    def span_id(self) -> str:
        """The span's id in hexadecimal; empty if no one will see the span."""
        return format(self._span.get_span_context().span_id, "016x") if self.recorded else ""

    def set(
        self, attributes: Mapping[str, AttributeValue] | None = None, /, **named: AttributeValue
    ) -> None:
        """Set plain attributes."""
        if self.recorded:
            self._told.update(attributes or {}, **named)

    def text(self, **attributes: str) -> None:
        """Set attributes that hold content."""
        if self.content:
            self.set(**attributes)

    def metadata(self, values: Mapping[str, object]) -> None:
        """Set what Phoenix shows as the span's metadata."""
        if self.recorded:
            self._told[SpanAttributes.METADATA] = json.dumps(values, default=str)

    def input(self, value: object) -> None:
        """Set what went in: text, or anything JSON can hold."""
        self._value(value, SpanAttributes.INPUT_VALUE, SpanAttributes.INPUT_MIME_TYPE)

    def output(self, value: object) -> None:
        """Set what came out: text, or anything JSON can hold."""
        self._value(value, SpanAttributes.OUTPUT_VALUE, SpanAttributes.OUTPUT_MIME_TYPE)

    def list_retrieved(self, documents: Sequence[TracedDocument]) -> None:
        """List what a retriever returned, best first."""
        self._documents(SpanAttributes.RETRIEVAL_DOCUMENTS, _late(documents))

    def list_hits(
        self,
        ids: Sequence[str],
        scores: Iterable[float],
        passages: Callable[[], Iterable[Passage | None]],
    ) -> None:
        """List what a retriever returned, best first; `passages` are the first of them.

        They are asked for when the span is on its way: what reads them may come after it.
        """

        def rows() -> Iterable[TracedDocument]:
            return map(TracedDocument, ids, scores, chain(passages(), repeat(None)))

        self._list(SpanAttributes.RETRIEVAL_DOCUMENTS, rows, len(ids), passages)

    def list_reranked(
        self,
        query: str,
        model: str,
        given: Sequence[TracedDocument] | LateDocuments,
        ranked: Sequence[TracedDocument] | LateDocuments,
    ) -> None:
        """List what a reranker was `given` and what it made of it, both best first."""
        before, after = _late(given), _late(ranked)
        self.set({RerankerAttributes.RERANKER_MODEL_NAME: model})
        self.set({RerankerAttributes.RERANKER_TOP_K: after.length})
        self.text(**{RerankerAttributes.RERANKER_QUERY: query})
        self._documents(RerankerAttributes.RERANKER_INPUT_DOCUMENTS, before)
        self._documents(RerankerAttributes.RERANKER_OUTPUT_DOCUMENTS, after)

    def warn(self, message: str) -> None:
        """Record something that is not an error but should be seen."""
        if self.content:  # it may quote
            self._span.add_event("warning", {"message": message})

    def _value(self, value: object, name: str, mime_name: str) -> None:
        if not (self.content and self.recorded):
            return
        plain = isinstance(value, str)
        kind = OpenInferenceMimeTypeValues.TEXT if plain else OpenInferenceMimeTypeValues.JSON
        text = value if isinstance(value, str) else json.dumps(value, default=str)
        self.set({name: text, mime_name: kind.value})

    def _documents(self, prefix: str, documents: LateDocuments) -> None:
        self._list(prefix, documents.make, documents.length, lambda: documents.shown)

    def _list(
        self,
        prefix: str,
        documents: Callable[[], Iterable[TracedDocument]],
        count: int,
        shown: Callable[[], Iterable[Passage | None]],
    ) -> None:
        """Lists are long: they are spelt out when the span is sent."""
        if self.recorded:

            def size() -> int:
                texts = shown() if self.content else ()
                return count * DOCUMENT_BYTES + sum(len(each.text) for each in texts if each)

            self.late.append(Late(size, partial(_list_of, prefix, documents, self.content)))


def _late(documents: Sequence[TracedDocument] | LateDocuments) -> LateDocuments:
    if isinstance(documents, LateDocuments):
        return documents
    shown = [each.passage for each in documents[:FULL_TEXTS]]
    return LateDocuments(len(documents), lambda: documents, shown)


def _list_of(
    prefix: str, documents: Callable[[], Iterable[TracedDocument]], content: bool
) -> dict[str, AttributeValue]:
    """Documents as OpenInference has them in attributes, best first."""
    attributes: dict[str, AttributeValue] = {}
    for index, (id_, score, passage, told) in enumerate(documents()):
        document = f"{prefix}.{index}"
        attributes[f"{document}.{DocumentAttributes.DOCUMENT_ID}"] = id_ if content else digest(id_)
        attributes[f"{document}.{DocumentAttributes.DOCUMENT_SCORE}"] = float(score)
        facts = told or {}
        if content and passage and index < FULL_TEXTS:
            attributes[f"{document}.{DocumentAttributes.DOCUMENT_CONTENT}"] = passage.text
            about = {"corpus": passage.corpus, "title": passage.title, "date": passage.date}
            facts = {**about, **facts}
        if facts:
            metadata = _as_json(facts)
            attributes[f"{document}.{DocumentAttributes.DOCUMENT_METADATA}"] = metadata
    return attributes


def describe_call(
    span: Span,
    provider: str,
    model: str,
    messages: Sequence[Mapping[str, str]],
    *,
    temperature: float,
    max_tokens: int,
) -> None:
    """Set which language model a span calls, with which limits and messages."""
    if not span.recorded:
        return
    limits = {"temperature": temperature, "max_tokens": max_tokens}
    span.set(
        {
            SpanAttributes.LLM_INVOCATION_PARAMETERS: json.dumps({"model": model, **limits}),
            gen_ai.OPERATION: "chat",
            gen_ai.TEMPERATURE: temperature,
            gen_ai.MAX_TOKENS: max_tokens,
            gen_ai.STREAM: True,
        }
    )
    describe_writer(span, provider, model, messages)


def describe_writer(
    span: Span, provider: str, model: str, messages: Sequence[Mapping[str, str]]
) -> None:
    """Set who is to write, and the messages to them."""
    span.set(
        {
            SpanAttributes.LLM_PROVIDER: provider,
            SpanAttributes.LLM_MODEL_NAME: model,
            gen_ai.PROVIDER: gen_ai.provider(provider),
            gen_ai.REQUEST_MODEL: model,
        }
    )
    _messages(span, SpanAttributes.LLM_INPUT_MESSAGES, messages)


def describe_prompt(
    span: Span, name: str, template: str, version: str, variables: Mapping[str, object]
) -> None:
    """Set the prompt of a call. Its text and what it is filled with are content; its name and
    version are not."""
    if not span.recorded:
        return
    span.set({gen_ai.PROMPT: name, SpanAttributes.LLM_PROMPT_TEMPLATE_VERSION: version})
    filled = json.dumps(variables, default=str, ensure_ascii=False)
    span.text(
        **{
            SpanAttributes.LLM_PROMPT_TEMPLATE: template,
            SpanAttributes.LLM_PROMPT_TEMPLATE_VARIABLES: filled,
        }
    )


def describe_reply(
    span: Span,
    model: str,
    text: str,
    prompt_tokens: int,
    completion_tokens: int,
    *,
    cost: float | None,
    finish_reason: str = "",
) -> None:
    """Set what came of a call, and what it took. One that broke off has no `finish_reason`.

    `cost` is in the currency of the target's prices, None if unknown.
    """
    span.set(
        {
            SpanAttributes.LLM_TOKEN_COUNT_PROMPT: prompt_tokens,
            SpanAttributes.LLM_TOKEN_COUNT_COMPLETION: completion_tokens,
            SpanAttributes.LLM_TOKEN_COUNT_TOTAL: prompt_tokens + completion_tokens,
            gen_ai.INPUT_TOKENS: prompt_tokens,
            gen_ai.OUTPUT_TOKENS: completion_tokens,
            gen_ai.RESPONSE_MODEL: model,
        }
    )
    if finish_reason:
        span.set({gen_ai.FINISH_REASONS: [finish_reason], "finish_reason": finish_reason})
    if cost is not None:
        span.set({SpanAttributes.LLM_COST_TOTAL: float(cost)})
    describe_text(span, text)


def describe_text(span: Span, text: str) -> None:
    """Set what was written, as text and as the message that it is."""
    span.output(text)
    _messages(span, SpanAttributes.LLM_OUTPUT_MESSAGES, [{"role": "assistant", "content": text}])


def describe_embedding(span: Span, provider: str, model: str, dimension: int, text: str) -> None:
    """Set what a text was embedded with; the vector itself is left out."""
    span.set(
        {
            SpanAttributes.EMBEDDING_MODEL_NAME: model,
            gen_ai.OPERATION: "embeddings",
            gen_ai.PROVIDER: gen_ai.provider(provider),
            gen_ai.REQUEST_MODEL: model,
            gen_ai.DIMENSION: dimension,
        }
    )
    embedded = f"{SpanAttributes.EMBEDDING_EMBEDDINGS}.0.{EmbeddingAttributes.EMBEDDING_TEXT}"
    span.text(**{embedded: text})


def _messages(span: Span, prefix: str, messages: Sequence[Mapping[str, str]]) -> None:
    for index, message in enumerate(messages):
        span.text(
            **{
                f"{prefix}.{index}.{MessageAttributes.MESSAGE_ROLE}": message["role"],
                f"{prefix}.{index}.{MessageAttributes.MESSAGE_CONTENT}": message["content"],
            }
        )
