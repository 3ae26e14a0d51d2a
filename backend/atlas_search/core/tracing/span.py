"""One step of a request."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from openinference.semconv.trace import (
    DocumentAttributes,
    EmbeddingAttributes,
    OpenInferenceMimeTypeValues,
    RerankerAttributes,
    SpanAttributes,
)
from opentelemetry import trace

from atlas_search.core.domain import Passage

AttributeValue = str | int | float | bool

FULL_TEXTS = 20  # documents of a span with their text; the rest have id and score


@dataclass(frozen=True, slots=True)
class TracedDocument:
    """A passage in a span; only the first FULL_TEXTS of a span need their `passage`."""

    id: str
    score: float
    passage: Passage | None = None
    leg: str = ""


def digest(id_: str) -> str:
    """What stands for the id of a passage without content: ids are made of the names of files."""
    return hashlib.sha256(id_.encode()).hexdigest()[:16]


class Span:
    """One step of a request. Content is left out if the tracer was told so.

    `recorded` is False when no one will see the span, so costly details need not be gathered.
    """

    def __init__(self, span: trace.Span, *, content: bool, recorded: bool):
        self._span = span
        self._content = content
        self.recorded = recorded

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
        self._span.set_attributes(attributes)

    def text(self, **attributes: str) -> None:
        """Set attributes that hold content."""
        if self._content:
            self.set(**attributes)

    def metadata(self, values: Mapping[str, object]) -> None:
        """Set what Phoenix shows as the span's metadata."""
        self._span.set_attribute(SpanAttributes.METADATA, json.dumps(values, default=str))

    def input(self, value: object) -> None:
        """Set what went in: text, or anything JSON can hold."""
        self._value(value, SpanAttributes.INPUT_VALUE, SpanAttributes.INPUT_MIME_TYPE)

    def output(self, value: object) -> None:
        """Set what came out: text, or anything JSON can hold."""
        self._value(value, SpanAttributes.OUTPUT_VALUE, SpanAttributes.OUTPUT_MIME_TYPE)

    def embedding(self, model: str, text: str) -> None:
        """Describe an embedding; the vector itself is left out."""
        self._span.set_attribute(SpanAttributes.EMBEDDING_MODEL_NAME, model)
        if self._content:
            prefix = f"{SpanAttributes.EMBEDDING_EMBEDDINGS}.0"
            self._span.set_attribute(f"{prefix}.{EmbeddingAttributes.EMBEDDING_TEXT}", text)

    def list_retrieved(self, documents: Sequence[TracedDocument]) -> None:
        """List what a retriever returned, best first."""
        self._documents(SpanAttributes.RETRIEVAL_DOCUMENTS, documents)

    def list_reranked(self, query: str, model: str, documents: Sequence[TracedDocument]) -> None:
        """List what a reranker returned, best first."""
        self._span.set_attribute(RerankerAttributes.RERANKER_MODEL_NAME, model)
        self._span.set_attribute(RerankerAttributes.RERANKER_TOP_K, len(documents))
        if self._content:
            self._span.set_attribute(RerankerAttributes.RERANKER_QUERY, query)
        self._documents(RerankerAttributes.RERANKER_OUTPUT_DOCUMENTS, documents)

    def model(self, provider: str, name: str, messages: Sequence[Mapping[str, str]]) -> None:
        """Describe a model call: who, and the prompt."""
        self._span.set_attribute(SpanAttributes.LLM_PROVIDER, provider)
        self._span.set_attribute(SpanAttributes.LLM_MODEL_NAME, name)
        if self._content:
            for index, message in enumerate(messages):
                prefix = f"{SpanAttributes.LLM_INPUT_MESSAGES}.{index}.message"
                self._span.set_attribute(f"{prefix}.role", message["role"])
                self._span.set_attribute(f"{prefix}.content", message["content"])

    def usage(self, prompt: int, completion: int) -> None:
        """Set the tokens a model call used."""
        self._span.set_attribute(SpanAttributes.LLM_TOKEN_COUNT_PROMPT, prompt)
        self._span.set_attribute(SpanAttributes.LLM_TOKEN_COUNT_COMPLETION, completion)
        self._span.set_attribute(SpanAttributes.LLM_TOKEN_COUNT_TOTAL, prompt + completion)

    def session(self, session_id: str) -> None:
        """Name the conversation."""
        self._span.set_attribute(SpanAttributes.SESSION_ID, session_id)

    def warn(self, message: str) -> None:
        """Record something that is not an error but should be seen."""
        if self._content:  # it may quote
            self._span.add_event("warning", {"message": message})

    def _value(self, value: object, name: str, mime_name: str) -> None:
        if not self._content:
            return
        plain = isinstance(value, str)
        kind = OpenInferenceMimeTypeValues.TEXT if plain else OpenInferenceMimeTypeValues.JSON
        text = value if isinstance(value, str) else json.dumps(value, default=str)
        self._span.set_attribute(name, text)
        self._span.set_attribute(mime_name, kind.value)

    def _documents(self, prefix: str, documents: Sequence[TracedDocument]) -> None:
        attributes: dict[str, AttributeValue] = {}
        for index, traced in enumerate(documents):
            document = f"{prefix}.{index}"
            id_ = traced.id if self._content else digest(traced.id)
            attributes[f"{document}.{DocumentAttributes.DOCUMENT_ID}"] = id_
            attributes[f"{document}.{DocumentAttributes.DOCUMENT_SCORE}"] = float(traced.score)
            passage = traced.passage
            if self._content and passage and index < FULL_TEXTS:
                attributes[f"{document}.{DocumentAttributes.DOCUMENT_CONTENT}"] = passage.text
                attributes[f"{document}.{DocumentAttributes.DOCUMENT_METADATA}"] = json.dumps(
                    {
                        "corpus": passage.corpus,
                        "title": passage.title,
                        "date": passage.date,
                        **({"leg": traced.leg} if traced.leg else {}),
                    }
                )
        self._span.set_attributes(attributes)
