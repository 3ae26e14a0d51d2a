"""Running a build again: what changed is done, what is gone is removed, all else stays."""

import csv
import hashlib
import random
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.build.corpora import Sources, by_folder, by_mapping
from atlas_search.build.document_ids import Changes
from atlas_search.build.maintain import repair
from atlas_search.build.write import REBUILD_SHARE
from atlas_search.core.errors import DamagedStore, OutdatedStore
from atlas_search.language.text import ANALYSER_VERSION
from atlas_search.stores.filters import Range
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.store import EmbeddedStore
from atlas_search.stores.tokens import VOCABULARY
from atlas_search.stores.verify import verify
from atlas_search.stores.versions import TOKENS
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
    rows,
    silent,
    write_sources,
)

NOTHING = Changes(added=0, changed=0, unchanged=3, removed=0)
PARAGRAPHS = 12


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_sources(tmp_path / "source", FARM)


@pytest.fixture
def folder(tmp_path: Path, source: Path) -> Path:
    """A collection that was built from `source` with another embedder object."""
    build_tiny(source, tmp_path / "c", HashEmbedder())
    return tmp_path / "c"


@pytest.fixture
def hashes() -> HashEmbedder:
    """Counts only what is embedded after the first build."""
    return HashEmbedder()


def change(source: Path, files: Mapping[str, str | None]) -> None:
    """Write files, or remove those that are None."""
    for name, content in files.items():
        if content is None:
            (source / name).unlink()
        else:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(content, encoding="utf-8")


def test_nothing_is_done_where_nothing_changed(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    version = Manifest.read(folder).version
    report = build_tiny(source, folder, hashes)
    assert (report.changes, report.unchanged, report.read) == (NOTHING, True, 0)
    assert (report.embedded, hashes.embedded) == (0, 0)
    assert Manifest.read(folder).version == version


def test_touching_a_file_is_no_change(source: Path, folder: Path, hashes: HashEmbedder) -> None:
    (source / "farm/cows.txt").touch()
    assert build_tiny(source, folder, hashes).read == 0


@pytest.mark.parametrize(
    ("edit", "expected", "embedded"),
    [
        ({"farm/goats.txt": "Goats climb."}, Changes(1, 0, 3, 0), 1),
        ({"farm/cows.txt": "Cows give much milk.\n"}, Changes(0, 1, 2, 0), 1),
        ({"farm/cows.txt": None}, Changes(0, 0, 2, 1), 0),
        ({"farm/cows.txt": None, "farm/kine.txt": "Cows give milk.\n"}, Changes(1, 0, 2, 1), 0),
        ({"farm/cows.txt": None, "town/cows.txt": "Cows give milk.\n"}, Changes(1, 0, 2, 1), 0),
        ({"farm/goats.txt": "Goats.", "farm/cows.txt": "Cows!"}, Changes(1, 1, 2, 0), 2),
        ({"farm/sheep.md": "Sheep give wool.\n"}, Changes(0, 1, 2, 0), 0),
        ({"farm/copy.txt": "Cows give milk.\n"}, Changes(1, 0, 3, 0), 0),
        ({"farm/blank.txt": " \n"}, Changes(0, 0, 3, 0), 0),
    ],
    ids="added changed removed renamed moved both metadata copied empty".split(),
)
def test_a_report_counts_exactly_what_changed(
    source: Path,
    folder: Path,
    hashes: HashEmbedder,
    edit: Mapping[str, str | None],
    expected: Changes,
    embedded: int,
) -> None:
    change(source, edit)
    report = build_tiny(source, folder, hashes)
    assert report.changes == expected
    assert (report.embedded, hashes.embedded) == (embedded, embedded)
    assert report.read == len([content for content in edit.values() if content is not None])
    again = build_tiny(source, folder, hashes)
    assert again.unchanged
    assert again.changes.unchanged == expected.added + expected.changed + expected.unchanged


def test_what_is_gone_is_gone_from_every_part(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    assert keyword_hits(folder, "cow") == ["farm.cows:0-15"]
    change(source, {"farm/cows.txt": None})
    build_tiny(source, folder, hashes)
    assert index(folder)["farm"][0] == ["farm.sheep:0-16"]
    assert document_ids(folder) == ["farm.sheep", "town.trade"]
    for table in ("documents", "passages", "texts", "metadata"):
        numbers = {row["document"] for row in rows(folder, f"SELECT document FROM {table}")}
        assert numbers == {0, 1}, table
    assert not rows(folder, "SELECT name FROM sources WHERE name = 'farm/cows.txt'")
    assert keyword_hits(folder, "cow") == keyword_hits(folder, "milk") == []
    assert keyword_hits(folder, "sheep") == ["farm.sheep:0-16"]


def test_new_words_and_vectors_replace_the_old_ones(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    change(source, {"farm/cows.txt": "Cows give MILK.\n"})
    build_tiny(source, folder, hashes)
    ids, vectors = index(folder)["farm"]
    assert ids == ["farm.cows:0-15", "farm.sheep:0-16"]
    assert np.allclose(vectors[0], hashes.embed_query("Cows give MILK."), atol=1e-6)
    assert keyword_hits(folder, "milk") == ["farm.cows:0-15"]


def test_front_matter_is_updated_without_embedding(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    change(source, {"farm/sheep.md": FARM["farm/sheep.md"].replace("1901", "1950\nbreed: Merino")})
    assert build_tiny(source, folder, hashes).embedded == 0
    store = EmbeddedStore(folder)
    assert len(store.scope({"breed": ("Merino",)}).documents) == 1
    old = Range(first_day="1901-01-01", last_day="1901-12-31")
    assert len(store.scope({"date": old}).documents) == 0
    assert store.document("farm.sheep").metadata["date"] == "1950"
    assert Manifest.read(folder).fields["breed"].counts == {"Merino": 1}
    store.close()


def test_an_edited_mapping_is_applied_without_embedding(
    tmp_path: Path, source: Path, hashes: HashEmbedder
) -> None:
    mapping = source / "corpora.toml"
    text = '[[corpus]]\nid = "{id}"\nlabel = "{label}"\ninclude = ["**"]\nmetadata = {metadata}\n'
    seen = []
    for id_, label, metadata in (
        ("all_texts", "All texts", '{ jurisdiction = "US" }'),
        ("all_texts", "Every text", '{ jurisdiction = "US" }'),
        ("all_texts", "Every text", '{ jurisdiction = "NZ" }'),
        ("texts", "Every text", '{ jurisdiction = "NZ" }'),
    ):
        mapping.write_text(text.format(id=id_, label=label, metadata=metadata))
        sources = by_mapping(source, mapping, READERS["txt"].suffixes, "")
        report = build_tiny(sources, tmp_path / "c", hashes)
        store = EmbeddedStore(tmp_path / "c")
        (corpus,) = store.corpora
        found = len(store.scope({"jurisdiction": ("NZ",)}).documents)
        store.close()
        seen.append((corpus.id, corpus.label, found, report.embedded, str(report.changes)))
    assert seen == [
        ("all_texts", "All texts", 0, 3, "3 added, 0 changed, 0 unchanged, 0 removed"),
        ("all_texts", "Every text", 0, 0, "0 added, 0 changed, 3 unchanged, 0 removed"),
        ("all_texts", "Every text", 3, 0, "0 added, 3 changed, 0 unchanged, 0 removed"),
        ("texts", "Every text", 3, 0, "0 added, 3 changed, 0 unchanged, 0 removed"),
    ]


def test_a_label_that_is_taken_back_is_gone(folder: Path, source: Path) -> None:
    plain = by_folder([source], READERS["txt"].suffixes, "")
    labels = []
    for chosen in ({"farm": "Our farm"}, {}):
        sources = Sources(plain.files, plain.left_out, chosen)
        labels.append(build_tiny(sources, folder, HashEmbedder()).manifest.corpora[0].label)
    assert labels == ["Our farm", "Farm"]


def test_a_moved_file_with_the_same_id_is_found_where_it_is_now(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    source = write_sources(tmp_path / "source", {"farm/cow report.txt": "Cows give milk."})
    build_tiny(source, tmp_path / "c", hashes)
    write_sources(source, {"farm/cow-report.txt": "Cows give milk."})
    report = build_tiny(source, tmp_path / "c", hashes)
    assert (report.changes, report.embedded) == (Changes(1, 0, 0, 1), 0)
    stored = rows(tmp_path / "c", "SELECT id, source FROM documents")
    assert stored == [{"id": "farm.cow-report", "source": "farm/cow-report.txt"}]
    assert build_tiny(source, tmp_path / "c", hashes).read == 0


def test_a_corpus_that_comes_back_is_not_embedded_again(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    whole = contents(folder)
    change(source, {"town/trade.txt": None})
    report = build_tiny(source, folder, hashes)
    assert [corpus.id for corpus in report.manifest.corpora] == ["farm"]
    assert list(index(folder)) == ["farm"]
    change(source, {"town/trade.txt": FARM["town/trade.txt"]})
    assert build_tiny(source, folder, hashes).embedded == 0
    assert contents(folder) == whole


def test_a_corpus_that_comes_back_late_is_embedded(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    """Two versions stay on disk: that without the corpus, and one more without it."""
    change(source, {"town/trade.txt": None})
    build_tiny(source, folder, hashes)
    build_tiny(source, folder, hashes, force=True)
    change(source, {"town/trade.txt": FARM["town/trade.txt"]})
    assert build_tiny(source, folder, hashes).embedded == 1


def test_a_new_version_is_built_from_what_a_skipped_file_says_only_once(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    change(source, {"town/blank.txt": " "})
    first = build_tiny(source, folder, hashes)
    (blank,) = [file for file in first.files if file.source == "town/blank.txt"]
    assert blank.remarks == ("it holds no text",)
    again = build_tiny(source, folder, hashes)
    assert again.read == 0
    assert again.files == first.files


@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_cannot_be_read_now_keeps_its_documents(
    source: Path, folder: Path, hashes: HashEmbedder, force: bool
) -> None:
    sources = by_folder([source], READERS["txt"].suffixes, "")
    (source / "farm" / "cows.txt").unlink()  # as if its disk went away after it was listed
    report = build_tiny(sources, folder, hashes, force=force)
    assert (report.changes, report.embedded) == (NOTHING, 0)
    (cows,) = [file for file in report.files if file.source == "farm/cows.txt"]
    assert (cows.documents, *cows.remarks) == (
        1,
        "cannot be read now (No such file or directory); what was read before is kept",
    )


TABLE = "id,text\nr1,Ships carry wool.\nr2,Ships carry cloth.\n"


@pytest.fixture
def two_origins(tmp_path: Path, folder: Path, hashes: HashEmbedder) -> Path:
    """The folder of tables that went into the collection after the texts."""
    tables = write_sources(tmp_path / "tables", {"port/ships.csv": TABLE, "farm/eggs.csv": TABLE})
    report = build_tiny(tables, folder, hashes, kind="csv")
    assert (report.changes, report.embedded) == (Changes(4, 0, 3, 0), 2)
    return tables


def test_a_second_origin_does_not_remove_the_first(two_origins: Path, folder: Path) -> None:
    assert document_ids(folder) == [
        *("farm.cows", "farm.r1", "farm.r2", "farm.sheep"),
        *("port.r1", "port.r2", "town.trade"),
    ]
    origins = Manifest.read(folder).origins
    assert {kind: origin.documents for kind, origin in origins.items()} == {"csv": 4, "txt": 3}


def test_each_origin_is_updated_alone(
    two_origins: Path, source: Path, folder: Path, hashes: HashEmbedder
) -> None:
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
    assert not _problems(folder)


def test_a_store_of_an_earlier_analyser_is_refused_with_what_to_run(
    two_origins: Path, folder: Path, hashes: HashEmbedder
) -> None:
    before = hashes.embedded
    analysed_before(folder)
    with pytest.raises(OutdatedStore, match=r"atlas create.*`atlas store repair c`"):
        EmbeddedStore(folder)
    assert any("another version of Atlas" in problem for problem in _problems(folder))
    repair(folder, hashes, silent)
    assert (len(keyword_hits(folder, "ship")), hashes.embedded) == (4, before)
    assert not _problems(folder)
    EmbeddedStore(folder).close()


def test_the_order_of_origins_does_not_matter(
    two_origins: Path, source: Path, folder: Path, tmp_path: Path, hashes: HashEmbedder
) -> None:
    build_tiny(two_origins, tmp_path / "c2", hashes, kind="csv")
    build_tiny(source, tmp_path / "c2", hashes)
    assert contents(tmp_path / "c2") == contents(folder)


def test_each_origin_is_cut_in_its_own_way(
    two_origins: Path, source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    build_tiny(source, folder, hashes, splitter="sentence")
    origins = Manifest.read(folder).origins
    assert (origins["txt"].splitter, origins["csv"].splitter) == ("sentence", "recursive")
    assert build_tiny(two_origins, folder, hashes, kind="csv").unchanged


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


def test_the_ids_of_files_that_collide_depend_on_nothing_else(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    """Both get a digest of where they come from, whichever came first; one alone needs none."""
    both = {"a/x.txt": "First.", "a/x.md": "Second.", "a/y.txt": "Third."}
    found = []
    for number, first in enumerate(("a/x.txt", "a/x.md")):
        source, folder = tmp_path / f"s{number}", tmp_path / f"c{number}"
        build_tiny(write_sources(source, {first: both[first]}), folder, hashes)
        assert document_ids(folder) == ["a.x"]
        report = build_tiny(write_sources(source, both), folder, hashes)
        assert report.changes == Changes(2, 0, 1, 0)
        found.append({row["id"]: row["source"] for row in rows(folder, _IDS)})
    assert found[0] == found[1]
    assert sorted(id_.partition("-")[0] for id_ in found[0]) == ["a.x", "a.x", "a.y"]
    build_tiny(write_sources(source, {"a/x.md": "Second."}), folder, hashes)
    assert document_ids(folder) == ["a.x"]
    assert index(folder)["a"][0] == ["a.x:0-7"]


_IDS = "SELECT id, source FROM documents"


WORDS = "sheep wool cow milk trade silk ship port §12 42 USC law court king day".split()


def random_text(chance: random.Random) -> str:
    paragraphs = [" ".join(chance.choices(WORDS, k=chance.randint(1, 30))) for _ in range(3)]
    return "\n\n".join(f"{p.capitalize()}." for p in paragraphs[: chance.randint(1, 3)])


def random_file(chance: random.Random) -> str:
    text = random_text(chance)
    if chance.random() < 0.4:
        date, tag = chance.choice(["1901", "1954-05-17", "c. 1957"]), chance.choice(WORDS)
        text = f"---\ndate: {date}\ntags: [{tag}, law]\n---\n{text}"
    return text if chance.random() > 0.1 else " \n"


def random_table(chance: random.Random) -> str:
    table = StringIO()
    writer = csv.writer(table, lineterminator="\n")
    numbers = chance.sample(range(5), k=chance.randint(1, 4))
    writer.writerows([["id", "text"], *([f"r{n}", random_text(chance)] for n in numbers)])
    return table.getvalue()


def random_edit(chance: random.Random, files: dict[str, str], content: str) -> None:
    """Add, change, remove, rename or copy one file; the first is never removed."""
    name = f"{chance.choice('abc')}/{chance.choice('uvwx')}{chance.choice(['.txt', '.md'])}"
    others = sorted(files)[1:]
    match chance.choice(["write", "write", "remove", "rename", "copy"]):
        case "remove" if others:
            del files[chance.choice(others)]
        case "rename" if others:
            files[name] = files.pop(chance.choice(others))
        case "copy" if others:
            files[name] = files[chance.choice(others)]
        case _:
            files[name] = content


@pytest.mark.parametrize("seed", range(3))
def test_a_store_that_was_updated_equals_one_built_at_once(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    files, tables = {"a/first.txt": "The first text stays."}, {"b/t.csv": random_table(chance)}
    sources = [(tmp_path / "texts", files, "txt"), (tmp_path / "tables", tables, "csv")]
    hashes, folder, sizes = HashEmbedder(), tmp_path / "c", [1000, 1000, 100]
    for step, size in enumerate(sizes):
        for _ in range(chance.randint(2, 6)):
            random_edit(chance, files, random_file(chance))
        if step % 2:
            tables["b/t.csv"] = random_table(chance)
        for root, now, kind in chance.sample(sources, k=2):
            build_tiny(write_sources(root, now), folder, hashes, kind=kind, size=size, overlap=0)
        assert not _problems(folder)
        for root, _, kind in sources:
            at_once = tmp_path / f"fresh{step}"
            build_tiny(root, at_once, HashEmbedder(), kind=kind, size=size, overlap=0)
        assert contents(folder) == contents(at_once)
        assert np.array_equal(all_vectors(folder), all_vectors(at_once))


def _problems(folder: Path) -> list[str]:
    return [f"{f.part}: {f.problem}" for f in verify(folder, Manifest.read(folder)) if f.problem]


def records(numbers: Sequence[int], *, marked: Sequence[int] = ()) -> str:
    """A document for each number; those `marked` say something else."""
    return json_lines({f"d{n:04}": f"Text {n}{' again' if n in marked else ''}." for n in numbers})


MANY = 1200  # more than Chroma keeps outside of its index


def test_a_changed_index_finds_as_much_and_is_made_anew_after_enough_changes(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    folder, file = tmp_path / "c", "a/all.jsonl"
    seen = []
    for numbers, marked in (
        (range(MANY), range(0)),
        (range(MANY), range(100)),  # 100 replaced
        (range(100, MANY + 100), range(0)),  # 100 removed, 100 added
        (range(100, MANY + 100), range(100, 150)),  # 50 replaced: 250 of 1200 are more than a fifth
        (range(100, MANY + 100), range(100, 149)),  # one replaced
    ):
        source = write_sources(tmp_path / "s", {file: records(numbers, marked=marked)})
        build_tiny(source, folder, hashes, kind="jsonl")
        assert nearest(folder, hashes, "Text 500.") == "a.d0500:0-9"
        seen.append(Manifest.read(folder).vector_tombstones)
        assert seen[-1] != 200 or not _problems(folder)
    assert seen == [0, 100, 200, 0, 1]
    assert 200 <= REBUILD_SHARE * MANY < 250


def nearest(folder: Path, hashes: HashEmbedder, text: str) -> str:
    """The id of the passage that the store finds first for the vector of a text."""
    store = EmbeddedStore(folder)
    query: NDArray[np.float32] = hashes.embed_query(text)
    (row, *_) = store.nearest("a", query, 10, None).rows
    (id_,) = store.passage_ids([row])
    store.close()
    return id_


def test_forcing_makes_the_index_anew(tmp_path: Path, hashes: HashEmbedder) -> None:
    tombstones = []
    for marked, force in ((0, False), (1, False), (1, True)):
        files = {"a/all.jsonl": records(range(10), marked=range(marked))}
        source = write_sources(tmp_path / "s", files)
        report = build_tiny(source, tmp_path / "c", hashes, kind="jsonl", force=force)
        tombstones.append(report.manifest.vector_tombstones)
    assert tombstones == [0, 1, 0]


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
    assert not _problems(folder)


def text_of(folder: Path, id_: str) -> str:
    store = EmbeddedStore(folder)
    text = store.passage(id_).text
    store.close()
    return text


@pytest.mark.parametrize(
    ("part", "force"),
    [
        *((part, False) for part in ("chroma", "embeddings", "tokens", "keywords")),
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
    with pytest.raises(DamagedStore, match="atlas store repair"):
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
    assert not _problems(folder)
