"""The questions that went otherwise, with both answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atlas_search.evaluation.comparison.pairs import SAME
from atlas_search.evaluation.scored import Scored

Side = Literal["better", "worse"]

DECIDED = "decided"
TOLD = ("f1", "recall")
"""Figures whose greatest changes are told beside the questions that changed sides."""

MOST = 10
"""So many are told of the greatest changes of each."""

DOCUMENTS = 5
"""Of those found are told, best first."""


@dataclass(frozen=True)
class Outcome:
    """What became of a question in one run. `decision` is empty where it was only searched for."""

    decision: str
    answer: str
    documents: tuple[str, ...]
    figures: Mapping[str, float]
    error: str


@dataclass(frozen=True)
class ChangedQuestion:
    """A question whose `figure` changed by `change` for the better or worse."""

    label_id: str
    question: str
    category: str
    references: tuple[str, ...]
    figure: str
    change: float
    side: Side
    a: Outcome
    b: Outcome


def changed_questions(
    a: Mapping[str, Scored], b: Mapping[str, Scored], ids: Sequence[str]
) -> list[ChangedQuestion]:
    """Those rightly answered or declined in one run alone, then the greatest changes of TOLD.

    By the size of the change, worse before better, then by id. Each question is there once.
    """
    changed = _by_size([_changed(a[id_], b[id_], DECIDED) for id_ in ids])
    for figure in TOLD:
        told = {one.label_id for one in changed}
        others = [_changed(a[id_], b[id_], figure) for id_ in ids if id_ not in told]
        changed += _by_size(others)[:MOST]
    return changed


def _by_size(changed: Sequence[ChangedQuestion | None]) -> list[ChangedQuestion]:
    known = [one for one in changed if one]
    return sorted(known, key=lambda one: (-abs(one.change), one.change, one.label_id))


def _changed(a: Scored, b: Scored, figure: str) -> ChangedQuestion | None:
    """None where it did not change, or one run does not have it."""
    before, after = a.figures.get(figure), b.figures.get(figure)
    if before is None or after is None or abs(after - before) < SAME:
        return None
    return ChangedQuestion(
        label_id=a.label.id,
        question=a.label.question,
        category=a.label.category,
        references=a.label.answers,
        figure=figure,
        change=after - before,
        side="better" if after > before else "worse",
        a=_outcome(a),
        b=_outcome(b),
    )


def _outcome(one: Scored) -> Outcome:
    answer = one.reply.answer
    return Outcome(
        decision=answer.decision if answer else "",
        answer=(answer.answer or "") if answer else "",
        documents=one.reply.documents[:DOCUMENTS],
        figures=one.figures,
        error=one.reply.error,
    )
