"""Whether two English sentences contradict each other."""

from typing import Literal, NamedTuple

from atlas_search.answer.conflicts.force import Force, clash
from atlas_search.answer.conflicts.statements import Statement, specific
from atlas_search.language.english import Quantity, are_opposite, stems

SHARED = 0.4  # least share of the words of both that two statements on one thing have in common

_QUALIFYING = stems(
    "average median initial additional further extra annual monthly weekly daily net gross "
    "estimated proposed original former previous first second third last next new old temporary "
    "interim partial half single joint adult child children early late upper lower personal "
    "corporate commercial private foreign international local federal national standard premium "
    "senior junior other another each every remaining combined overall current minor serious direct"
)
"""Stems that make another thing of what they stand with: the annual fee is not the fee."""

_BINDING: dict[str, Force] = {"least": "required", "over": "forbidden"}
"""The force that makes a bound a rule: `must have at least 8`, `may not park over 2 hours`."""

_GRANTS = stems("api service server system platform gateway")
_IS_GRANTED = stems("client user customer caller consumer developer")
"""What allows so many requests, and who may make them: two names for the sides of one rule."""


class Difference(NamedTuple):
    """How two statements contradict each other; `detail` is for people."""

    kind: Literal["polarity", "number"]
    detail: str


def difference(
    a: Statement, b: Statement, titles: frozenset[str] = frozenset()
) -> Difference | None:
    """How two statements on the same thing contradict each other; None if they do not.

    They speak of the same thing if one names nothing that the other, or the title of its document,
    does not. What happened once must be tied to a name both use.
    """
    if not (a.free and b.free) or a.labels != b.labels or a.past != b.past:
        return None
    if not specific(_common(a, b)):  # what most pairs lack, told before what takes longer
        return None
    opposed = _opposed(a, b)
    if not _speak_of_one_thing(a, b, titles, opposed):
        return None
    if a.past and not (a.names | a.opening) & (b.names | b.opening):
        return None
    if a.denies == b.denies and not opposed and not clash(a.force, b.force):
        return _numbers(a, b)
    return _polarity(a, b, opposed)


def may_agree(a: Statement, b: Statement) -> bool:
    """Whether nothing that one says, a number, a date or a denial, is against the other."""
    return a.denies == b.denies and not clash(a.force, b.force) and _amounts_agree(a, b)


def _opposed(a: Statement, b: Statement) -> list[tuple[str, str]]:
    """The stems of each that deny one of the other."""
    return [
        (one, two)
        for one in a.said.keys() - b.said.keys()
        for two in b.said.keys() - a.said.keys()
        if are_opposite(a.said[one], b.said[two])
    ]


def _speak_of_one_thing(
    a: Statement, b: Statement, titles: frozenset[str], opposed: list[tuple[str, str]]
) -> bool:
    own = a.subject - b.subject - {one for one, _ in opposed}
    other = b.subject - a.subject - {two for _, two in opposed}
    if _narrows(a, b, own) or _narrows(b, a, other):
        return False
    own, other = own - titles, other - titles
    if own and other:
        own, other = _without_sides(own, other)
    if (own and other) or (own | other) & (_QUALIFYING | a.names | b.names):
        return False
    common = _common(a, b)
    return len(common) >= SHARED * len(common | own | other)


def _common(a: Statement, b: Statement) -> frozenset[str]:
    """What both speak of, be it only that they count it."""
    counted = {q.noun for q in a.quantities} & {q.noun for q in b.quantities} - {""}
    return (a.subject & b.subject) | counted


def _without_sides(
    own: frozenset[str], other: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """The words that only one of two has, but for the two sides of one rule: the API, clients."""
    for grants, granted in ((own, other), (other, own)):
        if grants <= _GRANTS and granted <= _IS_GRANTED:
            return frozenset(), frozenset()
    return own, other


def _narrows(a: Statement, b: Statement, own: frozenset[str]) -> bool:
    """Whether a word that only `a` has makes a part of what `b` speaks of: an exception to it."""
    if any(pair & own and pair & b.subject for pair in a.beside):
        return True
    return bool(own & a.narrowed) and not b.without_exception


def _numbers(a: Statement, b: Statement) -> Difference | None:
    """One amount differs and all others agree: a scale has several."""
    first, second = ({q.unit: q for q in s.quantities} for s in (a, b))
    single = len(first) == len(a.quantities) and len(second) == len(b.quantities)
    if not single or first.keys() != second.keys() or len({a.force, b.force} - {""}) > 1:
        return None
    apart = [unit for unit in sorted(first) if first[unit].differs(second[unit])]
    if len(apart) != 1 or not all(_comparable(a, first[u], b, second[u]) for u in first):
        return None
    return Difference("number", f"{first[apart[0]].text} or {second[apart[0]].text}")


def _comparable(a: Statement, x: Quantity, b: Statement, y: Quantity) -> bool:
    """Whether both tell the same of an amount: what it is, or how far it may go.

    A fact is no bound: `at most 200 guests` is not against `150 guests`.
    """
    if a.is_floor != b.is_floor or "about" in (x.bound, y.bound):
        return False
    if x.bound == y.bound:
        return x.bound in ("", "most") or a.force == b.force == _BINDING.get(x.bound)
    if {x.bound, y.bound} != {"", "most"}:
        return False
    exact, most, said = (x, y, a) if not x.bound else (y, x, b)
    return said.is_ceiling or exact.exceeds(most)


def _polarity(a: Statement, b: Statement, opposed: list[tuple[str, str]]) -> Difference | None:
    """One denies what the other affirms; beside words that deny each other that is agreement."""
    units = [{quantity.unit for quantity in statement.quantities} for statement in (a, b)]
    if units[0] != units[1] or not _amounts_agree(a, b):
        return None
    denied = a.denies != b.denies
    if clash(a.force, b.force):
        return None if denied or opposed else Difference("polarity", f"{a.force} or {b.force}")
    if a.force != b.force or a.force not in ("", "required") or denied == bool(opposed):
        return None
    apart = [f"{a.said[one]} or {b.said[two]}" for one, two in opposed]
    return Difference("polarity", apart[0] if apart else "affirmed or denied")


def _amounts_agree(a: Statement, b: Statement) -> bool:
    return not any(
        x.unit == y.unit and x.bound == y.bound == "" and x.differs(y)
        for x in a.quantities
        for y in b.quantities
    )
