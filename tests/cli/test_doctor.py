"""`atlas doctor`: a line for each fault, with its mend, and status 1."""

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from atlas_search.atlas import Atlas
from atlas_search.cli.doctor import CheckUp, check_folder, check_port, check_space
from atlas_search.cli.main import main
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.open import ProviderHealth
from atlas_search.services import Services
from tests.answering import answered_by
from tests.chat_server import KEY
from tests.conftest import free_port
from tests.hash_embedder import HashEmbedder
from tests.openai_server import openai_server
from tests.servers import app_of, served
from tests.tiny import FARM, build_tiny, live, write_sources

Break = Callable[[Path, pytest.MonkeyPatch], object]
Doctor = Callable[[], tuple[int, dict[str, str]]]


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    """An installation that is well: a collection of the default model, and a target."""
    folder = tmp_path_factory.mktemp("installation")
    build_tiny(write_sources(folder / "source", FARM), folder / "stores" / "c", embedder)
    (folder / "targets").mkdir()
    (folder / "targets" / "mine.txt").write_text("")
    return folder


@pytest.fixture
def root(installation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, to be damaged, as this process is set up."""
    shutil.copytree(installation, tmp_path, dirs_exist_ok=True)
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
def doctor(capsys: pytest.CaptureFixture[str]) -> Doctor:
    """Status of `atlas doctor`, and what it says of each thing: state and detail."""

    def run() -> tuple[int, dict[str, str]]:
        with pytest.raises(SystemExit) as ended:
            main(["doctor"])
        output = capsys.readouterr()
        rows = [line.split(maxsplit=1) for line in output.out.splitlines()]
        lines = {detail.split(":")[0]: f"{state} {detail}" for state, detail in rows}
        return int(ended.value.code or 0), lines | ({"error": output.err} if output.err else {})

    return run


def setting(name: str, value: str) -> Break:
    return lambda root, patch: patch.setenv(name, value.replace("ROOT", str(root)))


def in_store(damage: Callable[[Path], object]) -> Break:
    return lambda root, _: damage(live(root / "stores" / "c"))


def flip(path: Path) -> None:
    """Change a byte near the end."""
    content = bytearray(path.read_bytes())
    content[-2] ^= 0xFF
    path.write_bytes(content)


def outdated(root: Path, _: object) -> None:
    path = root / "stores" / "c" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 1}))


def other_model(root: Path, _: object) -> None:
    build_tiny(root / "source", root / "stores" / "c", HashEmbedder())


def manifest_as_folder(collection: Path) -> None:
    (collection / "manifest.json").unlink()
    (collection / "manifest.json").mkdir()


NOWHERE = "http://127.0.0.1:9"


def target(text: str, **settings: str) -> Break:
    """Damage of the target, and settings that go with it."""

    def harm(root: Path, patch: pytest.MonkeyPatch) -> None:
        (root / "targets" / "mine.txt").write_text(text)
        for name, value in settings.items():
            patch.setenv(name, value)

    return harm


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
        in_store(lambda version: flip(version / "tokens/words.offsets.npy")),
        "collection",
        "words.offsets.npy is not as it was written. Run `atlas store repair c`.",
    ),
    "vectors lost": (
        in_store(lambda version: (version / "embeddings/vectors.npy").unlink()),
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
        "is not a folder. Set it to the folder of your target files",
    ),
    "no such target": (setting("TEST_TARGET", "other"), "target", "Known targets: mine."),
    "wrong target": (target("COLOUR=red\n"), "target", "mine.txt"),
    "writer without a key": (
        target("LLM_PROVIDER=mistral\n"),
        "models",
        "MISTRAL_API_KEY",
    ),
    "writer of OpenAI without a key": (
        target("LLM_PROVIDER=openai\nLLM_MODEL=gpt-4o-mini\n"),
        "models",
        "OPENAI_BASE_URL",
    ),
    "writer out of reach": (
        target("LLM_PROVIDER=openai\nLLM_MODEL=gpt-4o-mini\n", OPENAI_BASE_URL=f"{NOWHERE}/v1"),
        "model openai",
        f"{NOWHERE}/v1",
    ),
    "no such writer": (target("LLM_PROVIDER=nobody\n"), "models", "nobody"),
    "no such reranker": (target("RERANKER=nobody\n"), "models", "nobody"),
    "Phoenix away": (
        setting("PHOENIX_COLLECTOR_ENDPOINT", NOWHERE),
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


def faults_in(lines: dict[str, str]) -> list[str]:
    return [what for what, line in lines.items() if line.startswith("fault")]


def test_a_whole_installation_has_no_fault(root: Path, doctor: Doctor) -> None:
    status, lines = doctor()
    assert (status, faults_in(lines)) == (0, [])
    assert list(lines) == [
        *("folder", "disk", "port", "access", "keys", "audit", "state", "phoenix"),
        *("target", "collection", "embedding", "abstention"),
        "model extractive",
    ]


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_a_line_with_its_mend(
    root: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    harm, what, mend = FAULTS[name]
    harm(root, monkeypatch)
    status, lines = doctor()
    assert status == 1
    assert lines[what].startswith("fault")
    assert mend in lines[what]


def test_faults_do_not_hide_each_other(
    root: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "TEST_TARGET": "other",
        "CHROMA_COLLECTION_NAME": "d",
        "PHOENIX_COLLECTOR_ENDPOINT": NOWHERE,
        "ATLAS_HOST": "203.0.113.1",
    }.items():
        monkeypatch.setenv(name, value)
    assert faults_in(doctor()[1]) == ["port", "access", "phoenix", "target", "collection"]


def test_a_setting_that_cannot_be_read_is_named(
    root: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_PORT", "many")
    status, lines = doctor()
    assert status == 1
    assert "ATLAS_PORT='many' in the environment or .env" in lines["error"]


def test_a_model_that_answers_is_well_and_one_that_no_default_needs_a_note(
    root: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "targets" / "other.txt").write_text("LLM_PROVIDER=mistral\n")
    with openai_server() as model:
        harm = target(
            "LLM_PROVIDER=openai\nLLM_MODEL=gpt-4o-mini\n",
            OPENAI_BASE_URL=model.address,
            OPENAI_API_KEY=KEY,
        )
        harm(root, monkeypatch)
        status, lines = doctor()
    assert status == 0
    assert lines["model openai"].startswith("ok")
    assert lines["target other"].startswith("note")
    assert "MISTRAL_API_KEY" in lines["target other"]


def test_the_health_of_a_provider_is_asked_for_once_in_a_while(services: Services) -> None:
    with answered_by("openai", services) as (own, server):
        models, wanted = own.answerer.models, {"openai": frozenset({"gpt-4o-mini"})}
        health = ProviderHealth(models, wanted)
        assert health(60)["openai"].ready
        server.key = "another"
        assert health(60)["openai"].ready
        assert "OPENAI_API_KEY" in ProviderHealth(models, wanted)(60)["openai"].detail


def test_a_port_that_is_taken_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atlas_search.cli.doctor.PROBE_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        finding = check_port(Settings(atlas_port=port))
    assert finding.state == "fault"
    assert f"127.0.0.1:{port} cannot be listened on (Address already in use)" in finding.detail


def test_the_port_of_a_running_atlas_is_well(services: Services) -> None:
    with served(app_of(Atlas(services))) as address:
        port = int(address.rpartition(":")[2])
        finding = check_port(Settings(atlas_port=port))
    assert finding == CheckUp("port", "ok", f"Atlas listens on 127.0.0.1:{port}")


def test_a_disk_that_is_nearly_full_is_a_fault(tmp_path: Path) -> None:
    finding = check_space(tmp_path / "not yet", 2**60)
    assert finding.state == "fault"
    assert "a build needs 1073741824.0 GB" in finding.detail
    assert "set CHROMA_PERSIST_DIRECTORY to a folder on another disk" in finding.detail
    assert check_space(tmp_path, 1).state == "ok"


def test_a_folder_that_cannot_be_written_is_a_fault_and_one_that_can_is_left_as_it_was(
    tmp_path: Path,
) -> None:
    assert check_folder(Path("/proc/stores")).state == "fault"
    assert check_folder(tmp_path / "new") == CheckUp("folder", "ok", str(tmp_path / "new"))
    assert list(tmp_path.iterdir()) == []
