"""`atlas store drop`: a corpus is gone from every part."""

from pathlib import Path

import pytest

from atlas_search.building.document_ids import Changes
from atlas_search.building.maintain import drop
from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import by_rule
from atlas_search.stores.manifest import Manifest
from tests.hash_embedder import HashEmbedder
from tests.tiny import (
    READERS,
    build_tiny,
    contents,
    document_ids,
    index,
    keyword_hits,
    silent,
    write_sources,
)
from tests.upkeep.damage import Atlas, damaged


def test_a_dropped_corpus_is_gone_from_every_part_until_the_next_build(
    folder: Path, source: Path, atlas: Atlas
) -> None:
    whole = contents(folder)
    code, said, _ = atlas("drop", "town")
    assert code == 0
    assert said == f"Version {Manifest.read(folder).version} is live: 3 documents.\n"
    assert (
        [corpus.id for corpus in Manifest.read(folder).corpora] == list(index(folder)) == ["farm"]
    )
    assert keyword_hits(folder, "merchant") == []
    assert "town.trade" not in document_ids(folder)
    assert damaged(folder) == []
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == [
        *(".build.lock", ".sources.sqlite", "manifest.json"),
    ]
    hashes = HashEmbedder()
    report = build_tiny(source, folder, hashes)
    assert (report.changes, report.read, hashes.embedded) == (Changes(1, 0, 3, 0), 1, 0)
    assert contents(folder) == whole


@pytest.mark.parametrize(
    ("corpora", "refused"),
    [(["nowhere"], "'nowhere'"), (["town", "farm"], "'farm'"), (["Farm"], "'Farm'")],
)
def test_unknown_corpora_and_the_last_one_are_not_dropped(
    folder: Path,
    atlas: Atlas,
    corpora: list[str],
    refused: str,
) -> None:
    *first, last = corpora
    for corpus in first:
        assert atlas("drop", corpus)[0] == 0
    before = Manifest.read(folder)
    code, _, error = atlas("drop", last, "c")
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
