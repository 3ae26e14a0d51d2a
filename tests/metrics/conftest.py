"""A collection of two corpora with counts of its own, and a server of it."""

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.core.telemetry.metrics import Metrics
from tests.access.two_corpora import two_corpora
from tests.hash_embedder import HashEmbedder
from tests.metrics.scraped import client_of, with_metrics


@pytest.fixture(scope="package")
def parish(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    with two_corpora(tmp_path_factory.mktemp("parish"), HashEmbedder()) as opened:
        yield opened


@pytest.fixture
def metrics() -> Iterator[Metrics]:
    made = Metrics()
    yield made
    made.close()


@pytest.fixture
def atlas(parish: Atlas, metrics: Metrics) -> Atlas:
    return with_metrics(parish, metrics)


@pytest.fixture
def client(atlas: Atlas) -> FlaskClient:
    return client_of(atlas)
