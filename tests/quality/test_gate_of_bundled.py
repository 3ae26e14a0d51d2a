"""The default target is no worse than its baselines on the bundled labels, and the gate would tell.

A weight set to 0 fails the gate; ten changes that mean nothing pass it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from atlas_search.core.settings import Settings
from atlas_search.evaluation.gate.gate import Gate
from atlas_search.evaluation.labels.label import Split
from atlas_search.evaluation.run import EvalRun
from atlas_search.evaluation.scored import summarise
from atlas_search.providers.embedding.local import LocalEmbedder
from atlas_search.services import Services, open_services
from tests.quality.bundled import (
    ANSWERS,
    SEARCH,
    answer_labels,
    bundled_run,
    held,
    search_labels,
    with_weights,
)

pytestmark = pytest.mark.timeout(1200)  # hundreds of questions on a busy machine

SEEDS = range(10)
HARMLESS = {
    "another order": {"order": 1},
    "one more order": {"order": 2},
    "asked twice": {"times": 2},
    "four at once": {"at_once": 4, "order": 3},
}
TINY = 1e-6


@pytest.fixture(scope="module")
def answers(services: Services) -> EvalRun:
    return bundled_run(services, answer_labels(), search_only=False)


@pytest.fixture(scope="module")
def search(services: Services) -> EvalRun:
    return bundled_run(services, search_labels(), search_only=True)


def failed(found: Gate) -> list[tuple[str, str, float]]:
    return [(check.figure, check.need, check.value) for check in found.failed]


def passes(run: EvalRun, kind: str) -> None:
    """Whatever the seed of the draws is; `some` are fewer questions than the baseline has."""
    found = [held(run, kind, seed, allow_fewer=True) for seed in SEEDS]
    assert [failed(each) for each in found] == [[]] * len(SEEDS)


def some(services: Services, **options: Any) -> EvalRun:
    """What is found for a third of the questions."""
    labels = [label for label in search_labels() if label.split == Split.TEST]
    return bundled_run(services, labels, search_only=True, **options)


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def test_answers_are_as_good_as_before(answers: EvalRun) -> None:
    assert failed(held(answers, ANSWERS)) == []


def test_what_is_found_is_as_good_as_before(search: EvalRun) -> None:
    assert failed(held(search, SEARCH)) == []


def test_the_baselines_are_of_these_questions(answers: EvalRun, search: EvalRun) -> None:
    for run, kind in ((answers, ANSWERS), (search, SEARCH)):
        pairs = held(run, kind).pairs
        assert len(pairs.common) == len(run.scored)
        assert (pairs.only_a, pairs.only_b, pairs.reworded) == (0, 0, 0)


@pytest.mark.parametrize("weight", ["weight_semantic", "weight_bm25"])
def test_a_weight_that_is_lost_fails_the_gate(services: Services, weight: str) -> None:
    run = bundled_run(with_weights(services, **{weight: 0}), search_labels(), search_only=True)
    for seed in SEEDS:
        found = held(run, SEARCH, seed)
        assert [check.need for check in found.failed if check.need == "significant"], found.checks
        assert [option.name for option in found.options] == [weight]


@pytest.mark.parametrize("change", HARMLESS)
def test_how_questions_are_asked_does_not_fail_it(services: Services, change: str) -> None:
    passes(some(services, **HARMLESS[change]), SEARCH)


@pytest.mark.parametrize("number", [1, 4])
def test_threads_that_add_numbers_in_another_order_do_not(services: Services, number: int) -> None:
    with torch_threads(number):
        passes(some(services), SEARCH)


@pytest.mark.parametrize("change", [-TINY, TINY])
def test_a_weight_that_is_rounded_does_not(services: Services, change: float) -> None:
    passes(
        some(with_weights(services, weight_bm25=0.6 + change, weight_title=0.3 - change)), SEARCH
    )


def test_a_collection_that_is_opened_again_does_not(
    settings: Settings, embedder: LocalEmbedder
) -> None:
    again = open_services(settings, embedder)
    passes(some(again), SEARCH)
    again.close()


def test_answers_that_are_asked_for_again_do_not(services: Services) -> None:
    changed = with_weights(services, weight_semantic=0.6 - TINY)
    passes(bundled_run(changed, answer_labels(), search_only=False, order=4), ANSWERS)


def test_the_fused_reranker_finds_more_than_the_lexical_table(
    services: Services, search: EvalRun
) -> None:
    lexical = some(services, target="k10_lexical")
    asked = {one.label.id for one in lexical.scored}
    fused = summarise(one for one in search.scored if one.label.id in asked)
    assert fused["mrr"].mean > summarise(lexical.scored)["mrr"].mean
