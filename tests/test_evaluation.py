"""Metrics of retrieval and answers, and the label sets they are computed over."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from atlas_search.atlas import Atlas
from atlas_search.core.errors import SourceError
from atlas_search.evaluation.labels.label import Label, Split
from atlas_search.evaluation.labels.load import load_labels
from atlas_search.evaluation.metrics.metric import Tools
from atlas_search.evaluation.metrics.retrieval import recall, reciprocal_rank
from atlas_search.evaluation.metrics.texts import (
    contains_reference,
    exact_match,
    normalise,
    similarity,
    token_f1,
)
from atlas_search.evaluation.reply import Reply, without_markers
from atlas_search.evaluation.report import COLUMNS, WIDTH, evaluation_table
from atlas_search.evaluation.run import evaluate
from atlas_search.evaluation.scored import Scored, by_category, score, summarise
from atlas_search.services import Services
from tests.conftest import SAMPLES, TODAY, sample_documents
from tests.hash_embedder import HashEmbedder
from tests.replies import reply

LABELS = SAMPLES / "labels.jsonl"
CATEGORIES = {
    "factual",
    "paraphrase",
    "multi_hop",
    "cross_corpus",
    "conflicting",
    "stale",
    "unanswerable",
}
WRITTEN = {
    "id": "q1",
    "split": "dev",
    "category": "factual",
    "question": "How many days?",
    "answers": ["Seven days"],
    "gold_document_ids": ["us.carpenter"],
}
TEXTS = st.lists(st.sampled_from(["seven", "days", "of", "records"])).map(" ".join)


def written(folder: Path, *lines: object) -> Path:
    """A label set of these lines; what is not text is written as JSON."""
    path = folder / "labels.jsonl"
    texts = [x if isinstance(x, str) else json.dumps(x, ensure_ascii=False) for x in lines]
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


def error(path: Path) -> str:
    with pytest.raises(SourceError) as raised:
        load_labels(path)
    return str(raised.value)


def test_recall_is_the_share_of_gold_documents_found() -> None:
    assert recall(["a", "x", "a"], ["a", "b", "c"]) == 1 / 3
    assert recall(["b", "a"], ["a", "b"]) == 2 / 2
    assert recall([], ["a"]) == 0 / 1


def test_reciprocal_rank_is_that_of_the_first_gold_document() -> None:
    assert reciprocal_rank(["x", "y", "b", "a"], ["a", "b"]) == 1 / 3
    assert reciprocal_rank(["a"], ["a"]) == 1 / 1
    assert reciprocal_rank(["x"], ["a"]) == 0
    assert reciprocal_rank([], ["a"]) == 0


def test_f1_is_the_harmonic_mean_of_word_precision_and_recall() -> None:
    precision, coverage = 2 / 4, 2 / 3  # "seven days" of four words, and of three
    expected = 2 * precision * coverage / (precision + coverage)
    assert token_f1("Exactly seven whole days.", ["seven days, maximum"]) == expected


def test_f1_counts_a_repeated_word_as_often_as_both_have_it() -> None:
    precision, coverage = 1 / 3, 1 / 1
    expected = 2 * precision * coverage / (precision + coverage)
    assert token_f1("days days days", ["days"]) == expected


def test_f1_is_that_of_the_best_reference() -> None:
    assert token_f1("seven days", ["a week", "Seven days", "days"]) == 1.0


@pytest.mark.parametrize(
    ("answer", "references"), [("", ["seven"]), ("seven", []), ("seven", ["eight"]), ("", [""])]
)
def test_f1_is_zero_where_nothing_is_shared(answer: str, references: list[str]) -> None:
    assert token_f1(answer, references) == 0.0


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_f1_is_a_share_that_does_not_depend_on_the_side(answer: str, reference: str) -> None:
    assert 0 <= token_f1(answer, [reference]) <= 1
    assert token_f1(answer, [reference]) == pytest.approx(token_f1(reference, [answer]))
    assert token_f1(answer, [answer]) == (1.0 if answer else 0.0)


@pytest.mark.parametrize(
    ("answer", "references", "contained"),
    [
        ("The Court said SEVEN days, no more.", ["seven days"], True),
        ("A week.", ["seven days", "a week"], True),
        ("Seven days", ["Seven days"], True),
        ("Seven long days", ["seven days"], False),
        ("Days seven", ["seven days"], False),
        ("Seventy-seven daysailers", ["seven days"], False),
        ("Seven", ["seven days"], False),
        ("", ["seven days"], False),
        ("Seven days", [], False),
    ],
)
def test_a_reference_is_contained_as_whole_words_in_order(
    answer: str, references: list[str], contained: bool
) -> None:
    assert contains_reference(answer, references) is contained


@pytest.mark.parametrize(
    ("answer", "references", "exact"),
    [
        ("The seven DAYS.", ["a week", "Seven days"], True),
        ("Seven days", ["An Seven, days!"], True),
        ("Exactly seven days", ["seven days"], False),
        ("Days seven", ["seven days"], False),
        ("Seven days", [], False),
        ("", ["seven days"], False),
    ],
)
def test_an_exact_match_is_a_reference_but_for_case_punctuation_and_articles(
    answer: str, references: list[str], exact: bool
) -> None:
    assert exact_match(answer, references) is exact


def test_texts_are_compared_in_lower_case_without_punctuation() -> None:
    assert normalise("  The Court's “seven-day” rule,\n§ 7_a! ") == "the court s seven day rule 7 a"


def test_similarity_is_the_cosine_with_the_closest_reference() -> None:
    embedder = HashEmbedder()
    answer, near, far = embedder.embed(["seven days", "seven whole days", "a week"])
    references = ["A week.", "Seven whole days!"]
    expected = max(float(answer @ near), float(answer @ far))
    assert similarity("Seven days.", references, embedder) == pytest.approx(expected)
    assert similarity("SEVEN, days", ["Seven days"], embedder) == pytest.approx(1)


@pytest.mark.parametrize(("answer", "references"), [("", ["x"]), ("x", []), ("x", ["…"])])
def test_similarity_is_zero_where_there_is_nothing_to_compare(
    answer: str, references: list[str]
) -> None:
    assert similarity(answer, references, HashEmbedder()) == 0


def test_an_answer_is_compared_without_its_citation_tokens() -> None:
    answer = "Seven days [us.carpenter p1].\nIt is a search [us.katz p2] [us.jones p12]."
    assert without_markers(answer) == "Seven days . It is a search ."


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
    assert list(by_category(scored)) == ["all", *sorted(CATEGORIES)]
    console = Console(width=WIDTH, file=StringIO(), record=True)
    console.print(evaluation_table("k10_extractive, test split", scored))
    lines = console.export_text().splitlines()
    assert lines[1].split() == ["category", "n", *COLUMNS]
    assert lines[2].split()[:5] == ["all", "7", "0.500", "0.500", "1.000"]
    assert max(map(len, lines)) <= WIDTH
    assert not any("…" in line for line in lines)


def test_the_bundled_questions_are_asked_for_real(services: Services) -> None:
    labels = [label for label in load_labels(LABELS, Split.DEV) if label.category == "conflicting"]
    summary = summarise(evaluate(Atlas(services), labels, "k10_extractive", TODAY))
    assert summary["decided"].questions == len(labels)
    names = ("recall", "citation_valid", "sentence_groundedness", "grounded")
    assert [summary[name].mean for name in names] == [1.0] * 4


def test_a_label_is_read_as_written(tmp_path: Path) -> None:
    (label,) = load_labels(written(tmp_path, WRITTEN))
    assert label == Label(
        id="q1",
        split=Split.DEV,
        category="factual",
        question="How many days?",
        answers=("Seven days",),
        gold_document_ids=frozenset({"us.carpenter"}),
        kind="",
    )
    assert label.answerable


def test_a_label_without_gold_documents_is_unanswerable(tmp_path: Path) -> None:
    (label,) = load_labels(written(tmp_path, WRITTEN | {"answers": [], "gold_document_ids": []}))
    assert not label.answerable


def test_labels_can_be_limited_to_a_split(tmp_path: Path) -> None:
    path = written(tmp_path, WRITTEN, WRITTEN | {"id": "q2", "split": "test"})
    assert [label.id for label in load_labels(path)] == ["q1", "q2"]
    assert [label.id for label in load_labels(path, Split.TEST)] == ["q2"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "Expecting property name"),
        ("[]", "Label"),
        ({"id": "q2"}, "question"),
        (WRITTEN | {"id": "q2", "should_answer": "perhaps"}, "`should_answer`: true or false"),
    ],
)
def test_an_error_names_the_file_and_the_line(tmp_path: Path, line: object, problem: str) -> None:
    path = written(tmp_path, WRITTEN, "", line)  # the blank second line counts
    message = error(path)
    assert message.startswith(f"{path}:3: not a label: ")
    assert problem in message


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    question = "How many\u2028days\x85exactly?"
    (label,) = load_labels(written(tmp_path, WRITTEN | {"question": question}))
    assert label.question == question


def test_a_missing_label_set_is_an_error_that_names_it(tmp_path: Path) -> None:
    assert error(tmp_path / "none.jsonl") == f"There is no label set at {tmp_path / 'none.jsonl'}."


def test_at_least_sixty_labels_are_bundled_each_with_its_own_id() -> None:
    ids = [label.id for label in load_labels(LABELS)]
    assert len(ids) >= 60
    assert len(ids) == len(set(ids))


def test_no_bundled_question_is_asked_twice() -> None:
    questions = [label.question.casefold() for label in load_labels(LABELS)]
    assert len(questions) == len(set(questions))


def test_every_bundled_gold_id_is_a_bundled_document() -> None:
    gold = {id_ for label in load_labels(LABELS) for id_ in label.gold_document_ids}
    documents = {document.id for document in sample_documents()}
    assert gold
    assert gold <= documents


@pytest.mark.parametrize("split", Split)
def test_every_category_is_in_both_splits(split: Split) -> None:
    assert {label.category for label in load_labels(LABELS, split)} == CATEGORIES


def test_answers_and_gold_documents_go_together() -> None:
    for label in load_labels(LABELS):
        assert label.answerable == bool(label.answers) == (label.category != "unanswerable")
        assert all(answer.strip() for answer in label.answers)


def test_a_cross_corpus_question_has_gold_in_several_corpora() -> None:
    labels = [label for label in load_labels(LABELS) if label.category == "cross_corpus"]
    assert labels
    for label in labels:
        assert len({id_.split(".")[0] for id_ in label.gold_document_ids}) > 1
