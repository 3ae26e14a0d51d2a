"""`/api/live`, `/api/ready` and `/api/health` tell who watches the server of each fault."""

import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import numpy as np
import pytest
from flask.testing import FlaskClient
from numpy.typing import NDArray
from werkzeug.test import TestResponse

from atlas_search.building.go_live import Indexing
from atlas_search.core.errors import ConfigurationError, EmbeddingUnavailable
from atlas_search.core.settings import Settings
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from atlas_search.stores.manifest import Manifest
from tests.chat_server import KEY, ChatServer
from tests.conftest import free_port
from tests.hash_embedder import HashEmbedder
from tests.openai_server import openai_server
from tests.server.listening import WHOLE, connected, listening
from tests.servers import OK_HEAD, endless, wait_for
from tests.stores.leaving import leaving
from tests.tiny import FARM, build_tiny, write_sources

WRITER = "LLM_PROVIDER=openai\nLLM_MODEL=gpt-4o-mini\n"


class Away(HashEmbedder):
    """A provider of vectors that does not answer once it is `away`; `questions` counts."""

    away = False
    questions = 0

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.questions += 1
        if self.away:
            raise EmbeddingUnavailable("The provider of vectors does not answer. Try again.")
        return super().embed_query(text)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([HashEmbedder.embed_query(self, text) for text in texts])


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with openai_server() as server:
        yield server


@pytest.fixture
def own(own_stores: Path, tmp_path: Path) -> Settings:
    """A small collection, and a folder of targets with one that quotes."""
    (tmp_path / "targets").mkdir()
    (tmp_path / "targets" / "mine.txt").write_text("")
    return Settings(
        chroma_persist_directory=own_stores,
        chroma_collection_name="farm",
        targets_directory=tmp_path / "targets",
        test_target="mine",
    )


@contextmanager
def serving(settings: Settings, embedder: HashEmbedder | None = None) -> Iterator[FlaskClient]:
    served = Serving(settings, embedder or HashEmbedder())
    app = create_app(ServedCollections(served))
    try:
        yield app.test_client()
    finally:
        app.extensions["runs"].close()
        served.close()


def write_with(settings: Settings, more: str = "", **changes: object) -> Settings:
    """The settings with a language model as the writer."""
    (settings.targets_directory / "mine.txt").write_text(WRITER + more)
    return settings.model_copy(update=changes)


def states(client: FlaskClient) -> dict[str, str]:
    parts = client.get("/api/health").get_json()["parts"]
    return {name: part["status"] for name, part in parts.items()}


def readiness(client: FlaskClient) -> TestResponse:
    """The answer of /api/ready once every provider has answered."""

    def look() -> TestResponse | None:
        response = client.get("/api/ready")
        return None if "not answered yet" in response.get_data(as_text=True) else response

    return wait_for(look, 60, "the providers' state")


def test_a_server_that_is_well_lives_is_ready_and_says_how_its_parts_are(own: Settings) -> None:
    with serving(own) as client:
        assert client.get("/api/live").get_json() == {"status": "ok"}
        ready = client.get("/api/ready")
        assert (ready.status_code, ready.get_json()["status"]) == (200, "ready")
        health = client.get("/api/health").get_json()
        assert (health["status"], health["problem"], health["documents"]) == ("ok", "", 3)
        assert states(client) == {
            "store": "ok",
            "keys": "note",
            "embedder": "ok",
            "tracing": "note",
            "state": "ok",
            "provider.extractive": "ok",
        }
        assert health["parts"]["embedder"]["detail"] == "hash"
        assert "PHOENIX_COLLECTOR_ENDPOINT" in health["parts"]["tracing"]["detail"]


def test_without_its_store_a_server_lives_but_is_not_ready(own: Settings) -> None:
    with serving(own) as client:
        shutil.rmtree(own.collection_folder)
        ready = client.get("/api/ready")
        assert (ready.status_code, ready.mimetype) == (503, "application/problem+json")
        assert ready.get_json()["type"] == "urn:atlas:problem:damaged-store"
        assert "atlas create" in ready.get_json()["detail"]
        assert client.get("/api/live").status_code == 200
        health = client.get("/api/health")
        assert (health.status_code, health.get_json()["status"]) == (200, "degraded")
        assert "is gone" in health.get_json()["problem"]
        assert states(client)["store"] == "fault"


def test_without_its_engine_a_server_is_not_ready(tmp_path: Path) -> None:
    folder = tmp_path / "stores" / "c"
    source = write_sources(tmp_path / "source", FARM)
    build_tiny(source, folder, HashEmbedder(), indexing=Indexing(engine="qdrant"))
    settings = Settings(chroma_persist_directory=folder.parent, chroma_collection_name="c")
    with ExitStack() as opened:
        with leaving(Manifest.read(folder).passages) as address:
            away = settings.model_copy(update={"qdrant_url": address})
            client = opened.enter_context(serving(away))
        ready = readiness(client)
        assert (ready.status_code, ready.get_json()["title"]) == (503, "Engine Unavailable")
        assert "cannot be reached" in ready.get_json()["detail"]
        assert states(client)["store"] == "fault"


def test_a_version_that_is_not_served_leaves_the_server_ready(own: Settings) -> None:
    """The version before goes on answering, so that nobody need be sent elsewhere."""
    served = Serving(own, HashEmbedder())
    app = create_app(ServedCollections(served))
    source = write_sources(own.chroma_persist_directory.parent / "source", FARM)
    build_tiny(source, own.collection_folder, HashEmbedder("x"))
    served.refresh()
    client = app.test_client()
    assert client.get("/api/ready").status_code == 200
    assert "was built with x" in client.get("/api/health").get_json()["problem"]
    assert states(client)["store"] == "fault"
    app.extensions["runs"].close()
    served.close()


def test_a_writer_that_cannot_be_used_makes_the_server_unready(
    own: Settings, model: ChatServer
) -> None:
    away = f"http://127.0.0.1:{free_port()}/v1"
    with serving(write_with(own, openai_base_url=away)) as client:
        ready = readiness(client)
        assert (ready.status_code, ready.get_json()["title"]) == (503, "Model Unavailable")
        assert away in ready.get_json()["detail"]
        assert states(client)["provider.openai"] == "fault"
        assert client.get("/api/live").status_code == 200
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"), serving(write_with(own)):
        pass
    reached = {"openai_base_url": model.address, "openai_api_key": KEY}
    settings = Settings(**(write_with(own).model_dump() | reached))
    with serving(settings) as client:
        assert readiness(client).status_code == 200
        assert states(client)["provider.openai"] == "ok"


def test_with_a_fallback_it_answers_without_its_writer(own: Settings) -> None:
    with serving(write_with(own, "LLM_FALLBACK=extractive\n")) as client:
        assert client.get("/api/ready").status_code == 200
        assert client.get("/api/health").get_json()["status"] == "degraded"


def test_questions_that_cannot_be_embedded_make_it_unready(own: Settings) -> None:
    embedder = Away()
    with serving(own, embedder) as client:
        embedder.away = True
        ready = readiness(client)
        assert (ready.status_code, ready.get_json()["title"]) == (503, "Embedding Unavailable")
        assert states(client)["embedder"] == "fault"
        questions = embedder.questions
        for _ in range(5):
            client.get("/api/ready")
            client.get("/api/health")
        assert embedder.questions == questions  # monitors do not use up the provider's requests


def test_a_phoenix_that_is_away_is_a_note_for_answers_go_on(own: Settings) -> None:
    away = f"http://127.0.0.1:{free_port()}"
    with serving(own.model_copy(update={"phoenix_collector_endpoint": away})) as client:
        health = client.get("/api/health").get_json()
        assert health["status"] == "ok"
        assert health["parts"]["tracing"]["status"] == "note"
        assert f"{away} does not answer" in health["parts"]["tracing"]["detail"]
        assert client.get("/api/ready").status_code == 200


@pytest.mark.thorough
@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nX-A: ", OK_HEAD])
def test_a_phoenix_that_drips_keeps_nobody_waiting(own: Settings, head: bytes) -> None:
    """A hundred who ask for health without a key take no thread from others."""
    with endless(head, b" ", 0.5) as phoenix:
        served = Serving(
            own.model_copy(update={"phoenix_collector_endpoint": phoenix.address}), HashEmbedder()
        )
        app = create_app(ServedCollections(served))
        with listening(app, per_address=200) as address, connected(address, 100, WHOLE) as asking:
            began = time.monotonic()
            url = f"http://{address[0]}:{address[1]}"
            with httpx2.Client(timeout=20, base_url=url) as client:
                for path in ("/api/live", "/", "/api/health"):
                    assert client.get(path).is_success
                assert client.post("/api/search", json={"question": "wool"}).is_success
            assert time.monotonic() - began < 2
            assert {each.recv(12) for each in asking} == {b"HTTP/1.1 200"}
            assert time.monotonic() - began < 4
        checks = [each for each in threading.enumerate() if each.name == "check"]
        assert len(checks) <= 1
        app.extensions["runs"].close()
        served.close()
