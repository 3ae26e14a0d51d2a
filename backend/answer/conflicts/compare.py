"""Whether two statements speak of the same thing, and whether they contradict each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from backend.answer.conflicts.quantities import Quantity
from backend.answer.conflicts.statements import QUALIFYING, Statement, same_names, specific
from backend.answer.conflicts.times import same_date

SHARED = 0.4  # least Jaccard similarity of what two statements on the same thing are about
ALIKE = 0.75  # the same where they differ in nothing but a date


@dataclass(frozen=True, slots=True)
class Difference:
    """How two statements contradict each other; `detail` is for people."""

    kind: Literal["polarity", "number"]
    detail: str


Terms = frozenset[str]


def same_subject(a: Terms, b: Terms, titles: tuple[Terms, Terms]) -> bool:
    """Whether two sentences with these stems may be about one thing.

    One says nothing the other does not, or each a single word; what the title of the other's
    document says need not be said. One with nothing but common words (`the court`) is about
    nothing that could be known again.
    """
    common = a & b
    if len(common) < SHARED * len(a | b) or not specific(common):
        return False
    fewer, more = sorted((len(a - b - titles[1]), len(b - a - titles[0])))
    return not fewer or (more == 1 and len(common) > 1)


def same_matter(a: Statement, b: Statement, titles: tuple[Terms, Terms]) -> bool:
    """Whether two statements with the same subject are to be held against each other.

    Neither names a thing, section or year that the other and its document's title do not, and
    neither narrows the thing down (`the annual fee`) or puts another in its place. What happened
    once must be tied to a name both use, and what was is no contradiction to what is.
    """
    if not a.free or not b.free or a.labels != b.labels:
        return False
    if (set(a.subject) ^ set(b.subject)) & QUALIFYING or _in_place(a.subject, b.subject):
        return False
    if (a.names - b.all_terms - titles[1]) or (b.names - a.all_terms - titles[0]):
        return False
    if a.past or b.past:
        return bool(same_names(a, b)) and (a.past == b.past or not (a.was or b.was))
    return True


def _in_place(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether a word of one stands beside the same word as another word of the other does.

    `leave of employees` is not `leave of contractors`.
    """
    own = _beside(a, set(a) - set(b)), _beside(b, set(b) - set(a))
    return bool(own[0] & own[1])


def _beside(subject: Sequence[str], chosen: set[str]) -> set[tuple[int, str]]:
    """The words just before (-1) and after (1) the chosen ones."""
    return {
        (step, subject[at + step])
        for at, term in enumerate(subject)
        for step in (-1, 1)
        if term in chosen and 0 <= at + step < len(subject)
    }


def difference(a: Statement, b: Statement) -> Difference | None:
    """How two statements on the same thing contradict each other; None if they do not."""
    return _numbers(a, b) or _dates(a, b) or _polarity(a, b)


def compatible(a: Statement, b: Statement) -> bool:
    """Whether two statements may both hold: no number, date or denial of one is against the other.

    Stricter than no `difference`: what cannot be told apart is not compatible either.
    """
    stances = a.stance, b.stance
    same_poles = all(
        stances[0].poles[name] == stances[1].poles[name]
        for name in stances[0].poles.keys() & stances[1].poles.keys()
    )
    same_denials = (
        a.stance.denied & b.all_terms <= b.stance.denied
        and b.stance.denied & a.all_terms <= a.stance.denied
    )
    dates_fit = not a.dates or not b.dates or _dates_fit(a, b)
    return same_poles and same_denials and dates_fit and _amounts_fit(a, b)


def _numbers(a: Statement, b: Statement) -> Difference | None:
    """Amounts of one unit differ and those of every other unit agree: scales have several."""
    if not _dates_fit(a, b):
        return None
    units = {q.unit for q in a.quantities} & {q.unit for q in b.quantities}
    differing = [unit for unit in sorted(units) if _apart(_of(a, unit), _of(b, unit))]
    if len(differing) != 1 or {q.unit for q in a.quantities} != {q.unit for q in b.quantities}:
        return None
    first, second = _of(a, differing[0]), _of(b, differing[0])
    if len(first) != 1 or len(second) != 1:
        return None
    return Difference("number", f"{first[0].text} or {second[0].text}")


def _of(statement: Statement, unit: str) -> list[Quantity]:
    return [quantity for quantity in statement.quantities if quantity.unit == unit]


def _apart(a: Sequence[Quantity], b: Sequence[Quantity]) -> bool:
    return all(x.differs(y) for x in a for y in b)


def _dates_fit(a: Statement, b: Statement) -> bool:
    """Whether both may speak of the same time: the dates of one are those of the other."""
    if not a.dates or not b.dates:
        return a.dates == b.dates
    return all(any(same_date(x, y) for y in b.dates) for x in a.dates)


def _dates(a: Statement, b: Statement) -> Difference | None:
    """A single date differs, and nothing else."""
    if len(a.dates) != 1 or len(b.dates) != 1 or same_date(a.dates[0], b.dates[0]):
        return None
    first, second = set(a.subject), set(b.subject)
    if len(first & second) < ALIKE * len(first | second) or a.quantities or b.quantities:
        return None
    return Difference("number", f"{_date(a.dates[0])} or {_date(b.dates[0])}")


def _date(date: tuple[int, ...]) -> str:
    return "-".join(f"{part:02}" for part in date)


def _amounts_fit(a: Statement, b: Statement) -> bool:
    """Whether each amount of `a` fits one of `b`, if `b` has any of its unit."""
    return all(
        not (found := _of(b, x.unit)) or any(not x.differs(y) for y in found) for x in a.quantities
    )


def _polarity(a: Statement, b: Statement) -> Difference | None:
    if not _dates_fit(a, b) or not _amounts_fit(a, b):
        return None
    opposed = a.stance.opposes(b.stance, a.all_terms, b.all_terms)
    return Difference("polarity", opposed) if opposed else None
