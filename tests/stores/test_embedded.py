"""An open store: exact spans, agreement of its parts, and clear errors where they are damaged."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Thread

import chromadb
import numpy as np
import pytest
from flask.testing import FlaskClient

from atlas_search.building.chunking import heading_spans
from atlas_search.building.flow import BuildReport
from atlas_search.core.domain import Passage
from atlas_search.core.errors import ClosedStore, DamagedStore, MissingStore, NotFound
from atlas_search.stores import embedded
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.records import Records
from atlas_search.stores.versions import CHROMA, PARTS, RECORDS
from tests.building.damage import cut_short, lose
from tests.places import ROOT
from tests.tiny import live, write_manifest


def all_passages(store: EmbeddedStore) -> list[Passage]:
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


def test_passage_and_document_are_found_by_id(store: EmbeddedStore) -> None:
    passage = all_passages(store)[7]
    assert store.passage(passage.id) == passage
    assert store.document(passage.document_id).corpus == passage.corpus
    with pytest.raises(NotFound, match="no passage 'x'"):
        store.passage("x")
    with pytest.raises(NotFound, match="no document 'x'"):
        store.document("x")


def test_vectors_are_unit_length_and_in_the_order_asked_for(store: EmbeddedStore) -> None:
    rows = np.array([5, 0, 300])
    vectors = store.vectors(rows)
    assert vectors.shape == (3, store.manifest.embedding.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3)
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
    demo: BuildReport, stores: Path, store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "EXACT_UP_TO", 0)
    asking = EmbeddedStore(stores / demo.manifest.collection)
    for corpus in store.corpora:
        assert store.compares_all(corpus.id)
        assert not asking.compares_all(corpus.id)
        vector = store.vectors(np.array([7]))[0]
        all_compared = store.nearest(corpus.id, vector, 30, None)
        indexed = asking.nearest(corpus.id, vector, 30, None)
        np.testing.assert_array_equal(indexed.rows, all_compared.rows)
        np.testing.assert_allclose(indexed.scores, all_compared.scores, atol=1e-5)
    asking.close()


def test_a_missing_collection_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(MissingStore, match="atlas demo"):
        EmbeddedStore(tmp_path / "nothing")


@pytest.mark.parametrize("part", PARTS)
def test_a_missing_part_is_an_error_that_names_the_repair(folder: Path, part: str) -> None:
    lose(part)(live(folder))
    with pytest.raises(DamagedStore, match="atlas store repair"):
        EmbeddedStore(folder)


def test_a_truncated_record_file_is_an_error(folder: Path) -> None:
    cut_short(live(folder) / RECORDS)
    with pytest.raises(DamagedStore, match="atlas store repair"):
        EmbeddedStore(folder)


def test_an_index_that_lacks_vectors_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "EXACT_UP_TO", 0)
    manifest, chroma = json.loads((folder / "manifest.json").read_text()), live(folder) / CHROMA
    client = chromadb.PersistentClient(str(chroma))
    client.get_collection("corpus-farm", embedding_function=None).delete(ids=["farm.cows:0-15"])
    client.close()  # type: ignore[attr-defined]
    manifest["sizes"][CHROMA] = sum(f.stat().st_size for f in chroma.rglob("*") if f.is_file())
    write_manifest(folder, manifest)
    with pytest.raises(DamagedStore, match="but chroma has 2"):
        EmbeddedStore(folder)


def test_parts_that_disagree_with_the_manifest_are_an_error(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["corpora"][0]["passages"] += 1
    write_manifest(folder, manifest)
    with pytest.raises(DamagedStore, match="4 passages, but keywords has 3"):
        EmbeddedStore(folder)


def ended(work: Callable[[], object]) -> object:
    """Return what `work` gives; it must come to an end."""
    done: Future[object] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except ClosedStore as error:
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    return done.result(10)


def test_a_closed_store_says_so_instead_of_waiting(folder: Path) -> None:
    store = EmbeddedStore(folder)
    store.close()
    with pytest.raises(ClosedStore, match="Open the collection again"):
        ended(lambda: store.passages([0]))


def test_records_may_be_closed_again(folder: Path) -> None:
    records = Records(live(folder) / RECORDS, {})
    for _ in range(2):
        ended(records.close)
    with pytest.raises(ClosedStore):
        ended(records.passage_ids)


# the same question on the same store gives the same bytes in every process

QUESTIONS = ("rights of a person on arrest", "Compare privacy in Britain with New Zealand")
CHANGES = ({}, {"exact": True, "facets": True}, {"fuzzy": True, "filters": {"date": "1966"}})
PROGRAM = """
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from atlas_search.core.settings import load_settings
from tests.stores.test_embedded import results_by
collections = ServedCollections(Serving(load_settings()))
print(results_by(create_app(collections).test_client()))
collections.close()
"""


def results_by(client: FlaskClient) -> str:
    """Six searches, one in each line."""
    lines = []
    for question in QUESTIONS:
        for changes in CHANGES:
            body = {"question": question, "explain": True, **changes}
            document = client.post("/api/search", json=body).get_json()
            del document["timings_ms"], document["trace_id"]
            lines.append(json.dumps(document, ensure_ascii=False))
    return "\n".join(lines)


@pytest.mark.thorough
def test_two_processes_give_the_same_bytes(
    client: FlaskClient, stores: Path, demo: BuildReport, tmp_path: Path
) -> None:
    """This process and another, whose hashes differ from those of this one."""
    environment = os.environ | {
        "CHROMA_PERSIST_DIRECTORY": str(stores),
        "CHROMA_COLLECTION_NAME": demo.manifest.collection,
        "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
        "PYTHONIOENCODING": "utf-8",
    }
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, check=True, capture_output=True, timeout=120
    )
    results = results_by(client)
    assert results.count("\n") == 5
    assert done.stdout.decode() == f"{results}\n"
