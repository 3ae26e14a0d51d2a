"""What the model and answers cost, over the bundled demo: generated text holds no answers."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.performance.fresh import fresh
from benchmarks.performance.records import Record
from benchmarks.performance.site import Site
from benchmarks.performance.turns import medians
from tests.places import ROOT

SAMPLES = ROOT / "create" / "samples"
ASKED = 60
ROUNDS, WARMING = 3, 3


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
            note=f"{took['answers']} answers to the bundled questions, asked for the first time; "
            f"{took['again']:.0f} CPU ms the second time. The search takes {took['search']:.0f}",
        )
    ]


def _questions() -> list[str]:
    from atlas_search.evaluation.label_files import load_labels

    labels = load_labels(SAMPLES / "labels.jsonl")
    return [label.question for label in labels if label.answerable][:ASKED]


def embed_questions() -> dict[str, float]:
    """Milliseconds of processor of a question embedded, and of the session alone, in turns."""
    from atlas_search.core.settings import load_settings
    from atlas_search.providers.embedding_local import LocalEmbedder
    from atlas_search.providers.onnx import _FIELDS, ExportedModel
    from atlas_search.providers.open import open_embedder

    embedder = open_embedder(load_settings())
    assert isinstance(embedder, LocalEmbedder)
    model = embedder._model()
    assert isinstance(model, ExportedModel)
    asked = _questions()
    tokens = {
        question: {
            name: np.array(
                [getattr(each, _FIELDS[name]) for each in model._cut.encode_batch([question])]
            )
            for name in model._inputs
        }
        for question in asked
    }
    ways = {
        "embed": embedder.embed_query,
        "alone": lambda question: model._session.run(None, tokens[question]),
    }
    return medians(ways, asked, 2 * ROUNDS)


def embed_made(questions: str) -> dict[str, float]:
    """Milliseconds of processor of one of these questions embedded, and its tokens (mean)."""
    from atlas_search.core.settings import load_settings
    from atlas_search.providers.open import open_embedder

    embedder = open_embedder(load_settings())
    asked = json.loads(Path(questions).read_text())[:ASKED]
    took = medians({"embed": embedder.embed_query}, asked, ROUNDS)
    return took | {"tokens": sum(embedder.count_tokens(asked)) / len(asked)}


def build_demo(folder: str) -> None:
    """The bundled samples, with the real model."""
    from atlas_search.atlas import Atlas

    Atlas.build(SAMPLES, Path(folder))


def answer(folder: str) -> dict[str, Any]:
    """Milliseconds of processor of an answer beyond its search, and of the search (medians).

    `beyond` is of a question whose sentences nobody has asked about before, `again` of the same one
    asked again: the vectors of sentences are kept.
    """
    from atlas_search.answer.quotes.scores import SentenceVectors
    from atlas_search.atlas import Atlas

    taken: list[tuple[float, float, float]] = []
    with Atlas.open(Path(folder), query_cache_enabled=False) as atlas:
        services = atlas.services
        for question in _questions()[:WARMING]:
            atlas.ask(question)
        for question in _questions():
            vectors = SentenceVectors(services.searcher.embedder)
            own = Atlas(replace(services, answerer=replace(services.answerer, vectors=vectors)))
            search = min(_processor(own.search, question)[0] for _ in range(ROUNDS))
            first, found = _processor(own.ask, question)
            again = min(_processor(own.ask, question)[0] for _ in range(ROUNDS))
            if found.outcome.decision == "ANSWER":
                taken.append((search, first - search, again - search))
    search, beyond, again = (1000 * median(of) for of in zip(*taken, strict=True))
    return {"beyond": beyond, "again": again, "search": search, "answers": len(taken)}


def _processor(work: Callable[[str], Any], question: str) -> tuple[float, Any]:
    """Seconds of this process's processor that a call takes, and what it gives."""
    began = time.process_time()
    found = work(question)
    return time.process_time() - began, found
