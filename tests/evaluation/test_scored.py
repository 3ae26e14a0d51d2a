"""Questions scored, what their figures come to, and the audit of the index."""

import json
import shutil
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from atlas_search.atlas import Atlas
from atlas_search.core.errors import DamagedStore, RequestError
from atlas_search.evaluation.compare_figures import question_figures
from atlas_search.evaluation.labels import Label, Split
from atlas_search.evaluation.metrics import Reply, Tools, metric_of
from atlas_search.evaluation.report_analysis import COLUMNS, WIDTH, evaluation_table
from atlas_search.evaluation.scored import (
    Scored,
    by_category,
    index_audit,
    score,
    summarise,
)
from atlas_search.evaluation.statistics import Figure
from atlas_search.stores import embedded
from atlas_search.stores.vectors import HNSW, CorpusVectors, change_vectors
from atlas_search.stores.versions import CHROMA
from tests.conftest import SAMPLES
from tests.hash_embedder import HashEmbedder
from tests.replies import reply
from tests.tiny import build_tiny, index, live, silent, write_sources

LABELS = SAMPLES / "labels.jsonl"
CATEGORIES = sorted(
    "factual paraphrase multi_hop cross_corpus conflicting stale unanswerable".split()
)
ANSWERABLE = Label("q1", Split.DEV, "factual", "?", ("Seven days",), frozenset({"d1", "d2"}))
UNANSWERABLE = Label("q2", Split.DEV, "unanswerable", "?", (), frozenset())
RIGHT = reply("ANSWER", "Seven days [d1 p1].", found=["x", "d1"], cited=["d1"])
WRONG = reply("ANSWER", "A week.", found=["x"], cited=["x"], grounded=0.5)
NONE = reply("ABSTAIN", found=["d1", "x"], grounded=0.0)


def judged(*told: tuple[Label, Reply]) -> list[Scored]:
    return [score(label, came, Tools(HashEmbedder())) for label, came in told]


def test_an_answer_is_judged_by_what_is_known() -> None:
    (outcome,) = judged((ANSWERABLE, RIGHT))
    figures = outcome.figures
    assert (figures["recall"], figures["mrr"]) == (1 / 2, 1 / 2)
    assert [figures[name] for name in ("exact_match", "f1", "contains", "cites_gold")] == [1] * 4
    assert figures["similarity"] == pytest.approx(1)


@pytest.mark.parametrize("reference", ["A", "The", "😀", "Seven days"])
def test_a_declined_question_is_near_no_reference(reference: str) -> None:
    label = replace(ANSWERABLE, answers=(reference,))
    for came in (NONE, reply("BLOCK", "Seven days.")):
        (outcome,) = judged((label, came))
        names = ("exact_match", "f1", "contains", "answer_correctness")
        assert [outcome.figures[name] for name in names] == [0] * 4


def test_each_figure_is_a_mean_over_its_own_questions() -> None:
    summary = summarise(
        judged(
            (ANSWERABLE, RIGHT),
            (ANSWERABLE, NONE),
            (ANSWERABLE, NONE),
            (UNANSWERABLE, NONE),
            (UNANSWERABLE, WRONG),
        )
    )
    means = {name: figure.mean for name, figure in summary.items()}
    assert summary["decided"].questions == 5
    assert means["recall"] == pytest.approx((1 / 2 + 1 / 2 + 1 / 2) / 3)
    assert means["mrr"] == pytest.approx((1 / 2 + 1 + 1) / 3)
    over_answerable = [means[name] for name in ("exact_match", "f1", "contains", "cites_gold")]
    assert over_answerable == pytest.approx([1 / 3] * 4)
    assert means["answered"] == pytest.approx(1 / 3)
    assert means["similarity"] == pytest.approx(1 / 1)
    assert means["rejected"] == 1 / 2
    assert means["decided"] == (1 + 1) / 5
    assert means["citation_valid"] == 5 / 5
    assert means["sentence_groundedness"] == (1.0 + 0.5) / 2
    assert means["grounded"] == 1 / 2


def test_the_table_has_a_row_a_category_and_fits_its_width() -> None:
    labels = [replace(ANSWERABLE, category=name) for name in CATEGORIES]
    scored = judged(*((label, RIGHT) for label in labels))
    groups = ["all", *(f"category.{name}" for name in CATEGORIES)]
    assert list(by_category(scored)) == groups
    console = Console(width=WIDTH, file=StringIO(), record=True)
    console.print(evaluation_table("k10_extractive, test split", scored))
    lines = console.export_text().splitlines()
    assert lines[1].split() == ["category", "n", *COLUMNS]
    assert lines[2].split()[:5] == ["all", "7", "0.500", "0.500", "1.000"]
    assert lines[3].split()[:3] == ["50-50", "50-50", "100-100"]  # their intervals, in hundredths
    assert max(map(len, lines)) <= WIDTH
    assert not any("…" in line for line in lines)


@pytest.mark.parametrize("category", ["all", "category.all", "[legal]", "[/legal]", ":smile:"])
def test_a_category_may_have_any_name(category: str) -> None:
    report = ((ANSWERABLE, RIGHT), (replace(ANSWERABLE, category=category), NONE))
    scored = judged(*report)
    groups = by_category(scored)
    assert list(groups) == ["all", "category.factual", f"category.{category}"]
    assert [groups[name]["answered"].mean for name in groups] == [1 / 2, 1, 0]
    console = Console(width=WIDTH, file=StringIO(), record=True)
    console.print(evaluation_table("k10, [b] split", scored))
    lines = [line.split() for line in console.export_text().splitlines()]
    assert " ".join(lines[0]) == "k10, [b] split"
    assert [line[:2] for line in lines[2:7:2]] == [["all", "2"], ["factual", "1"], [category, "1"]]


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


def audit(store: Path, depth: int = DEPTH) -> tuple[dict[str, Figure], tuple[str, ...]]:
    with Atlas.open(store, embedder=HashEmbedder()) as atlas:
        return index_audit(atlas, QUESTIONS, depth)


def test_an_index_that_looks_at_too_few_neighbours_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for option, value in (("ef_search", 10), ("ef_construction", 10), ("max_neighbors", 4)):
        monkeypatch.setitem(HNSW, option, value)  # type: ignore[misc]
    recall, _ = audit(built(tmp_path))
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
        result, _ = index_audit(atlas, QUESTIONS, len(ids))
    assert result["index_recall.small"].mean == pytest.approx((len(ids) - len(lost)) / len(ids))


def test_a_sound_index_finds_nearly_all(sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recall, asked = audit(sound)
    assert recall.keys() == {"index_recall", "index_recall.large", "index_recall.small"}
    assert all(0.9 <= figure.mean <= 1 for figure in recall.values())
    assert {figure.questions for figure in recall.values()} == {3}
    assert {metric_of(name).name for name in recall} == {"index_recall", "index_recall."}
    assert asked == ()  # no search asks it
    monkeypatch.setattr(embedded, "EXACT_UP_TO", 100)
    assert audit(sound)[1] == ("large",)
    # a corpus with fewer passages than the depth can be found whole
    assert audit(sound, 100)[0]["index_recall.small"].mean == 1


def test_an_audit_needs_an_index_and_a_question(sound: Path, tmp_path: Path) -> None:
    store = tmp_path / "many"
    shutil.copytree(sound, store)
    with Atlas.open(store, embedder=HashEmbedder()) as atlas:
        with pytest.raises(RequestError, match="needs a question"):
            index_audit(atlas, [], DEPTH)
        shutil.rmtree(live(store) / CHROMA)
        with pytest.raises(DamagedStore, match="store repair"):
            index_audit(atlas, QUESTIONS, DEPTH)


def test_a_figure_that_is_no_number_is_none() -> None:
    class Odd(HashEmbedder):
        def embed(self, texts, **options):
            return super().embed(texts, **options) * np.nan

    label = Label("q1", "", "", "?", ("Seven days",), frozenset({"d"}))
    scored = score(label, reply("ANSWER", "Seven days.", found=["d"]), Tools(Odd()))
    assert "similarity" not in scored.figures
    assert summarise([scored])["f1"].low == 1
    odd = replace(scored, figures={**scored.figures, "similarity": np.nan, "recall@5": np.inf})
    assert question_figures(odd).figures.keys() == {*scored.figures, "seconds"} - {"recall@5"}


def test_an_error_is_no_empty_result() -> None:
    failed = Reply(label_id="q1", seconds=0.1, error="The server is down.")
    assert judged((ANSWERABLE, failed))[0].figures == {"failed": 1.0}
    assert judged((ANSWERABLE, RIGHT))[0].figures["failed"] == 0.0
