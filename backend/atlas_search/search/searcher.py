"""What every search needs, opened once."""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property

from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.sparse import TermModel
from atlas_search.search.extent.corpora import CorpusExtent, corpus_extents
from atlas_search.search.other_spellings import Spellings
from atlas_search.search.rerankers.open import Stages
from atlas_search.stores.store import Store
from atlas_search.stores.term_weights import TermTable
from atlas_search.stores.vectors import FloatArray


@dataclass(frozen=True)
class TermLeg:
    """A SPARSE_MODEL, and what it says of the passages of the store."""

    model: TermModel
    table: TermTable

    def scores(self, question: str) -> FloatArray:
        """How well each passage of the store goes with a question, in [0, 1]."""
        return self.table.scores(*self.model.question(question))


@dataclass(frozen=True)
class Searcher:
    """Safe to use from several threads."""

    store: Store
    embedder: Embedder
    executor: Executor
    tracer: Tracer
    stages: Stages
    metrics: Metrics = field(default_factory=Metrics)
    terms: TermLeg | None = None

    @cached_property
    def mean_length(self) -> float:
        """Mean number of words in the store's passages."""
        return self.store.tokens.mean_length()

    @cached_property
    def whole(self) -> Mapping[str, CorpusExtent]:
        """All that can be searched, by corpus: what a search without conditions looks through."""
        return corpus_extents(self.store)

    @cached_property
    def spellings(self) -> Spellings:
        """The words of the store by their spelling."""
        return Spellings(self.store.tokens)
