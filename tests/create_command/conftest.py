"""`atlas create` in a folder of its own, with a model that is quick."""

from collections.abc import Callable
from pathlib import Path

import pytest

from atlas_search.cli.main import main
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, write_sources

TABLE = "id,title,text,port\n1,On ships,Ships carry wool to the port.,Leith\n2,,Cloth.,Hull\n"

Atlas = Callable[..., tuple[object, str, str]]
"""Runs `atlas create` with arguments: exit code, and what it said on both streams."""


@pytest.fixture
def atlas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Atlas:
    """Collections lie in `stores`; readable manifests in `create`."""
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path / "stores"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("atlas_search.cli.create.checkout", lambda: tmp_path)

    def run(*arguments: object) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["create", *map(str, arguments)])
        return (ended.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> HashEmbedder:
    """Stands in for the model."""
    made = HashEmbedder()
    monkeypatch.setattr("atlas_search.atlas.open_embedder", lambda _: made)
    return made


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    return write_sources(tmp_path / "source", FARM)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    return write_sources(tmp_path / "tables", {"ships.csv": TABLE})
