"""Opening spans."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from openinference.semconv.resource import ResourceAttributes
from openinference.semconv.trace import SpanAttributes
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode

from atlas_search.core.errors import Cancelled
from atlas_search.core.tracing.export import QUEUE, PatientExporter, quiet_exporter
from atlas_search.core.tracing.gen_ai import SCHEMA
from atlas_search.core.tracing.ids import Ids, identify, present_ids
from atlas_search.core.tracing.span import Span
from atlas_search.core.version import __version__

Kind = Literal["CHAIN", "EMBEDDING", "RETRIEVER", "RERANKER", "LLM", "GUARDRAIL"]

# the SDK's 128 would silently drop the span kind on a span with many documents
MAX_ATTRIBUTES = 4096
SHUTDOWN_SECONDS = 2.0  # without a bound it takes 30 s when Phoenix is gone


class Tracer:
    """Opens spans; sends them to Phoenix, or nowhere if no endpoint is given."""

    def __init__(self, endpoint: str, project: str, *, content: bool):
        self._content = content
        self._lock = threading.Lock()
        self._open_spans = 0
        self.enabled = bool(endpoint)
        self._exporter: PatientExporter | None = None
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
            quiet_exporter()
            self._exporter = PatientExporter(endpoint)
            # the simple processor would send each span before the request goes on
            processor = BatchSpanProcessor(self._exporter, max_queue_size=QUEUE)
            self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("atlas", __version__, schema_url=SCHEMA)

    @property
    def open_spans(self) -> int:
        """Spans that have begun and not ended."""
        return self._open_spans

    @contextmanager
    def root(self, name: str, kind: Kind, ids: Ids | None = None) -> Iterator[Span]:
        """A span that begins a trace, whatever the caller's context holds.

        It and all below it say `ids`, without any those of the present context.
        """
        with identify(ids or present_ids()), self._open(name, kind, Context()) as span:
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
            attributes={
                SpanAttributes.OPENINFERENCE_SPAN_KIND: kind,
                **present_ids().attributes(),
            },
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
