"""The default target is no worse than its baselines on the bundled labels, and the gate tells.

The weight of meaning set to 0 fails the gate; ten changes of how it is asked or computed, which
change numbers a little or nothing, pass it.
"""

from typing import Any

import numpy as np
import pytest

from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.evaluation.gate import Gate
from atlas_search.evaluation.labels import Split
from atlas_search.evaluation.run import EvalRun
from atlas_search.evaluation.scored import summarise
from atlas_search.providers.embedding import DEFAULT_MODEL
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.search.candidates import Candidates
from atlas_search.search.ranking import SCORERS, SIGNALS, Scorer, absolute
from atlas_search.services import Services, open_services
from atlas_search.stores.terms import FloatArray
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
HARMLESS = {"another order": {"order": 1}, "four at once": {"at_once": 4, "order": 3}}
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


def by_product(candidates: Candidates, target: Target) -> FloatArray:
    """The score of `fused` as one product: each weight is divided before, not the sum after."""
    weights = np.array([getattr(target, f"weight_{name}") for name in SIGNALS])
    signals = np.stack([candidates.table.signals[name] for name in SIGNALS], axis=1)
    return np.asarray(signals @ (weights / weights.sum()))


def backwards(candidates: Candidates, target: Target) -> FloatArray:
    """The same with candidates and signals from the last to the first: sums are rounded otherwise.

    No more may be turned round: `select` looks candidates up by their rows, which ascend.
    """
    weights = {name: getattr(target, f"weight_{name}") for name in reversed(SIGNALS)}
    signals = candidates.table.signals
    scores = sum(weight * signals[name][::-1] for name, weight in weights.items())
    return np.asarray(scores / sum(weights.values()))[::-1]


def test_answers_are_as_good_as_before(answers: EvalRun) -> None:
    assert failed(held(answers, ANSWERS)) == []


def test_what_is_found_is_as_good_as_before(search: EvalRun) -> None:
    assert failed(held(search, SEARCH)) == []


def test_the_baselines_are_of_these_questions(answers: EvalRun, search: EvalRun) -> None:
    for run, kind in ((answers, ANSWERS), (search, SEARCH)):
        pairs = held(run, kind).pairs
        assert len(pairs.common) == len(run.scored)
        assert (pairs.only_a, pairs.only_b, pairs.reworded) == (0, 0, 0)


def test_a_weight_that_is_lost_fails_the_gate(services: Services) -> None:
    weight = "weight_semantic"
    run = bundled_run(with_weights(services, **{weight: 0}), search_labels(), search_only=True)
    for seed in SEEDS:
        found = held(run, SEARCH, seed)
        assert [check.need for check in found.failed if check.need == "significant"], found.checks
        assert [option.name for option in found.options] == [weight]


@pytest.mark.parametrize("change", HARMLESS)
def test_how_questions_are_asked_does_not_fail_it(services: Services, change: str) -> None:
    passes(some(services, **HARMLESS[change]), SEARCH)


def test_another_library_that_embeds_does_not(services: Services) -> None:
    embedder, question = LocalEmbedder(DEFAULT_MODEL, runtime="torch"), "Who may search a house?"
    one, other = (each.embed_query(question) for each in (services.searcher.embedder, embedder))
    assert 0 < np.abs(one - other).max() < 1e-5
    opened = open_services(services.settings, embedder)
    passes(some(opened), SEARCH)
    opened.close()


def test_an_index_in_place_of_a_comparison_of_all_vectors_does_not(
    settings: Settings, embedder: LocalEmbedder, indexed: None
) -> None:
    opened = open_services(settings, embedder)
    assert not any(opened.store.compares_all(corpus.id) for corpus in opened.store.corpora)
    passes(some(opened), SEARCH)
    opened.close()


@pytest.mark.parametrize("scorer", [by_product, backwards])
def test_a_score_that_is_computed_in_another_way_does_not(
    services: Services, monkeypatch: pytest.MonkeyPatch, scorer: Scorer
) -> None:
    asked: list[float] = []

    def scored(candidates: Candidates, target: Target) -> FloatArray:
        found = scorer(candidates, target)
        asked.append(float(np.abs(found - absolute(candidates, target)).max(initial=0)))
        return found

    monkeypatch.setitem(SCORERS, "fused", scored)  # type: ignore[misc]
    passes(some(services), SEARCH)
    assert 0 < max(asked) < 1e-12  # it is the same but for rounding, and not to the last bit


@pytest.mark.parametrize("change", [-TINY, TINY])
def test_a_weight_that_is_rounded_does_not(services: Services, change: float) -> None:
    passes(
        some(with_weights(services, weight_bm25=0.3 + change, weight_phrase=0.15 - change)), SEARCH
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
