"""English words that several rules look for, each list in its one place."""

import re
from functools import lru_cache

from atlas_search.language.text import words


def stems(listed: str) -> frozenset[str]:
    """The stems of words with blanks between them."""
    return frozenset(word.term for word in words(listed))


def any_of(listed: str) -> str:
    """A pattern for any of some words, whatever their case."""
    return rf"(?i:\b(?:{'|'.join(listed.split())})\b)"


MONTHS = (
    "january february march april may june july august september october november december".split()
)

AUXILIARIES = (
    "am is are was were do does did has have had can could may might must shall should will would"
)
NEGATIONS = "not never no neither nor none nobody nothing cannot without"
DENIES = re.compile(rf"{any_of(NEGATIONS)}|n['’]t\b", re.IGNORECASE)

_OPPOSITES = """
    north south; northern southern; east west; eastern western; increase decrease; increase reduce;
    rise fall; rose fell; grow shrink; gain lose; expand contract; most least; most fewest; high
    low; higher lower; highest lowest; large small; larger smaller; largest smallest; big small;
    biggest smallest; long short; longer shorter; longest shortest; old young; older younger; oldest
    youngest; oldest newest; first last; earliest latest; early late; begin end; start end; start
    stop; open closed; male female; man woman; men women; father mother; son daughter;
    brother sister; upper lower; top bottom; inside outside; internal external; interior exterior;
    domestic foreign; public private; rich poor; strong weak; stronger weaker; strongest weakest;
    hot cold; warm cool; wet dry; fast slow; faster slower; fastest slowest; heavy light; easy
    difficult; accept reject; approve reject; support oppose; friend enemy; allow forbid; allow
    prohibit; allow ban; permit forbid; permit prohibit; permit ban; guilty innocent; convicted
    acquitted; granted refused; granted denied; upheld overturned; affirmed reversed; positive
    negative; major minor; majority minority; maximum minimum; always never; create destroy; build
    destroy; built destroyed; include exclude; ancient modern; urban rural; birth death; born died;
    war peace; success failure; succeed fail; win lose; won lost; advantage disadvantage; simple
    complex; best worst; better worse; thick thin; wide narrow; deep shallow; common rare; similar
    different; voluntary compulsory; optional mandatory; optional required; encourage discourage;
    safe dangerous; liberal conservative; abolish retain; abolished kept; true false; present
    absent; alive dead; enable disable; encrypted plaintext; exempt liable
"""
"""Pairs of which one cannot be said where the other is meant; not `buy` and `sell`."""
_DENYING_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "anti")


def _pairs() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split(";"):
        one, other = (word.term for word in words(pair))
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found


_OPPOSITE = _pairs()


def are_opposite(one: str, other: str) -> bool:
    """Whether of two folded words one denies the other: `lawful` and `unlawful`, `rise` and
    `fall`."""
    first, second = _stem(one), _stem(other)
    return (
        second in _OPPOSITE.get(first, ())
        or second in _without_prefix(one)
        or first in _without_prefix(other)
    )


@lru_cache(maxsize=1 << 14)  # every word of a sentence is compared with every word of a question
def _stem(word: str) -> str:
    # a folded word may be several: `½` becomes `1⁄2`
    return " ".join(found.term for found in words(word))


@lru_cache(maxsize=1 << 14)
def _without_prefix(word: str) -> frozenset[str]:
    """The stems of what `word` may deny: that of `formal` for `informal`."""
    rests = [word.removeprefix(prefix) for prefix in _DENYING_PREFIXES]
    return frozenset(_stem(rest) for rest in rests if 3 < len(rest) < len(word))
