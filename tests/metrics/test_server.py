"""Counts of the server around the application: its connections, its collections, its process."""

import gc
import json
import signal
import threading
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from atlas_search.core.settings import Settings
from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.limits import networks
from atlas_search.server.metrics import observe_listener
from atlas_search.server.sockets import BoundPort, ConnectionLimits
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import settings_for
from tests.listening import WHOLE, connected, rest
from tests.metrics.scraped import Scrape, scrape
from tests.servers import ATLAS, running
from tests.tiny import FARM, build_tiny, write_sources
from tests.without_model import settings_without_model

NAMES = ("farm", "sea", "wood")


def test_connections_are_told_and_those_refused(metrics: Metrics) -> None:
    go, inside = threading.Event(), threading.Semaphore(0)

    def app(_: dict[str, Any], start: Callable[..., object]) -> Iterable[bytes]:
        inside.release()
        assert go.wait(30)
        start("200 OK", [])
        return [b"ok"]

    metrics.expose()
    limits = ConnectionLimits(400, 2, networks(""))
    listener = BoundPort(app, "127.0.0.1", 0, threads=8, max_body=1024, limits=limits)
    observe_listener(metrics, listener)
    thread = threading.Thread(target=listener.run, daemon=True)
    thread.start()
    address = ("127.0.0.1", listener.port)
    search = WHOLE.replace(b"/api/health", b"/api/search")
    with connected(address, 2, search), connected(address, 1, search) as [third]:
        assert inside.acquire(timeout=30)
        assert inside.acquire(timeout=30)
        assert b"503 Service Unavailable" in rest(third)
        now = Scrape(metrics.scrape("")[0].decode())
        go.set()
    assert now.value("atlas_connections") == 2
    assert now.value("atlas_queue_size", queue="requests", state="running") == 2
    assert now.value("atlas_requests_refused_total", reason="connections") == 1
    assert now.value("atlas_requests_refused_total", reason="threads") == 0
    listener.stop()
    thread.join(60)
    listener.close()


@pytest.fixture
def several(tmp_path: Path) -> Settings:
    for name in NAMES:
        files = {f"{name}/text.txt": f"Of {name} the parish knows.\n"}
        build_tiny(
            write_sources(tmp_path / "sources" / name, files),
            tmp_path / "stores" / name,
            HashEmbedder(),
        )
    return settings_for(tmp_path, collections="*", collections_open=1)


def test_of_several_collections_those_in_memory_are_told(several: Settings) -> None:
    served = ServedCollections(several, HashEmbedder())
    client = create_app(served).test_client()

    def told() -> set[str]:
        now = scrape(client)
        return {labels["collection"] for labels in now.labels("atlas_store_documents")}

    assert told() == {"farm"}
    client.post("/api/search", json={"question": "parish", "collection": "sea"})
    assert told() == {"farm", "sea"}
    sea = weakref.ref(served("sea").services.store)
    client.post("/api/search", json={"question": "parish", "collection": "wood"})
    assert told() == {"farm", "wood"}  # to be told of did not keep it open
    gc.collect()
    assert sea() is None
    served.close()


def test_the_version_that_is_told_is_the_one_that_is_served(tmp_path: Path) -> None:
    stores = tmp_path / "stores"
    build_tiny(write_sources(tmp_path / "source", FARM), stores / "farm", HashEmbedder())
    served = ServedCollections(settings_for(tmp_path), HashEmbedder())
    client = create_app(served).test_client()
    before = scrape(client)
    old = weakref.ref(served().services.store)
    more = FARM | {"farm/bees.txt": "Bees give honey.\n"}
    build_tiny(write_sources(tmp_path / "source", more), stores / "farm", HashEmbedder())
    served.refresh("farm")
    now = scrape(client)
    assert before.value("atlas_store_documents") == 3
    assert now.value("atlas_store_documents") == 4
    versions = [each["version"] for each in now.labels("atlas_store_version")]
    assert versions == [served().services.store.manifest.version]
    gc.collect()
    assert old() is None
    served.close()


def test_a_process_serves_its_counts_and_logs_in_json(tmp_path: Path) -> None:
    with settings_without_model(tmp_path) as settings:
        environment = {**settings, "ATLAS_LOG_FORMAT": "json"}
        with running(*ATLAS, "serve", environment=environment, folder=tmp_path) as server:
            address = server.address("Atlas")
            body = {"question": "What do sheep give?"}
            assert httpx2.post(f"{address}/api/ask", json=body, timeout=60).is_success
            found = Scrape(httpx2.get(f"{address}/metrics", timeout=60).text)
            assert server.stop(signal.SIGINT) == 0
            logged = [json.loads(line) for line in server.lines if line.startswith("{")]
    assert found.value("atlas_answers_total") == 1
    assert found.value("atlas_connections") >= 1
    assert "Stopping." in [line["message"] for line in logged]
    others = [line for line in server.lines if not line.startswith("{")]
    assert all(line.startswith("Atlas is at") for line in others), others
