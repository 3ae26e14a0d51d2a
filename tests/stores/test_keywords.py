"""The keyword index: after changes it shares files, and finds what a new one finds."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from atlas_search.atlas import Atlas
from atlas_search.building.write import REBUILD_SHARE
from atlas_search.core.errors import DamagedStore
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.keywords import (
    Entry,
    Keys,
    KeywordIndex,
    change_keywords,
    write_keywords,
)
from atlas_search.stores.versions import KEYWORDS
from tests.building.damage import problems
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, keyword_hits, live, write_sources

MANY = 40


def texts(*, changed: int = 0, removed: int = 0, added: int = 0) -> dict[str, str]:
    """Documents by their ids; the first ones are removed, those after them say something else."""
    made = {
        f"d{n:02}": f"Sheep number {n} gives {'milk' if n < removed + changed else 'wool'}."
        for n in range(removed, MANY)
    }
    return made | {f"e{n:02}": f"Cow number {n} gives milk." for n in range(added)}


def build(tmp_path: Path, hashes: HashEmbedder, **changes: int) -> Path:
    folder = tmp_path / "c"
    files = {f"a/{name}.txt": text for name, text in texts(**changes).items()}
    build_tiny(write_sources(tmp_path / "s", files), folder, hashes)
    return folder


def test_files_of_what_stays_are_shared_and_what_is_gone_is_not_found(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    before = live(build(tmp_path, hashes)) / KEYWORDS
    assert Keys.read(before) is None
    folder = build(tmp_path, hashes, changed=2, added=1)
    after = live(folder) / KEYWORDS
    keys = Keys.read(after)
    assert keys is not None
    assert (keys.tombstones, len(keys.rows)) == (2, MANY + 1)
    shared = {path.stat().st_ino for path in before.glob("*.store")}
    assert shared & {path.stat().st_ino for path in after.glob("*.store")}
    assert len(keyword_hits(folder, "wool")) == MANY - 2
    assert len(keyword_hits(folder, "milk")) == 3
    assert not problems(folder)


def test_within_a_filter_changed_documents_are_found_and_no_others(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    build(tmp_path, hashes)
    folder = build(tmp_path, hashes, removed=1, changed=1, added=1)
    with Atlas.open(folder, embedder=hashes) as atlas:
        for id_, word in (("a.d01", "milk"), ("a.d20", "wool"), ("a.e00", "milk")):
            result = atlas.search(f"Who gives {word}?", filters={"document_id": id_})
            assert [item.passage.document_id for item in result.passages] == [id_]
            assert result.passages[0].ranked.signals["bm25"] > 0


@pytest.mark.parametrize("removed", [0, 8])
def test_enough_changes_make_it_anew(tmp_path: Path, hashes: HashEmbedder, removed: int) -> None:
    """One change after the other, each with two documents that say something else."""
    build(tmp_path, hashes)
    tombstones = []
    for changed in range(2, 14, 2):
        folder = build(tmp_path, hashes, changed=changed, removed=removed)
        keys = Keys.read(live(folder) / KEYWORDS)
        tombstones.append(keys.tombstones if keys else 0)
        assert len(keyword_hits(folder, "wool")) == MANY - changed - removed
    assert 0 in tombstones
    assert max(tombstones) <= REBUILD_SHARE * MANY
    assert not problems(folder)


@pytest.mark.parametrize("damage", [lambda p: p.write_bytes(bytes(9)), Path.unlink])
def test_the_list_of_files_that_has_no_digest_is_not_needed(
    tmp_path: Path, hashes: HashEmbedder, damage: Callable[[Path], object]
) -> None:
    managed = live(build(tmp_path, hashes)) / KEYWORDS / ".managed.json"
    listed = set(json.loads(managed.read_text()))
    assert listed == {path.name for path in managed.parent.glob("[!.]*")}
    damage(managed)
    folder = build(tmp_path, hashes, changed=2, added=1)
    after = live(folder) / KEYWORDS
    assert Keys.read(after) is not None
    # tantivy goes on with the list, and removes what no segment needs any more
    listed = set(json.loads((after / ".managed.json").read_text()))
    assert listed == {path.name for path in after.glob("[!.]*") if path.suffix != ".npy"}
    assert len(keyword_hits(folder, "milk")) == 3
    assert not problems(folder)


def test_a_damaged_index_ends_a_change_with_what_mends_it(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    before = live(build(tmp_path, hashes)) / KEYWORDS
    segment = next(before.glob("*.idx"))
    times = segment.stat()
    segment.write_bytes(segment.read_bytes()[:-40] + b"\0" * 40)
    os.utime(segment, ns=(times.st_atime_ns, times.st_mtime_ns))
    keys = Keys.plain(MANY, MANY)
    with pytest.raises(DamagedStore, match=r"keyword index .* Run `atlas store repair`"):
        change_keywords(before, tmp_path / "after", keys, [0], [])


def test_ties_go_by_row_wherever_the_index_has_them(tmp_path: Path) -> None:
    """A changed passage lies behind all others, and tantivy gives equals in that order."""
    entries = [Entry(row, row, "a", ["wool", "sheep"]) for row in range(900)]
    write_keywords(tmp_path / "k", entries)
    keys = Keys.plain(900, 900)
    stays = np.arange(900)
    stays[:3] = -1
    keys = keys.after(stays, stays)
    added = [
        Entry(int(keys.rows[row]), int(keys.documents[row]), "a", ["wool", "sheep"])
        for row in range(3)
    ]
    change_keywords(tmp_path / "k", tmp_path / "changed", keys, [0, 1, 2], added)
    keywords = KeywordIndex(tmp_path / "changed")
    hits = keywords.matching("a", ["wool"], 10)
    assert sorted(hits.rows) == list(range(900))
    keywords.close()


def test_the_keyword_leg_of_a_corpus_with_most_passages_is_that_of_any_other(
    tmp_path: Path,
) -> None:
    texts = {f"most/{n}.txt": f"Ships {'carry wool ' * (n % 4)}to port {n}." for n in range(40)}
    texts |= {f"few/{n}.txt": "Wool, wool and wool again. " * (n % 3 + 1) for n in range(30)}
    sources, folder = tmp_path / "sources", tmp_path / "c"
    build_tiny(write_sources(sources, texts), folder, HashEmbedder())
    store = EmbeddedStore(folder)
    every = store.scope({})
    for terms in (["wool"], ["wool", "port"], ["ship", "carri"], ["39", "wool"], ["unheard"]):
        for depth in (1, 3, 10, 50):
            hits = store.matching("most", terms, depth, None)
            expected = store.matching("most", terms, depth, every)
            assert hits.rows.tolist() == expected.rows.tolist()
            assert hits.scores.tolist() == expected.scores.tolist()
    store.close()
