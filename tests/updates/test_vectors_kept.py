"""Which vectors a build keeps: of equal texts, of another chunk size, of another model."""

from pathlib import Path

import numpy as np

from atlas_search.build.document_ids import Changes
from atlas_search.stores.manifest import Manifest
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, contents, index, write_sources
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
