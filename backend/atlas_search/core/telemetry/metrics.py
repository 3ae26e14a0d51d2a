"""Counting, and reading the counts.

Names of instruments follow OpenTelemetry's semantic conventions where they have one, else they
begin with `atlas`. The process is measured here: opentelemetry-instrumentation-system-metrics has
other names and labels for it, no uptime, and needs psutil.
"""

import logging
import os
import resource
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import Resource

from atlas_search.core.ids import __version__
from atlas_search.core.settings import Settings

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


Kind = Literal["counter", "histogram", "total", "gauge"]
"""A `counter` is added to and a `histogram` given values; a `total`, which only grows, and a
`gauge` are asked when somebody reads them."""

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120)
_SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_LONG = (1, 2.5, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21600)
_CANDIDATES = (0, 1, 5, 10, 25, 50, 100, 150, 200, 300, 400, 500, 1000)
_PASSAGES = (0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50)
# both as the conventions of gen_ai say
_CALLS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)


@dataclass(frozen=True)
class Instrument:
    """One instrument; `buckets` are the upper bounds of a histogram's, ascending."""

    name: str
    kind: Kind
    unit: str
    labels: tuple[str, ...]
    meaning: str
    buckets: Sequence[float] = ()


_MODEL = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model")
_CORPUS = ("collection", "corpus")

INSTRUMENTS: Mapping[str, Instrument] = {
    each.name: each
    for each in (
        Instrument(
            "http.server.request.duration",
            "histogram",
            "s",
            ("http.request.method", "http.route", "http.response.status_code"),
            "Requests, until the last byte was handed over",
            SECONDS,
        ),
        Instrument(
            "atlas.requests.refused",
            "total",
            "{request}",
            ("reason",),
            "Requests for which no thread, and connections for which no place was free",
        ),
        Instrument(
            "atlas.searches",
            "counter",
            "{search}",
            ("target", "outcome"),
            "Searches: `found`, `nothing`, or the error",
        ),
        Instrument(
            "atlas.answers",
            "counter",
            "{answer}",
            ("target", "mode", "decision", "reason", "cached"),
            "Answers by their decision; `ERROR` and `CANCELLED` are those that came to none",
        ),
        Instrument(
            "atlas.answer.duration",
            "histogram",
            "s",
            ("target", "mode", "decision"),
            "What an answer took, waiting for its turn included",
            SECONDS,
        ),
        Instrument(
            "atlas.stage.duration",
            "histogram",
            "s",
            ("operation", "stage"),
            "What a stage of a `search`, an `answer` or a `compare` took",
            _SHORT,
        ),
        Instrument(
            "atlas.corpus.candidates",
            "histogram",
            "{passage}",
            _CORPUS,
            "Candidates of a corpus in one search",
            _CANDIDATES,
        ),
        Instrument(
            "atlas.corpus.kept",
            "histogram",
            "{passage}",
            _CORPUS,
            "Passages of a corpus that one search kept",
            _PASSAGES,
        ),
        Instrument(
            "atlas.corpus.cited",
            "histogram",
            "{citation}",
            _CORPUS,
            "Places of a corpus that one answer cites; declined ones are not counted",
            _PASSAGES,
        ),
        Instrument(
            "gen_ai.client.operation.duration",
            "histogram",
            "s",
            (*_MODEL, "error.type"),
            "Calls of language models; failed ones name their error",
            _CALLS,
        ),
        Instrument(
            "gen_ai.client.token.usage",
            "histogram",
            "{token}",
            (*_MODEL, "gen_ai.token.type"),
            "Tokens of one call: `input` and `output`",
            _TOKENS,
        ),
        Instrument(
            "atlas.cost",
            "counter",
            "{currency}",
            ("target", "provider", "model"),
            "What language models cost, in the currency of the targets' prices",
        ),
        Instrument(
            "atlas.cache.lookups",
            "total",
            "{lookup}",
            ("result",),
            "Questions looked up among the kept answers: `hit` or `miss`",
        ),
        Instrument("atlas.cache.answers", "gauge", "{answer}", (), "Answers that are kept now"),
        Instrument(
            "atlas.queue.size",
            "gauge",
            "{item}",
            ("queue", "state"),
            "What is `running` and what is `waiting`: `answers`, `model_calls`, `turns` at "
            "searching, `requests`, `jobs`",
        ),
        Instrument("atlas.connections", "gauge", "{connection}", (), "Open connections"),
        Instrument(
            "atlas.job.duration",
            "histogram",
            "s",
            ("kind", "state"),
            "Jobs that change a collection, by how they ended",
            _LONG,
        ),
        Instrument(
            "atlas.job.documents",
            "counter",
            "{document}",
            ("collection", "change"),
            "Documents that jobs `added`, `changed` and `removed`",
        ),
        Instrument(
            "atlas.spans",
            "total",
            "{span}",
            ("outcome",),
            "Spans of traces that were `exported` or `dropped`",
        ),
        Instrument(
            "atlas.spans.held",
            "gauge",
            "{span}",
            ("state",),
            "Spans that are `open` (roots alone if none are sent), and those `waiting` to be sent",
        ),
        Instrument("atlas.feedback", "counter", "{vote}", ("name", "value"), "Votes on answers"),
        Instrument(
            "atlas.store.documents", "gauge", "{document}", _CORPUS, "Documents of what is served"
        ),
        Instrument(
            "atlas.store.passages", "gauge", "{passage}", _CORPUS, "Passages of what is served"
        ),
        Instrument("atlas.store.size", "gauge", "By", ("collection", "part"), "Its bytes on disk"),
        Instrument(
            "atlas.store.version",
            "gauge",
            "{version}",
            ("collection", "version", "embedding"),
            "1 for the version that is served",
        ),
        Instrument("process.memory.usage", "gauge", "By", (), "Resident memory of the server"),
        Instrument(
            "process.cpu.time", "total", "s", ("cpu.mode",), "Processor time: `user` and `system`"
        ),
        Instrument("process.thread.count", "gauge", "{thread}", (), "Threads of the server"),
        Instrument(
            "process.unix.file_descriptor.count", "gauge", "{file_descriptor}", (), "Open files"
        ),
        Instrument("process.uptime", "gauge", "s", (), "Since the server began"),
    )
}
"""The instruments by name."""

MOST = 100  # values of one label; a server with more corpora than that needs no chart of each
OTHER = "other"

Value = str | int
Labels = Mapping[str, Value]


class KnownValues:
    """The first MOST values of each label; whatever comes later is `other`.

    One for all that adds up; for what is read anew each time, one for each reading.

    Safe to use from several threads: at worst some values more are let in than MOST.
    """

    def __init__(self) -> None:
        self._seen: dict[str, set[Value]] = {}

    def bound(self, labels: Labels) -> dict[str, Value]:
        """Return the labels with values that are known, or `other`."""
        bounded: dict[str, Value] = {}
        for name, value in labels.items():
            seen = self._seen.setdefault(name, set())
            if len(seen) < MOST:
                seen.add(value)
            bounded[name] = value if value in seen else OTHER
        return bounded


CLOSING_SECONDS = 2.0  # without a bound it takes 10 s when the collector is gone

Reading = tuple[float, Labels]
Read = Callable[[], Iterable[Reading]]
"""Returns the present values of a gauge or a total, each with its labels."""


class Metrics:
    """The instruments of a process. Safe to use from several threads.

    Nothing is kept of what is counted until somebody reads it: `readers` from the beginning,
    Prometheus from `expose` on.
    """

    def __init__(self, readers: Sequence[MetricReader] = ()):
        resource = Resource.create({"service.name": "atlas", "service.version": __version__})
        self._provider = MeterProvider(
            readers,
            resource=resource,
            exemplar_filter=AlwaysOffExemplarFilter(),  # each would cost some microseconds more
            shutdown_on_exit=False,
        )
        self._meter = self._provider.get_meter("atlas", __version__)
        self._known = KnownValues()
        self._reads: dict[str, dict[str, Read]] = {}
        self._lock = threading.Lock()
        self._registry: CollectorRegistry | None = None
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}
        for instrument in INSTRUMENTS.values():
            self._create(instrument)

    def count(self, name: str, labels: Labels, amount: float = 1) -> None:
        """Add to a counter."""
        self._counters[name].add(amount, self._known.bound(labels))

    def record(self, name: str, labels: Labels, value: float) -> None:
        """Give a histogram a value."""
        self._histograms[name].record(value, self._known.bound(labels))

    def observe(self, source: str, readings: Mapping[str, Read]) -> None:
        """Ask these from now on for the values of gauges and totals, by instrument.

        They replace earlier readings of the same `source`.
        """
        for name, read in readings.items():
            self._reads[name] = {**self._reads[name], source: read}

    def expose(self) -> None:
        """Keep what is counted from now on for Prometheus too."""
        # 40 ms: only who serves pays
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from prometheus_client import CollectorRegistry

        with self._lock:
            if self._registry is None:
                registry = CollectorRegistry(auto_describe=False)
                reader = PrometheusMetricReader(scope_info_enabled=False, registry=registry)
                self._provider.add_metric_reader(reader)
                self._registry = registry

    def scrape(self, accept: str) -> tuple[bytes, str]:
        """Return all values as Prometheus reads them, and the media type, by the header `Accept`.

        Nothing before `expose`.
        """
        from prometheus_client.exposition import choose_encoder

        encode, media_type = choose_encoder(accept)
        with self._lock:  # of two at once, one would get the values of both
            return (encode(self._registry) if self._registry else b""), media_type

    def close(self) -> None:
        """Send what was counted and stop, within CLOSING_SECONDS."""
        thread = threading.Thread(target=self._provider.shutdown, daemon=True)
        thread.start()
        thread.join(CLOSING_SECONDS)

    def _create(self, instrument: Instrument) -> None:
        name, about = instrument.name, (instrument.unit, instrument.meaning)
        if instrument.kind == "counter":
            self._counters[name] = self._meter.create_counter(name, *about)  # type: ignore[assignment]
        elif instrument.kind == "histogram":
            self._histograms[name] = self._meter.create_histogram(  # type: ignore[assignment]
                name, *about, explicit_bucket_boundaries_advisory=instrument.buckets
            )
        else:
            self._reads[name] = {}
            create = {
                "gauge": self._meter.create_observable_gauge,
                "total": self._meter.create_observable_counter,
            }[instrument.kind]
            create(name, [self._observing(name)], *about)

    def _observing(self, name: str) -> Callable[[CallbackOptions], list[Observation]]:
        def observe(_: CallbackOptions) -> list[Observation]:
            known = KnownValues()  # what is no longer read, such as a version, takes no place
            return [
                Observation(value, known.bound(labels))
                for read in self._reads[name].values()
                for value, labels in read()
            ]

        return observe


_OWN = Path("/proc/self")  # of Linux; elsewhere there is only time


def process_readings() -> Mapping[str, Read]:
    """Return the readings of this process, by instrument."""
    begun = time.monotonic()
    return {
        "process.memory.usage": _memory,
        "process.cpu.time": _processor,
        "process.thread.count": lambda: _entries("task"),
        "process.unix.file_descriptor.count": lambda: _entries("fd"),
        "process.uptime": lambda: [(time.monotonic() - begun, {})],
    }


def _memory() -> list[Reading]:
    with suppress(OSError):
        pages = int((_OWN / "statm").read_text().split()[1])
        return [(pages * resource.getpagesize(), {})]
    return []


def _processor() -> list[Reading]:
    spent = os.times()
    return [(spent.user, {"cpu.mode": "user"}), (spent.system, {"cpu.mode": "system"})]


def _entries(folder: str) -> list[Reading]:
    with suppress(OSError):
        return [(len(os.listdir(_OWN / folder)), {})]
    return []


SEND_SECONDS = 10.0  # for one sending, attempts after a failure included
LOG_SECONDS = 60.0  # between two lines in the log about a collector that does not take them

_EXPORTER = "opentelemetry.exporter.otlp.proto.http.metric_exporter"


class OnceAMinute(logging.Filter):
    """Lets one warning or error through in LOG_SECONDS."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        super().__init__()
        self._clock = clock
        self._next = clock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the log gets a line."""
        if record.levelno < logging.WARNING:
            return True
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + LOG_SECONDS
        return True


def metrics_sender(settings: Settings) -> list[MetricReader]:
    """Return a reader that sends all values where the settings say so; Phoenix takes none.

    A collector that is away costs a line in the log a minute; the values are sent when it is back.
    """
    destination = settings.metrics_destination
    if not destination:
        return []
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    logger = logging.getLogger(_EXPORTER)
    if not any(isinstance(each, OnceAMinute) for each in logger.filters):
        logger.addFilter(OnceAMinute())
    headers = dict(destination.headers)
    exporter = OTLPMetricExporter(destination.url, headers=headers, timeout=SEND_SECONDS)
    milliseconds = settings.otel_metric_export_interval
    return [PeriodicExportingMetricReader(exporter, export_interval_millis=milliseconds)]
