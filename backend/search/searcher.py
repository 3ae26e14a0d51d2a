"""What every search needs, opened once."""

from concurrent.futures import Executor
from dataclasses import dataclass

from backend.embedding import Embedder
from backend.search.rerankers.opened import Stages
from backend.stores.store import Store
from backend.tracing import Tracer


@dataclass(frozen=True)
class Searcher:
    """Safe to use from several threads. `mean_length` is that of the store's passages."""

    store: Store
    embedder: Embedder
    executor: Executor
    tracer: Tracer
    mean_length: float
    stages: Stages
