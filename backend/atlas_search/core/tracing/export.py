"""Sending spans."""

import logging
import threading
from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

EXPORT_SECONDS = 60  # a batch that Phoenix cannot take is sent again until then
QUEUE = 2048  # spans that wait to be sent, of some 180 questions
PROBE_SECONDS = 1.0  # between two looks whether Phoenix answers

log = logging.getLogger(__name__)


class PatientExporter(SpanExporter):
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


def quiet_exporter() -> None:
    """Let an absent Phoenix cost one line in the log, not one for every batch."""
    seen = False

    def first_only(record: logging.LogRecord) -> bool:
        nonlocal seen
        if record.levelno < logging.WARNING:
            return True
        first, seen = not seen, True
        return first

    logging.getLogger("opentelemetry.exporter.otlp.proto.http.trace_exporter").addFilter(first_only)
