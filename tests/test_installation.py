"""`atlas doctor` where something is wrong: a line for each fault, with its mend, and status 1."""

import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from atlas_search.cli.doctor import CheckUp, check_folder, check_port, check_space
from atlas_search.cli.main import main
from atlas_search.core.settings import Settings
from tests.conftest import free_port
from tests.hash_embedder import HashEmbedder
from tests.servers import ATLAS, running
from tests.tiny import FARM, build_tiny, live, write_sources
from tests.upkeep.damage import flip, lose

Break = Callable[[Path, pytest.MonkeyPatch], object]


@pytest.fixture
def root(tmp_path: Path, embedder: object, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation that is well: a collection of the default model, a free port, a target."""
    build_tiny(write_sources(tmp_path / "source", FARM), tmp_path / "stores" / "c", embedder)
    (tmp_path / "targets").mkdir()
    (tmp_path / "targets" / "mine.txt").write_text("")
    for name, value in {
        "CHROMA_PERSIST_DIRECTORY": tmp_path / "stores",
        "CHROMA_COLLECTION_NAME": "c",
        "TARGETS_DIRECTORY": tmp_path / "targets",
        "TEST_TARGET": "mine",
        "ATLAS_PORT": free_port(),
    }.items():
        monkeypatch.setenv(name, str(value))
    return tmp_path


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Callable[[], tuple[int, dict[str, str]]]:
    """Status of `atlas doctor`, and what it says of each thing: state and detail."""

    def run() -> tuple[int, dict[str, str]]:
        with pytest.raises(SystemExit) as ended:
            main(["doctor"])
        said = capsys.readouterr()
        rows = [line.split(maxsplit=1) for line in said.out.splitlines()]
        found = {detail.split(":")[0]: f"{state} {detail}" for state, detail in rows}
        return int(ended.value.code or 0), found | ({"error": said.err} if said.err else {})

    return run


def setting(name: str, value: str) -> Break:
    return lambda root, patch: patch.setenv(name, value.replace("ROOT", str(root)))


def in_store(damage: Callable[[Path], object]) -> Break:
    return lambda root, _: damage(live(root / "stores" / "c"))


def outdated(root: Path, _: object) -> None:
    path = root / "stores" / "c" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 1}))


def other_model(root: Path, _: object) -> None:
    build_tiny(root / "source", root / "stores" / "c", HashEmbedder())


def manifest_as_folder(collection: Path) -> None:
    (collection / "manifest.json").unlink()
    (collection / "manifest.json").mkdir()


def target(text: str) -> Break:
    return lambda root, _: (root / "targets" / "mine.txt").write_text(text)


FAULTS: dict[str, tuple[Break, str, str]] = {
    "no store": (
        lambda root, _: shutil.rmtree(root / "stores" / "c"),
        "collection",
        "`atlas create files SOURCE --collection c` builds one",
    ),
    "other name": (
        setting("CHROMA_COLLECTION_NAME", "d"),
        "collection",
        "manifest.json is missing. Collections there: c. `atlas demo`",
    ),
    "outdated store": (outdated, "collection", "Build the collection again with `atlas create`"),
    "garbage manifest": (
        lambda root, _: (root / "stores" / "c" / "manifest.json").write_text("{"),
        "collection",
        "Run `atlas store repair c`",
    ),
    "manifest that cannot be read": (
        lambda root, _: manifest_as_folder(root / "stores" / "c"),
        "collection",
        "cannot be read (Is a directory). Give the user who runs Atlas the right to read it",
    ),
    "damaged words": (
        in_store(lambda version: flip(version / "tokens/words.offsets.npy", -2)),
        "collection",
        "words.offsets.npy is not as it was written. Run `atlas store repair c`.",
    ),
    "vectors lost": (
        in_store(lose("embeddings/vectors.npy")),
        "collection",
        "vectors.npy cannot be read (No such file or directory). Run `atlas store repair c`.",
    ),
    "store of another model": (other_model, "models", "Set EMBEDDING_MODEL=hash"),
    "model that is not there": (
        setting("EMBEDDING_MODEL", "nobody/nothing"),
        "models",
        "nobody/nothing",
    ),
    "provider of vectors without a key": (
        setting("EMBEDDING_PROVIDER", "mistral"),
        "models",
        "MISTRAL_API_KEY",
    ),
    "corpus that is not there": (
        setting("MULTI_CORPUS_METADATA", "sea"),
        "models",
        "MULTI_CORPUS_METADATA: Unknown corpus 'sea'. Known corpora: farm, town",
    ),
    "no folder of targets": (
        setting("TARGETS_DIRECTORY", "ROOT/nowhere"),
        "target",
        "is no folder. Set it to the folder of your target files",
    ),
    "no such target": (setting("TEST_TARGET", "other"), "target", "Known targets: mine."),
    "wrong target": (target("COLOUR=red\n"), "target", "mine.txt"),
    "writer without a key": (
        target("LLM_PROVIDER=mistral\n"),
        "model mistral",
        "MISTRAL_API_KEY",
    ),
    "no such writer": (target("LLM_PROVIDER=nobody\n"), "models", "nobody"),
    "no such reranker": (target("RERANKER=nobody\n"), "models", "nobody"),
    "Phoenix away": (
        setting("PHOENIX_COLLECTOR_ENDPOINT", "http://127.0.0.1:9"),
        "phoenix",
        "Start it: `make phoenix`, or leave PHOENIX_COLLECTOR_ENDPOINT empty.",
    ),
    "no folder for stores": (
        setting("CHROMA_PERSIST_DIRECTORY", "ROOT/targets/mine.txt/stores"),
        "folder",
        "mine.txt cannot be written (Not a directory). Give the user who runs Atlas",
    ),
    "foreign address": (
        setting("ATLAS_HOST", "203.0.113.1"),
        "port",
        "Set ATLAS_PORT to a free port from 1024 on and ATLAS_HOST to an address of this machine.",
    ),
}


def test_a_whole_installation_has_no_fault(root: Path, doctor) -> None:
    status, found = doctor()
    assert [line for line in found.values() if line.startswith("fault")] == []
    assert status == 0
    assert list(found) == [
        *("folder", "disk", "port", "access", "keys", "audit", "state", "phoenix"),
        *("target", "collection", "embedding", "abstention"),
        "model extractive",
    ]


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_a_line_with_its_mend(
    root: Path, doctor, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    harm, what, mend = FAULTS[name]
    harm(root, monkeypatch)
    status, found = doctor()
    assert status == 1
    assert found[what].startswith("fault")
    assert mend in found[what]


def test_faults_do_not_hide_each_other(root: Path, doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_TARGET", "other")
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", "d")
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("ATLAS_HOST", "203.0.113.1")
    _, found = doctor()
    faults = [what for what, line in found.items() if line.startswith("fault")]
    assert faults == ["port", "access", "phoenix", "target", "collection"]


def test_a_setting_that_cannot_be_read_is_named(
    root: Path, doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_PORT", "many")
    status, found = doctor()
    assert status == 1
    assert "ATLAS_PORT='many' in the environment or .env" in found["error"]


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which something else listens."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        other.settimeout(0)
        yield other.getsockname()[1]


def test_a_port_that_is_taken_is_a_fault(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atlas_search.cli.doctor.PROBE_SECONDS", 0.2)
    found = check_port(Settings(atlas_port=taken))
    assert found.state == "fault"
    assert f"127.0.0.1:{taken} cannot be listened on (Address already in use)" in found.detail


def test_the_port_of_a_running_atlas_is_well(root: Path) -> None:
    with running(*ATLAS, "serve", environment=dict(os.environ), folder=root) as server:
        server.address("Atlas")
        port = int(os.environ["ATLAS_PORT"])
        found = check_port(Settings(atlas_port=port))
    assert found == CheckUp("port", "ok", f"Atlas listens on 127.0.0.1:{port}")


def test_a_disk_that_is_nearly_full_is_a_fault(tmp_path: Path) -> None:
    found = check_space(tmp_path / "not yet", 2**60)
    assert found.state == "fault"
    assert "a build needs 1073741824.0 GB" in found.detail
    assert "set CHROMA_PERSIST_DIRECTORY to a folder on another disk" in found.detail
    assert check_space(tmp_path, 1).state == "ok"


def test_a_folder_that_cannot_be_written_is_a_fault_and_one_that_can_is_left_as_it_was(
    tmp_path: Path,
) -> None:
    assert check_folder(Path("/proc/stores")).state == "fault"
    assert check_folder(tmp_path / "new") == CheckUp("folder", "ok", str(tmp_path / "new"))
    assert list(tmp_path.iterdir()) == []
