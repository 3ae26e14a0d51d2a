"""What one English sentence states, and whether two of them contradict each other."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from atlas_search.language.english import (
    DENIES,
    MONTHS,
    NEGATIONS,
    NUMBERS,
    any_of,
    are_opposite,
    stems,
)
from atlas_search.language.quantities import Quantity, quantities
from atlas_search.language.text import words

SHARED = 0.4  # least share of the words of both that two statements on one thing have in common

_LIGHT = stems(
    "allow permit get give grant make take have hold provide offer issue apply state say set put "
    "pay cost receive obtain use enable entitle available possible maximum minimum limit cap quota "
    "period deadline window least most up within exactly just request ask need want able term "
    "length amount number rate level total always ever currently now today there place time age "
    "policy rule require requirement support accept bear charge last sum equal include must may "
    f"can shall should will {NEGATIONS} {' '.join(NUMBERS)} {' '.join(MONTHS)}"
)
"""Stems that say how a thing stands, not which thing: `is limited to`, `may be granted`."""

_COMMON = stems(
    "court judge justice jury law statute act section article case decision opinion majority "
    "minority appeal member party plaintiff defendant appellant respondent claimant applicant "
    "state government parliament congress house committee bill person people man men woman women "
    "right power thing way part question issue matter group country world company work order "
    "judgment ruling provision agreement contract clause document paper report supreme united"
)
"""Stems of things so common that two sentences which share them need not mean the same one."""

_QUALIFYING = stems(
    "average median initial additional further extra annual monthly weekly daily net gross "
    "estimated proposed original former previous first second third last next new old temporary "
    "interim partial half single joint adult child children early late upper lower personal "
    "corporate commercial private foreign international local federal national standard premium "
    "senior junior other another each every remaining combined overall current minor serious direct"
)
"""Stems that make another thing of what they stand with: the annual fee is not the fee."""

_NOT_FREE = re.compile(
    # somebody's opinion, a condition, what only its document makes clear, what holds at times
    r"\b(?:argu\w+|claim(?:s|ed|ing)|contend\w*|alleg\w+|suggest\w*|propos\w+|recommend\w*|"
    r"dissent\w*|believ\w+|thought|would|could|might|according to|predict\w+|expect\w*|hope[ds]?|"
    r"if|unless|except|only|provided|whether|until|although|where(?:as)?|while|when|but|"
    r"some(?:times)?|many|most|few|several|often|usually|generally|typically|certain|rarely|"
    r"subject to|other than|rather than|no longer|both|not (?:all|always|every)|"
    r"th(?:is|ese|at|ose)|"
    r"i|my|you|your|he|she|it|they|his|her|its|their|such|hereof|herein|hereto)\b|\?[\"”’)]*$",
    re.IGNORECASE,
)
_PAST = re.compile(
    rf"{any_of('was were had did')}|\b\w{{3,}}ed\b|\b(?:cost|got|held|made|won|sent)\b"
)
_PRESENT = re.compile(any_of("is are may must shall can cannot will should does do has have be"))
_DIGIT = re.compile(r"\d")


class Difference(NamedTuple):
    """How two statements contradict each other; `detail` is for people."""

    kind: Literal["polarity", "number"]
    detail: str


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence says.

    `said` are its folded words by their stems, `subject` the stems of what it is about, `names`
    those of its capitalised words but the first, which is its `opening`, `labels` its numbers that
    are no quantities (sections, years in a name). A `past` statement tells of one event. One that
    is not `free` holds under a condition or for somebody only, or speaks of what its document
    alone makes clear.
    """

    said: dict[str, str]
    subject: frozenset[str]
    names: frozenset[str]
    opening: frozenset[str]
    labels: frozenset[str]
    quantities: tuple[Quantity, ...]
    denies: bool
    past: bool
    free: bool


@lru_cache(maxsize=4096)  # a passage is found by many questions
def read(sentence: str) -> Statement:
    """Read an English sentence."""
    amounts = tuple(quantities(sentence))
    outside = [
        word
        for word in words(sentence)
        if not any(amount.start <= word.start < amount.end for amount in amounts)
    ]
    informative = [word for word in outside if word.informative]
    return Statement(
        said={w.term: w.folded for w in informative if not _DIGIT.search(w.folded)},
        subject=frozenset(
            w.term for w in informative if w.term not in _LIGHT and not _DIGIT.search(w.folded)
        ),
        names=frozenset(w.term for w in informative if w.start and sentence[w.start].isupper())
        - _COMMON,
        opening=frozenset(w.term for w in informative if not w.start) - _COMMON,
        labels=frozenset(w.folded for w in outside if _DIGIT.search(w.folded)),
        quantities=amounts,
        denies=len(DENIES.findall(sentence)) % 2 == 1,
        past=bool(_PAST.search(sentence)) and not _PRESENT.search(sentence),
        free=not _NOT_FREE.search(sentence),
    )


def specific(terms: frozenset[str]) -> frozenset[str]:
    """Those of the stems that tell one thing from another."""
    return terms - _COMMON


def difference(
    a: Statement, b: Statement, titles: frozenset[str] = frozenset()
) -> Difference | None:
    """How two statements on the same thing contradict each other; None if they do not.

    They speak of the same thing if one names nothing that the other, or the title of its document,
    does not. What happened once must be tied to a name both use.
    """
    if not (a.free and b.free) or a.labels != b.labels or a.past != b.past:
        return None
    opposed = [
        (one, two)
        for one in a.said.keys() - b.said.keys()
        for two in b.said.keys() - a.said.keys()
        if are_opposite(a.said[one], b.said[two])
    ]
    common = a.subject & b.subject
    own = a.subject - b.subject - titles - {one for one, _ in opposed}
    other = b.subject - a.subject - titles - {two for _, two in opposed}
    if (own and other) or (own | other) & (_QUALIFYING | a.names | b.names):
        return None
    if len(common) < SHARED * len(common | own | other) or not specific(common):
        return None
    if a.past and not (a.names | a.opening) & (b.names | b.opening):
        return None
    return _numbers(a, b) if a.denies == b.denies and not opposed else _polarity(a, b, opposed)


def may_agree(a: Statement, b: Statement) -> bool:
    """Whether nothing that one says, a number, a date or a denial, is against the other."""
    return a.denies == b.denies and _amounts_agree(a, b)


def _numbers(a: Statement, b: Statement) -> Difference | None:
    """One amount differs and all others agree: a scale has several."""
    first, second = ({q.unit: q for q in s.quantities} for s in (a, b))
    single = len(first) == len(a.quantities) and len(second) == len(b.quantities)
    if not single or first.keys() != second.keys():
        return None
    apart = [unit for unit in sorted(first) if first[unit].differs(second[unit])]
    if len(apart) != 1 or any(first[u].vague or second[u].vague for u in first):
        return None
    return Difference("number", f"{first[apart[0]].text} or {second[apart[0]].text}")


def _polarity(a: Statement, b: Statement, opposed: list[tuple[str, str]]) -> Difference | None:
    """One denies what the other affirms; beside words that deny each other that is agreement."""
    units = [{quantity.unit for quantity in statement.quantities} for statement in (a, b)]
    if (a.denies != b.denies) == bool(opposed) or units[0] != units[1] or not _amounts_agree(a, b):
        return None
    apart = [f"{a.said[one]} or {b.said[two]}" for one, two in opposed]
    return Difference("polarity", apart[0] if apart else "affirmed or denied")


def _amounts_agree(a: Statement, b: Statement) -> bool:
    return not any(x.unit == y.unit and x.differs(y) for x in a.quantities for y in b.quantities)
