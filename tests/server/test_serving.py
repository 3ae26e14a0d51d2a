"""A server follows the collection: new versions without a restart or a failed request."""

import gc
import os
import shutil
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
import numpy as np
import pytest
from flask.testing import FlaskClient
from numpy.typing import NDArray

from atlas_search.building.maintain import repair
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import CHROMA, KEYWORDS, TOKENS, rollback
from tests.hash_embedder import HashEmbedder
from tests.servers import ATLAS, answers, running, wait_for
from tests.tiny import FARM, build_tiny, live, silent, write_sources

OPEN_FILES = Path("/proc/self/fd")
QUESTION = "Who gives wool?"


class GatedEmbedder(HashEmbedder):
    """Holds up every question once it is told to, until the gate is open again."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()
        self.waiting = threading.Semaphore(0)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        if text == QUESTION:
            self.waiting.release()
            assert self.gate.wait(30)
        return super().embed_query(text)


@pytest.fixture
def folder(own_stores: Path) -> Path:
    """A collection of three documents."""
    return own_stores / "farm"


@pytest.fixture
def gated() -> GatedEmbedder:
    return GatedEmbedder()


@pytest.fixture
def serving(folder: Path, gated: GatedEmbedder) -> Iterator[Serving]:
    settings = Settings(chroma_persist_directory=folder.parent, chroma_collection_name=folder.name)
    served = Serving(settings, gated)
    yield served
    served.close()


@pytest.fixture
def client(serving: Serving) -> FlaskClient:
    return create_app(ServedCollections(serving)).test_client()


def publish(folder: Path, files: dict[str, str], *, model: str = "hash", **how: bool) -> None:
    """Build a version of the farm with further `files`, or with other texts in some."""
    source = write_sources(folder.with_name("source"), FARM | files)
    build_tiny(source, folder, HashEmbedder(model), **how)


def results(client: FlaskClient, question: str = QUESTION) -> set[str]:
    """The documents that answer a question."""
    response = client.post("/api/search", json={"question": question})
    assert response.status_code == 200, response.get_json()
    return {passage["document_id"] for passage in response.get_json()["passages"]}


@contextmanager
def visited(client: FlaskClient) -> Iterator[None]:
    """Threads search and read all through the block, and each gets its answer every time."""
    left = threading.Event()

    def visit() -> int:
        mine, visits = client.application.test_client(), 0
        while not left.is_set():
            assert "farm.sheep" in results(mine)
            assert mine.get("/api/documents/farm.sheep").status_code == 200
            visits += 1
        return visits

    with ThreadPoolExecutor(3) as executor:
        visitors = [executor.submit(visit) for _ in range(3)]
        try:
            yield
        finally:
            left.set()
        assert all(visitor.result() for visitor in visitors)


@pytest.mark.thorough
def test_no_request_fails_while_versions_go_live(
    folder: Path, serving: Serving, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atlas_search.server.serving.CHECK_SECONDS", 0.05)
    serving.follow()
    with visited(client):
        for day in range(3):
            publish(folder, {f"town/day{day}.txt": f"The news of day {day} is rain."})

            def is_served(day: int = day) -> bool | None:
                response = client.get(f"/api/documents/town.day{day}")
                return response.status_code == 200 or None

            wait_for(is_served, 60, "the new version")
            assert client.get(f"/api/documents/town.day{day - 1}").status_code == 404
            assert f"town.day{day}" in results(client, "What is the news of the day?")
    assert serving().services.store.manifest == Manifest.read(folder)
    assert client.get("/api/health").get_json()["status"] == "ok"


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="what is open is read from /proc")
def test_versions_that_are_no_longer_served_are_released(
    folder: Path, serving: Serving, client: FlaskClient
) -> None:
    stores = []
    with visited(client):
        for day in range(3):
            stores.append(weakref.ref(serving().services.store))
            publish(folder, {f"town/day{day}.txt": "Rain."})
            serving.refresh()
    gc.collect()
    assert [store() for store in stores] == [None] * 3
    mapped = OPEN_FILES.with_name("maps").read_text().splitlines()
    opened = [*map(_target, OPEN_FILES.iterdir()), *(line.split(maxsplit=5)[-1] for line in mapped)]
    of_versions = {path.split("/")[0] for path in _below(opened, folder)}
    assert of_versions == {serving().services.store.manifest.version}


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except FileNotFoundError:  # the listing's own
        return ""


def _below(paths: list[str], folder: Path) -> list[str]:
    return [path.removeprefix(f"{folder}/") for path in paths if path.startswith(f"{folder}/")]


def test_a_request_that_began_on_one_version_ends_on_it(
    folder: Path, serving: Serving, client: FlaskClient, gated: GatedEmbedder
) -> None:
    gated.gate.clear()
    with ThreadPoolExecutor(2) as executor:
        searching = executor.submit(results, client.application.test_client())
        reading = executor.submit(stream, client.application.test_client())
        for _ in range(2):
            assert gated.waiting.acquire(timeout=30)
        for text in ("Sheep eat grass.", "Sheep sleep."):
            publish(folder, {"farm/sheep.md": text, "town/trade.txt": text})
            serving.refresh()
        assert client.get("/api/documents/farm.sheep").get_json()["text"] == "Sheep sleep."
        gated.gate.set()
        assert searching.result() == {"farm.sheep", "farm.cows", "town.trade"}
        events = reading.result()
    assert "event: complete" in events
    assert "Sheep give wool." in events
    assert "sleep" not in events


def stream(client: FlaskClient) -> str:
    response = client.post("/api/ask/stream", json={"question": QUESTION})
    assert response.status_code == 200
    return response.get_data(as_text=True)


def other_model(folder: Path) -> None:
    publish(folder, {}, model="other")


def no_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")


def no_words(folder: Path) -> None:
    publish(folder, {}, force=True)
    shutil.rmtree(live(folder) / TOKENS)


def no_vectors(folder: Path) -> None:
    publish(folder, {}, force=True)
    (live(folder) / CHROMA / "chroma.sqlite3").write_bytes(b"no database")


def words_of_other_documents(folder: Path) -> None:
    publish(folder, {}, force=True)
    path = live(folder) / TOKENS / "document_of.npy"
    np.save(path, np.load(path) + 1000)


def keywords_of_nothing(folder: Path) -> None:
    publish(folder, {}, force=True)
    shutil.copy(live(folder) / KEYWORDS / ".managed.json", live(folder) / KEYWORDS / "meta.json")


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (other_model, "was built with other"),
        (no_manifest, "is not valid JSON"),
        (no_words, "tokens/context_of.npy cannot be read"),
        (no_vectors, "chroma has"),
        (words_of_other_documents, "out of bounds"),
        (keywords_of_nothing, "keywords has"),
    ],
)
def test_a_version_that_cannot_be_served_leaves_the_one_before(
    folder: Path,
    serving: Serving,
    client: FlaskClient,
    fault: Callable[[Path], None],
    problem: str,
) -> None:
    served = serving().services.store.manifest.version
    fault(folder)
    serving.refresh()
    health = client.get("/api/health").get_json()
    assert health["status"] == "degraded"
    assert problem in health["problem"]
    assert serving().services.store.manifest.version == served
    assert "farm.sheep" in results(client)
    if fault is no_manifest:  # no build takes the place of versions that nothing names
        repair(folder, HashEmbedder(), silent)
    publish(folder, {"town/new.txt": "A ship came in."}, force=True)
    serving.refresh()
    health = client.get("/api/health").get_json()
    assert (health["status"], health["problem"], health["documents"]) == ("ok", "", 4)
    assert "town.new" in results(client, "Which ship came in?")


@pytest.mark.thorough
def test_a_version_is_served_while_any_number_of_others_cannot_be(
    folder: Path, serving: Serving, client: FlaskClient
) -> None:
    for model in ("other", "another", "yet another"):
        publish(folder, {}, model=model)
        serving.refresh()
    barrier = threading.Barrier(12)

    def together(_: int) -> None:
        mine = client.application.test_client()
        barrier.wait(30)
        for _ in range(20):
            assert "farm.sheep" in results(mine)

    # for so many at once, Chroma opens its file again
    with ThreadPoolExecutor(12) as executor:
        list(executor.map(together, range(12)))
    assert client.get("/api/health").get_json()["status"] == "degraded"


def test_a_rollback_is_followed_too(folder: Path, serving: Serving, client: FlaskClient) -> None:
    publish(folder, {"town/new.txt": "A ship came in."})
    serving.refresh()
    rollback(folder)
    serving.refresh()
    assert client.get("/api/documents/town.new").status_code == 404
    assert "farm.sheep" in results(client)


def test_without_a_manifest_the_version_goes_on_being_served(
    folder: Path, serving: Serving, client: FlaskClient
) -> None:
    (folder / "manifest.json").unlink()
    serving.refresh()
    assert "farm.sheep" in results(client)


@pytest.mark.thorough
def test_a_running_server_serves_a_new_build(tmp_path: Path, embedder: LocalEmbedder) -> None:
    source = write_sources(tmp_path / "source", FARM)
    build_tiny(source, tmp_path / "kept", embedder)
    environment = {
        "CHROMA_PERSIST_DIRECTORY": str(tmp_path),
        "CHROMA_COLLECTION_NAME": "kept",
        "ATLAS_PORT": "0",
    }
    with running(*ATLAS, "serve", environment=environment, folder=tmp_path) as server:
        address = server.address("Atlas")
        write_sources(source, FARM | {"sea/ship.txt": "A ship came in."})
        with ThreadPoolExecutor(1) as executor:
            building = executor.submit(build_tiny, source, tmp_path / "kept", embedder)

            def sea() -> bool | None:
                body = {"question": "Who gives wool?"}
                search = httpx2.post(f"{address}/api/search", json=body, timeout=30)
                assert search.is_success
                corpora = httpx2.get(f"{address}/api/corpora", timeout=30).raise_for_status().json()
                return "sea" in {corpus["id"] for corpus in corpora["corpora"]} or None

            wait_for(sea, 60, "the new corpus")
            building.result()
        assert answers(f"{address}/api/documents/sea.ship")
        health = httpx2.get(f"{address}/api/health", timeout=30).json()
        assert (health["status"], health["documents"]) == ("ok", 4)
