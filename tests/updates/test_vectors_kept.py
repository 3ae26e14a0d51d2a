"""Which vectors a build keeps: of equal texts, of another chunk size, of another model."""

from pathlib import Path

import numpy as np

from atlas_search.atlas import Atlas
from atlas_search.building.document_ids import Changes
from atlas_search.server.ingest.work import build_kept
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.vectors import VECTORS, Embeddings
from atlas_search.stores.versions import EMBEDDINGS
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, contents, index, live, silent, write_sources
from tests.updates.changes import NOTHING

PARAGRAPHS = 12


def test_another_chunk_size_cuts_again_but_keeps_vectors_of_equal_texts(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    long = "\n\n".join(f"Paragraph {number} has words. " * 8 for number in range(PARAGRAPHS))
    source = write_sources(
        tmp_path / "source", {"a/short.txt": "A short text.", "a/long.txt": long}
    )
    build_tiny(source, tmp_path / "c", hashes, size=1000, overlap=0)
    before = hashes.embedded
    report = build_tiny(source, tmp_path / "c", hashes, size=200, overlap=0)
    assert report.read == 2
    assert report.changes == Changes(0, 0, 2, 0)
    assert report.manifest.passages == PARAGRAPHS + 1
    assert report.embedded == hashes.embedded - before == PARAGRAPHS
    build_tiny(source, tmp_path / "c", hashes, size=1000, overlap=0)
    assert hashes.embedded == before + PARAGRAPHS


def test_another_model_embeds_everything_and_going_back_nothing(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    whole = contents(folder)
    other = HashEmbedder("other", dimension=16)
    report = build_tiny(source, folder, other)
    assert (report.embedded, report.read, report.changes) == (3, 0, NOTHING)
    assert report.manifest.embedding.dimension == 16
    assert index(folder)["farm"][1].shape == (2, 16)
    assert build_tiny(source, folder, hashes).embedded == 0
    assert contents(folder) == whole


def test_force_makes_a_new_version_of_the_same_contents(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    before = contents(folder), Manifest.read(folder).version
    report = build_tiny(source, folder, hashes, force=True)
    assert (report.unchanged, report.embedded, report.changes) == (False, 0, NOTHING)
    assert (contents(folder), before[1] < report.manifest.version) == (before[0], True)


def test_equal_texts_are_embedded_once_and_share_a_vector(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    files = {f"{corpus}/{n}.txt": "The same text." for corpus in "ab" for n in range(3)}
    report = build_tiny(write_sources(tmp_path / "s", files), tmp_path / "c", hashes)
    assert (report.manifest.passages, report.embedded, hashes.embedded) == (6, 1, 1)
    vectors = np.concatenate([found for _, found in index(tmp_path / "c").values()])
    assert np.array_equal(vectors, np.repeat(vectors[:1], 6, axis=0))


def test_texts_that_a_collection_beside_has_are_not_embedded_again(
    tmp_path: Path, folder: Path, hashes: HashEmbedder
) -> None:
    """By the same model, as they were written there; what is damaged is embedded."""
    source = write_sources(tmp_path / "other", {"a/x.txt": "Cows give milk.\n", "a/y.txt": "New."})
    report = Atlas.build(source, tmp_path / "d", embedder=hashes)
    assert (report.embedded, hashes.embedded) == (1, 1)
    vectors = Embeddings.read(live(tmp_path / "d") / EMBEDDINGS).vectors
    assert np.array_equal(vectors, hashes.embed(["Cows give milk.", "New."]))
    other = HashEmbedder("other")
    assert Atlas.build(source, tmp_path / "e", embedder=other).embedded == 2
    alone = HashEmbedder()
    assert Atlas.build(source, tmp_path / "f", embedder=alone, share_vectors=False).embedded == 2
    for collection in ("c", "d", "f"):
        path = live(tmp_path / collection) / EMBEDDINGS / VECTORS
        blob = bytearray(path.read_bytes())
        blob[128:] = bytes(len(blob) - 128)
        path.write_bytes(blob)
    assert Atlas.build(source, tmp_path / "g", embedder=HashEmbedder()).embedded == 2
    (tmp_path / "c" / "manifest.json").write_text("no manifest")
    assert Atlas.build(source, tmp_path / "h", embedder=HashEmbedder()).embedded == 0


def test_what_a_server_was_handed_tells_nothing_of_other_collections(
    tmp_path: Path, folder: Path
) -> None:
    kept = write_sources(tmp_path / "kept", {"a/x.txt": "Cows give milk.\n"})
    hashes = HashEmbedder()
    report = build_kept(kept, tmp_path / "d", hashes, silent)
    assert (report.embedded, hashes.embedded) == (1, 1)
