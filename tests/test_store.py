"""The embedded store: exact spans, agreement of its parts, and clear errors when damaged."""

import json
import shutil
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import Any

import chromadb
import numpy as np
import pytest

from atlas_search.building.chunking import heading_spans
from atlas_search.building.flow import BuildReport
from atlas_search.core.errors import (
    ClosedStore,
    DamagedStore,
    EmbedderMismatch,
    MissingStore,
    NotFound,
    OutdatedStore,
)
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.services import open_services
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.filters import FUNCTIONS, Range
from atlas_search.stores.manifest import SCHEMA_VERSION, Manifest
from atlas_search.stores.records import Records
from atlas_search.stores.versions import CHROMA, PARTS, RECORDS
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, build_tiny, live, write_manifest, write_sources


def all_passages(store: EmbeddedStore):
    return store.passages(range(store.manifest.passages))


def test_every_passage_is_exactly_its_span_of_the_document(store: EmbeddedStore) -> None:
    for passage in all_passages(store):
        document = store.document(passage.document_id)
        assert document.text[passage.start : passage.end] == passage.text
        assert document.text.count("\n", 0, passage.start) + 1 == passage.line


def test_passages_and_headings_are_every_word_of_every_document(store: EmbeddedStore) -> None:
    for id_ in {passage.document_id for passage in all_passages(store)}:
        document = store.document(id_)
        passages = [(passage.start, passage.end) for passage in store.document_passages(id_)]
        headings = heading_spans(document)
        covered = {offset for span in (*passages, *headings) for offset in range(*span)}
        assert all(offset in covered for offset, c in enumerate(document.text) if not c.isspace())
        assert not any((h.start, h.end) in passages for h in headings)


def test_the_bundled_corpora_are_of_clearly_unequal_size(store: EmbeddedStore) -> None:
    sizes = {corpus.id: corpus.documents for corpus in store.corpora}
    assert sizes == {"legal_uk": 22, "legal_us": 49, "legislation_nz": 13}


def test_passage_and_document_are_found_by_id(store: EmbeddedStore) -> None:
    passage = all_passages(store)[7]
    assert store.passage(passage.id) == passage
    assert store.document(passage.document_id).corpus == passage.corpus


def test_unknown_ids_are_reported(store: EmbeddedStore) -> None:
    with pytest.raises(NotFound, match="no passage 'x'"):
        store.passage("x")
    with pytest.raises(NotFound, match="no document 'x'"):
        store.document("x")


def test_vectors_are_unit_length_and_in_the_order_asked_for(store: EmbeddedStore) -> None:
    rows = np.array([5, 0, 300])
    vectors = store.vectors(rows)
    assert vectors.shape == (3, store.manifest.embedding.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(vectors[1], store.vectors(np.array([0]))[0])


def test_a_passage_is_its_own_nearest_neighbour(store: EmbeddedStore) -> None:
    for passage in all_passages(store)[::40]:
        vector = store.vectors(np.array([passage.row]))[0]
        hits = store.nearest(passage.corpus, vector, 5, None)
        assert hits.rows[0] == passage.row
        assert hits.scores[0] == pytest.approx(1.0, abs=1e-4)


def test_hits_come_best_first_with_ties_by_row(store: EmbeddedStore) -> None:
    for hits in (
        store.nearest("legal_us", store.vectors(np.array([100]))[0], 50, None),
        store.matching("legal_us", ["court", "state"], 50, None),
    ):
        pairs = list(zip((-hits.scores).tolist(), hits.rows.tolist(), strict=True))
        assert len(pairs) == 50
        assert pairs == sorted(pairs)


def test_the_index_finds_what_comparing_every_passage_finds(
    demo: BuildReport, stores: Path, store: EmbeddedStore, indexed: None
) -> None:
    asking = EmbeddedStore(stores / demo.manifest.collection)
    for corpus in store.corpora:
        assert store.compares_all(corpus.id)
        assert not asking.compares_all(corpus.id)
        vector = store.vectors(np.array([7]))[0]
        all_compared = store.nearest(corpus.id, vector, 30, None)
        found = asking.nearest(corpus.id, vector, 30, None)
        np.testing.assert_array_equal(found.rows, all_compared.rows)
        np.testing.assert_allclose(found.scores, all_compared.scores, atol=1e-5)
    asking.close()


def test_an_index_that_lacks_vectors_is_an_error(
    demo: BuildReport, stores: Path, tmp_path: Path, indexed: None
) -> None:
    folder = copy_of(demo, stores, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    chroma = folder / demo.manifest.version / CHROMA
    client = chromadb.PersistentClient(str(chroma))
    own = client.get_collection("corpus-legal_uk", embedding_function=None)
    own.delete(ids=own.get(limit=1, include=[])["ids"])
    manifest["sizes"][CHROMA] = sum(f.stat().st_size for f in chroma.rglob("*") if f.is_file())
    write_manifest(folder, manifest)
    with pytest.raises(DamagedStore, match=f"but chroma has {demo.manifest.passages - 1}"):
        EmbeddedStore(folder)


def test_filters_on_text_dates_and_lists(store: EmbeddedStore) -> None:
    def titles(**filters: object) -> set[str]:
        documents = store.scope(filters).documents  # type: ignore[arg-type]
        rows = np.flatnonzero(np.isin(store.tokens.document_of, documents))
        return {passage.title for passage in store.passages(rows)}

    assert titles(status=("repealed",)) == {"Privacy Act 1993"}
    assert "Katz v. United States" in titles(date=Range("1967-01-01", "1967-12-31"))
    # only the year is known of Entick v Carrington, so any day of 1765 may be meant
    assert titles(date=Range("1765-06-01", "1765-06-30")) == {"Entick v Carrington"}
    assert titles(author=("Earl Warren",), date=Range("1960-01-01", None)) == {
        "Loving v. Virginia",
        "Miranda v. Arizona",
        "Terry v. Ohio",
    }
    assert titles(author=("nobody",)) == set()


def test_a_missing_collection_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(MissingStore, match="atlas demo"):
        EmbeddedStore(tmp_path / "nothing")


def copy_of(demo: BuildReport, stores: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(stores / demo.manifest.collection, folder)
    return folder


@pytest.mark.parametrize("part", PARTS)
def test_a_missing_part_is_an_error_that_names_the_repair(
    demo: BuildReport, stores: Path, tmp_path: Path, part: str
) -> None:
    folder = copy_of(demo, stores, tmp_path)
    path = folder / demo.manifest.version / part
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(DamagedStore, match="atlas store repair"):
        EmbeddedStore(folder)


def test_a_truncated_record_file_is_an_error(
    demo: BuildReport, stores: Path, tmp_path: Path
) -> None:
    folder = copy_of(demo, stores, tmp_path)
    path = folder / demo.manifest.version / RECORDS
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(DamagedStore, match="atlas store repair"):
        EmbeddedStore(folder)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", json.dumps({"schema_version": SCHEMA_VERSION})]
)
def test_an_unreadable_manifest_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(DamagedStore):
        Manifest.read(tmp_path)


@pytest.mark.parametrize(
    "content", [{"schema_version": 2}, {"schema_version": 4}, {"schema_version": 3, "files": {}}]
)
def test_a_manifest_of_another_atlas_says_what_to_do(
    tmp_path: Path, content: dict[str, Any]
) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(OutdatedStore, match=r"another version of Atlas.*`atlas create`"):
        Manifest.read(tmp_path)


@pytest.mark.parametrize(
    "lacking",
    ["chroma/chroma.sqlite3", "embeddings/sums.npy", "ids/ends.npy", "words/ends.npy"],
)
def test_a_store_of_an_earlier_form_is_built_anew(
    demo: BuildReport, stores: Path, tmp_path: Path, embedder: LocalEmbedder, lacking: str
) -> None:
    folder = copy_of(demo, stores, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["files"][lacking]
    write_manifest(folder, manifest)
    with pytest.raises(OutdatedStore, match="`atlas create`"):
        EmbeddedStore(folder)


def test_parts_that_disagree_with_the_manifest_are_an_error(
    demo: BuildReport, stores: Path, tmp_path: Path
) -> None:
    folder = copy_of(demo, stores, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    passages = demo.manifest.passages
    manifest["corpora"][0]["passages"] += 1
    write_manifest(folder, manifest)
    with pytest.raises(DamagedStore, match=f"{passages + 1} passages, but keywords has {passages}"):
        EmbeddedStore(folder)


def test_a_store_built_with_another_model_is_refused(
    demo: BuildReport, stores: Path, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    folder = copy_of(demo, stores, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    settings = Settings(chroma_persist_directory=tmp_path, chroma_collection_name="copy")
    for other, told in (
        ({"name": "models/other", "runtime": "torch 2.1"}, "auto"),
        ({"runtime": "onnxruntime 1.2 int8"}, "int8"),
    ):
        manifest["embedding"] |= {"fingerprint": "0" * 64, **other}
        write_manifest(folder, manifest)
        with pytest.raises(
            EmbedderMismatch,
            match=f"Set EMBEDDING_MODEL=models/other.* and EMBEDDING_RUNTIME={told}, or build",
        ):
            open_services(settings, embedder)


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
            found = store.matching("most", terms, depth, None)
            expected = store.matching("most", terms, depth, every)
            assert found.rows.tolist() == expected.rows.tolist()
            assert found.scores.tolist() == expected.scores.tolist()
    store.close()


def test_a_closed_store_says_so_instead_of_waiting(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    build_tiny(write_sources(tmp_path / "sources", FARM), folder, HashEmbedder())
    store = EmbeddedStore(folder)
    store.close()
    with pytest.raises(ClosedStore, match="Open the collection again"):
        ended(lambda: store.passages([0]))


def test_records_may_be_closed_again(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    build_tiny(write_sources(tmp_path / "sources", FARM), folder, HashEmbedder())
    records = Records(live(folder) / RECORDS, {})
    for _ in range(2):
        ended(records.close)
    with pytest.raises(ClosedStore):
        ended(records.passage_ids)


def ended(work: Callable[[], object]) -> object:
    """What `work` gives; it must come to an end."""
    done: Future[object] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except ClosedStore as error:
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    return done.result(10)


def test_each_name_of_a_speaker_is_compared_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many passages have it: a parliament has few members, and they speak often."""
    names = ["Mr Roe", "Mrs Doe", "Mr Roebuck"]
    said = [
        json.dumps({"id": f"t{n}", "text": f"Light {n}.", "speaker": names[n % 3]}) + "\n"
        for n in range(30)
    ]
    write_sources(tmp_path / "s", {"a/said.jsonl": "".join(said)})
    build_tiny(tmp_path / "s", tmp_path / "c", HashEmbedder(), kind="jsonl")
    compared, is_one = [], FUNCTIONS["is_one"]

    def counted(name: str, listed: str) -> bool:
        compared.append(name)
        return is_one(name, listed)

    monkeypatch.setitem(FUNCTIONS, "is_one", counted)
    store = EmbeddedStore(tmp_path / "c")
    found = store.scope({"speaker": ("mr roe",)})
    assert {passage.speaker for passage in store.passages(found.rows.tolist())} == {"Mr Roe"}
    assert len(found.rows) == 10
    assert sorted(compared) == sorted(names)
    store.close()


def test_a_section_is_asked_for_by_its_words(tmp_path: Path) -> None:
    paths = [
        "Part 1 > Dues",
        *(f"Part {n}" for n in range(2, 13)),
        "Part 12 - The Pier",
        "\u7b2c12\u6761",
    ]
    told = [
        json.dumps({"id": f"s{n}", "text": f"Rule {n}.", "section": path})
        for n, path in enumerate(paths)
    ]
    write_sources(tmp_path / "s", {"a/rules.jsonl": "\n".join(told)})
    build_tiny(tmp_path / "s", tmp_path / "c", HashEmbedder(), kind="jsonl")
    store = EmbeddedStore(tmp_path / "c")

    def asked(*values: str) -> list[str]:
        found = store.scope({"section": values}).rows.tolist()
        return sorted(passage.section for passage in store.passages(found))

    assert asked("part 1") == ["Part 1 > Dues"]
    assert asked("Part 12") == ["Part 12", "Part 12 - The Pier"]
    assert asked("Part 1 > Dues", "pier") == ["Part 1 > Dues", "Part 12 - The Pier"]
    assert asked("1") == ["Part 1 > Dues"]
    assert asked("\u7b2c12") == ["\u7b2c12\u6761"]
    assert asked("Part") == sorted(path for path in paths if path.startswith("Part"))
    store.close()


def test_values_that_a_filter_takes_as_one_are_counted_as_one(tmp_path: Path) -> None:
    texts = [
        "---\ncourt: Court\n---\nOne.",
        "---\ncourt: court\n---\nTwo.",
        "---\ncourt: [COURT, Court]\n---\nThree.",
    ]
    write_sources(tmp_path / "s", {f"a/{n}.txt": text for n, text in enumerate(texts)})
    build_tiny(tmp_path / "s", tmp_path / "c", HashEmbedder())
    store = EmbeddedStore(tmp_path / "c")
    (counted,) = store.value_counts(np.arange(3), ["court"])
    assert (counted.value, counted.documents) == ("COURT", 3)
    assert len(store.scope({"court": ("court",)}).documents) == 3
    store.close()
