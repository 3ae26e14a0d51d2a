"""Damaged documents need their sources, or an earlier version."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import by_rule
from atlas_search.stores.manifest import Manifest
from tests.hash_embedder import HashEmbedder
from tests.tiny import READERS, build_tiny, contents, live, rows, write_sources
from tests.upkeep.damage import DAMAGE, Atlas, damaged, flip, lose, sql


def test_damaged_documents_need_their_sources_or_an_earlier_version(
    folder: Path, two: list[str], source: Path, atlas: Atlas
) -> None:
    flip(live(folder) / "records.sqlite", 5000)
    code, _, error = atlas("repair")
    assert code == 1
    assert "The documents of c are damaged: records.sqlite is not as it was written." in error
    assert f"`atlas create txt {source} --collection c --force`" in error
    assert "or go back: `atlas store rollback c`" in error
    assert Manifest.read(folder).version == two[1]
    assert atlas("rollback", "c")[0] == 0
    assert damaged(folder) == []


def test_the_command_that_is_named_has_all_options_that_were_given(
    tmp_path: Path, folder: Path, atlas: Atlas
) -> None:
    source = write_sources(tmp_path / "my tables", {"t.csv": "id,text\n1,Ships.\n"})
    arguments = {
        "source": [str(source)],
        "splitter": "fixed",
        "chunk_size": 500,
        "chunk_overlap": None,
        "chunk_unit": "characters",
        "across_pages": True,
        "corpora": None,
        "corpus": "port",
        "quotes": False,
        "rename": "a=b,c=d",
    }
    sources = by_rule([source], READERS["csv"].suffixes, CorpusRule("port"))
    build_tiny(sources, folder, HashEmbedder(), kind="csv", arguments=arguments)
    lose("records.sqlite")(live(folder))
    _, _, error = atlas("repair")
    assert (
        f"`atlas create csv '{source}' --collection c --splitter fixed --chunk-size 500 "
        "--across-pages --corpus port --no-quotes --rename a=b,c=d --force`"
    ) in error
    assert "`atlas create txt " in error


@pytest.mark.parametrize("name", [n for n, (part, _) in DAMAGE.items() if part == "records.sqlite"])
def test_a_forced_build_brings_damaged_documents_back(
    folder: Path, source: Path, whole: tuple[dict[str, Any], NDArray[np.float32]], name: str
) -> None:
    DAMAGE[name][1](live(folder))
    assert build_tiny(source, folder, HashEmbedder(), force=True).embedded == 0
    assert (contents(folder), damaged(folder)) == (whole[0], [])


def test_a_forged_title_does_not_outlive_a_forced_build(folder: Path, source: Path) -> None:
    sql("records.sqlite", "UPDATE documents SET title = 'Forged'")(live(folder))
    build_tiny(source, folder, HashEmbedder(), force=True)
    assert "Forged" not in {row["title"] for row in rows(folder, "SELECT title FROM documents")}
