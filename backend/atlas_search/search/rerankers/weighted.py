"""Meaning and words, each scaled to the candidates, in fixed shares."""

from atlas_search.core.targets import Target
from atlas_search.search.candidates import Candidates, min_max
from atlas_search.stores.terms import FloatArray


def weigh(candidates: Candidates, target: Target) -> FloatArray:
    """MIX_DENSE * min-max(cosine) + MIX_LEXICAL * min-max(BM25), over the sum of both shares."""
    signals = candidates.table.signals
    dense, lexical = target.mix_dense, target.mix_lexical
    mixed = dense * min_max(signals["semantic"]) + lexical * min_max(signals["bm25"])
    return mixed / ((dense + lexical) or 1.0)


def semantic(candidates: Candidates, _: Target) -> FloatArray:
    """The cosine alone, whichever leg found the passage: no reranking."""
    return candidates.table.signals["semantic"]
