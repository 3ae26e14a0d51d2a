"""A collection whose words an earlier analyser made, or that keeps none of whole documents."""

import hashlib
import shutil
from pathlib import Path

import pytest

from atlas_search.building.document_ids import Changes
from atlas_search.building.maintain import repair
from atlas_search.core.errors import OutdatedStore
from atlas_search.language.text import ANALYSER_VERSION
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.terms import VOCABULARY
from atlas_search.stores.versions import TOKENS, WORDS
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, contents, keyword_hits, silent
from tests.updates.changes import problems


def analysed_before(folder: Path) -> None:
    """Make the live version one that an earlier analyser wrote, with stems of its own."""
    manifest = Manifest.read(folder)
    version = folder / manifest.version
    vocabulary = version / TOKENS / VOCABULARY
    vocabulary.write_text(vocabulary.read_text().replace('"ship"', '"vessel"'))
    digest = hashlib.sha256(vocabulary.read_bytes()).hexdigest()
    files = dict(manifest.files) | {f"{TOKENS}/{VOCABULARY}": digest}
    changed = {"analyser": ANALYSER_VERSION - 1, "files": files, "content_digest": "of another"}
    old = manifest.model_copy(update=changed)
    old.write(folder)
    old.write(version)


def test_a_store_of_an_earlier_analyser_is_analysed_again_and_nothing_is_embedded(
    two_origins: Path, source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    """The documents of the origin that is not built are analysed again too."""
    whole, before = contents(folder), hashes.embedded
    analysed_before(folder)
    report = build_tiny(source, folder, hashes)
    assert (report.unchanged, report.embedded, hashes.embedded) == (False, 0, before)
    assert report.changes == Changes(0, 0, 7, 0)
    assert keyword_hits(folder, "ship") == [
        *("farm.r1:0-17", "farm.r2:0-18", "port.r1:0-17", "port.r2:0-18")
    ]
    assert contents(folder) == whole
    assert not problems(folder)


def test_a_store_of_an_earlier_analyser_is_refused_with_what_to_run(
    two_origins: Path, folder: Path, hashes: HashEmbedder
) -> None:
    before = hashes.embedded
    analysed_before(folder)
    with pytest.raises(OutdatedStore, match=r"atlas create.*`atlas store repair c`"):
        EmbeddedStore(folder)
    assert any("another version of Atlas" in problem for problem in problems(folder))
    repair(folder, hashes, silent)
    assert (len(keyword_hits(folder, "ship")), hashes.embedded) == (4, before)
    assert not problems(folder)
    EmbeddedStore(folder).close()


def without_words(folder: Path) -> None:
    """Make the live version one of an Atlas that kept no words of whole documents."""
    manifest = Manifest.read(folder)
    version = folder / manifest.version
    shutil.rmtree(version / WORDS)
    files = {name: d for name, d in manifest.files.items() if name.split("/")[0] != WORDS}
    sizes = {part: size for part, size in manifest.sizes.items() if part != WORDS}
    old = manifest.model_copy(update={"files": files, "sizes": sizes})
    old.write(folder)
    old.write(version)


def test_a_store_without_words_of_documents_says_what_to_run(
    folder: Path, hashes: HashEmbedder
) -> None:
    whole, before = contents(folder), hashes.embedded
    without_words(folder)
    with pytest.raises(OutdatedStore, match=r"`atlas store repair c`.*`atlas create`"):
        EmbeddedStore(folder)
    assert any(p.startswith("words: c was built by an earlier") for p in problems(folder))
    repair(folder, hashes, silent)
    assert (contents(folder), hashes.embedded) == (whole, before)
    assert not problems(folder)


def test_a_build_gives_words_to_a_store_without_them(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    whole, before = contents(folder), hashes.embedded
    without_words(folder)
    report = build_tiny(source, folder, hashes)
    assert (report.unchanged, report.embedded, hashes.embedded) == (False, 0, before)
    assert contents(folder) == whole
    assert build_tiny(source, folder, hashes).unchanged
