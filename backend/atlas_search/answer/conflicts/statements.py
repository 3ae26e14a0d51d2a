"""What one English sentence states."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from atlas_search.answer.conflicts.force import RULED, Force, rule_in
from atlas_search.language.english import (
    AUXILIARIES,
    DENIES,
    MONTHS,
    NEGATIONS,
    Quantity,
    any_of,
    quantities,
    stems,
)
from atlas_search.language.numerals import NUMBERS
from atlas_search.language.text import Word, words

_LIGHT = stems(
    "allow permit get give grant make take have hold provide offer issue apply state say set put "
    "pay cost obtain use enable entitle available possible maximum minimum limit cap quota "
    "period deadline window least most up within exactly just request ask need want able term "
    "length amount number rate level total always ever currently now today there place time age "
    "policy rule require requirement support accept bear charge last sum equal include must may "
    "exceed restrict ceiling prohibit forbid ban mandatory compulsory optional voluntary oblige "
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

_NOT_FREE = re.compile(
    # somebody's opinion, a condition, what only its document makes clear, what holds at times
    r"\b(?:argu\w+|claim(?:s|ed|ing)|contend\w*|alleg\w+|suggest\w*|propos\w+|recommend\w*|"
    r"draft\w*|suppos\w+|imagin\w+|assum\w+|hypothe\w+|for (?:example|instance)|"
    r"dissent\w*|believ\w+|thought|would|could|might|according to|predict\w+|expect\w*|hope[ds]?|"
    r"if|unless|except|only|provided|whether|until|although|where(?:as)?|while|when|but|"
    r"some(?:times)?|many|(?<!at )(?<!at the )most|few|several|often|usually|generally|typically|"
    r"certain|rarely|subject to|other than|rather than|no longer(?! than)|both|"
    r"not (?:all|always|every)|th(?:is|ese|at|ose)|"
    rf"it(?! is (?:\w+ )?{RULED}\b)|"
    r"i|my|you|your|he|she|they|his|her|its|their|such|hereof|herein|hereto)\b|\?[\"”’)]*$",
    re.IGNORECASE,
)
_PAST = re.compile(
    rf"{any_of('was were had did')}|\b\w{{3,}}ed\b|\b(?:cost|got|held|made|won|sent)\b"
)
_PRESENT = re.compile(any_of("is are may must shall can cannot will should does do has have be"))
_DIGIT = re.compile(r"\d")
_NARROWS = re.compile(
    any_of(
        "of for with in on at to from by during after before over outside inside within through "
        "against between among via into onto about near under above below upon"
    )
)
_ENDS_PHRASE = re.compile(any_of(f"{AUXILIARIES} and or which who"))
_WITHOUT_EXCEPTION = re.compile(rf"{any_of('never always any every all')}|\b(?:must|shall) not\b")
_CEILING = re.compile(any_of("limit limits limited cap capped quota maximum ceiling restricted"))
_FLOOR = re.compile(r"\bminimum\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence says.

    `said` are its folded words by their stems, `subject` the stems of what it is about, `names`
    those of its capitalised words but the first, which is its `opening`, `labels` its numbers that
    are no quantities (sections, years in a name). `narrowed` are those that stand behind a
    preposition, `beside` those that stand next to each other, which make one thing of two. A
    `past` statement tells of one event. One that is not `free` holds under a condition or for
    somebody only, or speaks of what its document alone makes clear. One `without_exception` says
    so: never, any. `denies` leaves out what its `force` says.
    """

    said: dict[str, str]
    subject: frozenset[str]
    names: frozenset[str]
    opening: frozenset[str]
    labels: frozenset[str]
    quantities: tuple[Quantity, ...]
    narrowed: frozenset[str]
    beside: frozenset[frozenset[str]]
    force: Force
    denies: bool
    past: bool
    free: bool
    is_ceiling: bool
    is_floor: bool
    without_exception: bool

    @property
    def terms(self) -> frozenset[str]:
        """The stems of all that it says, of what it counts too."""
        return frozenset({*self.said, *(amount.noun for amount in self.quantities)})


@lru_cache(maxsize=4096)  # a passage is found by many questions
def read(sentence: str) -> Statement:
    """Read an English sentence."""
    amounts = tuple(quantities(sentence))
    rule = rule_in(sentence)
    counted = {at for amount in amounts for at in range(amount.start, amount.end)}
    outside = [
        word for word in words(sentence) if word.start not in counted and not rule.holds(word.start)
    ]
    informative = [word for word in outside if word.informative]
    denials = [found for found in DENIES.finditer(sentence) if not rule.holds(found.start())]
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
        narrowed=_narrowed(sentence, outside),
        beside=_beside(sentence, outside),
        force=rule.force,
        denies=len(denials) % 2 == 1,
        past=bool(_PAST.search(sentence)) and not _PRESENT.search(sentence),
        free=not _NOT_FREE.search(sentence),
        is_ceiling=rule.force == "permitted" or bool(_CEILING.search(sentence)),
        is_floor=bool(_FLOOR.search(sentence)) or any(q.bound == "least" for q in amounts),
        without_exception=bool(_WITHOUT_EXCEPTION.search(sentence)),
    )


def _narrowed(sentence: str, found: Sequence[Word]) -> frozenset[str]:
    """The stems of the words behind a preposition, as far as its phrase goes."""
    terms, inside, end = set(), False, 0
    for word in found:
        between = sentence[end : word.start]
        if between.strip(" -") or _ENDS_PHRASE.fullmatch(word.folded):
            inside = False
        if _NARROWS.fullmatch(word.folded):
            inside = True
        elif inside and word.informative:
            terms.add(word.term)
        end = word.end
    return frozenset(terms)


def _beside(sentence: str, found: Sequence[Word]) -> frozenset[frozenset[str]]:
    """The pairs of informative stems with nothing but a blank or a hyphen between them."""
    return frozenset(
        frozenset({one.term, two.term})
        for one, two in pairwise(found)
        if one.informative and two.informative and sentence[one.end : two.start] in (" ", "-")
    )


def specific(terms: frozenset[str]) -> frozenset[str]:
    """Those of the stems that tell one thing from another."""
    return terms - _COMMON
