"""`atlas store rollback` and `list`: versions to go back to, and those that are removed."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.building.document_ids import Changes
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import remove_old, rollback, versions
from tests.building.conftest import AtlasStore
from tests.building.damage import change, cut_short, damaged
from tests.hash_embedder import HashEmbedder
from tests.tiny import (
    build_tiny,
    contents,
    document_ids,
    json_lines,
    keyword_hits,
    write_sources,
)


def test_rollback_goes_to_the_version_before_and_a_build_goes_on_from_there(
    folder: Path, two: list[str], source: Path, atlas_store: AtlasStore
) -> None:
    assert keyword_hits(folder, "goat") == ["farm.goats:0-18"]
    code, output, _ = atlas_store("rollback")
    assert (code, output) == (0, f"Version {two[0]} is live: 3 documents.\n")
    assert document_ids(folder) == ["farm.cows", "farm.sheep", "town.trade"]
    assert keyword_hits(folder, "goat") == []
    code, _, error = atlas_store("rollback")
    assert code == 1
    assert f"no earlier version to go back to. Live is {two[0]}; " in error
    assert f"other versions on disk: {two[1]}." in error
    change(source, {"farm/new.txt": "New.", "farm/cows.txt": None, "farm/goats.txt": None})
    report = build_tiny(source, folder, HashEmbedder())
    assert (report.changes, report.embedded) == (Changes(1, 0, 2, 1), 1)
    assert [m.version for m in versions(folder)] == [report.manifest.version, two[0]]
    assert damaged(folder) == []


def test_a_build_after_a_rollback_without_changes_makes_the_later_version_again(
    folder: Path, two: list[str], source: Path
) -> None:
    later = contents(folder)
    rollback(folder)
    report = build_tiny(source, folder, HashEmbedder())
    assert (report.changes, report.embedded) == (Changes(1, 0, 3, 0), 0)
    assert contents(folder) == later


class Interrupted(HashEmbedder):
    """Is interrupted before it embeds anything."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise KeyboardInterrupt


def test_records_that_a_killed_build_kept_are_read_again_after_a_rollback(tmp_path: Path) -> None:
    """The version before has one set of records, in longer passages."""
    root, folder = tmp_path / "source", tmp_path / "c"
    letter = "Sheep give wool to those who shear them. " * 20

    def build_with(text: str, size: int, embedder: HashEmbedder) -> int:
        write_sources(root, {"farm/all.jsonl": json_lines({"letter": letter, "note": text})})
        cut = {"kind": "jsonl", "size": size, "overlap": 0}
        return build_tiny(root, folder, embedder, **cut).manifest.passages

    long, short = (build_with("Cows.", size, HashEmbedder()) for size in (1000, 200))
    assert long < short
    with pytest.raises(KeyboardInterrupt):
        build_with("Bees.", 200, Interrupted())
    rollback(folder)
    assert build_with("Bees.", 200, HashEmbedder()) == short


def test_rollback_to_a_named_version_goes_forward_too(
    folder: Path, two: list[str], atlas_store: AtlasStore
) -> None:
    for version in (two[0], two[1], two[0]):
        assert atlas_store("rollback", "c", "--version", version)[0] == 0
        assert Manifest.read(folder).version == version
        assert damaged(folder) == []
    code, _, error = atlas_store("rollback", "--version", "20200101T000000.000000-00000000")
    assert code == 1
    assert "c has no version 20200101T000000.000000-00000000 to go back to" in error


def test_without_another_version_there_is_none_to_go_back_to(
    folder: Path, atlas_store: AtlasStore
) -> None:
    code, _, error = atlas_store("rollback")
    assert code == 1
    assert "other versions on disk: none" in error


def test_a_damaged_version_does_not_become_live(
    folder: Path, two: list[str], atlas_store: AtlasStore
) -> None:
    cut_short(folder / two[0] / "records.sqlite")
    code, _, error = atlas_store("rollback")
    assert (code, Manifest.read(folder).version) == (1, two[1])
    assert f"{two[0]} is damaged: records.sqlite has " in error
    assert error.endswith(f"{two[1]} stays live.\n")


def test_versions_other_than_the_kept_ones_are_removed_and_nothing_else(tmp_path: Path) -> None:
    names = [f"2026010{day}T000000.000000-0123abcd" for day in range(1, 5)]
    others = ["2019 interviews", "20260101", f".{names[0]}.partial.txt", "other"]
    for name in (*names, f".{names[3]}.partial", *others):
        (tmp_path / name).mkdir()
    remove_old(tmp_path, {names[0], names[2]})
    assert {path.name for path in tmp_path.iterdir()} == {names[0], names[2], *others}


def test_list_shows_collections_versions_and_damage(
    folder: Path, two: list[str], atlas_store: AtlasStore
) -> None:
    (folder.parent / "broken").mkdir()
    (folder.parent / "broken" / "manifest.json").write_text("garbage")
    code, output, _ = atlas_store("list")
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in output.splitlines()]
    cells = [line for line in lines if line]
    assert code == 0
    assert cells[0][0] == "broken"
    assert "is not valid JSON" in cells[0][1]
    assert cells[1:] == [
        ["c", f"* {two[1]}", "4", "4", "hash"],
        ["c", two[0], "3", "3", "hash"],
    ]


def test_list_of_nothing_is_empty(
    tmp_path: Path, atlas_store: AtlasStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path / "none"))
    assert atlas_store("list")[0] == 0
    assert not (tmp_path / "none").exists()
