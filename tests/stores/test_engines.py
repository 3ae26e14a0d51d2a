"""One contract for every engine, whether a version was written whole or shares its files."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import qdrant_client

from atlas_search.building.go_live import Indexing
from atlas_search.building.maintain import compact, drop, repair
from atlas_search.building.write import write_missing
from atlas_search.core import registry
from atlas_search.core.errors import (
    ConfigurationError,
    DamagedStore,
    EngineUnavailable,
    MissingLibrary,
)
from atlas_search.core.settings import Settings
from atlas_search.stores import qdrant
from atlas_search.stores.manifest import Engine, Manifest
from atlas_search.stores.order import Order
from atlas_search.stores.qdrant import FOLDER, QdrantPlace, open_store
from atlas_search.stores.store import Store
from atlas_search.stores.verify import verify
from atlas_search.stores.versions import CHROMA, KEYWORDS, ORDER, rollback, versions
from atlas_search.testing import StoreContract
from tests.building.all_of import all_of
from tests.building.damage import problems, share_files
from tests.hash_embedder import HashEmbedder
from tests.servers import Handler, listening
from tests.stores.leaving import leaving
from tests.tiny import build_tiny, live, silent, write_sources

# of its memory, which has no index
pytestmark = pytest.mark.filterwarnings(
    "ignore:Payload indexes have no effect", "ignore:Local mode performs"
)
ANIMALS = "sheep cow goat horse hen goose bee cat dog hare".split()
GOODS = "wool milk cheese cloth honey salt tin wine".split()
SERVER = "http://qdrant.test:6333"


def text(number: int) -> str:
    return "\n\n".join(
        f"The {ANIMALS[(number + at) % 10]} of farm {number % 7} gives {GOODS[(number * at) % 8]}. "
        f"Merchants in town {at} sell {GOODS[at % 8]} of the {ANIMALS[at % 10]} again."
        for at in range(5)
    )


SOURCES = {f"{corpus}/{n:02}.txt": text(n) for corpus in ("hill", "sea") for n in range(14)}
CHANGED = {name: text for name, text in SOURCES.items() if "3" not in name} | {
    "hill/90.txt": text(90) + "\n\nNobody sells amber.",
    "sea/01.txt": text(77),
    "plain/1.txt": text(5),
}


@pytest.fixture(scope="module")
def memory() -> Iterator[qdrant_client.QdrantClient]:
    """The client that the server would be asked by, working on this process' memory."""
    client = qdrant_client.QdrantClient(":memory:")
    closes, client.close = client.close, lambda: None  # type: ignore[method-assign]
    with pytest.MonkeyPatch.context() as patch:
        if "QDRANT_URL" not in os.environ:
            patch.setattr(qdrant, "_client", lambda _: client)
        yield client
    closes()


def place(folder: Path, kind: str) -> QdrantPlace:
    url = os.environ.get("QDRANT_URL", SERVER) if kind == "server" else ""
    return QdrantPlace(folder, url, os.environ.get("QDRANT_API_KEY", ""))


def engine_of(kind: str) -> Engine:
    return "embedded" if kind == "embedded" else "qdrant"


def build(root: Path, kind: str, *, is_changed: bool) -> Path:
    folder = root / "c"
    indexing = Indexing("hnsw", engine_of(kind), place(folder, kind))
    for files in (SOURCES, CHANGED) if is_changed else (SOURCES,):
        source = write_sources(root / "sources", files)
        build_tiny(source, folder, HashEmbedder(), indexing=indexing, size=120, overlap=0)
    assert (Order.read(live(folder) / ORDER) is not None) == is_changed
    return folder


KINDS = ("embedded", "process", "server")


@pytest.fixture(autouse=True, scope="module")
def _sharing(memory: object) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        share_files(patch)
        yield


@pytest.fixture(
    scope="module",
    params=[(kind, changed) for kind in KINDS for changed in (False, True)],
    ids=lambda of: f"{of[0]}-{'shared' if of[1] else 'whole'}",
)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, QdrantPlace]:
    kind, is_changed = request.param
    folder = build(tmp_path_factory.mktemp(kind), kind, is_changed=is_changed)
    return folder, place(folder, kind)


@pytest.fixture
def store(built: tuple[Path, QdrantPlace]) -> Iterator[Store]:
    store = open_store(*built)
    yield store
    store.close()


class TestEngines(StoreContract):
    def test_it_is_whole(self, built: tuple[Path, QdrantPlace]) -> None:
        folder, at = built
        assert not [f for f in verify(folder, Manifest.read(folder), at) if f.problem]


def collections(folder: Path) -> set[str]:
    return {path.name for path in (folder / FOLDER).iterdir()}


def used(folder: Path) -> set[str]:
    return {manifest.index.name for manifest in versions(folder)}


def copy(folder: Path, engine: Engine) -> Manifest:
    manifest = compact(folder, HashEmbedder(), silent, Indexing(engine=engine))
    assert manifest is not None
    return manifest


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_copy_in_another_engine_tells_the_same(tmp_path: Path, *, is_changed: bool) -> None:
    folder = build(tmp_path, "embedded", is_changed=is_changed)
    before = all_of(folder)
    assert copy(folder, "qdrant").index.engine == "qdrant"
    assert not {CHROMA, KEYWORDS} & {path.name for path in live(folder).iterdir()}
    assert all_of(folder) == before
    assert compact(folder, HashEmbedder(), silent, Indexing(engine="qdrant")) is None
    assert copy(folder, "embedded").index.engine == "embedded"
    assert all_of(folder) == before
    rollback(folder)
    assert Manifest.read(folder).index.engine == "qdrant"
    assert all_of(folder) == before


def test_a_build_stays_in_the_engine_that_a_collection_has(tmp_path: Path) -> None:
    folder = build(tmp_path, "process", is_changed=False)
    source = write_sources(tmp_path / "sources", CHANGED)
    build_tiny(source, folder, HashEmbedder(), size=120, overlap=0)
    assert Manifest.read(folder).index.engine == "qdrant"
    drop(folder, "sea", HashEmbedder(), silent)
    assert Manifest.read(folder).index.engine == "qdrant"
    assert not problems(folder)


def test_versions_that_share_files_share_a_collection(tmp_path: Path) -> None:
    folder = build(tmp_path, "process", is_changed=True)
    assert len(versions(folder)) == 2
    assert len(used(folder)) == 1
    assert collections(folder) == used(folder)


def test_collections_that_no_version_uses_are_removed(tmp_path: Path) -> None:
    folder = build(tmp_path, "process", is_changed=False)
    left = folder / FOLDER / "c-left-by-a-kill"
    qdrant._note(folder, {**qdrant._noted(folder), left.name: ""})
    left.mkdir()
    for _ in range(3):
        copy(folder, "embedded")
        copy(folder, "qdrant")
        assert collections(folder) == used(folder) - {""}
    assert set(qdrant._noted(folder)) == collections(folder)


@pytest.mark.parametrize("is_changed", [False, True])
def test_files_that_came_from_elsewhere_get_their_collection(
    tmp_path: Path, *, is_changed: bool
) -> None:
    folder = build(tmp_path, "process", is_changed=is_changed)
    before = all_of(folder)
    name = Manifest.read(folder).index.name
    lose(folder / FOLDER / name)
    for _ in range(2):  # the second time it is there
        write_missing(folder, Manifest.read(folder), QdrantPlace(folder), silent)
        assert not problems(folder)
    assert all_of(folder) == before


def cut(folder: Path) -> None:
    """Take passages out of the engine behind the store's back."""
    import qdrant_edge as edge

    shard = edge.EdgeShard.load(str(folder))
    shard.update(edge.UpdateOperation.delete_points([1, 2]))
    shard.flush()
    shard.close()


def lose(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def spoil(folder: Path) -> None:
    for path in folder.rglob("segment.json"):
        path.write_text("{")


@pytest.mark.parametrize("harm", [cut, lose, spoil])
def test_a_damaged_engine_is_an_error_and_written_anew(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    folder = build(tmp_path, "process", is_changed=True)
    before = all_of(folder)
    harm(folder / FOLDER / Manifest.read(folder).index.name)
    with pytest.raises(DamagedStore, match="atlas store repair"):
        open_store(folder)
    assert [problem.partition(":")[0] for problem in problems(folder)] == [FOLDER]
    _, _, embedded = repair(folder, HashEmbedder(), silent)
    assert embedded == 0
    assert not problems(folder)
    assert all_of(folder) == before


@pytest.fixture
def _real_client(monkeypatch: pytest.MonkeyPatch) -> None:
    def client(place: QdrantPlace) -> qdrant_client.QdrantClient:
        return qdrant_client.QdrantClient(place.url, check_compatibility=False, timeout=2)

    monkeypatch.setattr(qdrant, "_client", client)


@pytest.mark.usefixtures("_real_client")
def test_a_server_out_of_reach_is_an_outage_and_never_an_empty_answer(tmp_path: Path) -> None:
    folder = build(tmp_path, "process", is_changed=False)
    nobody = QdrantPlace(folder, "http://127.0.0.1:9")
    with pytest.raises(EngineUnavailable, match=r"127.0.0.1:9 cannot be reached.*QDRANT_URL"):
        open_store(folder, nobody)
    copy(folder, "embedded")
    before = Manifest.read(folder)
    with pytest.raises(EngineUnavailable):
        compact(folder, HashEmbedder(), silent, Indexing(engine="qdrant", place=nobody))
    source = write_sources(tmp_path / "sources", CHANGED)
    with pytest.raises(EngineUnavailable):
        build_tiny(source, folder, HashEmbedder(), indexing=Indexing("hnsw", "qdrant", nobody))
    assert Manifest.read(folder) == before
    open_store(folder).close()


@pytest.mark.usefixtures("_real_client")
@pytest.mark.parametrize(
    ("status", "error", "message"),
    [(401, ConfigurationError, "QDRANT_API_KEY"), (500, EngineUnavailable, "status 500")],
)
def test_a_server_that_refuses_is_named(
    tmp_path: Path, status: int, error: type[Exception], message: str
) -> None:
    class Refusing(Handler):
        def do_GET(self) -> None:
            self.send(status)

    with listening(Refusing, str) as address:
        folder = build(tmp_path, "process", is_changed=False)
        with pytest.raises(error, match=message):
            open_store(folder, QdrantPlace(folder, address))


@pytest.mark.usefixtures("_real_client")
def test_a_server_that_goes_away_while_it_is_asked_is_an_outage(tmp_path: Path) -> None:
    folder = build(tmp_path, "process", is_changed=False)
    count = Manifest.read(folder).passages
    with leaving(count) as address:
        store = open_store(folder, QdrantPlace(folder, address))
        assert store.problem() == ""
    assert "cannot be reached" in store.problem()
    vector = store.vectors(np.array([0]))[0]
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        store.nearest("hill", vector, 5, None, how="hnsw")
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        store.matching("hill", ["farm"], 5, None)
    assert len(store.nearest("hill", vector, 5, None, how="exact").rows) == 5
    store.close()


def test_an_address_with_a_password_is_refused_and_not_told(tmp_path: Path) -> None:
    address = "http://keeper:s3cret@127.0.0.1:6333"
    settings = Settings(chroma_persist_directory=tmp_path, qdrant_url=address)
    with pytest.raises(ConfigurationError, match="QDRANT_API_KEY") as refused:
        QdrantPlace.of(settings)
    assert "s3cret" not in str(refused.value)


def test_a_server_without_the_collection_is_told(tmp_path: Path) -> None:
    folder = build(tmp_path, "process", is_changed=False)
    with pytest.raises(DamagedStore, match=r"has no whole collection c-.*QDRANT_URL"):
        open_store(folder, place(folder, "server"))


def test_without_the_library_the_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build(tmp_path, "process", is_changed=False)
    monkeypatch.setitem(registry.LIBRARIES, "qdrant", ("not_there",))
    with pytest.raises(MissingLibrary, match=r"pip install 'atlas-research-search\[qdrant\]'"):
        open_store(folder)
