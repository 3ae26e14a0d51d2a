"""The index of vectors, good and bad, against a comparison of every vector."""

import json
import shutil
from pathlib import Path

import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.errors import DamagedStore, RequestError
from atlas_search.evaluation.metrics import metric_of
from atlas_search.evaluation.scored import IndexAudit, index_audit
from atlas_search.services import Services
from atlas_search.stores import embedded
from atlas_search.stores.vectors import HNSW, CorpusVectors, change_vectors
from atlas_search.stores.versions import CHROMA
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, index, live, silent, write_sources

QUESTIONS = ["How long may a person be held?", "Who may search a house?", "What is privacy?"]
PASSAGES = 1500
DEPTH = 10


def built(folder: Path) -> Path:
    """A collection of a large and a small corpus, of vectors that say nothing of each other."""
    lines = {"large": PASSAGES, "small": 20}
    files = {
        f"{corpus}/texts.jsonl": "".join(
            json.dumps({"id": f"{corpus}{number}", "text": f"{corpus} text {number}."}) + "\n"
            for number in range(count)
        )
        for corpus, count in lines.items()
    }
    sources = write_sources(folder / "sources", files)
    build_tiny(sources, folder / "stores" / "many", HashEmbedder(), kind="jsonl")
    return folder / "stores" / "many"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("sound"))


def audit(store: Path, depth: int = DEPTH) -> IndexAudit:
    with Atlas.open(store, embedder=HashEmbedder()) as atlas:
        return index_audit(atlas, QUESTIONS, depth)


def test_the_bundled_index_finds_nearly_all(services: Services) -> None:
    found = index_audit(Atlas(services), QUESTIONS, DEPTH)
    corpora = [corpus.id for corpus in services.store.corpora]
    assert found.recall.keys() == {"index_recall", *(f"index_recall.{id_}" for id_ in corpora)}
    assert all(0.9 <= figure.mean <= 1 for figure in found.recall.values())
    assert {figure.questions for figure in found.recall.values()} == {3}
    assert {metric_of(name).name for name in found.recall} == {"index_recall", "index_recall."}


def test_a_sound_index_finds_nearly_all_though_no_search_asks_it(sound: Path) -> None:
    found = audit(sound)
    assert all(0.9 <= figure.mean <= 1 for figure in found.recall.values())
    assert found.asked == ()


def test_corpora_whose_searches_ask_the_index_are_told(
    sound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "EXACT_UP_TO", 100)
    found = audit(sound)
    assert found.asked == ("large",)
    monkeypatch.setattr(embedded, "EXACT_UP_TO", 75_000)
    assert found.recall == audit(sound).recall


def test_an_index_that_looks_at_too_few_neighbours_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for option, value in (("ef_search", 10), ("ef_construction", 10), ("max_neighbors", 4)):
        monkeypatch.setitem(HNSW, option, value)  # type: ignore[misc]
    recall = audit(built(tmp_path)).recall
    assert recall["index_recall.large"].mean < 0.8
    assert recall["index_recall.small"].mean == 1
    both = (recall["index_recall.large"].mean + 1) / 2
    assert recall["index_recall"].mean == pytest.approx(both)


def test_an_index_that_lost_vectors_is_found_out(sound: Path, tmp_path: Path) -> None:
    store = tmp_path / "many"
    shutil.copytree(sound, store)
    held = index(store)
    ids, _ = held["small"]
    with Atlas.open(store, embedder=HashEmbedder()) as atlas:
        embedder, opened = HashEmbedder(), atlas.services.store
        lost = {
            opened.passage_ids(
                opened.nearest("small", embedder.embed_query(question), 1, None).rows.tolist()
            )[0]
            for question in QUESTIONS
        }
        kept = [CorpusVectors(corpus, (), vectors[:0]) for corpus, (_, vectors) in held.items()]
        change_vectors(live(store) / CHROMA, tmp_path / "lost", kept, {"small": [*lost]}, silent)
        shutil.rmtree(live(store) / CHROMA)
        shutil.move(tmp_path / "lost", live(store) / CHROMA)
        found = index_audit(atlas, QUESTIONS, len(ids)).recall
    assert found["index_recall.small"].mean == pytest.approx((len(ids) - len(lost)) / len(ids))


def test_an_index_that_is_gone_is_told(sound: Path, tmp_path: Path) -> None:
    store = tmp_path / "many"
    shutil.copytree(sound, store)
    with Atlas.open(store, embedder=HashEmbedder()) as atlas:
        shutil.rmtree(live(store) / CHROMA)
        with pytest.raises(DamagedStore, match="store repair"):
            index_audit(atlas, QUESTIONS, DEPTH)


def test_a_corpus_with_fewer_passages_than_the_depth_can_be_found_whole(sound: Path) -> None:
    assert audit(sound, 100).recall["index_recall.small"].mean == 1


def test_an_audit_needs_a_question(services: Services) -> None:
    with pytest.raises(RequestError, match="needs a question"):
        index_audit(Atlas(services), [], DEPTH)
