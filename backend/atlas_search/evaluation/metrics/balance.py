"""How passages are spread over the corpora."""

from collections.abc import Mapping
from math import log

from atlas_search.evaluation.metrics.metric import Case, Metric
from atlas_search.search.trace import imbalance

_OF = "questions asked of all of several corpora that brought a passage"
_SHARE = "Share of the {} that are of this corpus"
_ENTROPY = "Entropy (Shannon) of the {} over the corpora / its maximum: 1 if all gave as many"
_IMBALANCE = "1 - least / most {} of a corpus: 0 if all gave as many, 1 if one gave none"

METRICS = tuple(
    Metric(f"{stage}_{name}", "balance", _OF, text.format(what), "none")
    for stage, what in (("candidates", "candidates"), ("kept", "kept passages"))
    for name, text in (("share.", _SHARE), ("entropy", _ENTROPY), ("imbalance", _IMBALANCE))
)


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS: told and not judged, for a question may be about one corpus."""
    if case.label.corpus_filter:
        return {}
    counted = case.reply.retrieval.per_corpus
    corpora = case.tools.corpora or tuple(counted)
    return {
        f"{stage}_{name}": value
        for stage in ("candidates", "kept")
        for name, value in spread(
            {id_: getattr(counted[id_], stage) if id_ in counted else 0 for id_ in corpora}
        ).items()
    }


def spread(counts: Mapping[str, int]) -> dict[str, float]:
    """`share.<corpus>` of each corpus, `entropy` and `imbalance`; none of a single corpus."""
    total = sum(counts.values())
    if len(counts) < 2 or not total:
        return {}
    shares = {f"share.{corpus}": count / total for corpus, count in counts.items()}
    return shares | {"entropy": entropy(counts), "imbalance": imbalance(counts)}


def entropy(counts: Mapping[str, int]) -> float:
    """Shannon's, over that of as many equal counts, in [0, 1]. Requires two counts, and one > 0."""
    total = sum(counts.values())
    shares = [count / total for count in counts.values() if count]
    return sum(share * -log(share) for share in shares) / log(len(counts))
