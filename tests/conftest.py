"""Real parts for every test: the real model, and a collection built from the bundled samples."""

import os
import pickle
import shutil
import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from flask.testing import FlaskClient
from hypothesis import HealthCheck, settings

from atlas_search.atlas import Atlas
from atlas_search.building.chunking import chunking
from atlas_search.building.document_ids import FoundDocument, place
from atlas_search.building.flow import BuildOptions, BuildReport, build
from atlas_search.building.prepare import Preparation, prepare
from atlas_search.building.sources import by_mapping
from atlas_search.core.domain import Document
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import DEFAULT_MODEL
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.readers.files import files_reader
from atlas_search.search.request import SearchPlan
from atlas_search.services import Services, open_services
from atlas_search.stores import embedded
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.staged import StagedDocument
from tests.known_schemas import known_schemas
from tests.places import ROOT
from tests.servers import ATLAS, PHOENIX, START_SECONDS, answers, app_of, running, served, wait_for
from tests.tiny import HNSW
from tests.workers import Together, turn

SAMPLES = ROOT / "create" / "samples"
MAPPING = SAMPLES / "corpora.toml"
TODAY = date(2026, 1, 1)


# How long an example takes says what else the machine does.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

IN_MEMORY = Path("/dev/shm")
ROOM = 10_000_000_000  # bytes; all files of a run take half of that, an installed clone included


def pytest_configure(config: pytest.Config) -> None:
    """Temporary files are kept in memory where there is room: a build waits as long for the disk
    as it works."""
    if IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if min(shutil.disk_usage(IN_MEMORY).free, memory / 2) > ROOM:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest begin first."""
    items.sort(key=lambda item: turn(item.nodeid))


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, which may be switched off
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together | None:
    """`--dist loadfile` keeps together what shares more than a file too."""
    return Together(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores opened in the test ask the index, however small their corpora are."""
    monkeypatch.setattr(embedded, "EXACT_UP_TO", 0)


@pytest.fixture(scope="session", autouse=True)
def _own_environment(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No `.env` and no setting of the developer's machine reaches a test. Models are exported once
    for all."""
    patch = pytest.MonkeyPatch()
    for name in Settings.model_fields:
        patch.delenv(name.upper(), raising=False)
    patch.setenv("ATLAS_MODEL_DIRECTORY", str(shared / "models"))
    patch.chdir(tmp_path_factory.mktemp("working"))
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def _known_schemas() -> Iterator[None]:
    with known_schemas():
        yield


@pytest.fixture(scope="session")
def embedder(shared: Path) -> LocalEmbedder:
    return LocalEmbedder(DEFAULT_MODEL, runtime="onnxruntime", exports=shared / "models")


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that every worker of this run has."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def stores(shared: Path) -> Path:
    folder = shared / "stores"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def demo(shared: Path, stores: Path, embedder: LocalEmbedder) -> BuildReport:
    """The bundled collection, built for real by the first worker that wants it."""
    kept = shared / "demo.pickle"
    with FileLock(shared / "demo.lock"):
        if not kept.exists():
            kept.write_bytes(pickle.dumps(build_demo(stores, embedder)))
    found: BuildReport = pickle.loads(kept.read_bytes())
    return found


def build_demo(stores: Path, embedder: LocalEmbedder) -> BuildReport:
    """Build the bundled collection below `stores`."""
    reader = files_reader()
    sources = by_mapping(SAMPLES, MAPPING, reader.suffixes, "")
    options = BuildOptions("atlas_demo", "files", indexing=HNSW)
    return build(stores / "atlas_demo", sources, reader, embedder, options, lambda *_: None)


@pytest.fixture(scope="session")
def settings(stores: Path, demo: BuildReport, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    # without kept answers: one test would hand them to another
    return Settings(
        chroma_persist_directory=stores,
        chroma_collection_name="atlas_demo",
        query_cache_enabled=False,
        atlas_state_directory=tmp_path_factory.mktemp("state"),
    )


@pytest.fixture(scope="session")
def services(settings: Settings, embedder: LocalEmbedder) -> Iterator[Services]:
    opened = open_services(settings, embedder)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def store(services: Services) -> EmbeddedStore:
    assert isinstance(services.store, EmbeddedStore)
    return services.store


@pytest.fixture(scope="session")
def atlas(services: Services) -> Atlas:
    return Atlas(services)


@pytest.fixture(scope="session")
def address(atlas: Atlas) -> Iterator[str]:
    with served(app_of(atlas)) as address:
        yield address


@pytest.fixture(scope="session")
def client(atlas: Atlas) -> FlaskClient:
    return app_of(atlas).test_client()


@pytest.fixture
def waits() -> list[float]:
    """The seconds that a client would have waited between its tries."""
    return []


def sample_documents() -> list[Document]:
    """The bundled documents with their ids, read without building anything."""
    reader = files_reader()
    preparation = Preparation("files", reader, chunking(splitter="whole"), lambda _: [], "")
    documents = [
        prepared
        for file in by_mapping(SAMPLES, MAPPING, reader.suffixes, "").files
        for prepared in prepare(preparation, file)
        if isinstance(prepared, StagedDocument)
    ]
    layout = place(
        FoundDocument(d.document.corpus, d.document.source, d.provenance, False, index)
        for index, d in enumerate(documents)
    )
    return [replace(documents[p.found.number].document, id=p.id) for p in layout]


def request_for(services: Services, question: str, **changes: object) -> SearchPlan:
    """A request to every corpus, with some fields changed."""
    fields: dict[str, object] = {
        "question": question,
        "corpora": services.default_corpora,
        "every_corpus": True,
        "limit": 10,
        "today": TODAY,
    }
    return SearchPlan(**(fields | changes))  # type: ignore[arg-type]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def require(part: str, *, present: bool, remedy: str) -> None:
    """Skip for want of `part`, or fail if REQUIRE names it."""
    if present:
        return
    if part in os.environ.get("REQUIRE", "").split(","):
        pytest.fail(f"REQUIRE names {part}, but {remedy}", pytrace=False)
    pytest.skip(remedy)


@pytest.fixture(scope="session")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Phoenix process; its address."""
    require("phoenix", present=PHOENIX.exists(), remedy="`make phoenix-venv` has not run")
    folder = tmp_path_factory.mktemp("phoenix")
    environment = {"PHOENIX_PORT": str(free_port()), "PHOENIX_WORKING_DIR": str(folder)}
    command = (*ATLAS, "phoenix", "--phoenix-executable", PHOENIX)
    with running(*command, environment=environment, folder=folder) as server:
        address = server.address("Phoenix")
        wait_for(lambda: answers(f"{address}/healthz"), START_SECONDS, "Phoenix")
        yield address


@pytest.fixture(scope="session")
def server(stores: Path, demo: BuildReport, phoenix: str, tmp_path_factory) -> Iterator[str]:
    """A real server of the bundled collection that traces to the real Phoenix; its address."""
    environment = {
        "CHROMA_PERSIST_DIRECTORY": str(stores),
        "CHROMA_COLLECTION_NAME": demo.manifest.collection,
        "ATLAS_PORT": "0",
        "PHOENIX_COLLECTOR_ENDPOINT": phoenix,
        "PHOENIX_PROJECT_NAME": "atlas-test",
        "QUERY_CACHE_ENABLED": "0",
        "OTEL_BSP_SCHEDULE_DELAY": "200",  # ms between two batches; the default is 5 s
    }
    folder = tmp_path_factory.mktemp("server")
    with running(*ATLAS, "serve", environment=environment, folder=folder) as started:
        yield started.address("Atlas")
