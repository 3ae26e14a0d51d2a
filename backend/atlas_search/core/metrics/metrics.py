"""Counting, and reading what was counted."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import Resource

from atlas_search.core.metrics.instruments import INSTRUMENTS, Instrument
from atlas_search.core.metrics.labels import KnownValues, Labels
from atlas_search.core.version import __version__

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

CLOSING_SECONDS = 2.0  # without a bound it takes 10 s when the collector is gone

Reading = tuple[float, Labels]
Read = Callable[[], Iterable[Reading]]
"""Gives the present values of a gauge or a total, each with its labels."""


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
        self._read: dict[str, dict[str, Read]] = {}
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

        What the same `source` gave before is asked no more.
        """
        for name, read in readings.items():
            self._read[name] = {**self._read[name], source: read}

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
        """All values as Prometheus reads them, and the media type, by the header `Accept`.

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
            self._read[name] = {}
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
                for read in self._read[name].values()
                for value, labels in read()
            ]

        return observe
