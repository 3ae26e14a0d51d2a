"""A collection whose words an earlier analyser made."""

from pathlib import Path

import pytest

from atlas_search.building.document_ids import Changes
from atlas_search.building.maintain import repair
from atlas_search.core.errors import OutdatedStore
from atlas_search.language.text import ANALYSER_VERSION
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.terms import VOCABULARY
from atlas_search.stores.versions import TOKENS, file_digest
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, contents, keyword_hits, silent
from tests.updates.changes import problems


def analysed_before(folder: Path) -> None:
    """Make the live version one that an earlier analyser wrote, with stems of its own."""
    manifest = Manifest.read(folder)
    version = folder / manifest.version
    vocabulary = version / TOKENS / VOCABULARY
    vocabulary.write_text(vocabulary.read_text().replace('"ship"', '"vessel"'))
    files = dict(manifest.files) | {f"{TOKENS}/{VOCABULARY}": file_digest(vocabulary)}
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
