"""One step of a request."""

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, repeat
from typing import Any, NamedTuple, Self

from openinference.semconv.trace import (
    DocumentAttributes,
    EmbeddingAttributes,
    MessageAttributes,
    OpenInferenceMimeTypeValues,
    RerankerAttributes,
    SpanAttributes,
)
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from atlas_search.core.domain import Passage
from atlas_search.core.telemetry import names as gen_ai

ATTRIBUTE_BYTES = 100  # of an attribute besides its text

log = logging.getLogger(__name__)


class Late(NamedTuple):
    """Makes attributes of things that do not change any more; `size` is about how many bytes."""

    size: Callable[[], int]
    make: Callable[[], Mapping[str, Any]]


class LateSpan(ReadableSpan):
    """An ended span whose late attributes are made anew whenever they are read; `plain` is
    without them."""

    def __init__(self, span: ReadableSpan, late: Sequence[Late]):
        self.__dict__.update(span.__dict__)  # copied by its properties, a span costs 20 µs
        self.plain = span
        self.late = late

    @property
    def attributes(self) -> dict[str, Any]:
        """All that can be sent."""
        made, _ = self.make()
        late = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in made.items()
            if can_send(value)
        }
        return {**(self.plain.attributes or {}), **late}

    def make(self) -> tuple[dict[str, Any], int]:
        """Make the late attributes; of how many parts that failed the log has a line each."""
        made: dict[str, Any] = {}
        failed = 0
        for late in self.late:
            try:
                made.update(late.make())
            except Exception as error:  # an error's text may repeat a text
                failed += 1
                log.warning("A part of `%s` is not traced (%s).", self.name, type(error).__name__)
        return made, failed

    @property
    def dropped_attributes(self) -> int:
        """Attributes that the span was too small for, late ones that cannot be sent, and parts
        that could not be made, each list as one."""
        made, failed = self.make()
        unsent = sum(not can_send(value) for value in made.values())
        return self.plain.dropped_attributes + unsent + failed


class Ends(SpanProcessor):
    """Gives ended spans, each with its late attributes, to all that take them."""

    def __init__(self) -> None:
        self._late: dict[int, Sequence[Late]] = {}
        self._takers: list[SpanProcessor] = []
        self._held: ContextVar[_Held | None] = ContextVar("held", default=None)

    def add(self, taker: SpanProcessor) -> None:
        """Give `taker` the spans that end from now on."""
        self._takers.append(taker)

    def keep(self, span_id: int, late: Sequence[Late]) -> None:
        """Remember the late attributes of a span that is about to end."""
        self._late[span_id] = late

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Give spans that end in the block, in its threads too, only when it ends: their late
        attributes may still be found out."""
        if self._held.get() is not None:
            yield
            return
        held = _Held()
        before = self._held.set(held)
        try:
            yield
        finally:
            self._held.reset(before)
            with held.lock:  # a thread of the block may go on after it
                held.open = False
            for span in held.spans:
                self._give(span)

    def on_end(self, span: ReadableSpan) -> None:
        """Take a span: it waits in a block that holds, until its end."""
        late = self._late.pop(span.context.span_id, ())
        whole = LateSpan(span, late) if late else span
        held = self._held.get()
        if held is not None:
            with held.lock:
                if held.open:
                    held.spans.append(whole)
                    return
        self._give(whole)

    def _give(self, span: ReadableSpan) -> None:
        for taker in self._takers:
            taker.on_end(span)

    def shutdown(self) -> None:
        """Shut down all that take spans."""
        for taker in self._takers:
            taker.shutdown()


@dataclass
class _Held:
    spans: list[ReadableSpan] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    open: bool = True


def can_send(value: object) -> bool:
    """Return whether OTLP has a place for it: none for half a character, or NumPy's numbers."""
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
    """About how many bytes a span takes: its texts and its attributes. Nothing is made for it."""
    plain, late = (span.plain, span.late) if isinstance(span, LateSpan) else (span, ())
    held = (plain.attributes, *(event.attributes for event in plain.events))
    return sum(size_of_attributes(each or {}) for each in held) + sum(each.size() for each in late)


def size_of_attributes(attributes: Mapping[str, Any]) -> int:
    """About how many bytes attributes take."""
    texts = sum(len(value) for value in attributes.values() if isinstance(value, str))
    return len(attributes) * ATTRIBUTE_BYTES + texts


AttributeValue = str | int | float | bool | Sequence[str]

FULL_TEXTS = 20  # documents of a list with their text; the rest have id, score and facts
DOCUMENT_BYTES = 200  # of a document in a list besides its text

_as_json = json.JSONEncoder(default=float).encode  # `dumps` makes an encoder for every document


class TracedDocument(NamedTuple):
    """A passage in a span; only the first FULL_TEXTS of a list need their `passage`.

    `facts` are shown even where content is not: which leg found it, what kind `score` is of.
    """

    id: str
    score: float
    passage: Passage | None = None
    facts: Mapping[str, object] | None = None


class LateDocuments(NamedTuple):
    """So many documents, made when the span is sent; `shown` gives the passages of the first."""

    length: int
    make: Callable[[], Iterable[TracedDocument]]
    shown: Callable[[], Iterable[Passage | None]]

    @classmethod
    def of(cls, documents: Sequence[TracedDocument]) -> Self:
        """Return documents that are known already."""
        first = [each.passage for each in documents[:FULL_TEXTS]]
        return cls(len(documents), lambda: documents, lambda: first)


def digest(id_: str) -> str:
    """Hash the id of a passage, for spans without content: ids are made of the names of files."""
    return hashlib.sha256(id_.encode()).hexdigest()[:16]


NAME_JOINT = " · "


class Span:
    """One step of a request. Content is left out where the settings say so.

    `recorded` is False when no one will see the span, so costly details need not be gathered, and
    `content` when texts are left out.
    """

    def __init__(self, span: trace.Span, *, content: bool, recorded: bool):
        self._span = span
        self.content = content
        self.recorded = recorded
        self._attributes: dict[str, AttributeValue] = {}
        self.late: list[Late] = []

    def parts(self) -> list[Late]:
        """Return all attributes. Plain ones wait too: the SDK checks, copies and locks for each."""
        own = self._attributes
        plain = [Late(lambda: size_of_attributes(own), lambda: own)] if own else []
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
            self._attributes.update(attributes or {}, **named)

    def call(self, name: str, *about: str) -> None:
        """Give it a name that says what it is about, for lists; NAME_JOINT is between its parts."""
        self._span.update_name(NAME_JOINT.join([name, *about]))

    def text(self, **attributes: str) -> None:
        """Set attributes that hold content."""
        if self.content:
            self.set(**attributes)

    def metadata(self, values: Mapping[str, object]) -> None:
        """Set what Phoenix shows as the span's metadata."""
        if self.recorded:
            self._attributes[SpanAttributes.METADATA] = json.dumps(values, default=str)

    def input(self, value: object) -> None:
        """Set what went in: text, or anything JSON can hold."""
        self._value(value, SpanAttributes.INPUT_VALUE, SpanAttributes.INPUT_MIME_TYPE)

    def output(self, value: object) -> None:
        """Set what came out: text, or anything JSON can hold."""
        self._value(value, SpanAttributes.OUTPUT_VALUE, SpanAttributes.OUTPUT_MIME_TYPE)

    def list_retrieved(self, documents: Sequence[TracedDocument]) -> None:
        """List what a retriever returned, best first."""
        self._list(SpanAttributes.RETRIEVAL_DOCUMENTS, LateDocuments.of(documents))

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

        hits = LateDocuments(len(ids), rows, passages)
        self._list(SpanAttributes.RETRIEVAL_DOCUMENTS, hits)

    def list_reranked(
        self, query: str, model: str, before: LateDocuments, after: LateDocuments
    ) -> None:
        """List what a reranker was given and what it made of it, both best first."""
        self.set({RerankerAttributes.RERANKER_MODEL_NAME: model})
        self.set({RerankerAttributes.RERANKER_TOP_K: after.length})
        self.text(**{RerankerAttributes.RERANKER_QUERY: query})
        self._list(RerankerAttributes.RERANKER_INPUT_DOCUMENTS, before)
        self._list(RerankerAttributes.RERANKER_OUTPUT_DOCUMENTS, after)

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

    def _list(self, prefix: str, documents: LateDocuments) -> None:
        """Lists are long: they are spelt out when the span is sent."""
        if self.recorded:

            def size() -> int:
                texts = documents.shown() if self.content else ()
                own = sum(len(each.text) for each in texts if each)
                return documents.length * DOCUMENT_BYTES + own

            make = partial(_list_of, prefix, documents.make, self.content)
            self.late.append(Late(size, make))


def _list_of(
    prefix: str, documents: Callable[[], Iterable[TracedDocument]], content: bool
) -> dict[str, AttributeValue]:
    """Return documents as OpenInference has them in attributes, best first."""
    attributes: dict[str, AttributeValue] = {}
    for index, (id_, score, passage, details) in enumerate(documents()):
        document = f"{prefix}.{index}"
        attributes[f"{document}.{DocumentAttributes.DOCUMENT_ID}"] = id_ if content else digest(id_)
        attributes[f"{document}.{DocumentAttributes.DOCUMENT_SCORE}"] = float(score)
        facts = details or {}
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
