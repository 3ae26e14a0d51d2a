"""How good the default target is on the bundled labels it was not tuned on."""

import pytest

from atlas_search.atlas import Atlas
from atlas_search.evaluation.labels.label import Split
from atlas_search.evaluation.labels.load import load_labels
from atlas_search.evaluation.run import evaluate
from atlas_search.evaluation.scored import Scored, summarise
from atlas_search.services import Services
from tests.conftest import SAMPLES, TODAY


@pytest.fixture(scope="module")
def outcomes(services: Services) -> list[Scored]:
    return evaluate(
        Atlas(services), load_labels(SAMPLES / "labels.jsonl", Split.TEST), "k10_extractive", TODAY
    )


def test_gold_documents_are_among_the_ten_kept(outcomes: list[Scored]) -> None:
    assert summarise(outcomes)["recall"].mean >= 0.95


def test_every_citation_is_valid_and_every_sentence_grounded(outcomes: list[Scored]) -> None:
    assert all(outcome.figures["citation_valid"] for outcome in outcomes)
    answered = [outcome for outcome in outcomes if outcome.reply.answered]
    assert len(answered) >= 30
    assert all(outcome.figures["sentence_groundedness"] == 1.0 for outcome in answered)


def test_unanswerable_questions_get_no_answer_eight_times_in_ten(
    outcomes: list[Scored],
) -> None:
    assert summarise(outcomes)["rejected"].mean >= 0.8


def test_answerable_questions_are_mostly_answered(outcomes: list[Scored]) -> None:
    assert summarise(outcomes)["answered"].mean >= 0.88


def test_answers_cite_documents_that_hold_the_answer(outcomes: list[Scored]) -> None:
    assert summarise(outcomes)["cites_gold"].mean >= 0.88


def test_most_questions_are_rightly_answered_or_rightly_declined(
    outcomes: list[Scored],
) -> None:
    assert summarise(outcomes)["decided"].mean >= 0.87


def test_questions_in_other_words_than_the_sources_are_mostly_answered(
    outcomes: list[Scored],
) -> None:
    asked = [outcome for outcome in outcomes if outcome.label.category == "paraphrase"]
    assert summarise(asked)["answered"].mean >= 0.6


def test_the_fused_reranker_finds_more_than_the_lexical_table(
    services: Services, outcomes: list[Scored]
) -> None:
    labels = load_labels(SAMPLES / "labels.jsonl", Split.TEST)
    lexical = summarise(evaluate(Atlas(services), labels, "k10_lexical", TODAY))
    assert summarise(outcomes)["mrr"].mean > lexical["mrr"].mean
