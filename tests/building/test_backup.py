"""`atlas store export` and `import`: all that was there comes back."""

import json
import tracemalloc
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas_search.atlas import Atlas
from atlas_search.building.backup import Imported, export_collection, import_collection
from atlas_search.building.chunking import chunking
from atlas_search.building.document_ids import Changes
from atlas_search.building.flow import BuildOptions, build
from atlas_search.building.maintain import drop
from atlas_search.building.sources import by_folder
from atlas_search.building.workers import ReadingLimits
from atlas_search.core.domain import Segment
from atlas_search.core.errors import DamagedStore, SourceError
from atlas_search.providers.embedding import Embedder
from atlas_search.readers import Draft
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Calibration, Manifest
from atlas_search.stores.versions import versions
from tests.building.damage import copy_collection, damaged
from tests.hash_embedder import HashEmbedder
from tests.source_builds import build_from, sources_of, stored, write_good
from tests.tiny import (
    FARM,
    HNSW,
    all_vectors,
    build_tiny,
    contents,
    json_lines,
    live,
    silent,
    write_sources,
)


def import_to(
    folder: Path, export: Path, embedder: Embedder | None = None, *, replace: bool = False
) -> Imported:
    return import_collection(
        export, folder, embedder or HashEmbedder(), silent, replace=replace, indexing=HNSW
    )


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def own(letters: Path, tmp_path: Path) -> Path:
    """A copy of the collection."""
    return copy_collection(letters / "stores" / "c", tmp_path / "stores" / "c")


@pytest.mark.parametrize("name", ["export", "export.zip"])
def test_an_import_holds_all_that_was_exported(letters: Path, tmp_path: Path, name: str) -> None:
    before, folder = letters / "stores" / "c", tmp_path / "new" / "c"
    export_collection(before, tmp_path / name, silent)
    done = import_to(folder, tmp_path / name)
    assert (done.embedded, done.is_same_model) == (0, True)
    assert contents(folder) == contents(before)
    assert (all_vectors(folder) == all_vectors(before)).all()
    assert damaged(folder) == []
    assert hits_of(folder) == hits_of(before)
    assert all(hits_of(folder))
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted([".build.lock", done.manifest.version, "manifest.json"])


def hits_of(folder: Path) -> list[list[dict[str, Any]]]:
    """The passages that searches find, with their scores."""
    with Atlas.open(folder, embedder=HashEmbedder()) as atlas:
        results = [atlas.search(question) for question in ("who gives milk?", "cloth and silk")]
    return [[passage.form().to_dict() for passage in result.passages] for result in results]


def test_a_build_after_an_import_reads_only_what_changed(letters: Path, tmp_path: Path) -> None:
    source = copy_collection(letters / "source", tmp_path / "source")
    folder = tmp_path / "new" / "c"
    import_to(folder, letters / "export")
    again = build_tiny(source, folder, HashEmbedder())
    assert (again.read, again.unchanged) == (0, True)
    (source / "farm/cows.txt").write_text("Cows give butter.\n")
    changed = build_tiny(source, folder, HashEmbedder())
    assert (changed.read, changed.embedded) == (1, 1)
    assert changed.changes == Changes(added=0, changed=1, unchanged=3, removed=0)


def test_with_another_model_all_passages_are_embedded_anew(letters: Path, tmp_path: Path) -> None:
    other = HashEmbedder("another", 16)
    done = import_to(tmp_path / "c", letters / "export", other)
    # two of five passages have one text
    assert (done.is_same_model, done.model, done.embedded) == (False, "hash", 4)
    assert other.embedded == 4
    assert done.manifest.embedding.dimension == 16
    assert damaged(tmp_path / "c") == []


def test_the_folder_and_the_zip_hold_the_same_files(letters: Path, tmp_path: Path) -> None:
    export_collection(letters / "stores" / "c", tmp_path / "c.zip", silent)
    with zipfile.ZipFile(tmp_path / "c.zip") as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    plain = {path.name: path.read_bytes() for path in (letters / "export").iterdir()}
    assert len(plain) == len(packed) == 6
    assert packed | {"manifest.json": b""} == plain | {"manifest.json": b""}


def test_a_calibration_comes_along(own: Path, tmp_path: Path) -> None:
    calibration = Calibration(
        threshold=0.4,
        basis="made",
        good=3,
        off_topic=2,
        lost=0.0,
        rejected=1.0,
        content_digest=Manifest.read(own).content_digest,
        created="2026-01-01",
    )
    Manifest.read(own).model_copy(update={"calibration": calibration}).write(own)
    export_collection(own, tmp_path / "export", silent)
    assert import_to(tmp_path / "c", tmp_path / "export").manifest.calibration == calibration
    other = import_to(tmp_path / "d", tmp_path / "export", HashEmbedder("another")).manifest
    assert other.calibration is None  # its threshold is of the other model's scores


def test_a_collection_is_replaced_only_on_demand_and_stays_behind_the_new_one(
    letters: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    first = build_tiny(write_sources(tmp_path / "source", FARM), folder, HashEmbedder()).manifest
    with pytest.raises(SourceError, match="There is a collection c already"):
        import_to(folder, letters / "export")
    assert Manifest.read(folder) == first
    done = import_to(folder, letters / "export", replace=True)
    assert [m.version for m in versions(folder)] == [done.manifest.version, first.version]


def test_versions_stay_if_the_manifest_of_the_replaced_collection_cannot_be_read(
    letters: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    for text in ("Cows give milk.", "Cows give butter."):
        source = write_sources(tmp_path / "source", {"farm/cows.txt": text})
        build_tiny(source, folder, HashEmbedder())
    before = versions(folder)
    (folder / "manifest.json").write_text("{")
    done = import_to(folder, letters / "export", replace=True)
    assert versions(folder) == [done.manifest, *before]


def test_a_collection_is_exported_while_it_is_open_and_while_a_corpus_is_dropped(
    letters: Path, own: Path, tmp_path: Path
) -> None:
    dropped: list[str] = []

    def drop_once(*_: object) -> None:
        if not dropped:
            dropped.append(drop(own, "town", HashEmbedder(), silent).version)

    with closing(EmbeddedStore(own)) as store:
        export_collection(own, tmp_path / "export", drop_once)
        assert store.passage("farm.cows:0-15").text == "Cows give milk."
    assert Manifest.read(own).version == dropped[0]
    import_to(tmp_path / "new" / "c", tmp_path / "export")
    assert contents(tmp_path / "new" / "c") == contents(letters / "stores" / "c")


def test_a_damaged_collection_is_not_exported(own: Path, tmp_path: Path) -> None:
    vectors = live(own) / "embeddings" / "vectors.npy"
    vectors.write_bytes(vectors.read_bytes()[:-4])
    with pytest.raises(DamagedStore, match=r"vectors.npy is not as it was written.*repair"):
        export_collection(own, tmp_path / "out" / "export", silent)
    assert list((tmp_path / "out").iterdir()) == []


def test_an_export_says_what_it_holds(letters: Path) -> None:
    export = letters / "export"
    manifest = json.loads((export / "manifest.json").read_text())
    assert manifest["counts"] == {"documents": 4, "passages": 5, "sources": 4}
    assert [(c["id"], c["label"], c["language"]) for c in manifest["corpora"]] == [
        ("farm", "Farm", "en"),
        ("town", "Town", "en"),
    ]
    documents = {document["id"]: document for document in lines(export / "documents.jsonl")}
    sheep = documents["farm.sheep"]
    assert (sheep["title"], sheep["date"], sheep["metadata"]["rank"]) == ("On sheep", "1901", 2.5)
    texts = [
        documents[passage["document_id"]]["text"][passage["start"] : passage["end"]]
        for passage in lines(export / "passages.jsonl")
    ]
    assert texts.count("Cows give milk.") == 2
    assert "On the second page they rest." in texts
    assert "docs/backup.md" in (export / "README.txt").read_text()


def test_passages_that_came_with_their_ids_and_vectors_come_back(tmp_path: Path) -> None:
    write_good("chroma", tmp_path / "source")
    folder, again = tmp_path / "before" / "c", tmp_path / "after" / "c"
    build_from("chroma", folder, sources_of("chroma", tmp_path / "source"))
    export_collection(folder, tmp_path / "export", silent)
    import_to(again, tmp_path / "export")
    assert [passage.id for passage in stored(again)] == ["l/1", "l 2"]
    assert contents(again) == contents(folder)


# documents of any kind, and of any number

WORDS = st.sampled_from(
    [
        *("wool ", "A sentence. ", "\n\n", "\n", "\f", "é", "e\u0301", "🐑", "我来了。"),
        *("\u2028", "\x00", "x" * 90),
    ]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=40).map("".join).filter(str.strip)
NAMES = st.text(st.characters(codec="utf-8"), max_size=6)
SECTIONS = st.sampled_from(["", "I", "I > 2"])
VALUES = (
    NAMES
    | st.integers(-(10**9), 10**9)
    | st.floats(-1e9, 1e9, allow_nan=False)
    | st.lists(NAMES, max_size=3)
)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    text = draw(TEXTS)
    offsets = st.integers(0, len(text))
    pages = (0, *sorted(draw(st.lists(offsets, max_size=3))))
    starts = sorted(draw(st.sets(offsets, max_size=3)))
    metadata: Mapping[str, object] = draw(st.dictionaries(NAMES, VALUES, max_size=3))
    return Draft(
        text=text,
        title=draw(st.sampled_from(["", "Sheep", "On [x] > y"])),
        metadata=metadata,
        key=draw(st.sampled_from(["", "k", "a/b", "row-1"])),
        pages=pages,
        segments=tuple(Segment(start, draw(SECTIONS), draw(NAMES), "s 1") for start in starts),
        printed_pages=draw(st.sampled_from([(), ("i",) * len(pages)])),
    )


@dataclass(frozen=True)
class DraftReader:
    """Reads the same drafts from every file."""

    drafts: tuple[Draft, ...]
    suffixes = frozenset({".txt"})

    @property
    def options(self) -> dict[str, object]:
        return {}

    def read(self, path: Path, encoding: str) -> Iterator[Draft]:
        return iter(self.drafts)


@pytest.mark.thorough
@given(st.lists(drafts(), min_size=1, max_size=4), st.sampled_from([".zip", ""]))
@settings(max_examples=8)
def test_any_documents_come_back(documents: list[Draft], suffix: str) -> None:
    with TemporaryDirectory() as name:
        root = Path(name)
        source = write_sources(root / "source", {"farm/a.txt": "", "sea/b.txt": ""})
        reader = DraftReader(tuple(documents))
        sources = by_folder([source], reader.suffixes, "")
        options = BuildOptions(
            "c",
            "txt",
            chunking(size=100, overlap=10),
            limits=ReadingLimits(0),
            indexing=HNSW,
        )
        build(root / "before" / "c", sources, reader, HashEmbedder(), options, silent)
        export_collection(root / "before" / "c", root / f"export{suffix}", silent)
        done = import_to(root / "after" / "c", root / f"export{suffix}")
        assert done.embedded == 0
        assert contents(root / "after" / "c") == contents(root / "before" / "c")


class Enough(Exception):
    """All that is read has been read."""


@pytest.mark.thorough
def test_a_thousand_documents_pass_through_one_by_one(tmp_path: Path) -> None:
    """Memory follows the largest document, not their number."""
    texts = {f"d{number}": f"Number {number}. " + "wool" * 5000 for number in range(1000)}
    total = sum(map(len, texts.values()))
    folder = tmp_path / "before" / "c"
    source = write_sources(tmp_path / "source", {"farm/a.jsonl": json_lines(texts)})
    build_tiny(source, folder, HashEmbedder(), kind="jsonl", splitter="whole")
    peaks: dict[str, int] = {}

    def note(stage: str, done: int, of: int) -> None:
        peaks[stage] = tracemalloc.get_traced_memory()[1]
        if (stage, done) == ("Reading documents", of):
            raise Enough

    tracemalloc.start()
    try:
        export_collection(folder, tmp_path / "export.zip", note)
        tracemalloc.reset_peak()
        with pytest.raises(Enough):
            import_collection(tmp_path / "export.zip", tmp_path / "c", HashEmbedder(), note)
    finally:
        tracemalloc.stop()
    assert peaks.keys() >= {"Writing passages", "Checking documents", "Reading documents"}
    assert max(peaks.values()) < total / 2
