"""A build: which vectors it keeps, several origins, what a failure leaves, later forms of words."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.atlas import Atlas
from atlas_search.building.document_ids import Changes
from atlas_search.building.maintain import repair
from atlas_search.core.errors import OutdatedStore, SourceError
from atlas_search.language.text import ANALYSER_VERSION
from atlas_search.server.ingest.work import build_kept
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.terms import VOCABULARY
from atlas_search.stores.vectors import VECTORS, Embeddings
from atlas_search.stores.versions import EMBEDDINGS, TOKENS, file_digest, versions
from tests.building.conftest import TABLE
from tests.building.damage import change, problems
from tests.hash_embedder import HashEmbedder
from tests.tiny import (
    build_tiny,
    contents,
    document_ids,
    index,
    json_lines,
    keyword_hits,
    live,
    rows,
    silent,
    write_sources,
)

PARAGRAPHS = 12

# failures


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_build_that_fails_leaves_the_live_version_alone_and_keeps_its_work(
    source: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    before = Manifest.read(folder)
    change(source, {"town/new.txt": "A new text about ships."})

    def fail(*_: object) -> int:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("atlas_search.building.go_live.write_index", fail)
        with pytest.raises(type(error)):
            build_tiny(source, folder, HashEmbedder())
    assert Manifest.read(folder) == before
    assert not problems(folder)
    assert not list(folder.glob(".*.partial"))
    assert build_tiny(source, folder, HashEmbedder()).embedded == 0


def test_a_damaged_staging_area_is_set_aside(source: Path, tmp_path: Path) -> None:
    staging = tmp_path / "new" / "staging.sqlite"
    staging.parent.mkdir()
    staging.write_bytes(b"not a database " * 100)
    assert build_tiny(source, staging.parent, HashEmbedder()).manifest.documents == 3
    assert staging.with_name("staging.sqlite.damaged").exists()


def test_an_open_store_outlives_later_builds_and_then_two_versions_stay(
    source: Path, folder: Path
) -> None:
    def build_anew() -> str:
        return build_tiny(source, folder, HashEmbedder(), force=True).manifest.version

    served = EmbeddedStore(folder)
    build_anew()
    second = build_anew()
    with ThreadPoolExecutor(4) as executor:
        titles = list(executor.map(lambda _: served.document("farm.sheep").title, range(8)))
    assert titles == ["On sheep"] * 8
    served.close()
    third = build_anew()
    assert [m.version for m in versions(folder)] == [third, second]


class Interrupted(HashEmbedder):
    """Ends the build after some batches."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.embedded >= 40:
            raise KeyboardInterrupt
        return super().embed(texts)


def test_the_work_of_a_build_that_ended_outlives_a_build_of_other_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atlas_search.building.vectorise.COMMIT_EVERY", 4)
    texts = {f"farm/{number}.txt": f"Sheep number {number}." for number in range(50)}
    source = write_sources(tmp_path / "texts", texts)
    other = write_sources(tmp_path / "lines", {"town/a.jsonl": json_lines({"one": "Trade."})})
    with pytest.raises(KeyboardInterrupt):
        build_tiny(source, tmp_path / "kept", Interrupted())
    build_tiny(other, tmp_path / "kept", HashEmbedder(), kind="jsonl")
    build_tiny(source, tmp_path / "kept", embedder := HashEmbedder())
    assert embedder.embedded == 50 - 40
    assert not (tmp_path / "kept" / "staging.sqlite").exists()


# ids of documents


def test_ids_of_files_that_collide_get_a_digest_whichever_came_first(tmp_path: Path) -> None:
    both = {"a/x.txt": "First.", "a/x.md": "Second.", "a/y.txt": "Third."}
    ids = []
    for first in ("a/x.txt", "a/x.md"):
        source, folder = tmp_path / "s", tmp_path / Path(first).suffix
        build_tiny(write_sources(source, {first: both[first]}), folder, HashEmbedder())
        assert document_ids(folder) == ["a.x"]
        report = build_tiny(write_sources(source, both), folder, HashEmbedder())
        assert report.changes == Changes(2, 0, 1, 0)
        ids.append({row["id"]: row["source"] for row in rows(folder, "SELECT * FROM documents")})
    assert ids[0] == ids[1]
    assert sorted(id_.partition("-")[0] for id_ in ids[0]) == ["a.x", "a.x", "a.y"]
    build_tiny(write_sources(source, {"a/x.md": "Second."}), folder, HashEmbedder())
    assert index(folder)["a"][0] == ["a.x:0-7"]  # one alone needs no digest


@pytest.mark.parametrize("at_once", [True, False])
def test_a_name_that_ends_as_a_digest_does_is_refused(tmp_path: Path, at_once: bool) -> None:
    two = {"farm/sheep.txt": "Sheep give wool.\n", "farm/sheep.md": "Sheep sleep.\n"}
    build_tiny(write_sources(tmp_path / "s", two), tmp_path / "c", HashEmbedder())
    (first, _) = document_ids(tmp_path / "c")
    other = f"farm/{first.removeprefix('farm.')}.txt"
    write_sources(tmp_path / "s", two | {other: "Another.\n"})
    folder = tmp_path / ("new" if at_once else "c")
    with pytest.raises(SourceError, match=rf"both give the document {first}: rename one"):
        build_tiny(tmp_path / "s", folder, HashEmbedder())
    (tmp_path / "s" / other).unlink()
    build_tiny(tmp_path / "s", folder, HashEmbedder())
    assert len(document_ids(folder)) == 2


# vectors that are kept


def test_another_chunk_size_cuts_again_but_keeps_vectors_of_equal_texts(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    long = "\n\n".join(f"Paragraph {number} has words. " * 8 for number in range(PARAGRAPHS))
    files = {"a/short.txt": "A short text.", "a/long.txt": long}
    source = write_sources(tmp_path / "source", files)
    build_tiny(source, tmp_path / "c", hashes, size=1000, overlap=0)
    before = hashes.embedded
    report = build_tiny(source, tmp_path / "c", hashes, size=200, overlap=0)
    assert (report.read, report.changes) == (2, Changes(0, 0, 2, 0))
    assert report.manifest.passages == PARAGRAPHS + 1
    assert report.embedded == hashes.embedded - before == PARAGRAPHS
    build_tiny(source, tmp_path / "c", hashes, size=1000, overlap=0)
    assert hashes.embedded == before + PARAGRAPHS


def test_another_model_embeds_everything_and_going_back_nothing(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    whole = contents(folder)
    report = build_tiny(source, folder, HashEmbedder("other", dimension=16))
    assert (report.embedded, report.read, report.changes) == (3, 0, Changes(0, 0, 3, 0))
    assert report.manifest.embedding.dimension == 16
    assert index(folder)["farm"][1].shape == (2, 16)
    assert build_tiny(source, folder, hashes).embedded == 0
    assert contents(folder) == whole


def test_force_makes_a_new_version_of_the_same_contents(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    whole, version = contents(folder), Manifest.read(folder).version
    report = build_tiny(source, folder, hashes, force=True)
    assert (report.unchanged, report.embedded) == (False, 0)
    assert report.changes == Changes(0, 0, 3, 0)
    assert contents(folder) == whole
    assert version < report.manifest.version


def test_equal_texts_are_embedded_once_and_share_a_vector(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    files = {f"{corpus}/{n}.txt": "The same text." for corpus in "ab" for n in range(3)}
    report = build_tiny(write_sources(tmp_path / "s", files), tmp_path / "c", hashes)
    assert (report.manifest.passages, report.embedded, hashes.embedded) == (6, 1, 1)
    vectors = np.concatenate([each for _, each in index(tmp_path / "c").values()])
    assert np.array_equal(vectors, np.repeat(vectors[:1], 6, axis=0))


def test_texts_that_a_collection_beside_has_are_not_embedded_again(
    folder: Path, tmp_path: Path, hashes: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the same model, as they were written there; what is damaged is embedded."""
    monkeypatch.setenv("READ_WORKERS", "0")
    source = write_sources(tmp_path / "other", {"a/x.txt": "Cows give milk.\n", "a/y.txt": "New."})

    def embedded(name: str, embedder: HashEmbedder, **options: bool) -> int:
        return Atlas.build(source, folder.with_name(name), embedder=embedder, **options).embedded

    assert (embedded("d", hashes), hashes.embedded) == (1, 1)
    vectors = Embeddings.read(live(folder.with_name("d")) / EMBEDDINGS).vectors
    expected = hashes.embed(["Cows give milk.", "New."]).astype(np.float16)
    assert np.array_equal(vectors, expected)
    assert embedded("e", HashEmbedder("other")) == 2
    assert embedded("f", HashEmbedder(), share_vectors=False) == 2
    for name in ("c", "d", "f"):
        path = live(folder.with_name(name)) / EMBEDDINGS / VECTORS
        content = path.read_bytes()
        path.write_bytes(content[:128] + bytes(len(content) - 128))
    assert embedded("g", HashEmbedder()) == 2
    (folder / "manifest.json").write_text("no manifest")
    assert embedded("h", HashEmbedder()) == 0


def test_files_that_a_server_was_handed_tell_nothing_of_other_collections(
    folder: Path, tmp_path: Path, hashes: HashEmbedder
) -> None:
    kept = write_sources(tmp_path / "kept", {"a/x.txt": "Cows give milk.\n"})
    report = build_kept(kept, folder.with_name("d"), hashes, silent)
    assert (report.embedded, hashes.embedded) == (1, 1)


# several origins in one collection


def test_each_origin_is_updated_alone(
    two_origins: Path, source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    assert document_ids(folder) == [
        *("farm.cows", "farm.r1", "farm.r2", "farm.sheep"),
        *("port.r1", "port.r2", "town.trade"),
    ]
    origins = Manifest.read(folder).origins
    assert {kind: origin.documents for kind, origin in origins.items()} == {"csv": 4, "txt": 3}
    assert build_tiny(source, folder, hashes).unchanged
    change(two_origins, {"port/ships.csv": TABLE.replace("r2,Ships carry cloth.\n", "")})
    assert build_tiny(two_origins, folder, hashes, kind="csv").changes == Changes(0, 0, 6, 1)
    change(source, {"farm/cows.txt": None, "farm/goats.txt": "Goats climb."})
    assert build_tiny(source, folder, hashes).changes == Changes(1, 0, 5, 1)
    assert document_ids(folder) == [
        *("farm.goats", "farm.r1", "farm.r2", "farm.sheep"),
        *("port.r1", "town.trade"),
    ]
    assert hashes.embedded == 3


def test_origins_may_come_in_any_order_and_each_is_cut_in_its_own_way(
    two_origins: Path, source: Path, folder: Path, tmp_path: Path, hashes: HashEmbedder
) -> None:
    build_tiny(two_origins, tmp_path / "c2", hashes, kind="csv")
    build_tiny(source, tmp_path / "c2", hashes)
    assert contents(tmp_path / "c2") == contents(folder)
    build_tiny(source, folder, hashes, splitter="sentence")
    origins = Manifest.read(folder).origins
    assert (origins["txt"].splitter, origins["csv"].splitter) == ("sentence", "recursive")
    assert build_tiny(two_origins, folder, hashes, kind="csv").unchanged


# a collection whose words an earlier analyser made


def analyse_earlier(folder: Path) -> None:
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


SHIPS = ["farm.r1:0-17", "farm.r2:0-18", "port.r1:0-17", "port.r2:0-18"]


def test_a_build_analyses_all_again_and_embeds_nothing(
    two_origins: Path, source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    """The documents of the origin that is not built are analysed again too."""
    whole, before = contents(folder), hashes.embedded
    analyse_earlier(folder)
    report = build_tiny(source, folder, hashes)
    assert (report.unchanged, report.embedded, hashes.embedded) == (False, 0, before)
    assert report.changes == Changes(0, 0, 7, 0)
    assert keyword_hits(folder, "ship") == SHIPS
    assert contents(folder) == whole
    assert not problems(folder)


def test_a_store_of_an_earlier_analyser_is_refused_with_what_to_run(
    two_origins: Path, folder: Path, hashes: HashEmbedder
) -> None:
    before = hashes.embedded
    analyse_earlier(folder)
    with pytest.raises(OutdatedStore, match=r"atlas create.*`atlas store repair c`"):
        EmbeddedStore(folder)
    assert any("another version of Atlas" in problem for problem in problems(folder))
    repair(folder, hashes, silent)
    assert (keyword_hits(folder, "ship"), hashes.embedded) == (SHIPS, before)
    assert not problems(folder)
    EmbeddedStore(folder).close()
