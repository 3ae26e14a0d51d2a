"""How many of the nearest passages the index of vectors finds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atlas_search.atlas import Atlas
from atlas_search.core.errors import RequestError
from atlas_search.evaluation.metrics.metric import Metric
from atlas_search.evaluation.statistics.figure import Figure
from atlas_search.evaluation.statistics.interval import mean_intervals
from atlas_search.stores.store import Store

_OF = "questions of an audit of the index"

METRICS = (
    Metric("index_recall", "retrieval", _OF, "Mean of that of all corpora"),
    Metric(
        "index_recall.",
        "retrieval",
        _OF,
        "Share of the nearest passages of this corpus that its index in Chroma finds; near ties "
        "count",
    ),
)

_SAME = 1e-6  # cosines of one pair differ by so much from one way to compute them to another


@dataclass(frozen=True)
class IndexAudit:
    """`index_recall` and that of each corpus; `asked` are the corpora whose searches use the index.

    Searches of the others compare every vector, and miss nothing.
    """

    recall: dict[str, Figure]
    asked: tuple[str, ...]


def index_audit(atlas: Atlas, questions: Sequence[str], depth: int) -> IndexAudit:
    """The index itself against a comparison of every vector, over at least one question.

    It is asked for the `depth` nearest passages of every corpus, also of those whose searches do
    without it. Raises RequestError without a question, and AtlasError where a question cannot be
    embedded or an index not be read.
    """
    if not questions:
        raise RequestError("An audit of the index needs a question.")
    store, embedder = atlas.services.store, atlas.services.searcher.embedder
    vectors = [embedder.embed_query(question) for question in questions]
    own = {
        f"index_recall.{corpus.id}": [_found(store, corpus.id, each, depth) for each in vectors]
        for corpus in store.corpora
    }
    together = [sum(shares) / len(shares) for shares in zip(*own.values(), strict=True)]
    values = {"index_recall": together} | own
    ends = mean_intervals(values)
    recall = {
        name: Figure(sum(shares) / len(shares), *ends[name], len(shares))
        for name, shares in values.items()
    }
    asked = [corpus.id for corpus in store.corpora if not store.compares_all(corpus.id)]
    return IndexAudit(recall, tuple(asked))


def _found(store: Store, corpus: str, vector: NDArray[np.float32], depth: int) -> float:
    """The share of the nearest passages of a corpus that its index finds."""
    nearest = store.nearest(corpus, vector, depth, store.scope({}))
    if not len(nearest.rows):
        return 1.0
    given = store.nearest_in_index(corpus, vector, depth)
    near = given.scores >= nearest.scores[-1] - _SAME
    return float(near.sum() / len(nearest.rows))
