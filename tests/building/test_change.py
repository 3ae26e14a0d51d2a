"""A version that shares the files of the one before tells what one written whole tells."""

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atlas_search.atlas import Atlas
from atlas_search.building import change
from atlas_search.building.backup import export_collection, import_collection
from atlas_search.building.flow import BuildReport
from atlas_search.building.maintain import NeedsSources, compact, drop, remove_source, repair
from atlas_search.building.materials import remedy
from atlas_search.core.errors import DamagedStore, SourceError
from atlas_search.stores import embedded
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.verify import verify
from atlas_search.stores.versions import (
    ORDER,
    RECORDS,
    CheckedVersion,
    in_use,
    is_as_written,
    rollback,
    versions,
)
from tests.building.all_of import all_of, assert_same
from tests.building.damage import copy_collection, cut_short, flip, problems, share_files
from tests.hash_embedder import HashEmbedder
from tests.source_builds import build_from, chroma_sources
from tests.source_files import write_chroma
from tests.tiny import build_tiny, contents, json_lines, live, silent, write_sources

BASE = {
    "farm/bees.txt": "Bees give honey. They live in hives.\n",
    "farm/cows.txt": "Cows give milk.\n",
    "farm/sheep.md": "---\ntitle: On sheep\ndate: 1901\n---\nSheep give wool.\n",
    "sea/ships.txt": "Ships carry cloth over the sea.\n",
    "town/trade.txt": "Merchants sell cloth.\n",
}
CHANGED = BASE | {
    "farm/cows.txt": "Cows give butter, too.\n",
    "farm/goats.txt": "Goats give cheese.\n",
    "town/fair.txt": "A fair is held in May.\n",
}


AGAIN = CHANGED | {"farm/cows.txt": "Cows give milk again.\n"}


@pytest.fixture(autouse=True, scope="module")
def _sharing() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        share_files(patch)
        yield


@pytest.fixture(scope="module")
def built_twice(_sharing: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with passages beside its base, and some gone from it: not to be changed."""
    root = tmp_path_factory.mktemp("changed")
    for files in (BASE, CHANGED):
        build_tiny(write_sources(root / "source", files), root / "c", HashEmbedder())
    assert is_shared(root / "c")
    return root / "c"


@pytest.fixture
def changed(built_twice: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return copy_collection(built_twice, tmp_path / "stores" / "c")


@pytest.fixture(scope="module")
def everything(built_twice: Path) -> dict[str, Any]:
    """All that it tells."""
    return all_of(built_twice)


@pytest.fixture(scope="module")
def whole(_sharing: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of the same files that was written at once."""
    return build_whole(tmp_path_factory.mktemp("whole"), CHANGED)


def build_whole(root: Path, files: dict[str, str]) -> Path:
    """Build a new collection of some files."""
    build_tiny(write_sources(root / "of_whole", files), root / "whole", HashEmbedder(), force=True)
    assert not is_shared(root / "whole")
    return root / "whole"


def is_shared(folder: Path) -> bool:
    return (live(folder) / ORDER).exists()


def build_changed(folder: Path, files: Mapping[str, str], **options: Any) -> BuildReport:
    """Build the collection from other sources."""
    return build_tiny(
        write_sources(folder.parents[1] / "source", files), folder, HashEmbedder(), **options
    )


def test_searches_that_ask_the_index_find_what_came_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an index with many vectors that are gone, there is room for all that stay."""
    monkeypatch.setattr(embedded, "EXACT_UP_TO", 10)
    folder, source = tmp_path / "c", tmp_path / "s"
    first = {f"d{n:03}": f"Text {n}." for n in range(120)}
    second = {id_: text for id_, text in first.items() if int(id_[1:]) % 3}  # a third is gone
    second |= {f"d{n:03}": f"Text {n}, told anew." for n in range(1, 40, 3)}
    second |= {f"n{n:03}": f"New text {n}." for n in range(30)}
    for texts in (first, second):
        write_sources(source, {"a/all.jsonl": json_lines(texts)})
        build_tiny(source, folder, HashEmbedder(), kind="jsonl")
    assert is_shared(folder)
    assert not problems(folder)
    store = EmbeddedStore(folder)
    assert not store.compares_all("a")
    every = store.vectors(np.arange(store.manifest.passages))
    for text in ("Text 5.", "New text 7.", "Text 4, told anew."):
        vector = HashEmbedder().embed_query(text)
        for depth in (1, 20, 1000):
            hits = store.nearest("a", vector, depth, None)
            order = np.argsort(-(every @ vector), kind="stable")[:depth]
            assert set(hits.rows.tolist()) == set(order.tolist())
    store.close()


def test_files_are_shared_and_the_version_before_stays_as_it_was(changed: Path) -> None:
    now, before = versions(changed)
    assert (before.schema_version, now.schema_version) == (8, 9)  # the next would be misread
    links = [
        name
        for name in now.files
        if name in before.files
        and (changed / now.version / name).samefile(changed / before.version / name)
    ]
    shared = sum((changed / now.version / name).stat().st_size for name in links)
    parts = {"records.sqlite", "ids", "tokens", "words", "embeddings", "chroma"}
    assert {name.split("/")[0] for name in links} >= parts
    assert shared > sum(now.sizes.values()) / 2
    assert not [each for each in verify(changed, before) if each.problem]
    rollback(changed)
    assert not is_shared(changed)
    assert not problems(changed)


@pytest.mark.thorough
def test_a_version_is_written_whole_once_enough_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change, "RECENT_SHARE", 0.05)
    folder, source = tmp_path / "c", tmp_path / "s"
    texts = {f"d{n:03}": f"Text {n}." for n in range(100)}
    shared = []
    for number in range(12):
        if number:
            texts[f"d{number:03}"] = f"Text {number} again."
        write_sources(source, {"a/all.jsonl": json_lines(texts)})
        build_tiny(source, folder, HashEmbedder(), kind="jsonl")
        shared.append(is_shared(folder))
        assert not problems(folder)
    assert shared == [False, *[True] * 5, False, *[True] * 5]


def test_small_collections_are_written_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change, "WHOLE_UP_TO", 8)
    folder = tmp_path / "c"
    for files in (BASE, CHANGED):
        build_tiny(write_sources(tmp_path / "s", files), folder, HashEmbedder())
    assert not is_shared(folder)


def test_compacting_writes_it_as_if_it_were_new(changed: Path, whole: Path) -> None:
    assert_same(changed, whole)
    assert compact(changed, HashEmbedder(), silent)
    assert not is_shared(changed)
    assert not problems(changed)
    assert contents(changed) == contents(whole)
    assert compact(changed, HashEmbedder(), silent) is None
    assert build_changed(changed, CHANGED).unchanged


FLIPPED = (
    "order/rows.npy",
    "order/documents.npy",
    "order/counts.npy",
    "order/gone.json",
    "ids/hashes.npy",
    "ids/recent/texts.npy",
    "tokens/words.flat.npy",
    "tokens/recent/words.flat.npy",
    "words/tokens.npy",
    "words/recent/forms.txt",
    "embeddings/vectors.npy",
    "embeddings/recent/vectors.npy",
    "embeddings/sums.npy",
    "keywords/*.store",
    "chroma/chroma.sqlite3",
)
LOST = ("order/rows.npy", "tokens/recent/vocabulary.json", "words/recent/ends.npy", "order")


def _lose(path: Path) -> None:
    path.rename(path.with_name("lost"))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *((name, lambda path: flip(path, path.stat().st_size - 1)) for name in FLIPPED),
        *((name, _lose) for name in LOST),
        ("embeddings/recent/digests.npy", cut_short),
    ],
)
def test_damage_to_any_part_is_found_and_mended(
    name: str, damage: Callable[[Path], None], changed: Path, everything: dict[str, Any]
) -> None:
    expected = everything.copy()
    damage(next(live(changed).glob(name)))
    assert problems(changed)
    repair(changed, HashEmbedder(), silent)
    assert not problems(changed)
    seen = all_of(changed)
    # vectors that come back from the index have lost a ten-millionth
    assert np.allclose(seen.pop("vectors"), expected.pop("vectors"), atol=1e-6)
    for part in expected.keys() - {"hits"}:
        assert seen[part] == expected[part], part


@pytest.mark.parametrize(
    ("name", "is_shared"), [("words/tokens.npy", True), ("words/recent/tokens.npy", False)]
)
def test_a_repair_leaves_no_version_to_go_back_to_that_shares_what_is_damaged(
    name: str, is_shared: bool, changed: Path
) -> None:
    now, before = versions(changed)
    path = changed / now.version / name
    flip(path, path.stat().st_size - 1)
    with in_use(changed / before.version):
        repaired, findings, _ = repair(changed, HashEmbedder(), silent)
    messages = [each.problem for each in findings if each.part == before.version]
    if is_shared:
        assert messages == [f"it shares {name}, so nobody can go back to it"]
        assert versions(changed) == [repaired]
    else:
        assert messages == []
        assert versions(changed) == [repaired, before]
        assert not [each for each in verify(changed, before) if each.problem]


@pytest.mark.parametrize(
    "name", ["tokens/words.flat.npy", "words/places.npy", "embeddings/vectors.npy"]
)
def test_a_build_does_not_share_files_that_were_damaged(name: str, changed: Path) -> None:
    flip(live(changed) / name, 200)
    build_changed(changed, AGAIN)
    assert not is_shared(changed)
    assert not problems(changed)


@pytest.mark.parametrize("name", ["records.sqlite", "records.sqlite.recent"])
def test_damaged_documents_are_not_built_upon(name: str, changed: Path) -> None:
    flip(live(changed) / name, (live(changed) / name).stat().st_size - 1)
    before = Manifest.read(changed)
    assert any(f"{name} is not as it was written" in problem for problem in problems(changed))
    with pytest.raises(
        DamagedStore, match=rf"c is damaged: {name} .* `atlas create txt .*--force`"
    ):
        build_changed(changed, AGAIN)
    with pytest.raises(NeedsSources):
        repair(changed, HashEmbedder(), silent)
    assert Manifest.read(changed) == before
    build_changed(changed, AGAIN, force=True)
    assert not problems(changed)


def rot(folder: Path, was: bytes = b"", now: bytes = b"") -> None:
    """Damage the documents of the base as a disk would: the last byte, or some bytes of a row."""
    path = live(folder) / "records.sqlite"
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    content = path.read_bytes()
    assert was in content
    path.write_bytes(content.replace(was, now, 1) if was else content[:-1] + b"\xff")
    os.utime(path, ns=times)


def test_documents_that_are_damaged_are_built_anew_if_that_is_asked_for(
    changed: Path, whole: Path
) -> None:
    rot(changed)
    damaged, before = versions(changed)
    message = remedy(changed, damaged, {RECORDS})
    assert "atlas create txt" in message
    assert "rollback" not in message  # the version before has the same file
    build_changed(changed, CHANGED, force=True)
    assert not problems(changed)
    assert not {damaged.version, before.version} & {each.version for each in versions(changed)}
    assert_same(changed, whole)


def test_a_document_that_gets_another_id_is_not_taken_from_a_damaged_file(changed: Path) -> None:
    rot(changed, b'"1901"', b'"1801"')
    # two have the same stem now, so the one that stays gets another id
    with pytest.raises(DamagedStore, match="is not as it was written"):
        build_changed(changed, CHANGED | {"farm/sheep.txt": "Sheep sleep.\n"})


def test_damaged_documents_that_are_no_json_are_no_traceback(changed: Path) -> None:
    rot(changed, b'"1901"', b'"1901;')
    with pytest.raises(DamagedStore, match=r"c is damaged: records.sqlite .*atlas create txt"):
        build_changed(changed, CHANGED | {"farm/owls.txt": "Owls hoot.\n"})
    with pytest.raises(DamagedStore, match=r"c is damaged: records.sqlite .*atlas create txt"):
        drop(changed, "sea", HashEmbedder(), silent)


def test_a_title_that_is_no_text_is_damage(changed: Path) -> None:
    rot(changed, b"On sheep", b"On \xffheep")
    store = EmbeddedStore(changed)
    with pytest.raises(
        DamagedStore, match=r"records.sqlite or .*recent cannot be read .*store verify"
    ):
        store.titled(np.arange(store.manifest.documents), "sheep")
    store.close()


def test_documents_that_are_written_whole_are_read_whole_before(
    changed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy gets a new digest, which would be that of the damage."""
    rot(changed)
    with pytest.raises(DamagedStore, match="is not as it was written"):
        compact(changed, HashEmbedder(), silent)
    with pytest.raises(DamagedStore, match="is not as it was written"):
        export_collection(changed, tmp_path / "export.zip", silent)
    monkeypatch.setattr(change, "WHOLE_UP_TO", 1000)
    with pytest.raises(DamagedStore, match="is not as it was written"):
        build_changed(changed, BASE)


@pytest.mark.parametrize(
    "name",
    ["records.sqlite", "tokens/words.flat.npy", "words/places.npy", "chroma/chroma.sqlite3"],
)
@pytest.mark.parametrize("has_links", [True, False])
def test_damage_that_nobody_has_seen_is_still_found_in_the_version_after(
    name: str, has_links: bool, changed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = next(live(changed).glob(name))
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    flip(path, path.stat().st_size - 1)
    os.utime(path, ns=times)  # as a disk would damage it
    if not has_links:
        monkeypatch.setattr("os.link", _no_link)
    build_changed(changed, AGAIN)
    assert is_shared(changed)
    copied = live(changed) / name
    assert copied.samefile(path) == has_links
    assert any("is not as it was written" in problem for problem in problems(changed))


def _no_link(*_: object) -> None:
    raise OSError(errno.EOPNOTSUPP, "Operation not supported")


def test_an_export_of_a_changed_version_holds_all(changed: Path, tmp_path: Path) -> None:
    export_collection(changed, tmp_path / "export.zip", silent)
    import_collection(tmp_path / "export.zip", tmp_path / "new" / "c", HashEmbedder(), silent)
    copy, expected = all_of(tmp_path / "new" / "c"), all_of(changed)
    for name in expected.keys() - {"manifest", "origins_of"}:  # files are not part of an export
        assert copy[name] == expected[name], name


def test_a_corpus_and_a_source_can_be_taken_out(changed: Path, tmp_path: Path) -> None:
    drop(changed, "sea", HashEmbedder(), silent)
    assert is_shared(changed)
    assert not problems(changed)
    remove_source(changed, ("txt", "town/fair.txt"), HashEmbedder(), silent)
    assert is_shared(changed)
    assert not problems(changed)
    left = {
        name: text for name, text in CHANGED.items() if "sea" not in name and "fair" not in name
    }
    seen, expected = all_of(changed), all_of(build_whole(tmp_path, left))
    for name in ("documents", "words", "tokens"):
        assert seen[name] == expected[name], name


@pytest.mark.parametrize("corpus", ["a", "z"])
def test_two_passages_with_one_id_are_refused(changed: Path, tmp_path: Path, corpus: str) -> None:
    """An id that came with its vector may be that of a passage that stays, or of another such."""
    before = all_of(changed)
    for id_, is_taken in (("farm.sheep:0-16", True), ("farm.cows:0-15", False)):
        write_chroma(tmp_path / id_, {id_: "Something else."})
        sources = chroma_sources(tmp_path, id_, corpus=corpus)
        if is_taken:
            with pytest.raises(SourceError, match=f"Two passages have the id '{id_}'"):
                build_from("chroma", changed, sources)
            assert all_of(changed) == before
        else:  # the passage that had it is gone
            build_from("chroma", changed, sources)
            assert is_shared(changed)
            assert not problems(changed)


def test_words_are_counted_as_in_a_version_that_was_written_whole(
    built_twice: Path, whole: Path
) -> None:
    results = []
    for folder in (built_twice, whole):
        with Atlas.open(folder, embedder=HashEmbedder()) as atlas:
            lines = [
                atlas.concordance(query, sort=sort, **where)
                for query in ("give", "c*", "give NEAR/2 butter", '"the sea"', "cloth OR honey")
                for sort in ("document", "left", "right", "hit", "date")
                for where in ({}, {"corpora": ["farm"]}, {"require": ["give"]})
            ]
            lists = [
                atlas.trends("give", by=by, by_corpus=by != "corpus") for by in ("corpus", "year")
            ]
            others = [
                atlas.collocates("give", min_count=1),
                atlas.keywords(corpora=["farm"], min_count=1),
                atlas.keywords(corpora=["town"], against=["farm", "sea"], min_count=1),
                atlas.concordance("give", sample=3, seed=1),
                atlas.frequencies(limit=1000),
                atlas.frequencies(corpora=["farm"], pattern="c*"),
            ]
            results.append(
                [each.model_copy(update={"trace_id": ""}) for each in (*lines, *lists, *others)]
            )
    assert results[0] == results[1]
    assert all(each.hits for each in results[0][:10])


def test_a_server_reads_only_what_a_version_does_not_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To see whether it is whole; what was damaged since is read again."""
    folder, source = tmp_path / "c", tmp_path / "s"
    read: list[str] = []

    def reading(version: Path, manifest: Manifest, name: str) -> bool:
        read.append(name)
        return is_as_written(version, manifest, name)

    monkeypatch.setattr("atlas_search.stores.versions.is_as_written", reading)
    for files in (BASE, CHANGED):
        build_tiny(write_sources(source, files), folder, HashEmbedder())
        read.clear()
        assert CheckedVersion(folder, Manifest.read(folder)).problems() == []
    now, before = versions(folder)
    shared = {
        name
        for name in now.files.keys() & before.files.keys()
        if (folder / now.version / name).samefile(folder / before.version / name)
    }
    assert sorted(read) == sorted(now.files.keys() - shared)
    build_tiny(write_sources(source, BASE), folder, HashEmbedder())
    assert is_shared(folder)
    flip(live(folder) / "tokens/words.flat.npy", 200)
    problems_ = CheckedVersion(folder, Manifest.read(folder)).problems()
    assert problems_ == ["tokens/words.flat.npy is not as it was written"]
