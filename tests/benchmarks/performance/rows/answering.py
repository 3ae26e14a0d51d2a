"""What the model and answers cost, over the bundled demo: generated text holds no answers."""

import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from tests.benchmarks.performance.fresh import fresh
from tests.benchmarks.performance.records import Record
from tests.benchmarks.performance.site import Site
from tests.benchmarks.performance.turns import medians
from tests.places import ROOT

SAMPLES = ROOT / "create" / "samples"
ASKED = 60
ROUNDS = 3


def embedding(_site: Site) -> list[Record]:
    """A question embedded, against ONNX Runtime alone."""
    took = fresh("rows.answering:embed_questions")
    return [
        Record(
            "question embedding, against ONNX Runtime alone",
            "times",
            took["embed"] / took["alone"],
            reach=1.2,
            note=f"{took['embed']:.1f} and {took['alone']:.1f} CPU ms; alone: its tokens at hand",
        )
    ]


def extractive(site: Site) -> list[Record]:
    """An answer made of quotes, without its search."""
    folder = site.root / "demo"
    if not (folder / "manifest.json").exists():
        fresh("rows.answering:build_demo", folder=folder)
    took = fresh("rows.answering:answer", folder=folder)
    return [
        Record(
            "extractive answer, beyond its search",
            "CPU ms",
            took["beyond"],
            reach=60.0,
            note=f"{took['answers']} answers to the bundled questions; the search before takes "
            f"{took['search']:.0f} CPU ms",
        )
    ]


def _questions() -> list[str]:
    from atlas_search.evaluation.labels.load import load_labels

    labels = load_labels(SAMPLES / "labels.jsonl")
    return [label.question for label in labels if label.answerable][:ASKED]


def embed_questions() -> dict[str, float]:
    """Milliseconds of processor of a question embedded, and of the session alone, in turns."""
    from atlas_search.core.settings import load_settings
    from atlas_search.providers.embedding.exported import ExportedModel, _field
    from atlas_search.providers.embedding.local import LocalEmbedder
    from atlas_search.providers.embedding.open import open_embedder

    embedder = open_embedder(load_settings())
    assert isinstance(embedder, LocalEmbedder)
    model = embedder._model()
    assert isinstance(model, ExportedModel)
    asked = _questions()
    tokens = {
        question: {
            name: np.array([_field(each, name) for each in model._cut.encode_batch([question])])
            for name in model._inputs
        }
        for question in asked
    }
    ways = {
        "embed": embedder.embed_query,
        "alone": lambda question: model._session.run(None, tokens[question]),
    }
    return medians(ways, asked, 2 * ROUNDS)


def build_demo(folder: str) -> None:
    """The bundled samples, with the real model."""
    from atlas_search.atlas import Atlas

    Atlas.build(SAMPLES, Path(folder))


def answer(folder: str) -> dict[str, Any]:
    """Milliseconds of processor of an answer beyond its search, and of the search (medians)."""
    from atlas_search.atlas import Atlas

    beyond, searched = [], []
    with Atlas.open(Path(folder), query_cache_enabled=False) as atlas:
        for question in _questions():
            pairs = []
            atlas.ask(question)
            for _ in range(ROUNDS):
                began = time.process_time()
                atlas.search(question)
                between = time.process_time()
                found = atlas.ask(question)
                pairs.append((between - began, time.process_time() - between))
            if found.outcome.decision == "ANSWER":
                search = min(first for first, _ in pairs)
                searched.append(search)
                beyond.append(min(second for _, second in pairs) - search)
    return {
        "beyond": median(beyond) * 1000,
        "search": median(searched) * 1000,
        "answers": len(beyond),
    }
