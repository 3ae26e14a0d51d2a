"""Which answers are right."""

from collections.abc import Mapping
from typing import Literal

from atlas_search.evaluation.metrics import contains_reference
from benchmarks.truth.asking import Reply

Measure = Literal["whole", "part", "cites"]

MEASURES: Mapping[str, tuple[Measure, ...]] = {
    "squad2": ("whole",),
    "chunkeval": ("whole", "part"),
    "qmsum_committee": ("cites",),
    "contractnli": ("cites",),
}
"""The sets that are asked, and how their answers are judged: the strictest measure first."""


def is_right(reply: Reply, measure: Measure) -> bool:
    """Whether a reply answers its question. Where nothing answers, no reply is right."""
    if measure == "cites":
        return bool(reply.sources & reply.question.gold)
    return _holds_whole(reply) or (measure == "part" and _holds_part(reply))


def _holds_whole(reply: Reply) -> bool:
    return contains_reference(" ".join(reply.texts), reply.question.answers)


def _holds_part(reply: Reply) -> bool:
    return any(contains_reference(gold, reply.texts) for gold in reply.question.answers)
