"""Opening spans."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Literal, NamedTuple, TypeVar

from openinference.semconv.resource import ResourceAttributes
from openinference.semconv.trace import SpanAttributes
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.trace import Status, StatusCode, get_current_span

from atlas_search.core.addresses import Destination, phoenix_at
from atlas_search.core.errors import AtlasError, Cancelled
from atlas_search.core.ids import __version__
from atlas_search.core.settings import Settings
from atlas_search.core.telemetry.export import Delivery
from atlas_search.core.telemetry.names import (
    IDS,
    LABELS,
    SCHEMA,
    Ids,
    TraceSampler,
    identify,
    silent,
)
from atlas_search.core.telemetry.redaction import Redaction, SpanMask, open_redactions
from atlas_search.core.telemetry.span import Ends, Span

Kind = Literal["CHAIN", "EMBEDDING", "RETRIEVER", "RERANKER", "LLM", "GUARDRAIL"]

# the SDK's 128 would silently drop the span kind on a span with many messages
MAX_ATTRIBUTES = 4096
SHUTDOWN_SECONDS = 2.0  # without a bound it takes as long as a server that hangs
DELAY_SECONDS = 5.0  # between two batches

Result = TypeVar("Result")


class Listener(NamedTuple):
    """The form in which a room shows one of its stages: the kind of its span, and its attributes.

    `describe` gets the run, the span, and what the stage gives to `done`. `begin` gets the span and
    what is known before the stage begins, which shows in a stage that fails too. Several stages
    may share the `name` of a span; empty is the stage's own.
    """

    kind: Kind
    describe: Callable[..., None]
    name: str = ""
    begin: Callable[..., None] = Span.input


class Stage:
    """A stage of a flow while it runs. The flow tells the result; the room's listener shows it."""

    def __init__(self, span: Span, describe: Callable[..., None]):
        self.trace_id, self.span_id = span.trace_id, span.span_id
        self._describe = partial(describe, span)

    def done(self, result: Result, *about: object) -> Result:
        """Pass a result on to the listener, with what it was made from."""
        self._describe(result, *about)
        return result


class Tracer:
    """Opens spans; sends them to Phoenix and `also` to another server, or nowhere without either.

    `key` is for a Phoenix that asks for one. Of all traces the share `sampling` (0 to 1) is kept,
    each whole or not at all, and what `redactions` take from texts never leaves.
    """

    def __init__(
        self,
        endpoint: str,
        project: str,
        *,
        content: bool,
        key: str = "",
        also: Destination | None = None,
        sampling: float = 1.0,
        redactions: Sequence[Redaction] = (),
        delay: float = DELAY_SECONDS,
    ):
        self._content = content
        self._lock = threading.Lock()
        self.open_spans = 0
        """Spans that have begun and not ended."""
        resource = Resource.create(
            {
                ResourceAttributes.PROJECT_NAME: project,
                "service.name": "atlas",
                "service.version": __version__,
            }
        )
        self._provider = TracerProvider(
            sampler=TraceSampler(sampling),
            resource=resource,
            span_limits=SpanLimits(max_span_attributes=MAX_ATTRIBUTES),
            shutdown_on_exit=False,
        )
        destinations = [phoenix_at(endpoint, key) if endpoint else None, also]
        mask = SpanMask(redactions)
        self.deliveries = [Delivery(each, mask, delay) for each in destinations if each]
        self._ends = Ends()
        self.enabled = False
        self._provider.add_span_processor(self._ends)
        for delivery in self.deliveries:
            self.add(delivery.queue)
        self._tracer = self._provider.get_tracer("atlas", __version__, schema_url=SCHEMA)

    def add(self, taker: SpanProcessor) -> None:
        """Give it every span that ends from now on, too.

        Where nobody took spans before, there are none below a root that is open.
        """
        self._ends.add(taker)
        self.enabled = True

    @property
    def exported(self) -> int:
        """Spans that have arrived; those that went to two servers count twice."""
        return sum(delivery.queue.exported for delivery in self.deliveries)

    @property
    def dropped(self) -> int:
        """Spans that will never arrive, counted in the same way."""
        return sum(delivery.queue.dropped for delivery in self.deliveries)

    @property
    def waiting(self) -> int:
        """Spans that are still to be sent, counted in the same way."""
        return sum(delivery.queue.waiting for delivery in self.deliveries)

    def hold(self) -> AbstractContextManager[None]:
        """Send spans that end in the block only when it ends."""
        return self._ends.hold()

    @contextmanager
    def root(self, name: str, kind: Kind, ids: Ids | None = None) -> Iterator[Span]:
        """Open a span that begins a trace, whatever the caller's context holds.

        It and all below it have these `ids`; without any, the ids of the present context.
        """
        with identify(ids or IDS.get()), self._open(name, kind, Context()) as span:
            span.set(LABELS.get())
            yield span

    def span(self, name: str, kind: Kind) -> AbstractContextManager[Span]:
        """Open a span below the current one; an exception marks it as failed.

        It is the current one itself if nobody takes spans: a search in twenty corpora opens 65.
        """
        current = get_current_span()
        if not self.enabled and not silent() and current.get_span_context().is_valid:
            return nullcontext(Span(current, content=False, recorded=False))
        return self._open(name, kind, None)

    @contextmanager
    def stage(
        self,
        listeners: Mapping[str, Listener],
        run: object,
        name: str,
        *given: object,
        of: str = "",
    ) -> Iterator[Stage]:
        """Run a stage in a span below the current one.

        `given` is for the listener's `begin`; `of` is the corpus, where each has such a stage.
        """
        listener = listeners[name]
        shown = listener.name or name
        with self.span(f"{shown} {of}" if of else shown, listener.kind) as span:
            if given:
                listener.begin(span, *given)
            yield Stage(span, partial(listener.describe, run))

    @contextmanager
    def _open(self, name: str, kind: Kind, context: Context | None) -> Iterator[Span]:
        with self._tracer.start_as_current_span(
            name,
            context=context,
            attributes={SpanAttributes.OPENINFERENCE_SPAN_KIND: kind, **IDS.get().attributes()},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            self._count(1)
            recorded = self.enabled and span.is_recording()
            own = Span(span, content=self._content, recorded=recorded)
            try:
                yield own
            except Cancelled as error:
                error.traced = True
                span.set_attributes({"cancelled": True, "cancelled_because": str(error)})
                span.set_status(Status(StatusCode.OK))
                raise
            except Exception as error:
                if isinstance(error, AtlasError):
                    error.traced = True
                # the cause is left out: a provider may repeat a prompt, or a key, in its answer
                name, text = type(error).__name__, str(error) if self._content else ""
                span.add_event("exception", {"exception.type": name, "exception.message": text})
                span.set_status(Status(StatusCode.ERROR, text or name))
                raise
            finally:
                self._count(-1)
                if parts := own.parts():
                    self._ends.keep(span.get_span_context().span_id, parts)
            span.set_status(Status(StatusCode.OK))

    def _count(self, change: int) -> None:
        with self._lock:
            self.open_spans += change

    def close(self) -> None:
        """Send what is waiting and stop, within SHUTDOWN_SECONDS; what is left then is dropped."""
        end = time.monotonic() + SHUTDOWN_SECONDS
        for delivery in self.deliveries:
            delivery.stop()
        for delivery in self.deliveries:
            delivery.close(end - time.monotonic())
        self._provider.shutdown()


def open_tracer(settings: Settings) -> Tracer:
    """Return a tracer that sends spans where the settings say, or nowhere without an endpoint.

    Raises ConfigurationError for a redaction that is not known.
    """
    return Tracer(
        settings.phoenix_collector_endpoint,
        settings.phoenix_project_name,
        content=settings.trace_content,
        key=settings.phoenix_api_key.get_secret_value().strip(),
        also=settings.otlp_destination,
        sampling=settings.trace_sampling,
        redactions=open_redactions(settings),
        delay=settings.otel_bsp_schedule_delay / 1000,
    )
