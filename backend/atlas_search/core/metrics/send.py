"""Sending metrics by OTLP."""

import logging
import time
from collections.abc import Callable, Mapping

from opentelemetry.sdk.metrics.export import MetricReader

from atlas_search.core.settings import Settings

SEND_SECONDS = 10.0  # for one sending, attempts after a failure included
TOLD_SECONDS = 60.0  # between two lines in the log about a collector that does not take them

_EXPORTER = "opentelemetry.exporter.otlp.proto.http.metric_exporter"


class OnceAMinute(logging.Filter):
    """Lets one warning or error through in TOLD_SECONDS."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        super().__init__()
        self._clock = clock
        self._next = clock()

    def filter(self, record: logging.LogRecord) -> bool:
        """See Filter."""
        if record.levelno < logging.WARNING:
            return True
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + TOLD_SECONDS
        return True


def metrics_sender(settings: Settings) -> list[MetricReader]:
    """What sends metrics where the settings say so; Phoenix takes none."""
    destination = settings.metrics_destination
    if not destination:
        return []
    seconds = settings.otel_metric_export_interval / 1000
    return [otlp_reader(destination.url, destination.headers, seconds)]


def otlp_reader(endpoint: str, headers: Mapping[str, str], seconds: float) -> MetricReader:
    """Sends all values to `endpoint`, a whole address, once in so many seconds.

    A collector that is away costs a line in the log a minute; the values are sent when it is back.
    """
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    logger = logging.getLogger(_EXPORTER)
    if not any(isinstance(each, OnceAMinute) for each in logger.filters):
        logger.addFilter(OnceAMinute())
    exporter = OTLPMetricExporter(endpoint, headers=dict(headers), timeout=SEND_SECONDS)
    return PeriodicExportingMetricReader(exporter, export_interval_millis=seconds * 1000)
