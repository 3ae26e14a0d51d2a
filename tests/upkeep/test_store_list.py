"""`atlas store list`."""

from pathlib import Path

import pytest

from tests.upkeep.damage import Atlas


def test_list_shows_collections_versions_and_damage(
    folder: Path, two: list[str], atlas: Atlas
) -> None:
    (folder.parent / "broken").mkdir()
    (folder.parent / "broken" / "manifest.json").write_text("garbage")
    code, said, _ = atlas("list")
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in said.splitlines()]
    cells = [line for line in lines if line]
    assert code == 0
    assert cells[0][0] == "broken"
    assert "is not valid JSON" in cells[0][1]
    assert cells[1:] == [
        ["c", f"* {two[1]}", "3", "3", "hash"],
        ["c", two[0], "4", "4", "hash"],
    ]


def test_list_of_nothing_is_empty(
    tmp_path: Path,
    atlas: Atlas,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path / "none"))
    assert atlas("list")[0] == 0
    assert not (tmp_path / "none").exists()
