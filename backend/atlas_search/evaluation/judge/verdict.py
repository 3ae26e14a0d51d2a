"""What a judge finds."""

from dataclasses import dataclass

from atlas_search.core.errors import AtlasError
from atlas_search.evaluation.scored import Source

DRAW = "The judge's votes were a draw, for one of them was no usable reply."
"""Why votes of an odd number did not decide."""


class NotJudged(AtlasError):
    """Why the judge gives no figure; `str(error)` is a sentence that many questions may share."""


class Refused(NotJudged):
    """The provider will not take what is asked: asking it once more is of no use."""


@dataclass(frozen=True)
class Decision:
    """What was decided about a part of an answer, a passage or a reference.

    `verdict` is 1 for yes and 0 for no, or a mark in [0, 1]. `agreement` is the share of the votes
    for the commonest verdict, in (0, 1]. The `reason` is that of one such vote.
    """

    about: str
    verdict: float
    agreement: float
    reason: str = ""


@dataclass(frozen=True)
class Judged:
    """A figure, and what it was made of; its passages were shown in so many `parts`.

    Without decisions there was nothing to ask: the definition fixes it.
    """

    value: float
    decisions: tuple[Decision, ...] = ()
    parts: int = 1


@dataclass(frozen=True)
class Judgement:
    """A figure of a question as it stands after the judge.

    `note` says why an estimate (`heuristic`) stands in for it. It is `fixed` where the judge was
    not asked, for an answer that was not given and the like.
    """

    label_id: str
    metric: str
    value: float
    source: Source
    note: str = ""
    parts: int = 1
    decisions: tuple[Decision, ...] = ()
