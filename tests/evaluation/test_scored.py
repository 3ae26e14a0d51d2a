"""Questions scored, and what their figures come to."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from atlas_search.atlas import Atlas
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.labels import Label, Split
from atlas_search.evaluation.metrics import Reply, Tools
from atlas_search.evaluation.report_analysis import COLUMNS, WIDTH, evaluation_table
from atlas_search.evaluation.run import evaluate
from atlas_search.evaluation.scored import Scored, by_category, score, summarise
from atlas_search.services import Services
from tests.conftest import SAMPLES, TODAY
from tests.evaluation.test_bundled_labels import CATEGORIES
from tests.hash_embedder import HashEmbedder
from tests.replies import reply

LABELS = SAMPLES / "labels.jsonl"

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


def test_a_figure_over_no_question_is_not_there() -> None:
    summary = summarise(judged((UNANSWERABLE, NONE)))
    assert not summary.keys() & {"recall", "similarity", "grounded"}
    assert (summary["rejected"].mean, summary["decided"].mean) == (1.0, 1.0)


def test_the_mean_lies_within_its_interval() -> None:
    figure = summarise(judged(*[(ANSWERABLE, RIGHT)] * 3, *[(ANSWERABLE, NONE)] * 3))["answered"]
    assert 0 <= figure.low < figure.mean == 0.5 < figure.high <= 1


def test_the_table_has_a_row_a_category_and_fits_its_width() -> None:
    labels = [replace(ANSWERABLE, category=name) for name in sorted(CATEGORIES)]
    scored = judged(*((label, RIGHT) for label in labels))
    groups = ["all", *(f"category.{name}" for name in sorted(CATEGORIES))]
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
    told = ((ANSWERABLE, RIGHT), (replace(ANSWERABLE, category=category), NONE))
    scored = judged(*told)
    groups = by_category(scored)
    assert list(groups) == ["all", "category.factual", f"category.{category}"]
    assert [groups[name]["answered"].mean for name in groups] == [1 / 2, 1, 0]
    console = Console(width=WIDTH, file=StringIO(), record=True)
    console.print(evaluation_table("k10, [b] split", scored))
    lines = [line.split() for line in console.export_text().splitlines()]
    assert " ".join(lines[0]) == "k10, [b] split"
    assert [line[:2] for line in lines[2:7:2]] == [["all", "2"], ["factual", "1"], [category, "1"]]


def test_the_bundled_questions_are_asked_for_real(services: Services) -> None:
    labels = [label for label in load_labels(LABELS, Split.DEV) if label.category == "conflicting"]
    summary = summarise(evaluate(Atlas(services), labels, "k10_extractive", TODAY))
    assert summary["decided"].questions == len(labels)
    names = ("recall", "citation_valid", "sentence_groundedness", "grounded")
    assert [summary[name].mean for name in names] == [1.0] * 4
