"""Builds, imports and exports that are killed: the live version answers, no work is repeated."""

import os
import shutil
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from random import Random
from time import monotonic
from typing import Self

import numpy as np
import pytest

from atlas_search.building.backup import export_collection, import_collection
from atlas_search.building.go_live import Indexing
from atlas_search.building.source_file import KEPT
from atlas_search.building.workers import FILES_AHEAD
from atlas_search.core.errors import MissingStore, SourceError
from atlas_search.stores import qdrant
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.verify import verify
from atlas_search.stores.versions import EMBEDDINGS, ORDER, TOKENS, rollback, versions
from tests.building.all_of import all_of
from tests.building.damage import damaged, problems
from tests.building.kill_build import BATCH, FINISH_SECONDS, Build, Job, die_before, run_build
from tests.hash_embedder import HashEmbedder
from tests.servers import ATLAS, running, wait_for
from tests.tiny import build_tiny, contents, index, live, silent

pytestmark = pytest.mark.thorough

KILLS = 100 if "HOSTILE" in os.environ else 12
DELAY = 0.01  # seconds for each text
Moment = float | tuple[str, int]
"""When to kill: after so many seconds, or when so much of a stage is done."""

STAGES: tuple[tuple[str, int], ...] = (
    ("Starting", 0),
    ("Reading files", 0),
    ("Reading files", 10),
    ("Reading files", 30),
    ("Embedding passages", 0),
    ("Embedding passages", 3 * BATCH),
    ("Embedding passages", 8 * BATCH),
    ("Writing documents", 0),
    ("Writing documents", 1),
    ("Writing the vector index", 0),
    ("Writing the vector index", 1),
    ("Writing the vector index", 100),
)
_OPENING = threading.Lock()
WORDS = [f"{first}{last}" for first in ("corn", "wool", "ship", "mill") for last in range(60)]


@dataclass(frozen=True)
class World:
    """Sources that were changed since the live version in `before` was built from them.

    `expected` is what a build without interruption makes of it in `seconds`; `missing` are the
    texts it embedded and `new` the files it read.
    """

    source: Path
    before: Path
    expected: Mapping[str, object]
    seconds: float
    missing: int
    new: int


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    root = tmp_path_factory.mktemp("world")
    source, before, log = root / "source", root / "before", root / "log"
    random = Random(1)
    for corpus, documents in (("farm", 10), ("town", 18), ("sea", 6), ("gone", 1)):
        for number in range(documents):
            _write(source / corpus / f"{number}.txt", random)
    run_build(Job(before, source, log))
    _write(source / "town" / "18.txt", random)
    run_build(Job(before, source, log))
    assert len(versions(before)) == 2
    _change(source, random)
    after = shutil.copytree(before, root / "after")
    log.unlink()
    started = monotonic()
    run_build(Job(after, source, log, DELAY))
    seconds = monotonic() - started
    assert Manifest.read(after).vector_tombstones > 0  # else the index was built anew
    assert problems(before) == problems(after) == []
    return World(
        source, before, everything(after), seconds, _noted(log, "embed"), _noted(log, "read")
    )


def _write(path: Path, random: Random) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    paragraphs = (" ".join(random.choices(WORDS, k=20)) + "." for _ in range(8))
    path.write_text("\n\n".join(paragraphs), encoding="utf-8")


def _change(source: Path, random: Random) -> None:
    for number in range(6):
        _write(source / "air" / f"{number}.txt", random)
    for number in range(2):
        _write(source / "farm" / f"{number}.txt", random)
    (source / "sea" / "0.txt").unlink()
    (source / "sea" / "1.txt").rename(source / "air" / "moved.txt")
    shutil.copy(source / "town" / "1.txt", source / "air" / "twin.txt")
    shutil.copy(source / "town" / "2.txt", source / "town" / "1.md")  # the ids would be equal
    shutil.rmtree(source / "gone")


def _noted(log: Path, what: str) -> int:
    return sum(line.startswith(f"{what} ") for line in log.read_text().splitlines())


class Asking:
    """A thread that opens the live version again and again, and asks it: what came of it."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._ask_all, daemon=True)
        self.answers: list[str] = []
        self.failures: list[Exception] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _ask_all(self) -> None:
        while not self._stopped.wait(0.05):
            try:
                self.answers.append(answer(self._folder, len(self.answers)))
            except Exception as error:
                self.failures.append(error)


def answer(folder: Path, number: int) -> str:
    """Ask the live version for one of its passages by meaning, words and id; its version."""
    # Chroma shares what is open between threads, but not while it is being closed
    with _OPENING, closing(EmbeddedStore(folder)) as store:
        row = number * 7 % store.manifest.passages
        (passage,) = store.passages([row])
        vector = store.vectors(np.array([row]))[0]
        assert row in store.nearest(passage.corpus, vector, 3, None).rows
        assert row in store.matching(passage.corpus, passage.text.split()[:8], 50, None).rows
        text = store.document(passage.document_id).text
        assert text[passage.start : passage.end] == passage.text
        return store.manifest.version


@contextmanager
def answering(folder: Path, world: World) -> Iterator[None]:
    """The live version of `folder` answers throughout the block, and is one of two."""
    with Asking(folder) as asking:
        yield
    assert asking.failures == []
    assert set(asking.answers) <= {
        Manifest.read(world.before).version,
        Manifest.read(folder).version,
    }


def everything(folder: Path) -> dict[str, object]:
    """All that the live version holds and finds, its vectors byte for byte, but names and times."""
    manifest = Manifest.read(folder)
    files = {n: d for n, d in manifest.files.items() if n.split("/")[0] in (TOKENS, EMBEDDINGS)}
    described = manifest.model_dump(exclude={"version", "created", "durations", "sizes", "files"})
    for corpus in described["corpora"]:
        del corpus["seconds"]
    vectors = {corpus: each.tobytes() for corpus, (_, each) in index(folder).items()}
    return contents(folder) | {"manifest": described, "files": files, "index": vectors}


def different(folder: Path, expected: Mapping[str, object]) -> list[str]:
    """The names of what is not as expected."""
    seen = everything(folder)
    names = sorted(seen.keys() | expected.keys())
    return [name for name in names if seen.get(name) != expected.get(name)]


def problems_of(folder: Path, manifest: Manifest) -> list[str]:
    """The problems of any version."""
    return [f"{f.part}: {f.problem}" for f in verify(folder, manifest) if f.problem]


def unchanged(folder: Path, before: Path) -> bool:
    """Return whether the version that was live before still is, and nothing of it has changed."""
    version = Manifest.read(folder).version
    return (before / version).exists() and files(folder / version) == files(before / version)


def files(version: Path) -> dict[str, bytes]:
    """The files of a version, but for what Chroma notes whenever it is opened."""
    return {
        path.relative_to(version).as_posix(): b"" if path.stem == "chroma" else path.read_bytes()
        for path in version.rglob("*")
        if path.is_file() and path.name != "chroma.sqlite3-journal"
    }


def leftovers(folder: Path) -> set[str]:
    """All else than the live version, the one before, and the files that belong there."""
    kept = {manifest.version for manifest in versions(folder)[:2]}
    return {path.name for path in folder.iterdir()} - kept - {"manifest.json", ".build.lock", KEPT}


def moments(random: Random, longest: float) -> Iterator[Moment]:
    """All the stages among as many random moments, then random moments without end."""
    first = [*STAGES, *(random.uniform(0, longest) for _ in STAGES)]
    random.shuffle(first)
    yield from first
    while True:
        yield random.uniform(0, longest)


def meets(build: Build, moment: Moment) -> bool:
    """Return whether the build is still at work when the moment has come."""
    if isinstance(moment, tuple):
        return build.reaches(*moment)
    return build.works_for(moment)


def test_a_build_killed_at_any_moment_goes_on_where_it_was(world: World, tmp_path: Path) -> None:
    coming = moments(Random(2), world.seconds)
    folder, log = tmp_path / "kept", tmp_path / "log"
    job = Job(folder, world.source, log, DELAY)
    killed = 0
    while killed < KILLS:
        shutil.copytree(world.before, folder)
        log.write_text("")
        kills = 0
        with answering(folder, world):
            build = Build(job)
            while meets(build, next(coming)) and build.kill():
                kills += 1
                answer(folder, kills)
                build = Build(job)
            before = Manifest.read(folder)
            assert build.finish() == 0
        assert problems_of(folder, before) == []
        assert different(folder, world.expected) == []
        assert leftovers(folder) == set()
        # a killed build loses what was read ahead and one batch, no more
        assert world.missing <= _noted(log, "embed") <= world.missing + BATCH * kills
        assert world.new <= _noted(log, "read") <= world.new + FILES_AHEAD * kills
        killed += kills
        shutil.rmtree(folder)


def test_a_first_build_that_is_killed_goes_on_too(world: World, tmp_path: Path) -> None:
    folder, log = tmp_path / "kept", tmp_path / "log"
    run_build(Job(tmp_path / "other", world.source, log))
    for moment in STAGES:
        build = Build(Job(folder, world.source, log, until=moment))
        assert build.reaches(*moment)
        assert build.kill()
        with pytest.raises(MissingStore):
            Manifest.read(folder)
    run_build(Job(folder, world.source, log))
    assert different(folder, everything(tmp_path / "other")) == []
    assert leftovers(folder) == set()


@pytest.mark.parametrize("shares", [False, True])
def test_whatever_change_to_the_folder_a_kill_prevents_every_version_is_whole(
    tmp_path: Path, shares: bool
) -> None:
    source, before, after, log = (tmp_path / name for name in ("source", "before", "after", "log"))
    random = Random(3)
    for number in range(2):
        _write(source / "farm" / f"{number}.txt", random)
        run_build(Job(before, source, log))
    _write(source / "farm" / "0.txt", random)
    shutil.copytree(before, after)
    run_build(Job(after, source, log, shares=shares))
    assert (after / Manifest.read(after).version / ORDER).exists() == shares
    expected = everything(after)
    folder = shutil.copytree(before, tmp_path / "kept")
    whole = {manifest.version: files(before / manifest.version) for manifest in versions(before)}
    for fatal in count(1):
        if Build(Job(folder, source, log, fatal=fatal, shares=shares)).finish() == 0:
            break
        for manifest in versions(folder):
            if manifest.version not in whole:
                assert problems_of(folder, manifest) == []
                whole[manifest.version] = files(folder / manifest.version)
            assert files(folder / manifest.version) == whole[manifest.version], fatal
        if not unchanged(folder, before):
            run_build(Job(folder, source, log, shares=shares))
            assert different(folder, expected) == []
            assert leftovers(folder) == set(), fatal
            shutil.rmtree(folder)
            shutil.copytree(before, folder)
    assert fatal > 15


def test_a_killed_build_that_shares_files_goes_on_too(world: World, tmp_path: Path) -> None:
    log, folder, after = (tmp_path / name for name in ("log", "kept", "after"))
    shutil.copytree(world.before, after)
    run_build(Job(after, world.source, log, shares=True))
    assert (after / Manifest.read(after).version / ORDER).exists()
    shutil.copytree(world.before, folder)
    for moment in STAGES:
        build = Build(Job(folder, world.source, log, shares=True, until=moment))
        if not build.reaches(*moment):
            break
        assert build.kill()
        assert unchanged(folder, world.before)
        assert problems(folder) == []
    assert moment == ("Writing the vector index", 0)  # there is nothing to write
    assert all_of(folder) == all_of(after)
    assert leftovers(folder) == set()


def test_a_build_into_another_engine_that_is_killed_leaves_nothing_half(
    world: World, tmp_path: Path
) -> None:
    log, folder, after = (tmp_path / name for name in ("log", "kept", "after"))
    for path in (after, folder):
        shutil.copytree(world.before, path)
    run_build(Job(after, world.source, log, engine="qdrant"))
    for moment in STAGES:
        build = Build(Job(folder, world.source, log, until=moment, engine="qdrant"))
        assert build.reaches(*moment)
        assert build.kill()
        assert unchanged(folder, world.before)
        assert problems(folder) == []
    run_build(Job(folder, world.source, log, engine="qdrant"))
    assert all_of(folder) == all_of(after)
    assert problems(folder) == []
    written = {path.name for path in (folder / qdrant.FOLDER).iterdir()}
    assert written == {Manifest.read(folder).index.name}
    assert rollback(folder).index.engine == "embedded"


def test_after_a_kill_an_earlier_version_can_be_made_live(world: World, tmp_path: Path) -> None:
    folder, log = shutil.copytree(world.before, tmp_path / "kept"), tmp_path / "log"
    older = versions(folder)[1]
    build = Build(Job(folder, world.source, log, until=("Writing the vector index", 0)))
    assert build.reaches("Writing the vector index")
    assert build.kill()
    assert rollback(folder) == Manifest.read(folder) == older
    assert problems_of(folder, older) == []
    run_build(Job(folder, world.source, log))
    assert different(folder, world.expected) == []
    assert versions(folder) == [Manifest.read(folder), older]
    assert leftovers(folder) == set()
    assert rollback(folder) == older


def test_the_next_build_has_the_room_of_what_a_killed_one_left(
    world: World, tmp_path: Path
) -> None:
    folder, log = shutil.copytree(world.before, tmp_path / "kept"), tmp_path / "log"
    build = Build(Job(folder, world.source, log, until=("Writing documents", 0)))
    assert build.reaches("Writing documents")
    assert build.kill()
    assert list(folder.glob(".*.partial"))
    log.write_text("")
    build = Build(Job(folder, world.source, log, until=("Reading files", 0)))
    assert build.reaches("Reading files")
    with build.paused():
        assert not list(folder.glob(".*.partial"))
    assert build.finish() == 0
    assert different(folder, world.expected) == []
    assert _noted(log, "embed") == 0


def test_of_two_builds_at_once_the_second_fails_and_the_first_goes_on(
    world: World, tmp_path: Path
) -> None:
    folder, log = shutil.copytree(world.before, tmp_path / "kept"), tmp_path / "log"
    first = Build(Job(folder, world.source, log))
    assert first.reaches("Embedding passages")
    command = (*ATLAS, "create", "txt", world.source, "--collection", "kept")
    environment = {"CHROMA_PERSIST_DIRECTORY": str(tmp_path)}
    with (
        first.paused(),
        running(*command, environment=environment, folder=tmp_path) as second,
    ):
        assert second.process.wait(60) == 1
        wait_for(lambda: second.lines[-1:] or None, 60, "a message")
    assert second.lines[-1] == "atlas: Another build of kept is running. Wait for it, or end it."
    assert first.finish() == 0
    assert different(folder, world.expected) == []


def test_the_lock_of_a_killed_build_keeps_nobody_out(world: World, tmp_path: Path) -> None:
    folder, log = shutil.copytree(world.before, tmp_path / "kept"), tmp_path / "log"
    build = Build(Job(folder, world.source, log))
    assert build.reaches("Reading files")
    with build.paused(), pytest.raises(SourceError, match="Another build of kept is running"):
        rollback(folder)
    assert build.kill()
    assert rollback(folder).version == versions(folder)[1].version


# imports and exports

_PROCESSES = get_context("forkserver")


def import_to(folder: Path, export: Path) -> None:
    import_collection(
        export, folder, HashEmbedder(), silent, replace=True, indexing=Indexing("hnsw")
    )


def import_and_die(path: Path, folder: Path, fatal: int) -> None:
    die_before(folder, fatal)
    import_to(folder, path)


def export_and_die(folder: Path, path: Path) -> None:
    def die(stage: str, done: int, of: int) -> None:
        if (stage, done) == ("Writing passages", of):
            os.kill(os.getpid(), signal.SIGKILL)

    export_collection(folder, path, die)


def exit_code(work: object, *arguments: object) -> int:
    process = _PROCESSES.Process(target=work, args=arguments, daemon=True)
    process.start()
    process.join(FINISH_SECONDS)
    assert process.exitcode is not None, "it hangs"
    return process.exitcode


def test_before_an_import_is_whole_nothing_of_it_is_live(letters: Path, tmp_path: Path) -> None:
    folder, expected = tmp_path / "stores" / "c", contents(letters / "stores" / "c")
    killed = 0
    for fatal in count(1):
        if exit_code(import_and_die, letters / "export", folder, fatal) == 0:
            break
        killed += 1
        try:
            Manifest.read(folder)
        except MissingStore:
            continue
        assert contents(folder) == expected  # it was live, and what was killed is the cleaning up
        assert damaged(folder) == []
    assert killed >= 4
    assert contents(folder) == expected
    kept = {m.version for m in versions(folder)}
    assert {path.name for path in folder.iterdir()} - kept == {".build.lock", "manifest.json"}


def test_the_live_version_stays_when_an_import_over_it_is_killed(
    letters: Path, source: Path, folder: Path
) -> None:
    before, version = contents(folder), live(folder)
    assert exit_code(import_and_die, letters / "export", folder, 4) != 0
    assert (contents(folder), live(folder)) == (before, version)
    assert list(folder.glob(".*.partial")) != []
    build_tiny(source, folder, HashEmbedder(), force=True)
    assert list(folder.glob(".*.partial")) == []


@pytest.mark.parametrize("name", ["export", "export.zip"])
def test_an_export_that_is_killed_is_not_there_and_the_next_one_is_whole(
    letters: Path, tmp_path: Path, name: str
) -> None:
    folder = letters / "stores" / "c"
    assert exit_code(export_and_die, folder, tmp_path / name) != 0
    assert not (tmp_path / name).exists()
    assert (tmp_path / f".{name}.partial").exists()
    export_collection(folder, tmp_path / name, silent)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    import_to(tmp_path / "whole" / "c", tmp_path / name)
    assert contents(tmp_path / "whole" / "c") == contents(folder)
