"""A build of a live version that is damaged."""

from pathlib import Path

import numpy as np
import pytest

from atlas_search.core.errors import DamagedStore
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, contents, document_ids, index
from tests.updates.changes import change, problems


def damage_vectors(folder: Path) -> None:
    path = folder / Manifest.read(folder).version / "embeddings" / "vectors.npy"
    blob = bytearray(path.read_bytes())
    blob[-2] ^= 0x40
    path.write_bytes(blob)


def test_a_build_does_not_take_over_damaged_vectors(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    damage_vectors(folder)
    change(source, {"farm/goats.txt": "Goats climb."})
    build_tiny(source, folder, hashes)
    for ids, vectors in index(folder).values():
        texts = [text_of(folder, id_) for id_ in ids]
        assert np.allclose(vectors, HashEmbedder().embed(texts), atol=1e-6)
    assert not problems(folder)


def text_of(folder: Path, id_: str) -> str:
    store = EmbeddedStore(folder)
    text = store.passage(id_).embedded
    store.close()
    return text


@pytest.mark.parametrize(
    ("part", "force"),
    [
        *((part, False) for part in ("chroma", "embeddings", "tokens", "words", "keywords")),
        *((part, True) for part in ("tokens", "records.sqlite")),
    ],
)
def test_a_build_from_sources_mends_what_the_live_version_has_lost(
    source: Path, folder: Path, hashes: HashEmbedder, part: str, force: bool
) -> None:
    whole = contents(folder)
    path = folder / Manifest.read(folder).version / part
    path.rename(path.with_name("lost"))
    change(source, {"farm/goats.txt": "Goats climb."})
    build_tiny(source, folder, hashes, force=force)
    change(source, {"farm/goats.txt": None})
    build_tiny(source, folder, hashes, force=force)
    assert contents(folder) == whole


def test_a_build_does_not_forget_other_origins_where_the_live_documents_are_lost(
    two_origins: Path, source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    (folder / Manifest.read(folder).version / "records.sqlite").unlink()
    with pytest.raises(DamagedStore, match=r"Build it again .*`atlas store rollback c`"):
        build_tiny(source, folder, hashes)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_forced_build_of_a_damaged_collection_keeps_the_version_before(
    two_origins: Path, source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    before, live = sorted(path.name for path in folder.glob("2*"))
    (folder / live / "records.sqlite").unlink()
    build_tiny(source, folder, hashes, force=True)
    assert (folder / before).exists()
    assert not (folder / live).exists()
    build_tiny(two_origins, folder, hashes, kind="csv", force=True)
    assert len(document_ids(folder)) == 7
    assert not problems(folder)
