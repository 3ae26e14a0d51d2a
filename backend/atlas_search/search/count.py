"""What is counted of a search."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.search.result import SearchResult

Operation = Literal["search", "answer", "compare"]


@contextmanager
def failed_searches(metrics: Metrics, target: str) -> Iterator[None]:
    """Count a search that comes to an error, by its kind."""
    try:
        yield
    except Exception as error:
        metrics.count("atlas.searches", {"target": target, "outcome": type(error).__name__})
        raise


def count_search(metrics: Metrics, result: SearchResult, collection: str) -> None:
    """Count a search that somebody asked for by itself."""
    outcome = "found" if result.passages else "nothing"
    metrics.count("atlas.searches", {"target": result.target_name, "outcome": outcome})
    count_stages(metrics, "search", result.timings_ms)
    count_corpora(metrics, result, collection)


def count_stages(metrics: Metrics, operation: Operation, timings_ms: Mapping[str, float]) -> None:
    """Record what the stages took."""
    for stage, milliseconds in timings_ms.items():
        labels = {"operation": operation, "stage": stage}
        metrics.record("atlas.stage.duration", labels, milliseconds / 1000)


def count_corpora(metrics: Metrics, result: SearchResult, collection: str) -> None:
    """Record how many passages each corpus gave."""
    for corpus, counts in result.per_corpus.items():
        labels = {"collection": collection, "corpus": corpus}
        metrics.record("atlas.corpus.candidates", labels, counts.candidates)
        metrics.record("atlas.corpus.kept", labels, counts.kept)
