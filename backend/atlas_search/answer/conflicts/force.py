"""Whether an English sentence permits, requires, forbids or leaves open what it speaks of."""

import re
from typing import Literal, NamedTuple

Force = Literal["", "permitted", "required", "forbidden", "optional", "mixed"]

_BE = r"(?:is|are|was|were|be|been)"
_NOT = r"(?:\s+not|n['’]t|\s+never)"
_PERMITTED = r"(?:allowed|permitted|authori[sz]ed|entitled|free\s+to)"
_REQUIRED = r"(?:required|mandatory|compulsory|obligatory|obliged|necessary|needed)"
_FORBIDDEN = r"(?:prohibited|forbidden|banned|barred)"
_OPTIONAL = r"(?:optional|voluntary)"
RULED = rf"(?:{_PERMITTED}|{_REQUIRED}|{_FORBIDDEN}|{_OPTIONAL})"
"""What may be said of anything one does: it is forbidden to enter."""

_PHRASES = re.compile(
    # what bounds an amount neither permits nor forbids; the longest come first
    rf"(?P<bound>\b(?:[Nn]o|[Nn]ot|never)\s+(?:more|less|fewer|later|longer|over|older)\b(?:\s+than\b)?|"
    rf"\b(?:must|may|shall|can|should)\s*(?:not|never)\s+exceed\b|\bnot\s+exceed(?:ing)?\b)|"
    rf"(?P<optional>\bneed(?:\s+not|n['’]t)\b|\b(?:do|does|did){_NOT}\s+(?:have|need)\s+to\b|"
    rf"\b{_BE}{_NOT}\s+{_REQUIRED}\b|\b{_BE}\s+(?:always\s+|entirely\s+)?{_OPTIONAL}\b)|"
    rf"(?P<forbidden>\b(?:must|shall|can|may|MAY|MUST|SHALL|CAN)(?:\s*not|\s*NOT|n['’]t|\s+never)\b|"
    rf"\bcan['’]t\b|\b{_BE}{_NOT}\s+{_PERMITTED}\b|\b{_BE}\s+(?:strictly\s+)?{_FORBIDDEN}\b|"
    rf"\b(?:prohibits?|forbids?|bans?)\b)|"
    rf"(?P<demanded>\b(?:must|shall|MUST|SHALL)\b|\b(?:has|have|had)\s+to\b)|"
    rf"(?P<required>\b{_BE}\s+(?:always\s+)?{_REQUIRED}\b|\brequires?\b)|"
    rf"(?P<permitted>\b(?:may|can|MAY|CAN)\b|\b{_BE}\s+(?:also\s+)?{_PERMITTED}\b|"
    rf"\b(?:allows?|permits?)\b)"
)
_DENIES_ALL = re.compile(r"^(?:No(?!\s+(?:more|less|fewer|later))|Nobody|No\s+one|None|Neither)\b")
_DENIED: dict[str, Force] = {
    "permitted": "forbidden",
    "demanded": "forbidden",  # no person shall
    "required": "optional",  # no licence is required
    "forbidden": "permitted",
}
_CLASHES = (
    frozenset({"permitted", "forbidden"}),
    frozenset({"required", "forbidden"}),
    frozenset({"required", "optional"}),
)


class Rule(NamedTuple):
    """The force of a sentence; empty if it has none, `mixed` if it has several.

    `phrases` are the places of the words that say so, and of those that bound an amount.
    """

    force: Force
    phrases: tuple[tuple[int, int], ...]

    def holds(self, place: int) -> bool:
        """Whether the character stands in one of the phrases."""
        return any(start <= place < end for start, end in self.phrases)


def rule_in(sentence: str) -> Rule:
    """The rule that a sentence states: `no person shall` forbids, `need not` leaves open."""
    found = [(match, _group(match)) for match in _PHRASES.finditer(sentence)]
    places = [match.span() for match, _ in found]
    named = [name for _, name in found if name != "bound"]
    start = _DENIES_ALL.match(sentence)
    if start and named and named[0] in _DENIED:
        places.append(start.span())
        forces = {_DENIED[named[0]], *map(_plain, named[1:])}
    else:
        forces = {_plain(name) for name in named}
    force: Force = forces.pop() if len(forces) == 1 else "mixed" if forces else ""
    return Rule(force, tuple(places))


def clash(one: Force, other: Force) -> bool:
    """Whether two rules on one thing cannot both hold."""
    return frozenset({one, other}) in _CLASHES


def _group(match: re.Match[str]) -> str:
    return match.lastgroup or ""


def _plain(name: str) -> Force:
    return "required" if name == "demanded" else name  # type: ignore[return-value]
