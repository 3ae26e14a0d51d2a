"""What to look at: each a rule over the figures of a question, and the questions it holds of."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from atlas_search.evaluation.reports.outcomes import found
from atlas_search.evaluation.scored import Scored


class Finding(NamedTuple):
    """Questions of which a rule holds, by id, of so many of which it could (`of`).

    `stage` is where it happened.
    """

    stage: str
    rule: str
    questions: tuple[str, ...]
    of: int


class _Rule(NamedTuple):
    stage: str
    rule: str
    could: Callable[[Scored], bool]
    holds: Callable[[Scored], bool]


def _is(name: str, value: float) -> Callable[[Scored], bool]:
    return lambda one: one.figures.get(name) == value


_RULES = (
    _Rule("asking", "No reply came, but an error", lambda _: True, lambda o: bool(o.reply.error)),
    _Rule(
        "model",
        "The sources' own sentences stand in for the language model's",
        lambda one: one.reply.answer is not None,
        lambda one: one.reply.answer is not None and one.reply.answer.fallback is not None,
    ),
    _Rule(
        "retrieval",
        "Nothing gold is among the passages",
        lambda one: found(one) is not None,
        lambda one: found(one) is False,
    ),
    _Rule(
        "decision",
        "Declined, though something gold is among the passages",
        lambda one: "answered" in one.figures and bool(found(one)),
        _is("answered", 0),
    ),
    _Rule(
        "decision",
        "Answered, though the collection does not hold the answer",
        lambda one: "false_accept" in one.figures,
        _is("false_accept", 1),
    ),
    _Rule(
        "citation",
        "Answered, and the gold document was found but not cited",
        lambda one: one.reply.answered and "cites_gold" in one.figures and bool(found(one)),
        _is("cites_gold", 0),
    ),
    _Rule(
        "reading",
        "The gold document is cited, and the answer does not hold the reference",
        lambda one: one.figures.get("cites_gold") == 1 and "contains" in one.figures,
        _is("contains", 0),
    ),
    _Rule(
        "citation",
        "A sentence of the answer has no valid citation",
        lambda one: "grounded" in one.figures,
        _is("grounded", 0),
    ),
    _Rule(
        "sources",
        "All citations are of superseded sources",
        lambda one: "superseded" in one.figures,
        _is("superseded", 1),
    ),
)


def findings(scored: Sequence[Scored]) -> list[Finding]:
    """The rules that hold of a question, most questions first; of equal ones in their order."""
    told = (_finding(rule, scored) for rule in _RULES)
    return sorted((each for each in told if each.questions), key=lambda each: -len(each.questions))


def _finding(rule: _Rule, scored: Sequence[Scored]) -> Finding:
    could = [one for one in scored if rule.could(one)]
    ids = tuple(one.label.id for one in could if rule.holds(one))
    return Finding(rule.stage, rule.rule, ids, len(could))
