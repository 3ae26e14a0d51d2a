"""How good the default target is on the bundled labels it was not tuned on."""

import pytest

from atlas_search.atlas import Atlas
from atlas_search.evaluation.labelset import Split, load_labels
from atlas_search.evaluation.runner import LabelScore, run, summarise
from atlas_search.services import Services
from tests.conftest import SAMPLES, TODAY


@pytest.fixture(scope="module")
def outcomes(services: Services) -> list[LabelScore]:
    return run(
        Atlas(services), load_labels(SAMPLES / "labels.jsonl", Split.TEST), "k10_extractive", TODAY
    )


def test_gold_documents_are_among_the_ten_kept(outcomes: list[LabelScore]) -> None:
    recall = summarise(outcomes).recall
    assert recall is not None
    assert recall >= 0.95


def test_every_citation_is_valid_and_every_sentence_grounded(outcomes: list[LabelScore]) -> None:
    assert all(outcome.citation_valid for outcome in outcomes)
    answered = [outcome for outcome in outcomes if outcome.decision == "ANSWER"]
    assert len(answered) >= 30
    assert all(outcome.sentence_groundedness == 1.0 for outcome in answered)


def test_unanswerable_questions_get_no_answer_eight_times_in_ten(
    outcomes: list[LabelScore],
) -> None:
    rejected = summarise(outcomes).rejected
    assert rejected is not None
    assert rejected >= 0.8


def test_answerable_questions_are_mostly_answered(outcomes: list[LabelScore]) -> None:
    answered = summarise(outcomes).answered
    assert answered is not None
    assert answered >= 0.88


def test_answers_cite_documents_that_hold_the_answer(outcomes: list[LabelScore]) -> None:
    cites_gold = summarise(outcomes).cites_gold
    assert cites_gold is not None
    assert cites_gold >= 0.88


def test_most_questions_are_rightly_answered_or_rightly_declined(
    outcomes: list[LabelScore],
) -> None:
    decided = summarise(outcomes).decided
    assert decided is not None
    assert decided >= 0.87


def test_questions_in_other_words_than_the_sources_are_mostly_answered(
    outcomes: list[LabelScore],
) -> None:
    asked = [outcome for outcome in outcomes if outcome.label.category == "paraphrase"]
    answered = summarise(asked).answered
    assert answered is not None
    assert answered >= 0.6


def test_the_fused_reranker_finds_more_than_the_lexical_table(
    services: Services, outcomes: list[LabelScore]
) -> None:
    labels = load_labels(SAMPLES / "labels.jsonl", Split.TEST)
    lexical = summarise(run(Atlas(services), labels, "k10_lexical", TODAY))
    assert summarise(outcomes).mrr > lexical.mrr
