"""`atlas store`: what is damaged is found and made anew, and an earlier version can go live."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.build.corpora import Rule, Sources, by_folder, by_rule
from atlas_search.build.document_ids import Changes
from atlas_search.build.maintain import NeedsSources, drop, repair
from atlas_search.cli.main import main
from atlas_search.core.errors import DamagedStore, EmbedderMismatch, SourceError
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.store import EmbeddedStore
from atlas_search.stores.verify import verify
from atlas_search.stores.versions import locked, rollback, versions
from tests.hash_embedder import HashEmbedder
from tests.tiny import (
    FARM,
    READERS,
    all_vectors,
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

Atlas = Callable[..., tuple[object, str, str]]
"""Runs `atlas store` with arguments: exit code, and what it said on both streams."""

Damage = Callable[[Path], None]
"""Harms the version in a folder."""

PARTS = ["manifest.json", "records.sqlite", "embeddings", "tokens", "keywords", "chroma"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sources and the stores folder, where they make the one version of `c`."""
    root = tmp_path_factory.mktemp("built")
    source = write_sources(root / "source", FARM | {"farm/goats.txt": "Goats climb hills.\n"})
    build_tiny(source, root / "stores" / "c", HashEmbedder())
    return root


@pytest.fixture
def source(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built / "source", tmp_path / "source")


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built / "stores", tmp_path / "stores") / "c"


@pytest.fixture
def two(source: Path, folder: Path) -> list[str]:
    """The names of the first version, and of a second one without goats, which is live."""
    (source / "farm/goats.txt").unlink()
    first = Manifest.read(folder).version
    return [first, build_tiny(source, folder, HashEmbedder()).manifest.version]


@pytest.fixture
def atlas(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Atlas:
    """The collection `c` is the configured one, and its model that of the settings."""
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(folder.parent))
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", "c")
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr("atlas_search.cli.store.open_embedder", lambda _: HashEmbedder())

    def run(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["store", *arguments])
        return (ended.value.code, *capsys.readouterr())

    return run


def damaged(folder: Path) -> list[str]:
    return [found.part for found in verify(folder, Manifest.read(folder)) if found.problem]


def flip(path: Path, at: int) -> None:
    blob = bytearray(path.read_bytes())
    blob[at] ^= 0xFF
    path.write_bytes(blob)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def lose(part: str) -> Damage:
    return lambda version: (version / part).rename(version / "lost")


def sql(file: str, statement: str) -> Damage:
    def damage(version: Path) -> None:
        connection = sqlite3.connect(version / file)
        connection.execute(statement)
        connection.commit()
        connection.close()

    return damage


def chroma(change: Callable[[chromadb.Collection], object]) -> Damage:
    """Changes the collection of the corpus `farm` as another program could."""

    def damage(version: Path) -> None:
        client = chromadb.PersistentClient(str(version / "chroma"))
        change(client.get_collection("corpus-farm", embedding_function=None))
        client.close()  # type: ignore[attr-defined]

    return damage


def swap_vectors(collection: chromadb.Collection) -> None:
    found = collection.get(include=["embeddings"])
    ids, vectors = found["ids"], found["embeddings"]
    assert vectors is not None
    collection.update(ids=ids[:2], embeddings=[vectors[1], vectors[0]])


def add_foreign(collection: chromadb.Collection) -> None:
    collection.add(ids=["foreign"], embeddings=[HashEmbedder().embed_query("x").tolist()])


def exchange_one(collection: chromadb.Collection) -> None:
    collection.delete(ids=["farm.cows:0-15"])
    add_foreign(collection)


def swap_rows(version: Path) -> None:
    path = version / "embeddings" / "vectors.npy"
    vectors = np.load(path)
    np.save(path, vectors[[1, 0, *range(2, len(vectors))]])


def fewer_rows(version: Path) -> None:
    for name in ("vectors", "digests", "tokens"):
        path = version / "embeddings" / f"{name}.npy"
        np.save(path, np.load(path)[:2])


def from_another(part: str) -> Damage:
    """Puts in the part of a collection with as many passages."""

    def damage(version: Path) -> None:
        texts = {f"farm/{number}.txt": f"Another text, {number}." for number in range(4)}
        other = version.parent.parent.parent / "other"
        build_tiny(write_sources(other / "s", texts), other / "c", HashEmbedder())
        shutil.rmtree(version / part)
        shutil.copytree(live(other / "c") / part, version / part)

    return damage


def stale_tokens(version: Path) -> None:
    """The words of a passage as another analysis would give them."""
    path = version / "tokens" / "words.flat.npy"
    words = np.load(path)
    np.save(path, words[::-1])


def segment(version: Path) -> Path:
    return next(path for path in (version / "keywords").iterdir() if path.suffix == ".idx")


DAMAGE: dict[str, tuple[str, Damage]] = {
    "SQLite file lost": ("records.sqlite", lose("records.sqlite")),
    "SQLite byte": ("records.sqlite", lambda v: flip(v / "records.sqlite", 5000)),
    "SQLite cut short": ("records.sqlite", lambda v: cut_short(v / "records.sqlite")),
    "SQLite header": ("records.sqlite", lambda v: flip(v / "records.sqlite", 0)),
    "span": ("records.sqlite", sql("records.sqlite", "UPDATE passages SET end = 9 WHERE row = 1")),
    "text": ("records.sqlite", sql("records.sqlite", "UPDATE texts SET content = x'00'")),
    "passage lost": ("records.sqlite", sql("records.sqlite", "DELETE FROM passages WHERE row = 1")),
    "table lost": ("records.sqlite", sql("records.sqlite", "DROP TABLE documents")),
    "vectors lost": ("embeddings", lose("embeddings")),
    "vector file lost": ("embeddings", lose("embeddings/vectors.npy")),
    "vector byte": ("embeddings", lambda v: flip(v / "embeddings/vectors.npy", 130)),
    "vectors cut short": ("embeddings", lambda v: cut_short(v / "embeddings/vectors.npy")),
    "vectors swapped": ("embeddings", swap_rows),
    "vectors of another": ("embeddings", from_another("embeddings")),
    "fewer vectors": ("embeddings", fewer_rows),
    "text digest": ("embeddings", lambda v: flip(v / "embeddings/digests.npy", -1)),
    "token counts lost": ("embeddings", lose("embeddings/tokens.npy")),
    "words lost": ("tokens", lose("tokens")),
    "vocabulary": ("tokens", lambda v: (v / "tokens/vocabulary.json").write_text("[]")),
    "vocabulary cut short": ("tokens", lambda v: cut_short(v / "tokens/vocabulary.json")),
    "offset byte": ("tokens", lambda v: flip(v / "tokens/words.offsets.npy", -2)),
    "stale words": ("tokens", stale_tokens),
    "words of another": ("tokens", from_another("tokens")),
    "keywords lost": ("keywords", lose("keywords")),
    "keywords without meta": ("keywords", lose("keywords/meta.json")),
    "keywords cut short": ("keywords", lambda v: cut_short(segment(v))),
    "keywords of another": ("keywords", from_another("keywords")),
    "Chroma lost": ("chroma", lose("chroma")),
    "Chroma database lost": ("chroma", lose("chroma/chroma.sqlite3")),
    "Chroma cut short": ("chroma", lambda v: cut_short(v / "chroma/chroma.sqlite3")),
    "Chroma empty": ("chroma", lambda v: (v / "chroma/chroma.sqlite3").write_bytes(b"")),
    "record lost": ("chroma", chroma(lambda c: c.delete(ids=["farm.cows:0-15"]))),
    "record added": ("chroma", chroma(add_foreign)),
    "record exchanged": ("chroma", chroma(exchange_one)),
    "records swapped": ("chroma", chroma(swap_vectors)),
    "corpus of another": ("chroma", chroma(lambda c: c.modify(name="corpus-forest"))),
    "index of another": ("chroma", from_another("chroma")),
    "own manifest lost": ("manifest.json", lose("manifest.json")),
    "own manifest garbage": (
        "manifest.json",
        lambda v: (v / "manifest.json").write_text("garbage"),
    ),
}


def test_a_whole_version_has_no_problem(folder: Path) -> None:
    findings = verify(folder, Manifest.read(folder))
    assert [found.part for found in findings] == PARTS
    assert {found.problem for found in findings} == {""}
    assert findings[1].checked == "4 documents, every span of 4 passages"


@pytest.fixture(scope="module")
def whole(built: Path) -> tuple[dict[str, Any], NDArray[np.float32]]:
    """All that the collection holds before anything is damaged."""
    return contents(built / "stores" / "c"), all_vectors(built / "stores" / "c")


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_in_the_part_where_it_is_and_mended(
    folder: Path,
    source: Path,
    whole: tuple[dict[str, Any], NDArray[np.float32]],
    name: str,
) -> None:
    before = Manifest.read(folder).version
    part, damage = DAMAGE[name]
    damage(live(folder))
    problems = {f.part: f.problem for f in verify(folder, Manifest.read(folder)) if f.problem}
    assert part in problems
    for other in problems.keys() - {part}:
        assert problems[other].startswith("cannot be checked: ")
    hashes = HashEmbedder()
    if part == "records.sqlite":
        with pytest.raises(NeedsSources, match="The documents of c are damaged"):
            repair(folder, hashes, silent)
        assert Manifest.read(folder).version == before
        return
    manifest, findings, embedded = repair(folder, hashes, silent)
    assert {found.part for found in findings if found.problem} == problems.keys()
    assert (embedded, hashes.embedded) == (0, 0)
    assert damaged(folder) == []
    assert contents(folder) == whole[0]
    assert np.allclose(all_vectors(folder), whole[1], atol=1e-6)
    assert [m.version for m in versions(folder)] == [manifest.version]
    assert (manifest.version == before) == (part == "manifest.json")
    assert build_tiny(source, folder, hashes).unchanged


def test_exact_vectors_are_kept_where_only_files_beside_them_are_lost(folder: Path) -> None:
    """Chroma gives vectors back with an error in the eighth digit."""
    before = Manifest.read(folder).files["embeddings/vectors.npy"]
    lose("embeddings/tokens.npy")(live(folder))
    assert repair(folder, HashEmbedder(), silent)[0].files["embeddings/vectors.npy"] == before


def test_only_vectors_that_are_nowhere_are_embedded(folder: Path) -> None:
    exchange = chroma(exchange_one)
    exchange(live(folder))
    lose("embeddings")(live(folder))
    assert damaged(folder) == ["embeddings", "chroma"]
    assert repair(folder, HashEmbedder(), silent)[2] == 1
    assert damaged(folder) == []
    assert index(folder)["farm"][0] == ["farm.cows:0-15", "farm.goats:0-18", "farm.sheep:0-16"]


def test_everything_but_the_documents_can_be_made_anew(folder: Path, two: list[str]) -> None:
    before = contents(folder)
    for part in ("embeddings", "tokens", "keywords", "chroma", "manifest.json"):
        lose(part)(live(folder))
        (live(folder) / "lost").rename(live(folder) / f"lost {part}")
    assert damaged(folder) == [part for part in PARTS if part != "records.sqlite"]
    assert repair(folder, HashEmbedder(), silent)[2] == 0  # the version before has the vectors
    assert (contents(folder), damaged(folder)) == (before, [])


def test_without_any_vectors_all_are_embedded(folder: Path) -> None:
    for part in ("embeddings", "chroma"):
        lose(part)(live(folder))
        (live(folder) / "lost").rename(live(folder) / f"lost {part}")
    hashes = HashEmbedder()
    assert (repair(folder, hashes, silent)[2], hashes.embedded) == (4, 4)
    assert damaged(folder) == []


def test_vectors_of_an_earlier_version_are_not_trusted_if_they_are_damaged(
    folder: Path, two: list[str]
) -> None:
    before = all_vectors(folder)
    flip(folder / two[0] / "embeddings" / "vectors.npy", 130)
    lose("embeddings")(live(folder))
    repair(folder, HashEmbedder(), silent)
    assert np.allclose(all_vectors(folder), before, atol=1e-6)


def test_a_damaged_version_that_is_in_use_is_not_one_to_go_back_to(
    folder: Path, two: list[str], source: Path
) -> None:
    flip(live(folder) / "embeddings" / "vectors.npy", 130)
    served = EmbeddedStore(folder)
    repaired, _, _ = repair(folder, HashEmbedder(), silent)
    assert [m.version for m in versions(folder)] == [repaired.version, two[0]]
    assert served.document("farm.cows").text == "Cows give milk."
    assert rollback(folder).version == two[0]
    served.close()
    build_tiny(source, folder, HashEmbedder())
    assert not (folder / two[1]).exists()


def test_a_repair_keeps_labels_and_origins(folder: Path, source: Path) -> None:
    tables = write_sources(source.parent / "tables", {"port/t.csv": "id,text\n1,Ships.\n"})
    found = by_folder([tables], READERS["csv"].suffixes, "")
    named = Sources(found.files, (), {"port": "The old port"})
    build_tiny(named, folder, HashEmbedder(), kind="csv")
    before = contents(folder)
    lose("tokens")(live(folder))
    repair(folder, HashEmbedder(), silent)
    assert contents(folder) == before
    assert [c.label for c in Manifest.read(folder).corpora] == ["Farm", "The old port", "Town"]
    assert build_tiny(named, folder, HashEmbedder(), kind="csv").unchanged
    assert build_tiny(source, folder, HashEmbedder()).unchanged


def test_a_repair_leaves_the_work_of_an_unfinished_build(
    folder: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "farm/new.txt").write_text("New.")
    with monkeypatch.context() as patch:
        patch.setattr("atlas_search.build.build.write_version", _fail)
        with pytest.raises(OSError, match="disk full"):
            build_tiny(source, folder, HashEmbedder())
    lose("tokens")(live(folder))
    repair(folder, HashEmbedder(), silent)
    assert build_tiny(source, folder, HashEmbedder()).read == 0
    assert "farm.new" in document_ids(folder)


def _fail(*_: object) -> None:
    raise OSError("disk full")


def test_a_repair_that_is_broken_off_can_run_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(folder)
    flip(live(folder) / "embeddings/vectors.npy", 200)
    with monkeypatch.context() as patch:
        patch.setattr("atlas_search.build.maintain.write_version", _fail)
        with pytest.raises(OSError, match="disk full"):
            repair(folder, HashEmbedder(), silent)
    assert "embeddings" in damaged(folder)
    assert repair(folder, HashEmbedder(), silent)[2] == 0
    assert (contents(folder), damaged(folder)) == (before, [])


def test_large_indexes_are_checked_and_mended_too(tmp_path: Path) -> None:
    """Up to a thousand vectors Chroma has no index file that could be damaged."""
    texts = {f"d{number:04}": f"Text {number}." for number in range(1100)}
    source = write_sources(tmp_path / "s", {"farm/all.jsonl": json_lines(texts)})
    build_tiny(source, tmp_path / "c", HashEmbedder(), kind="jsonl")
    before = contents(tmp_path / "c")
    (found,) = (live(tmp_path / "c") / "chroma").glob("*/data_level0.bin")
    found.unlink()
    assert damaged(tmp_path / "c") == ["chroma"]
    assert repair(tmp_path / "c", HashEmbedder(), silent)[2] == 0
    assert (contents(tmp_path / "c"), damaged(tmp_path / "c")) == (before, [])


def test_another_model_is_refused_before_anything_is_embedded(folder: Path) -> None:
    other, version = HashEmbedder("other"), Manifest.read(folder).version
    assert repair(folder, other, silent)[2] == 0  # nothing to do
    lose("keywords")(live(folder))
    for change in (
        lambda: repair(folder, other, silent),
        lambda: drop(folder, "town", other, silent),
    ):
        with pytest.raises(EmbedderMismatch, match=r"c was built with hash .*EMBEDDING_MODEL=hash"):
            change()
    assert (other.embedded, Manifest.read(folder).version) == (0, version)


@pytest.mark.parametrize("garbage", ["garbage", "{", "[]", '{"schema_version": 2}', "\x00"])
def test_a_damaged_manifest_is_taken_from_its_version(
    folder: Path, two: list[str], atlas: Atlas, garbage: str
) -> None:
    before = Manifest.read(folder)
    (folder / "manifest.json").write_text(garbage)
    code, _, said = atlas("verify")
    assert code == 1
    assert f"{folder / 'manifest.json'} " in said
    code, said, _ = atlas("repair")
    assert (code, Manifest.read(folder)) == (0, before)
    assert f"Repaired: version {two[1]} is live, 0 passages embedded." in said
    assert atlas("repair")[1].endswith("Every part is whole.\n")


def test_a_manifest_cut_short_is_taken_from_its_version(folder: Path) -> None:
    before = Manifest.read(folder)
    cut_short(folder / "manifest.json")
    assert repair(folder, HashEmbedder(), silent)[0] == Manifest.read(folder) == before
    (folder / "manifest.json").unlink()
    assert repair(folder, HashEmbedder(), silent)[0] == Manifest.read(folder) == before


def test_without_any_manifest_there_is_nothing_to_repair(folder: Path) -> None:
    (live(folder) / "manifest.json").unlink()
    (folder / "manifest.json").write_text("garbage")
    with pytest.raises(DamagedStore, match="is not valid JSON"):
        repair(folder, HashEmbedder(), silent)


def test_verify_prints_every_part(folder: Path, atlas: Atlas) -> None:
    code, said, _ = atlas("verify", "c")
    assert code == 0
    assert "4 documents, every span of 4 passages" in said
    assert [part for part in PARTS if part not in said] == []
    flip(live(folder) / "tokens/words.flat.npy", -1)
    code, said, error = atlas("verify")
    assert code == 1
    assert "damaged: tokens/words.flat.npy is not as it was written" in said
    assert error == "atlas: Run `atlas store repair c`.\n"
    code, said, _ = atlas("verify", "--json")
    findings = json.loads(said)
    assert code == 1
    assert [f["part"] for f in findings if f["problem"]] == ["tokens", "keywords"]
    code, said, _ = atlas("repair")
    assert code == 0
    assert f"Repaired: version {Manifest.read(folder).version} is live, 0 passages" in said
    assert atlas("verify")[0] == 0


@pytest.mark.parametrize("command", ["verify", "repair", "rollback"])
def test_a_collection_that_is_not_there_is_named_and_not_made(
    folder: Path, atlas: Atlas, command: str
) -> None:
    code, _, error = atlas(command, "nowhere")
    assert code == 1
    assert error.startswith(f"atlas: There is no collection at {folder.parent / 'nowhere'}")
    assert not (folder.parent / "nowhere").exists()


def test_nothing_is_dropped_from_a_collection_that_is_not_there(folder: Path, atlas: Atlas) -> None:
    assert atlas("drop", "town", "nowhere")[0] == 1
    assert not (folder.parent / "nowhere").exists()


def test_damaged_documents_need_their_sources_or_an_earlier_version(
    folder: Path, two: list[str], source: Path, atlas: Atlas
) -> None:
    flip(live(folder) / "records.sqlite", 5000)
    code, _, error = atlas("repair")
    assert code == 1
    assert "The documents of c are damaged: records.sqlite is not as it was written." in error
    assert f"`atlas create txt {source} --collection c --force`" in error
    assert "or go back: `atlas store rollback c`" in error
    assert Manifest.read(folder).version == two[1]
    assert atlas("rollback", "c")[0] == 0
    assert damaged(folder) == []


def test_the_command_that_is_named_has_all_options_that_were_given(
    tmp_path: Path, folder: Path, atlas: Atlas
) -> None:
    source = write_sources(tmp_path / "my tables", {"t.csv": "id,text\n1,Ships.\n"})
    arguments = {
        "source": [str(source)],
        "splitter": "fixed",
        "chunk_size": 500,
        "chunk_overlap": None,
        "chunk_unit": "characters",
        "across_pages": True,
        "corpora": None,
        "corpus": "port",
        "quotes": False,
        "rename": "a=b,c=d",
    }
    sources = by_rule([source], READERS["csv"].suffixes, Rule("port"))
    build_tiny(sources, folder, HashEmbedder(), kind="csv", arguments=arguments)
    lose("records.sqlite")(live(folder))
    _, _, error = atlas("repair")
    assert (
        f"`atlas create csv '{source}' --collection c --splitter fixed --chunk-size 500 "
        "--across-pages --corpus port --no-quotes --rename a=b,c=d --force`"
    ) in error
    assert "`atlas create txt " in error


@pytest.mark.parametrize("name", [n for n, (part, _) in DAMAGE.items() if part == "records.sqlite"])
def test_a_forced_build_brings_damaged_documents_back(
    folder: Path, source: Path, whole: tuple[dict[str, Any], NDArray[np.float32]], name: str
) -> None:
    DAMAGE[name][1](live(folder))
    assert build_tiny(source, folder, HashEmbedder(), force=True).embedded == 0
    assert (contents(folder), damaged(folder)) == (whole[0], [])


def test_a_forged_title_does_not_outlive_a_forced_build(folder: Path, source: Path) -> None:
    sql("records.sqlite", "UPDATE documents SET title = 'Forged'")(live(folder))
    build_tiny(source, folder, HashEmbedder(), force=True)
    assert "Forged" not in {row["title"] for row in rows(folder, "SELECT title FROM documents")}


def test_rollback_goes_to_the_version_before_and_a_build_goes_on_from_there(
    folder: Path, two: list[str], source: Path, atlas: Atlas
) -> None:
    assert document_ids(folder) == ["farm.cows", "farm.sheep", "town.trade"]
    code, said, _ = atlas("rollback")
    assert (code, said) == (0, f"Version {two[0]} is live: 4 documents.\n")
    assert "farm.goats" in document_ids(folder)
    assert keyword_hits(folder, "goat") == ["farm.goats:0-18"]
    code, _, error = atlas("rollback")
    assert code == 1
    assert f"no earlier version to go back to. Live is {two[0]}; " in error
    assert f"other versions on disk: {two[1]}." in error
    (source / "farm/new.txt").write_text("New.")
    report = build_tiny(source, folder, HashEmbedder())
    assert (report.changes, report.embedded) == (Changes(1, 0, 3, 1), 1)
    assert [m.version for m in versions(folder)] == [report.manifest.version, two[0]]
    assert damaged(folder) == []


def test_a_build_after_a_rollback_without_changes_makes_the_later_version_again(
    folder: Path, two: list[str], source: Path
) -> None:
    later = contents(folder)
    rollback(folder)
    report = build_tiny(source, folder, HashEmbedder())
    assert (report.changes, report.embedded) == (Changes(0, 0, 3, 1), 0)
    assert contents(folder) == later


def test_rollback_to_a_named_version_goes_forward_too(
    folder: Path, two: list[str], atlas: Atlas
) -> None:
    for version in (two[0], two[1], two[0]):
        assert atlas("rollback", "c", "--version", version)[0] == 0
        assert Manifest.read(folder).version == version
        assert damaged(folder) == []
    code, _, error = atlas("rollback", "--version", "20200101T000000.000000-00000000")
    assert code == 1
    assert "c has no version 20200101T000000.000000-00000000 to go back to" in error


def test_without_another_version_there_is_none_to_go_back_to(folder: Path, atlas: Atlas) -> None:
    code, _, error = atlas("rollback")
    assert code == 1
    assert "other versions on disk: none" in error


def test_list_shows_collections_versions_and_damage(
    folder: Path, two: list[str], atlas: Atlas
) -> None:
    (folder.parent / "broken").mkdir()
    (folder.parent / "broken" / "manifest.json").write_text("garbage")
    code, said, _ = atlas("list")
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in said.splitlines()]
    cells = [line for line in lines if line]
    assert code == 0
    assert cells[0][0] == "broken"
    assert "is not valid JSON" in cells[0][1]
    assert cells[1:] == [
        ["c", f"* {two[1]}", "3", "3", "hash"],
        ["c", two[0], "4", "4", "hash"],
    ]


def test_list_of_nothing_is_empty(
    tmp_path: Path,
    atlas: Atlas,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path / "none"))
    assert atlas("list")[0] == 0
    assert not (tmp_path / "none").exists()


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
        *(".build.lock", "manifest.json"),
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
    sources = by_rule([source], READERS["csv"].suffixes, Rule(corpus_field="party"))
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


def test_nothing_is_looked_after_while_a_build_runs(folder: Path) -> None:
    version = Manifest.read(folder).version
    for change in (
        lambda: repair(folder, HashEmbedder(), silent),
        lambda: drop(folder, "town", HashEmbedder(), silent),
        lambda: rollback(folder),
    ):
        with locked(folder), pytest.raises(SourceError, match="Another build of c is running"):
            change()
    assert Manifest.read(folder).version == version
