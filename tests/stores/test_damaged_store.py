"""Whatever happens to a file of a store, it is found, and nothing wrong is answered."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search.core.errors import AtlasError, DamagedStore, UnwritableFolder
from atlas_search.core.settings import Settings
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.verify import verify
from tests.building.damage import copy_collection, cut_short
from tests.hash_embedder import HashEmbedder
from tests.stores.disks import closed
from tests.tiny import FARM, build_tiny, live, write_sources

FILLED = 1001  # passages of a corpus whose index Chroma writes to disk
PAGE = 4096
QUESTIONS = ("Who gives wool?", "Which ship carries load 77?", "What do merchants sell?")


def flip_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


def zero(path: Path) -> None:
    content = bytearray(path.read_bytes())
    start = len(content) // 2 // PAGE * PAGE
    end = min(start + PAGE, len(content))
    # a page that is all zeros already would not be damaged
    content[start:end] = bytes(end - start) if any(content[start:end]) else b"\1" * (end - start)
    path.write_bytes(content)


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"more")


DAMAGES: dict[str, Callable[[Path], None]] = {
    "a flipped bit": flip_bit,
    "cut short": cut_short,
    "lost": Path.unlink,
    "a page of zeros": zero,
    "something appended": append,
}

EVERY = [
    pytest.param(name, marks=() if name == "a flipped bit" else pytest.mark.thorough)
    for name in DAMAGES
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with a corpus of every kind of index: filled, and not."""
    root = tmp_path_factory.mktemp("whole")
    ships = {f"sea/{n}.txt": f"Ship {n} carries load {n * 7} to port.\n" for n in range(FILLED)}
    source = write_sources(root / "source", FARM | ships)
    build_tiny(source, root / "stores" / "kept", HashEmbedder())
    return root / "stores" / "kept"


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    return copy_collection(built, tmp_path / "kept")


def settings(folder: Path) -> Settings:
    return Settings(chroma_persist_directory=folder.parent, chroma_collection_name=folder.name)


@contextmanager
def served(folder: Path) -> Iterator[tuple[Serving, FlaskClient]]:
    serving = Serving(settings(folder), HashEmbedder())
    app = create_app(ServedCollections(serving))
    try:
        yield serving, app.test_client()
    finally:
        app.extensions["runs"].close()
        serving.close()


def ask(client: FlaskClient) -> list[tuple[int, Any]]:
    """The status of each search and answer, and passages with their scores or the text."""
    results = []
    for question in QUESTIONS:
        search = client.post("/api/search", json={"question": question})
        passages = search.json.get("passages", ()) if search.status_code == 200 else ()
        ranked = [(each["passage_id"], each["text"], each["score"]) for each in passages]
        results.append((search.status_code, ranked))
        answer = client.post("/api/ask", json={"question": question})
        is_right = answer.status_code == 200
        results.append((answer.status_code, answer.json["answer"] if is_right else ""))
    return results


def files(folder: Path) -> list[Path]:
    """Every file that a build has written, relative to the collection's folder."""
    return [
        path.relative_to(folder)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".") and path.stat().st_size
    ]


def verified(folder: Path) -> str:
    """Return the damage that `atlas store verify` names."""
    try:
        findings = verify(folder, Manifest.read(folder))
    except AtlasError as error:
        return str(error)
    return "; ".join(f"{each.part}: {each.problem}" for each in findings if each.problem)


@pytest.mark.parametrize("damage", EVERY)
def test_damage_to_any_file_is_found_before_the_first_answer(folder: Path, damage: str) -> None:
    copy = Path(live(folder).name) / "manifest.json"  # not read by a server
    for name in files(folder):
        path = folder / name
        whole = path.read_bytes()
        DAMAGES[damage](path)
        if name != copy:
            with pytest.raises(AtlasError, match=r"`atlas (store repair|create)"):
                Serving(settings(folder), HashEmbedder()).close()
        path.write_bytes(whole)


@pytest.mark.thorough
def test_verify_names_any_damaged_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # of what is whole: what it looks up does not tell of a flipped bit
    monkeypatch.setattr("atlas_search.stores.verify.SAMPLE", 5)
    for name in files(folder):
        whole = (folder / name).read_bytes()
        flip_bit(folder / name)
        assert name.name in verified(folder)
        (folder / name).write_bytes(whole)


@pytest.mark.parametrize("damage", EVERY)
@pytest.mark.thorough
def test_answers_are_right_or_withheld_until_the_check_is_done(
    folder: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(folder) as (_, client):
        right = ask(client)
    monkeypatch.setattr("atlas_search.server.serving.START_SECONDS", 0.0)
    for name in files(live(folder)):
        if name.name == "manifest.json":
            continue
        path = live(folder) / name
        whole = path.read_bytes()
        DAMAGES[damage](path)
        try:
            with served(folder) as (serving, client):
                for result, expected in zip(ask(client), right, strict=True):
                    assert result[0] == 503 or result == expected, name
                serving.refresh()
                assert client.get("/api/health").json["status"] == "degraded", name
                assert name.name in client.get("/api/health").json["problem"]
        except DamagedStore:
            assert path.exists() or damage == "lost"
        path.write_bytes(whole)


@pytest.mark.thorough
def test_files_that_were_whole_are_not_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(
        "atlas_search.stores.versions.is_as_written",
        lambda _, __, name: bool(read.append(name)) or True,
    )
    with served(folder):
        pass
    assert sorted(read) == sorted(Manifest.read(folder).files)
    read.clear()
    path = live(folder) / "tokens/words.flat.npy"
    path.write_bytes(path.read_bytes())
    with served(folder):
        pass
    assert read == ["tokens/words.flat.npy"]
    assert json.loads((folder / ".checked.json").read_text()).keys() == {live(folder).name}


def test_several_damaged_files_are_all_named(folder: Path) -> None:
    names = ["tokens/words.flat.npy", "tokens/titles.flat.npy", "keywords/meta.json"]
    for name in names:
        flip_bit(live(folder) / name)
    message = verified(folder)
    assert [name for name in names if name not in message] == []
    with pytest.raises(DamagedStore) as raised:
        Serving(settings(folder), HashEmbedder())
    assert [name for name in names if name not in str(raised.value)] == []


# a store that goes away while it is served


def away(folder: Path) -> Path:
    return folder.rename(folder.with_name("away"))


def test_answers_stop_when_the_folder_is_gone_and_go_on_when_it_is_back(folder: Path) -> None:
    with served(folder) as (serving, client):
        moved = away(folder)
        # the first question ever asked: no index is loaded yet
        assert {status for status, _ in ask(client)} == {503}
        serving.refresh()
        health = client.get("/api/health")
        assert (health.status_code, health.json["status"]) == (200, "degraded")
        assert "is gone. Bring the disk back" in health.json["problem"]
        moved.rename(folder)
        serving.refresh()
        assert {status for status, _ in ask(client)} == {200}
        assert client.get("/api/health").json["status"] == "ok"


def test_a_lost_manifest_is_said_while_answers_go_on(folder: Path) -> None:
    with served(folder) as (serving, client):
        right = ask(client)
        (folder / "manifest.json").unlink()
        serving.refresh()
        assert ask(client) == right
        health = client.get("/api/health").json
        assert health["status"] == "degraded"
        assert "manifest.json is gone" in health["problem"]


def test_a_folder_put_in_its_place_is_not_taken_for_it(folder: Path) -> None:
    with served(folder) as (serving, client):
        right = ask(client)
        moved = away(folder)
        shutil.copytree(moved, folder)
        flip_bit(live(folder) / "embeddings/vectors.npy")
        serving.refresh()
        assert {status for status, _ in ask(client)} == {503}
        shutil.rmtree(folder)
        moved.rename(folder)
        serving.refresh()
        assert ask(client) == right


def test_a_damaged_new_version_is_not_served(folder: Path, tmp_path: Path) -> None:
    with served(folder) as (serving, client):
        right = ask(client)
        first = live(folder)
        build_tiny(write_sources(tmp_path / "s", FARM), folder, HashEmbedder(), force=True)
        flip_bit(live(folder) / "embeddings/vectors.npy")
        serving.refresh()
        assert ask(client) == right
        problem = client.get("/api/health").json["problem"]
        assert "embeddings/vectors.npy is not as it was written" in problem
        assert serving().services.store.manifest.version == first.name


# a store that can only be read


def test_a_store_on_a_disk_for_reading_is_served_and_verified(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with closed(folder.parent):
        with served(folder) as (_, client):
            assert {status for status, _ in ask(client)} == {200}
            assert client.get("/api/health").json["status"] == "ok"
        assert verified(folder) == ""
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_serving_changes_no_file_of_a_version(folder: Path) -> None:
    def states() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in live(folder).rglob("*")}

    before = states()
    with served(folder) as (_, client):
        ask(client)
    assert states() == before


def test_folders_of_links_of_killed_processes_are_removed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indexed: None
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "atlas-open-killed").mkdir()
    with served(folder), served(folder):
        assert len(list(tmp_path.glob("atlas-open-*"))) == 4
    assert not list(tmp_path.glob("atlas-open-*"))


def test_without_room_for_temporary_files_the_setting_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shut").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "shut"))
    with closed(tmp_path / "shut"), pytest.raises(UnwritableFolder, match="set TMPDIR"):
        Serving(settings(folder), HashEmbedder())
