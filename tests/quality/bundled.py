"""Runs of the bundled labels against the bundled collection, and what they are held to.

`python -m tests.quality.bundled` writes the baselines anew: after a change that is meant to change
answers, with the figures before and after in the message of the commit (`atlas eval compare`).
"""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from atlas_search.atlas import Atlas
from atlas_search.core.settings import Settings, load_settings
from atlas_search.evaluation.asking import ProcessAsker
from atlas_search.evaluation.gate import Gate, gate, read_baseline, read_rules, write_baseline
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.labels import Label, Split
from atlas_search.evaluation.metrics import Tools
from atlas_search.evaluation.run import EvalRun, LabelsUsed, RunSpec, labels_used, versions
from atlas_search.evaluation.scored import score
from atlas_search.evaluation.statistics import SEED
from atlas_search.providers.open import open_embedder
from atlas_search.services import Services, open_services
from tests.conftest import SAMPLES, TODAY, build_demo

HERE = Path(__file__).parent
FILE = SAMPLES / "labels.jsonl"
TARGET = "k10_extractive"
ANSWERS, SEARCH = "answers", "search"
"""What is asked, and what is only searched for: the names of the rules and baselines."""


def answer_labels() -> list[Label]:
    """Those that nothing was tuned on."""
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
    asked = list(labels) if order is None else random.Random(order).sample(labels, len(labels))
    with ThreadPoolExecutor(at_once) as threads:
        replies = [list(threads.map(asker.ask, asked)) for _ in range(times)][-1]
    came = {reply.label_id: reply for reply in replies}
    scored = tuple(score(label, came[label.id], tools) for label in labels)
    splits = {label.split for label in labels}
    used = labels_used(FILE, splits.pop() if len(splits) == 1 else "", labels)
    return EvalRun(_spec(services, used, target, search_only=search_only), scored)


def with_weights(services: Services, **weights: float) -> Services:
    """The same services, whose default target has other weights."""
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
