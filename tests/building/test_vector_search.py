"""Corpora that get a vector index: only those whose searches ask one, unless VECTOR_SEARCH says."""

from pathlib import Path

import numpy as np
import pytest

from atlas_search.building.go_live import Indexing
from atlas_search.core.targets import VectorSearch
from atlas_search.stores import embedded
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.verify import verify
from atlas_search.stores.versions import CHROMA
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, live, write_sources

TEXTS = {f"{corpus}/{n}.txt": f"Sheep and wool {n}." for corpus in "ab" for n in range(4)}
MORE = {f"b/{n}.txt": f"Sheep of another kind {n}." for n in range(4, 12)}


def build(tmp_path: Path, how: VectorSearch) -> Path:
    build_tiny(tmp_path / "sources", tmp_path / "c", HashEmbedder(), indexing=Indexing(how))
    return tmp_path / "c"


def indexed(folder: Path) -> tuple[str, ...]:
    """The corpora with an index, as the manifest and the disk say."""
    corpora = Manifest.read(folder).index.corpora
    assert (live(folder) / CHROMA).exists() == bool(corpora)
    assert not [finding for finding in verify(folder, Manifest.read(folder)) if finding.problem]
    return corpora


@pytest.mark.parametrize(("how", "corpora"), [("auto", ()), ("exact", ()), ("hnsw", ("a", "b"))])
def test_small_corpora_have_an_index_where_every_one_is_wanted(
    tmp_path: Path, how: VectorSearch, corpora: tuple[str, ...]
) -> None:
    write_sources(tmp_path / "sources", TEXTS)
    assert indexed(build(tmp_path, how)) == corpora


def test_a_corpus_that_grows_large_gets_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "EXACT_UP_TO", 5)
    write_sources(tmp_path / "sources", TEXTS)
    assert indexed(build(tmp_path, "auto")) == ()
    write_sources(tmp_path / "sources", TEXTS | MORE)
    folder = build(tmp_path, "auto")
    assert indexed(folder) == ("b",)
    store = EmbeddedStore(folder)
    vector = HashEmbedder().embed(["Sheep and wool 1."])[0]
    assert store.compares_all("a")
    assert not store.compares_all("b")
    assert store.compares_all("a", "hnsw")  # there is none to ask
    for corpus in "ab":
        every = store.nearest(corpus, vector, 3, None, how="exact")
        hits = store.nearest(corpus, vector, 3, None)
        assert hits.rows.tolist() == every.rows.tolist()
        assert np.allclose(hits.scores, every.scores)
    store.close()
    for name in MORE:
        (tmp_path / "sources" / name).unlink()
    assert indexed(build(tmp_path, "auto")) == ()


def test_another_setting_builds_again_and_embeds_nothing(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", TEXTS)
    build(tmp_path, "auto")
    args = tmp_path / "sources", tmp_path / "c", HashEmbedder()
    report = build_tiny(*args, indexing=Indexing("hnsw"))
    assert (report.unchanged, report.embedded, indexed(tmp_path / "c")) == (False, 0, ("a", "b"))
    assert build_tiny(*args, indexing=Indexing("hnsw")).unchanged
    report = build_tiny(*args, indexing=Indexing("auto"))
    assert (report.unchanged, report.embedded, indexed(tmp_path / "c")) == (False, 0, ())
