"""Corpora that are dropped, upkeep during a build, and versions that never went live."""

import errno
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from atlas_search.building.backup import export_collection, import_collection
from atlas_search.building.document_ids import Changes
from atlas_search.building.go_live import LAST_STAGE
from atlas_search.building.maintain import drop, remove_source, repair
from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import by_rule
from atlas_search.core.errors import Cancelled, DamagedStore, SourceError
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import lock, new_name, rollback, versions
from tests.building.conftest import AtlasStore
from tests.building.damage import cut_short, damaged, lose
from tests.hash_embedder import HashEmbedder
from tests.tiny import (
    READERS,
    build_tiny,
    contents,
    document_ids,
    index,
    keyword_hits,
    live,
    silent,
    write_sources,
)


def test_a_dropped_corpus_is_gone_from_every_part_until_the_next_build(
    folder: Path, source: Path, atlas_store: AtlasStore
) -> None:
    whole = contents(folder)
    code, output, _ = atlas_store("drop", "town")
    assert code == 0
    assert output == f"Version {Manifest.read(folder).version} is live: 2 documents.\n"
    assert [c.id for c in Manifest.read(folder).corpora] == list(index(folder)) == ["farm"]
    assert keyword_hits(folder, "merchant") == []
    assert "town.trade" not in document_ids(folder)
    assert damaged(folder) == []
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    assert names == [".build.lock", ".sources.sqlite", "manifest.json"]
    hashes = HashEmbedder()
    report = build_tiny(source, folder, hashes)
    assert (report.changes, report.read, hashes.embedded) == (Changes(1, 0, 2, 0), 1, 0)
    assert contents(folder) == whole


@pytest.mark.parametrize(
    ("corpora", "refused"),
    [(["nowhere"], "'nowhere'"), (["town", "farm"], "'farm'"), (["Farm"], "'Farm'")],
)
def test_unknown_corpora_and_the_last_one_are_not_dropped(
    folder: Path,
    atlas_store: AtlasStore,
    corpora: list[str],
    refused: str,
) -> None:
    *first, last = corpora
    for corpus in first:
        assert atlas_store("drop", corpus)[0] == 0
    before = Manifest.read(folder)
    code, _, error = atlas_store("drop", last, "c")
    assert code == 1
    assert f"c has the corpora {', '.join(c.id for c in before.corpora)}: {refused}" in error
    assert Manifest.read(folder) == before


def test_a_corpus_can_be_dropped_from_a_table_of_several(tmp_path: Path) -> None:
    table = "id,text,party\n1,Ships.,a\n2,Sheep.,b\n"
    source = write_sources(tmp_path / "s", {"t.csv": table})
    sources = by_rule([source], READERS["csv"].suffixes, CorpusRule(corpus_field="party"))
    build_tiny(sources, tmp_path / "c", HashEmbedder(), kind="csv")
    whole = contents(tmp_path / "c")
    drop(tmp_path / "c", "a", HashEmbedder(), silent)
    assert document_ids(tmp_path / "c") == ["b.2"]
    report = build_tiny(sources, tmp_path / "c", HashEmbedder(), kind="csv")
    assert report.changes == Changes(1, 0, 1, 0)
    assert contents(tmp_path / "c") == whole


def test_dropping_all_of_an_origin_forgets_the_origin(folder: Path, source: Path) -> None:
    tables = write_sources(source.parent / "tables", {"port/t.csv": "id,text\n1,Ships.\n"})
    build_tiny(tables, folder, HashEmbedder(), kind="csv")
    drop(folder, "port", HashEmbedder(), silent)
    assert list(Manifest.read(folder).origins) == ["txt"]
    assert build_tiny(source, folder, HashEmbedder()).unchanged


@pytest.mark.parametrize("command", ["verify", "repair", "rollback", "drop town"])
def test_a_collection_that_is_not_there_is_named_and_not_made(
    folder: Path, atlas_store: AtlasStore, command: str
) -> None:
    code, _, error = atlas_store(*command.split(), "nowhere")
    assert code == 1
    assert error.startswith(f"atlas: There is no collection at {folder.parent / 'nowhere'}")
    assert not (folder.parent / "nowhere").exists()


def test_nothing_is_changed_while_a_build_runs(folder: Path, source: Path) -> None:
    version = Manifest.read(folder).version
    for work in (
        lambda: build_tiny(source, folder, HashEmbedder()),
        lambda: repair(folder, HashEmbedder(), silent),
        lambda: drop(folder, "town", HashEmbedder(), silent),
        lambda: rollback(folder),
    ):
        with lock(folder), pytest.raises(SourceError, match="Another build of c is running"):
            work()
    assert Manifest.read(folder).version == version


def test_an_error_about_a_copy_names_the_copy(folder: Path, source: Path, two: list[str]) -> None:
    copy = shutil.copytree(folder, folder.parent / "other")
    cut_short(live(copy) / "records.sqlite")
    (source / "farm" / "new.txt").write_text("New.")
    with pytest.raises(DamagedStore, match=r"other is damaged: .* --collection other --force`"):
        build_tiny(source, copy, HashEmbedder())
    (live(copy) / "tokens" / "words.flat.npy").unlink()
    with pytest.raises(DamagedStore, match="`atlas store repair other`"):
        EmbeddedStore(copy)


# a version that was written and never went live is not one to go back to


def cancel(stage: str, done: int, _: int) -> None:
    if stage == LAST_STAGE and not done:
        raise Cancelled("It was cancelled.")


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_cancelled_build_leaves_no_version(
    folder: Path, two: list[str], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheep = source / "farm" / "sheep.md"
    before = sheep.read_text()
    sheep.write_text("Nobody may read this.")
    with monkeypatch.context() as patch:
        patch.setattr("tests.tiny.silent", cancel)
        with pytest.raises(Cancelled):
            build_tiny(source, folder, HashEmbedder())
    assert [m.version for m in versions(folder)] == two[::-1]
    sheep.write_text(before)
    assert build_tiny(source, folder, HashEmbedder()).unchanged
    assert rollback(folder).version == two[0]


CANCELLED: dict[str, Callable[[Path], object]] = {
    "drop": lambda folder: drop(folder, "town", HashEmbedder(), cancel),
    "remove": lambda folder: remove_source(
        folder, ("txt", "farm/cows.txt"), HashEmbedder(), cancel
    ),
}


@pytest.mark.parametrize("work", CANCELLED)
def test_a_cancelled_change_leaves_no_version(folder: Path, two: list[str], work: str) -> None:
    with pytest.raises(Cancelled):
        CANCELLED[work](folder)
    assert [m.version for m in versions(folder)] == two[::-1]


def test_an_interrupted_repair_or_import_leaves_no_version(
    folder: Path, two: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_collection(folder, tmp_path / "export", silent)
    lose("tokens")(live(folder))
    monkeypatch.setattr("atlas_search.building.maintain.go_live", interrupt)
    monkeypatch.setattr("atlas_search.building.backup.go_live", interrupt)
    with pytest.raises(KeyboardInterrupt):
        repair(folder, HashEmbedder(), silent)
    with pytest.raises(KeyboardInterrupt):
        import_collection(tmp_path / "export", folder, HashEmbedder(), silent, replace=True)
    assert [m.version for m in versions(folder)] == two[::-1]


def test_a_version_that_never_was_live_does_not_take_the_place_of_the_one_before(
    folder: Path, two: list[str], source: Path
) -> None:
    manifest = Manifest.read(folder)
    later = manifest.model_copy(update={"version": new_name(manifest.content_digest)})
    later.write(shutil.copytree(live(folder), folder / later.version))
    assert len(versions(folder)) == 3
    assert build_tiny(source, folder, HashEmbedder()).unchanged
    assert [m.version for m in versions(folder)] == two[::-1]


@pytest.mark.parametrize("step", ["staging", "versions"])
def test_a_failure_after_a_version_is_live_does_not_fail_the_build(
    folder: Path, two: list[str], source: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: object) -> None:
        if step == "staging":
            raise sqlite3.OperationalError("database or disk is full")
        raise OSError(errno.ENOSPC, "No space left on device")

    (source / "farm" / "new.txt").write_text("New.")
    with monkeypatch.context() as patch:
        if step == "staging":
            patch.setattr("atlas_search.stores.staging.Staging.finish", full)
        else:
            patch.setattr("atlas_search.building.go_live.remove_old", full)
        report = build_tiny(source, folder, HashEmbedder())
    assert report.manifest == Manifest.read(folder)
    (source / "farm" / "newer.txt").write_text("Newer.")
    again = build_tiny(source, folder, HashEmbedder()).manifest
    assert [m.version for m in versions(folder)] == [again.version, report.manifest.version]
    assert again.documents == report.manifest.documents + 1
