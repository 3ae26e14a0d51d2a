"""What the replies of a run are judged with."""

from collections.abc import Sequence
from dataclasses import replace

from atlas_search.evaluation.metrics.metric import Tools
from atlas_search.providers.embedding import Embedder


def judging_tools(embedder: Embedder, corpora: Sequence[str], k: int) -> Tools:
    """The usual ones, with figures at the depth of `k` passages too."""
    usual = Tools(embedder, corpora=tuple(corpora))
    return replace(usual, depths=tuple(sorted({*usual.depths, k})), limit=k)
