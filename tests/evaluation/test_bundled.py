"""The bundled labels, and the default target held to its baselines on them.

The weight of meaning set to 0 fails the gate; changes of how it is asked or computed, which change
numbers a little or nothing, pass it. `python -m tests.evaluation.test_bundled` writes the baselines
anew: after a change that is meant to change answers, with the figures before and after in the
message of the commit (`atlas eval compare`).
"""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.settings import Settings, load_settings
from atlas_search.evaluation.asking import ProcessAsker
from atlas_search.evaluation.carry_out import RunQuestions
from atlas_search.evaluation.gate import Gate, gate, read_baseline, read_rules, write_baseline
from atlas_search.evaluation.label_files import load_labels, read_labels
from atlas_search.evaluation.labels import Label, Split
from atlas_search.evaluation.metrics import Tools
from atlas_search.evaluation.run import EvalRun, LabelsUsed, RunSpec, versions
from atlas_search.evaluation.scored import score, summarise
from atlas_search.evaluation.statistics import SEED
from atlas_search.providers.embedding import DEFAULT_MODEL
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.providers.open import open_embedder
from atlas_search.services import Services, open_services
from tests.conftest import SAMPLES, TODAY, build_demo, sample_documents

HERE = Path(__file__).parent / "bundled"
CATEGORIES = {
    *("factual", "paraphrase", "multi_hop", "cross_corpus", "conflicting", "stale"),
    "unanswerable",
}
FILE = SAMPLES / "labels.jsonl"
TARGET = "k10_extractive"
ANSWERS, SEARCH = "answers", "search"
"""Names of the rules and baselines of answers and of searches."""


def answer_labels() -> list[Label]:
    """Labels that nothing was tuned on."""
    return load_labels(FILE, Split.TEST)


def search_labels() -> list[Label]:
    """All whose gold documents are known: a baseline tells what changed, not how good it is."""
    return [label for label in load_labels(FILE) if label.located]


def bundled_run(
    services: Services,
    labels: Sequence[Label],
    *,
    search_only: bool,
    target: str = TARGET,
    order: int | None = None,
    times: int = 1,
    at_once: int = 1,
) -> EvalRun:
    """Ask `labels`, in an order drawn with the seed `order`, each `times` (the last one counts)."""
    asker = ProcessAsker(Atlas(services), target, TODAY, search_only)
    limit = services.targets[target].search_k
    tools = Tools(services.searcher.embedder, corpora=services.default_corpora, limit=limit)
    arguments = list(labels) if order is None else random.Random(order).sample(labels, len(labels))
    with ThreadPoolExecutor(at_once) as threads:
        replies = [list(threads.map(asker.ask, arguments)) for _ in range(times)][-1]
    came = {reply.label_id: reply for reply in replies}
    scored = tuple(score(label, came[label.id], tools) for label in labels)
    splits = {label.split for label in labels}
    split = splits.pop() if len(splits) == 1 else ""
    used = RunQuestions(FILE, split, tuple(labels)).used
    return EvalRun(_spec(services, used, target, search_only=search_only), scored)


def with_weights(services: Services, **weights: float) -> Services:
    """Give the default target of the services other weights."""
    target = services.targets[TARGET].model_copy(update=weights)
    return replace(services, targets=services.targets | {TARGET: target})


def held(run: EvalRun, kind: str, seed: int = SEED, *, allow_fewer: bool = False) -> Gate:
    """A run held to the rules and the baseline of its kind."""
    rules, baseline = read_rules(HERE / f"{kind}.toml"), read_baseline(HERE / f"{kind}.json")
    return gate(run, rules, baseline, seed=seed, allow_fewer=allow_fewer)


def _spec(services: Services, used: LabelsUsed, target: str, *, search_only: bool) -> RunSpec:
    manifest = services.store.manifest
    return RunSpec(
        id="bundled",
        started=datetime(TODAY.year, TODAY.month, TODAY.day, tzinfo=UTC),
        labels=used,
        target=target,
        composite_target=services.composite_target(target),
        options=services.targets[target].model_dump(mode="json"),
        where="process",
        collection=manifest.collection,
        collection_version=manifest.content_digest,
        corpora=services.default_corpora,
        search_only=search_only,
        versions=dict(versions()),
    )


SEEDS = range(10)
pytestmark = pytest.mark.timeout(1200)  # hundreds of questions on a busy machine
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
    """Hold a run by several seeds; `some` are fewer questions than the baseline has."""
    result = [held(run, kind, seed, allow_fewer=True) for seed in SEEDS]
    assert [failed(each) for each in result] == [[]] * len(SEEDS)


def some(services: Services, **options: Any) -> EvalRun:
    """Search for a third of the questions."""
    labels = [label for label in search_labels() if label.split == Split.TEST]
    return bundled_run(services, labels, search_only=True, **options)


def test_answers_are_as_good_as_before(answers: EvalRun) -> None:
    assert failed(held(answers, ANSWERS)) == []


def test_what_is_found_is_as_good_as_before(search: EvalRun) -> None:
    assert failed(held(search, SEARCH)) == []


@pytest.mark.thorough
def test_a_weight_that_is_lost_fails_the_gate(services: Services) -> None:
    weight = "weight_semantic"
    run = bundled_run(with_weights(services, **{weight: 0}), search_labels(), search_only=True)
    for seed in SEEDS:
        result = held(run, SEARCH, seed)
        assert [check.need for check in result.failed if check.need == "significant"], result.checks
        assert [option.name for option in result.options] == [weight]


@pytest.mark.thorough
@pytest.mark.parametrize("change", HARMLESS)
def test_how_questions_are_asked_does_not_fail_it(services: Services, change: str) -> None:
    passes(some(services, **HARMLESS[change]), SEARCH)


@pytest.mark.thorough
def test_another_library_that_embeds_does_not(services: Services) -> None:
    embedder, question = LocalEmbedder(DEFAULT_MODEL, runtime="torch"), "Who may search a house?"
    one, other = (each.embed_query(question) for each in (services.searcher.embedder, embedder))
    assert 0 < np.abs(one - other).max() < 1e-5
    opened = open_services(services.settings, embedder)
    passes(some(opened), SEARCH)
    opened.close()


@pytest.mark.thorough
def test_an_index_in_place_of_a_comparison_of_all_vectors_does_not(
    settings: Settings, embedder: LocalEmbedder, indexed: None
) -> None:
    opened = open_services(settings, embedder)
    assert not any(opened.store.compares_all(corpus.id) for corpus in opened.store.corpora)
    passes(some(opened), SEARCH)
    opened.close()


@pytest.mark.thorough
def test_answers_that_are_asked_for_again_do_not(services: Services) -> None:
    changed = with_weights(services, weight_semantic=0.6 - TINY)
    passes(bundled_run(changed, answer_labels(), search_only=False, order=4), ANSWERS)


@pytest.mark.thorough
def test_the_fused_reranker_finds_more_than_the_lexical_table(
    services: Services, search: EvalRun
) -> None:
    lexical = some(services, target="k10_lexical")
    arguments = {one.label.id for one in lexical.scored}
    fused = summarise(one for one in search.scored if one.label.id in arguments)
    assert fused["mrr"].mean > summarise(lexical.scored)["mrr"].mean


def test_the_bundled_labels_are_whole() -> None:
    read = read_labels(FILE)
    labels = read.labels
    assert read.columns.unused == read.warnings == ()
    assert len(labels) == len(FILE.read_text("utf-8").splitlines()) >= 60
    assert len({label.id for label in labels}) == len(labels)
    assert len({label.question.casefold() for label in labels}) == len(labels)
    for split in Split:
        assert {label.category for label in labels if label.split == split} == CATEGORIES
    documents = {document.id for document in sample_documents()}
    for label in labels:
        assert label.gold_document_ids <= documents
        assert label.answerable == bool(label.answers) == (label.category != "unanswerable")
        assert all(answer.strip() for answer in label.answers)
        if label.category == "cross_corpus":
            assert len({id_.split(".")[0] for id_ in label.gold_document_ids}) > 1


def _write_baselines() -> None:
    embedder = open_embedder(load_settings())
    with TemporaryDirectory() as folder:
        manifest = build_demo(Path(folder), embedder).manifest
        settings = Settings(
            chroma_persist_directory=Path(folder),
            chroma_collection_name=manifest.collection,
            query_cache_enabled=False,
        )
        services = open_services(settings, embedder)
        answers = bundled_run(services, answer_labels(), search_only=False)
        search = bundled_run(services, search_labels(), search_only=True)
        services.close()
    for run, kind in ((answers, ANSWERS), (search, SEARCH)):
        rules = read_rules(HERE / f"{kind}.toml")
        write_baseline(run, HERE / f"{kind}.json", only=rules.compared)


if __name__ == "__main__":
    _write_baselines()
