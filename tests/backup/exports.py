"""Exports to be written, damaged and read."""

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from atlas_search.building.backup import Imported, import_collection
from atlas_search.providers.embedding import Embedder
from tests.hash_embedder import HashEmbedder
from tests.tiny import silent

LETTERS = {
    "farm/sheep.md": "---\ntitle: On sheep\ndate: 1901\ntags: [wool, hills]\nrank: 2.5\n---\n"
    "# Wool\n\nSheep give wool.\n\n# Milk\n\nSome give milk, too.\n",
    "farm/cows.txt": "Cows give milk.\n",
    "farm/twin.txt": "Cows give milk.\n",
    "town/trade.txt": "Merchants sell cloth – even “silk” 🐑.\n\fOn the second page they rest.\n",
}


def taken_in(
    path: Path, folder: Path, embedder: Embedder | None = None, *, replace: bool = False
) -> Imported:
    return import_collection(path, folder, embedder or HashEmbedder(), silent, replace=replace)


def unpacked(path: Path) -> Path:
    """A .zip as a folder beside it."""
    folder = path.with_suffix("")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def signed(export: Path, **changes: object) -> Path:
    """The export with a manifest that fits its files as they are now."""
    said = json.loads((export / "manifest.json").read_text(encoding="utf-8")) | changes
    said["files"] = {
        path.name: {
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in export.iterdir()
        if path.name != "manifest.json"
    }
    (export / "manifest.json").write_text(json.dumps(said), encoding="utf-8")
    return export


def edited(export: Path, name: str, change: Callable[[list[dict[str, Any]]], object]) -> Path:
    """The export with other lines in one file, and a manifest that fits them."""
    found = lines(export / name)
    change(found)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in found)
    (export / name).write_text(text, encoding="utf-8")
    return signed(export)


def copied(export: Path, to: Path) -> Path:
    return shutil.copytree(export, to)
