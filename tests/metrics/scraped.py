"""Reading `/metrics` as Prometheus does."""

from dataclasses import replace
from typing import Any

from flask.testing import FlaskClient
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from werkzeug.test import TestResponse

from atlas_search import Atlas
from atlas_search.answer.cache import AnswerCache
from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.server.app import create_app

Sample = tuple[str, frozenset[tuple[str, str]]]


def with_metrics(atlas: Atlas, metrics: Metrics) -> Atlas:
    """The same collection with counts, and kept answers, of its own."""
    services = atlas.services
    searcher = replace(services.searcher, metrics=metrics)
    cache = AnswerCache(64, 300)
    answerer = replace(services.answerer, searcher=searcher, cache=cache)
    return Atlas(replace(services, answerer=answerer))


class Patient(FlaskClient):
    """Takes the whole of a response before it goes on, as the server that sends it does."""

    def open(self, *args: Any, buffered: bool = True, **kwargs: Any) -> TestResponse:
        return super().open(*args, buffered=buffered, **kwargs)


def client_of(atlas: Atlas, **options: Any) -> FlaskClient:
    """A client of a server of the collection."""
    app = create_app(lambda: atlas, **options)
    app.test_client_class = Patient
    return app.test_client()


class Scrape:
    """All values of one reading."""

    def __init__(self, text: str):
        self.families: dict[str, Metric] = {
            family.name: family for family in text_string_to_metric_families(text)
        }
        self._values: dict[Sample, float] = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in self.families.values()
            for sample in family.samples
        }

    def value(self, name: str, /, **labels: str) -> float:
        """The sum of the samples of a name that have these labels; a dot is written `__`."""
        wanted = {(key.replace("__", "_"), value) for key, value in labels.items()}
        return sum(
            value
            for (sample, found), value in self._values.items()
            if sample == name and wanted <= found
        )

    def labels(self, name: str) -> list[dict[str, str]]:
        """The labels of every sample of a name."""
        return [dict(found) for sample, found in self._values if sample == name]


def scrape(client: FlaskClient, **headers: str) -> Scrape:
    """What `/metrics` says now."""
    response = client.get("/metrics", headers=headers)
    assert response.status_code == 200, response.text
    return Scrape(response.text)
