"""One step of a request."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import NamedTuple

from openinference.semconv.trace import (
    DocumentAttributes,
    OpenInferenceMimeTypeValues,
    RerankerAttributes,
    SpanAttributes,
)
from opentelemetry import trace

from atlas_search.core.domain import Passage
from atlas_search.core.tracing.late import Late, size_of_attributes

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

    def set(self, **attributes: AttributeValue) -> None:
        """Set plain attributes."""
        if self.recorded:
            self._told.update(attributes)

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
        self.set(**{RerankerAttributes.RERANKER_MODEL_NAME: model})
        self.set(**{RerankerAttributes.RERANKER_TOP_K: after.length})
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
        self.set(**{name: text, mime_name: kind.value})

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
