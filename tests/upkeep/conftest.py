"""A small collection of two versions, and the commands that look after it."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.cli.main import main
from atlas_search.stores.manifest import Manifest
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, all_vectors, build_tiny, contents, write_sources
from tests.upkeep.damage import Atlas


@pytest.fixture(scope="package")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sources and the stores folder, where they make the one version of `c`."""
    root = tmp_path_factory.mktemp("built")
    source = write_sources(root / "source", FARM | {"farm/goats.txt": "Goats climb hills.\n"})
    build_tiny(source, root / "stores" / "c", HashEmbedder())
    return root


@pytest.fixture
def source(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built / "source", tmp_path / "source")


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built / "stores", tmp_path / "stores") / "c"


@pytest.fixture
def two(source: Path, folder: Path) -> list[str]:
    """The names of the first version, and of a second one without goats, which is live."""
    (source / "farm/goats.txt").unlink()
    first = Manifest.read(folder).version
    return [first, build_tiny(source, folder, HashEmbedder()).manifest.version]


@pytest.fixture
def atlas(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Atlas:
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


@pytest.fixture(scope="package")
def whole(built: Path) -> tuple[dict[str, Any], NDArray[np.float32]]:
    """All that the collection holds before anything is damaged."""
    return contents(built / "stores" / "c"), all_vectors(built / "stores" / "c")
