"""Spans for Phoenix: the only module that knows the OpenTelemetry SDK.

Names and meanings follow OpenInference, so Phoenix shows documents, scores and prompts as such.
"""

import json
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from openinference.semconv.resource import ResourceAttributes
from openinference.semconv.trace import (
    DocumentAttributes,
    EmbeddingAttributes,
    OpenInferenceMimeTypeValues,
    RerankerAttributes,
    SpanAttributes,
)
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status, StatusCode

from atlas_search.core.domain import Passage
from atlas_search.core.errors import Cancelled
from atlas_search.core.version import __version__

log = logging.getLogger(__name__)
Kind = Literal["CHAIN", "EMBEDDING", "RETRIEVER", "RERANKER", "LLM", "GUARDRAIL"]
AttributeValue = str | int | float | bool

# the SDK's 128 would silently drop the span kind on a span with many documents
MAX_ATTRIBUTES = 4096
FULL_TEXTS = 20  # documents of a span with their text; the rest have id and score
EXPORT_SECONDS = 60  # a batch that Phoenix cannot take is sent again until then
QUEUE = 2048  # spans that wait to be sent, of some 180 questions
PROBE_SECONDS = 1.0  # between two looks whether Phoenix answers
SHUTDOWN_SECONDS = 2.0  # without a bound it takes 30 s when Phoenix is gone


@dataclass(frozen=True, slots=True)
class TracedDocument:
    """A passage in a span; only the first FULL_TEXTS of a span need their `passage`."""

    id: str
    score: float
    passage: Passage | None = None
    leg: str = ""


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
        """The trace's id in hexadecimal."""
        return format(self._span.get_span_context().trace_id, "032x")

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
            attributes[f"{document}.{DocumentAttributes.DOCUMENT_ID}"] = traced.id
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


class Tracer:
    """Opens spans; sends them to Phoenix, or nowhere if no endpoint is given."""

    def __init__(self, endpoint: str, project: str, *, content: bool):
        self._content = content
        self._lock = threading.Lock()
        self._open_spans = 0
        self.enabled = bool(endpoint)
        self._exporter: _PatientExporter | None = None
        resource = Resource.create(
            {
                ResourceAttributes.PROJECT_NAME: project,
                "service.name": "atlas",
                "service.version": __version__,
            }
        )
        limits = SpanLimits(max_span_attributes=MAX_ATTRIBUTES)
        self._provider = TracerProvider(
            resource=resource, span_limits=limits, shutdown_on_exit=False
        )
        if endpoint:
            _quiet_exporter()
            self._exporter = _PatientExporter(endpoint)
            # the simple processor would send each span before the request goes on
            processor = BatchSpanProcessor(self._exporter, max_queue_size=QUEUE)
            self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("atlas", __version__)

    @property
    def open_spans(self) -> int:
        """Spans that have begun and not ended."""
        return self._open_spans

    @contextmanager
    def root(self, name: str, kind: Kind) -> Iterator[Span]:
        """A span that begins a trace, whatever the caller's context holds."""
        with self._open(name, kind, Context()) as span:
            yield span

    @contextmanager
    def span(self, name: str, kind: Kind) -> Iterator[Span]:
        """A span below the current one; an exception marks it as failed."""
        with self._open(name, kind, None) as span:
            yield span

    @contextmanager
    def _open(self, name: str, kind: Kind, context: Context | None) -> Iterator[Span]:
        with self._tracer.start_as_current_span(
            name,
            context=context,
            attributes={SpanAttributes.OPENINFERENCE_SPAN_KIND: kind},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            self._count(1)
            try:
                yield Span(span, content=self._content, recorded=self.enabled)
            except Cancelled:
                span.set_attribute("cancelled", True)
                span.set_status(Status(StatusCode.OK))
                raise
            except Exception as error:
                # the cause is left out: a provider may repeat a prompt, or a key, in its answer
                name, text = type(error).__name__, str(error) if self._content else ""
                span.add_event("exception", {"exception.type": name, "exception.message": text})
                span.set_status(Status(StatusCode.ERROR, text or name))
                raise
            finally:
                self._count(-1)
            span.set_status(Status(StatusCode.OK))

    def _count(self, change: int) -> None:
        with self._lock:
            self._open_spans += change

    def close(self) -> None:
        """Send what is waiting and stop, within SHUTDOWN_SECONDS."""
        if self._exporter:
            self._exporter.stop_waiting()
        thread = threading.Thread(target=self._provider.shutdown, daemon=True)
        thread.start()
        thread.join(SHUTDOWN_SECONDS)


class _PatientExporter(SpanExporter):
    """Sends once Phoenix answers, however late that is; meanwhile spans wait in the queue.

    The SDK drops a batch after a minute, and installing Phoenix takes longer. Of more than QUEUE
    spans the oldest are lost.
    """

    def __init__(self, endpoint: str):
        self._endpoint = endpoint.rstrip("/")
        self._exporter = OTLPSpanExporter(f"{self._endpoint}/v1/traces", timeout=EXPORT_SECONDS)
        self._stopped = threading.Event()
        self._told = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Wait for Phoenix, then send."""
        while not self._answers():
            if not self._told:
                log.warning("Phoenix does not answer at %s; traces wait for it.", self._endpoint)
                self._told = True
            if self._stopped.wait(PROBE_SECONDS):
                return SpanExportResult.FAILURE
        return self._exporter.export(spans)

    def _answers(self) -> bool:
        import httpx2  # 0.1 s: only who traces pays

        try:
            httpx2.head(self._endpoint, timeout=EXPORT_SECONDS)
        except httpx2.TransportError:
            return False
        return True

    def stop_waiting(self) -> None:
        """Give up what waits if Phoenix does not answer now."""
        self._stopped.set()

    def shutdown(self) -> None:
        """See SpanExporter."""
        self.stop_waiting()
        self._exporter.shutdown()  # type: ignore[no-untyped-call]


def _quiet_exporter() -> None:
    """Let an absent Phoenix cost one line in the log, not one for every batch."""
    seen = False

    def first_only(record: logging.LogRecord) -> bool:
        nonlocal seen
        if record.levelno < logging.WARNING:
            return True
        first, seen = not seen, True
        return first

    logging.getLogger("opentelemetry.exporter.otlp.proto.http.trace_exporter").addFilter(first_only)
