"""Collections made from a Chroma folder: its ids and vectors, and how it is refused."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from atlas_search.core.errors import SourceError
from atlas_search.stores.embedded import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.source_builds import (
    CHROMA_RECORDS,
    ODD_IDS,
    build_from,
    chroma_sources,
    passages_of,
    remarks,
    stored,
    texts_or_refusal,
)
from tests.source_files import write_chroma
from tests.tiny import build_tiny, write_sources

pytestmark = pytest.mark.usefixtures("read_here")


def test_ids_and_vectors_of_chroma_are_kept_and_its_folder_is_not_touched(tmp_path: Path) -> None:
    records = {id_: f"Letter {number} of the harbour." for number, id_ in enumerate(ODD_IDS)}
    write_chroma(tmp_path / "old", records)
    before = contents(tmp_path / "old")
    report = build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))
    assert {passage.id: passage.text for passage in stored(tmp_path / "c")} == records
    assert report.embedded == 0
    assert contents(tmp_path / "old") == before
    store = EmbeddedStore(tmp_path / "c")
    for passage in passages_of(store):
        kept = store.vectors(np.array([passage.row]))[0]
        expected = HashEmbedder().embed_query(passage.text)
        np.testing.assert_allclose(kept, expected, rtol=1e-3)
    store.close()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_vectors_of_any_length_are_stored_at_unit_length(tmp_path: Path) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS, embedder=Scaled())
    build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))
    store = EmbeddedStore(tmp_path / "c")
    lengths = np.linalg.norm(store.vectors(np.arange(2)), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-3)
    store.close()


class Scaled(HashEmbedder):
    """Makes vectors of length 7, or of none for texts that begin with `none`."""

    def embed_query(self, text: str):
        return super().embed_query(text) * (0 if text.startswith("none") else 7)


def test_a_vector_of_no_length_is_refused_or_reported(tmp_path: Path) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS | {"zero": "none"}, embedder=Scaled())
    report = build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))
    assert remarks(report)["old"]


@pytest.mark.parametrize(
    ("embedder", "message"),
    [
        (HashEmbedder("other"), r"^old: its vectors are not those of other .*Set EMBEDDING_MODEL"),
        (HashEmbedder(dimension=64), r"^old: its vectors have 32 dimensions, those of hash 64"),
    ],
    ids=["another model", "another dimension"],
)
def test_vectors_of_another_model_are_refused(
    tmp_path: Path, embedder: HashEmbedder, message: str
) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS)
    sources = chroma_sources(tmp_path, "old")
    with pytest.raises(SourceError, match=message):
        build_from("chroma", tmp_path / "c", sources, embedder=embedder)
    assert not (tmp_path / "c" / "manifest.json").exists()


def test_vectors_of_another_model_are_refused_every_time(tmp_path: Path) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS)
    for _ in range(2):
        with pytest.raises(SourceError, match="its vectors are not those of other"):
            build_from(
                "chroma",
                tmp_path / "c",
                chroma_sources(tmp_path, "old"),
                embedder=HashEmbedder("other"),
            )


def test_vectors_of_which_some_are_of_another_model_are_refused(tmp_path: Path) -> None:
    write_chroma(tmp_path / "old", {f"a{n}": f"Letter {n}." for n in range(60)})
    later = {f"b{n}": f"Reply {n}." for n in range(40)}
    write_chroma(tmp_path / "old", later, embedder=HashEmbedder("other"))
    with pytest.raises(SourceError, match="its vectors are not those of hash"):
        build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))


def test_a_collection_that_is_not_there_is_an_error_that_lists_those_that_are(
    tmp_path: Path,
) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS)
    write_chroma(tmp_path / "old", {"r": "A reply."}, collection="replies")
    sources = chroma_sources(tmp_path, "old")
    message = "Name one with --from-collection; it has: letters, replies"
    for name in ("diaries", ""):
        with pytest.raises(SourceError, match=message):
            build_from("chroma", tmp_path / "c", sources, from_collection=name)
    build_from("chroma", tmp_path / "c", sources, from_collection="replies")
    assert [passage.id for passage in stored(tmp_path / "c")] == ["r"]


def test_records_without_a_corpus_or_a_text_are_reported_one_by_one(tmp_path: Path) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS | {"blank": " \n"})
    write_chroma(tmp_path / "old", {"lost": "A letter."}, {"box": 7})
    write_chroma(tmp_path / "old", {"named": "A letter to all."}, {"corpus": "all"})
    report = build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))
    (file,) = report.files
    assert file.documents == 2
    assert file.remarks[0] == "blank: it holds no text"
    assert file.remarks[1] == "lost: no corpus: it has no metadata field `corpus`"
    assert file.remarks[2].startswith("named: metadata field `corpus` is 'all'")
    named = build_from("chroma", tmp_path / "d", chroma_sources(tmp_path, "old", corpus="box"))
    assert [corpus.id for corpus in named.manifest.corpora] == ["box"]


def test_a_collection_in_which_nothing_has_a_corpus_is_an_error(tmp_path: Path) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS, {"box": 7})
    with pytest.raises(SourceError, match="old: no corpus: it has no metadata field `corpus`"):
        build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))


def test_a_folder_without_chroma_is_refused(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    with pytest.raises(SourceError, match="not a Chroma folder: it has no chroma"):
        chroma_sources(tmp_path, "old")


@pytest.mark.parametrize(
    "records",
    [
        {"a/chroma": {"1": "A letter."}, "b/chroma": {"2": "A reply."}},
        {"letters": {"1": "A letter."}, "replies": {"1": "A reply."}},
    ],
    ids=["one name", "one id"],
)
def test_two_chroma_folders_are_both_read_or_refused(
    tmp_path: Path, records: Mapping[str, Mapping[str, str]]
) -> None:
    for folder, texts in records.items():
        write_chroma(tmp_path / folder, texts)
    outcome = texts_or_refusal("chroma", tmp_path / "c", lambda: chroma_sources(tmp_path, *records))
    assert outcome in ({"A letter.", "A reply."}, SourceError)


@pytest.mark.parametrize("corpus", ["a", "z"])
def test_an_id_that_a_kept_document_has_is_refused(tmp_path: Path, corpus: str) -> None:
    """Either before or after all other passages."""
    id_ = "m.x:0-6"
    text = write_sources(tmp_path / "texts", {"m/x.txt": "First."})
    build_tiny(text, tmp_path / "c", HashEmbedder())
    write_chroma(tmp_path / "old", {id_: "A reply."})
    sources = chroma_sources(tmp_path, "old", corpus=corpus)
    with pytest.raises(SourceError, match=f"Two passages have the id '{id_}', one of them of "):
        build_from("chroma", tmp_path / "c", sources)
    assert [passage.text for passage in stored(tmp_path / "c")] == ["First."]
