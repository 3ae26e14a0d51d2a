"""Small collections: one to change and look after, one with passages beside its base, an export."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.building.backup import export_collection
from atlas_search.building.document_ids import Changes
from atlas_search.building.flow import BuildOptions
from atlas_search.building.workers import ReadingLimits
from atlas_search.cli.main import main
from atlas_search.stores.manifest import Manifest
from tests.building.damage import copy_collection
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, all_vectors, build_tiny, contents, silent, write_sources

AtlasStore = Callable[..., tuple[object, str, str]]
"""Runs `atlas store` with arguments: exit code, and both streams."""

TABLE = "id,text\nr1,Ships carry wool.\nr2,Ships carry cloth.\n"

LETTERS = {
    "farm/sheep.md": "---\ntitle: On sheep\ndate: 1901\ntags: [wool, hills]\nrank: 2.5\n---\n"
    "# Wool\n\nSheep give wool.\n\n# Milk\n\nSome give milk, too.\n",
    "farm/cows.txt": "Cows give milk.\n",
    "farm/twin.txt": "Cows give milk.\n",
    "town/trade.txt": "Merchants sell cloth – even “silk” 🐑.\n\fOn the second page they rest.\n",
}


@pytest.fixture(scope="module")
def read_here() -> Iterator[None]:
    """Builds of `tests.source_builds` read in this process: to start one takes longer."""
    with pytest.MonkeyPatch.context() as patch:
        here = partial(BuildOptions, limits=ReadingLimits(0))
        patch.setattr("tests.source_builds.BuildOptions", here)
        yield


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sources FARM, and the stores folder, where they make the collection `c`."""
    root = tmp_path_factory.mktemp("built")
    build_tiny(write_sources(root / "source", FARM), root / "stores" / "c", HashEmbedder())
    return root


@pytest.fixture
def source(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built / "source", tmp_path / "source")


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """A copy of the collection, which was built by another embedder object than `hashes`."""
    return copy_collection(built / "stores" / "c", tmp_path / "stores" / "c")


@pytest.fixture(scope="session")
def whole(built: Path) -> tuple[dict[str, Any], NDArray[np.float32]]:
    """All that the collection holds before anything is damaged."""
    return contents(built / "stores" / "c"), all_vectors(built / "stores" / "c")


@pytest.fixture
def hashes() -> HashEmbedder:
    """Counts only what is embedded after the first build."""
    return HashEmbedder()


@pytest.fixture
def two(source: Path, folder: Path) -> list[str]:
    """The names of the first version, and of a second one with goats, which is live."""
    (source / "farm/goats.txt").write_text("Goats climb hills.\n")
    first = Manifest.read(folder).version
    return [first, build_tiny(source, folder, HashEmbedder()).manifest.version]


@pytest.fixture
def two_origins(tmp_path: Path, folder: Path, hashes: HashEmbedder) -> Path:
    """The folder of tables that went into the collection after the texts."""
    tables = write_sources(tmp_path / "tables", {"port/ships.csv": TABLE, "farm/eggs.csv": TABLE})
    report = build_tiny(tables, folder, hashes, kind="csv")
    assert (report.changes, report.embedded) == (Changes(4, 0, 3, 0), 2)
    return tables


@pytest.fixture
def atlas_store(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> AtlasStore:
    """The collection `c` is the configured one, and its model that of the settings."""
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(folder.parent))
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", "c")
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr("atlas_search.cli.store.open_embedder", lambda _: HashEmbedder())

    def run(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["store", *arguments])
        return (ended.value.code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sources, the collection `c` that they make, and its export."""
    root = tmp_path_factory.mktemp("letters")
    source = write_sources(root / "source", LETTERS)
    build_tiny(source, root / "stores" / "c", HashEmbedder())
    export_collection(root / "stores" / "c", root / "export", silent)
    return root


@pytest.fixture
def export(letters: Path, tmp_path: Path) -> Path:
    """A copy of the export."""
    return shutil.copytree(letters / "export", tmp_path / "export")
