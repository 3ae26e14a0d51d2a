"""Versions that are brought here from other stores: whole or not at all."""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import fsspec
import httpx2
import pytest
from pydantic import SecretStr

from atlas_search.building.pull import PULLED, open_remote, pull
from atlas_search.core.errors import (
    BuildRunning,
    ConfigurationError,
    DamagedStore,
    MissingLibrary,
    MissingStore,
    OutdatedStore,
    RequestError,
    Unavailable,
    UnwritableFolder,
)
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import RECORDS, lock, rollback, versions
from tests.building.damage import flip, problems, share_files
from tests.building.kill_build import die_before
from tests.hash_embedder import HashEmbedder
from tests.server.ingest.handing import settings_for
from tests.servers import ATLAS, running, served, wait_for
from tests.stores.disks import small_disk
from tests.tiny import FARM, build_tiny, live, silent, write_manifest, write_sources

KEY = SecretStr("open sesame")
MORE = {"sea/ship.txt": "A ship came in.\n"}


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A collection in another store."""
    return publish(tmp_path / "there" / "farm", {})


def publish(folder: Path, files: Mapping[str, str]) -> Path:
    source = write_sources(folder.parent.with_name("source"), FARM | dict(files))
    build_tiny(source, folder, HashEmbedder())
    return folder


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path / "here" / "farm"


class Pulled(NamedTuple):
    manifest: Manifest
    copied: int


def bring(there: Path | str, here: Path) -> Pulled | None:
    place = there if isinstance(there, str) else str(there.parent)
    pulled = pull(here, open_remote(place, "farm", KEY), silent)
    return Pulled(*pulled) if pulled else None


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@contextmanager
def in_folder(folder: Path) -> Iterator[str]:
    yield str(folder.parent)


@contextmanager
def in_file(folder: Path) -> Iterator[str]:
    yield folder.parent.as_uri()


@contextmanager
def in_memory(folder: Path) -> Iterator[str]:
    store = fsspec.filesystem("memory")
    store.put(str(folder), "/shelf/farm", recursive=True)
    yield "memory://shelf"
    store.rm("/shelf", recursive=True)


@contextmanager
def on_server(folder: Path) -> Iterator[str]:
    settings = settings_for(folder.parent.parent, chroma_persist_directory=folder.parent)
    with closing(ServedCollections(Serving(settings, HashEmbedder()))) as collections:
        collections.follow()
        app = create_app(collections)
        with served(app) as address:
            yield address
        app.extensions["jobs"].close()
        app.extensions["runs"].close()


@contextmanager
def in_bucket(folder: Path) -> Iterator[str]:
    """A server of S3's protocol."""
    pytest.importorskip("s3fs", reason="`[remote]` is not installed")
    moto = pytest.importorskip("moto.server", reason="there is no server of S3's protocol")
    server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "someone")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        store = fsspec.filesystem("s3", skip_instance_cache=True)
        store.mkdir("shelf")
        store.put(str(folder), "shelf/stores/farm", recursive=True)
        yield "s3://shelf/stores"
    server.stop()


PLACES: list[Any] = [in_folder, in_file, in_memory, on_server, in_bucket]


@pytest.mark.parametrize("at", PLACES)
def test_a_collection_comes_whole_from_every_kind_of_place(
    at: Callable[[Path], Any], there: Path, here: Path
) -> None:
    with at(there) as place:
        pulled = bring(place, here)
        assert pulled
        assert bring(place, here) is None
    manifest = Manifest.read(there)
    assert (Manifest.read(here), Manifest.read(live(here))) == (manifest, manifest)
    assert problems(here) == []
    assert pulled.copied == len(set(manifest.files.values()))  # equal files come once
    assert names(here) == {"manifest.json", manifest.version, ".build.lock"}


def test_files_that_are_here_are_linked_and_the_version_before_stays(
    there: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share_files(monkeypatch)
    first = bring(there, here)
    publish(there, MORE)
    second = bring(there, here)
    assert first
    assert second
    assert 0 < second.copied < first.copied
    assert problems(here) == []
    old, new = (here / each.manifest.version for each in (first, second))
    assert (old / RECORDS).samefile(new / RECORDS)
    assert not (new / RECORDS).samefile(live(there) / RECORDS)
    assert rollback(here) == first.manifest
    third = bring(there, here)
    assert third
    assert (third.manifest, third.copied) == (second.manifest, 0)
    publish(there, {})
    bring(there, here)
    assert len(versions(here)) == 2


def test_a_disk_without_links_gets_copies(
    there: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links")

    monkeypatch.setattr(os, "link", refuse)
    share_files(monkeypatch)
    bring(there, here)
    publish(there, MORE)
    second = bring(there, here)
    assert second
    assert second.copied < len(second.manifest.files)
    assert problems(here) == []


def test_a_damaged_file_here_is_not_linked_but_comes_again(
    there: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share_files(monkeypatch)
    bring(there, here)
    flip(live(here) / RECORDS, 5000)
    (live(here) / RECORDS).with_name("ids").rename(here / "lost")
    pulled = bring(there, here)
    assert pulled
    assert pulled.copied > 1
    assert problems(here) == []
    flip(live(here) / RECORDS, 5000)
    publish(there, MORE)
    bring(there, here)
    assert problems(here) == []


@pytest.mark.parametrize("at", [in_folder, in_memory, on_server])
def test_what_is_not_there_is_said_and_makes_no_folder(
    at: Callable[[Path], Any], there: Path, here: Path
) -> None:
    with at(there) as place, pytest.raises(MissingStore, match=r"has no wood/manifest\.json"):
        pull(here, open_remote(place, "wood", KEY), silent)
    assert not here.exists()


def test_an_address_that_cannot_be_used_is_said(here: Path) -> None:
    with pytest.raises(MissingLibrary, match=r"gopher://x cannot be opened.*\[remote\]"):
        open_remote("gopher://me:secret@x", "farm", KEY)
    with pytest.raises(RequestError, match="holds a user name or a password"):
        open_remote("https://me:secret@x", "farm", KEY)
    with pytest.raises(
        Unavailable, match=r"manifest\.json of farm in http://127.0.0.1:9 cannot be"
    ):
        bring("http://127.0.0.1:9", here)
    assert not here.exists()


def test_a_server_gives_nothing_without_an_administrators_key(there: Path, here: Path) -> None:
    with on_server(there) as address, pytest.raises(ConfigurationError, match="ATLAS_API_KEY"):
        pull(here, open_remote(address, "farm", SecretStr("x")), silent)


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/x", "ids/../../x", "ids//x", "ids\0", "manifest.json", "elsewhere/x", ".", ""],
)
def test_names_that_leave_the_version_are_refused(name: str, there: Path, here: Path) -> None:
    manifest = Manifest.read(there).model_dump(mode="json")
    files = {**manifest["files"], name: next(iter(manifest["files"].values()))}
    write_manifest(there, manifest | {"files": files})
    with pytest.raises(DamagedStore, match=r"manifest\.json, of .* is not as it was written"):
        bring(there, here)
    assert not here.exists()


@pytest.mark.parametrize(
    "change", [{"version": "../x"}, {"files": {"ids/ends.npy": "xxh3:../../x"}}]
)
def test_versions_and_digests_that_are_paths_are_refused(
    change: dict[str, Any], there: Path, here: Path
) -> None:
    manifest = Manifest.read(there).model_dump(mode="json")
    if "files" in change:
        change = {"files": manifest["files"] | change["files"]}
    write_manifest(there, manifest | change)
    with pytest.raises(DamagedStore, match=r"manifest\.json, of .* is not as it was written"):
        bring(there, here)


def test_another_schema_and_a_changed_manifest_are_said(there: Path, here: Path) -> None:
    bring(there, here)
    before = Manifest.read(here)
    manifest = Manifest.read(publish(there, MORE)).model_dump(mode="json")
    write_manifest(there, manifest | {"schema_version": 99})
    with pytest.raises(OutdatedStore, match="Use the same version of Atlas in both places"):
        bring(there, here)
    (there / "manifest.json").write_text('{"schema_version": 8}')
    with pytest.raises(DamagedStore, match=r"manifest\.json is not as it was written"):
        bring(there, here)
    assert Manifest.read(here) == before


@pytest.mark.parametrize("harm", ["flip", "grow", "cut"])
def test_a_file_that_is_damaged_there_does_not_go_live(harm: str, there: Path, here: Path) -> None:
    bring(there, here)
    before = Manifest.read(here)
    path = live(publish(there, MORE)) / RECORDS
    if harm == "flip":
        flip(path, 5000)
    else:
        os.truncate(path, path.stat().st_size + (10_000_000 if harm == "grow" else -1))
    with pytest.raises(DamagedStore, match=rf"{RECORDS} is not as it was written"):
        bring(there, here)
    assert (Manifest.read(here), problems(here)) == (before, [])
    assert not list((here / PULLED).glob("*.partial"))


def test_a_full_disk_loses_nothing(there: Path, here: Path) -> None:
    with small_disk(here.parent, 80):
        with pytest.raises(UnwritableFolder, match=r"The disk is full.*goes on with the files in"):
            bring(there, here)
        kept = names(here / PULLED)
        assert kept
        assert not (here / "manifest.json").exists()
        os.system(f"mount -o remount,size=100m {here.parent}")
        pulled = bring(there, here)
        assert pulled
        assert pulled.copied <= len(set(pulled.manifest.files.values())) - len(kept)
        assert problems(here) == []


def test_two_pulls_at_once_are_one_too_many(there: Path, here: Path) -> None:
    with lock(here), pytest.raises(BuildRunning):
        bring(there, here)


def _pull_until(fatal: int, place: str, here: Path, pieces: int) -> None:
    if pieces:
        place_there = open_remote(place, "farm", KEY)
        seen = 0

        def tell(*_: object) -> None:
            nonlocal seen
            seen += 1
            if seen == pieces:
                os.kill(os.getpid(), signal.SIGKILL)

        pull(here, place_there, tell)
    else:
        die_before(here, fatal)
        bring(place, here)


@pytest.mark.thorough
def test_a_pull_that_is_killed_is_gone_on_with(there: Path, here: Path, tmp_path: Path) -> None:
    """Killed before every change to the folder, and after every piece of a file."""
    bring(there, here)
    publish(there, MORE)
    old, new = Manifest.read(here), Manifest.read(there)
    processes = get_context("forkserver")
    kills = 0
    for fatal, pieces in [*((n, 0) for n in range(1, 40)), *((0, n) for n in range(1, 90, 7))]:
        own = tmp_path / f"own-{fatal}-{pieces}" / "farm"
        shutil.copytree(here, own)
        process = processes.Process(
            target=_pull_until, args=(fatal, str(there.parent), own, pieces)
        )
        process.start()
        process.join(60)
        kills += process.exitcode == -signal.SIGKILL
        live_now = Manifest.read(own)
        assert live_now in (old, new)
        assert problems(own) == []
        whole = {path.name for path in (own / PULLED).glob("*") if not path.suffix}
        again = bring(there, own)
        if live_now == old:
            assert again
            assert again.copied <= len(set(new.files.values()) - set(old.files.values()) - whole)
        assert Manifest.read(own) == new
        assert problems(own) == []
        EmbeddedStore(own).close()
        shutil.rmtree(own.parent)
    assert kills > 20


def test_the_command_brings_a_collection_and_watches_for_more(there: Path, here: Path) -> None:
    environment = {"CHROMA_PERSIST_DIRECTORY": str(here.parent)}
    command = (*ATLAS, "store", "pull", "farm", "--from", there.parent)
    with running(*command, environment=environment, folder=here.parent.parent) as once:
        assert once.process.wait(60) == 0
    assert " is live: 3 documents, 3 passages; " in once.lines[-1]
    with running(
        *command, "--watch", "0.1", environment=environment, folder=here.parent.parent
    ) as watching:
        (there / "manifest.json").rename(there / "away")
        wait_for(lambda: watching.lines or None, 60, "a word of what is wrong")
        (there / "away").rename(there / "manifest.json")
        new = Manifest.read(publish(there, MORE))
        wait_for(lambda: Manifest.read(here) == new or None, 60, "the new version")
        assert watching.process.poll() is None


def test_a_new_version_reaches_a_server_within_five_seconds_and_no_answer_mixes_two(
    there: Path, here: Path
) -> None:
    environment = {"CHROMA_PERSIST_DIRECTORY": str(here.parent), "ATLAS_API_KEY": "open sesame"}
    command = (*ATLAS, "store", "pull", "farm", "--watch", "1", "--from")
    headers = {"Authorization": "Bearer open sesame"}
    body = {"question": "Who gives wool?"}

    def news(day: str) -> Path:
        return publish(there, dict.fromkeys(FARM, f"Sheep give wool on {day}\n"))

    def days(address: str) -> set[str]:
        """The days that the documents of one answer speak of."""
        reply = httpx2.post(f"{address}/api/search", json=body, headers=headers, timeout=30)
        return {passage["text"].split()[-1] for passage in reply.json()["passages"]}

    bring(news("Sunday."), here)
    with (
        on_server(there) as source,
        on_server(here) as address,
        running(*command, source, environment=environment, folder=here.parent.parent) as watching,
    ):
        for day in ("Monday.", "Tuesday.", "Wednesday."):
            news(day)
            began, seen = time.monotonic(), set[str]()
            while day not in seen:
                seen = days(address)
                assert len(seen) == 1
                assert time.monotonic() - began < 30, watching.lines
            took = time.monotonic() - began
            assert day == "Monday." or took < 5  # the first comes once the command has started
