"""The label set that is bundled with the samples."""

import pytest

from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.labels import Split
from tests.conftest import SAMPLES, sample_documents

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
