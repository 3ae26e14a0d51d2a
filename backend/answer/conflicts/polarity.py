"""What an English sentence affirms and what it denies."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.text import Word, words

_GROUPS = """
    allowed permitted lawful legal permissible authorised authorized | prohibited forbidden banned
    unlawful illegal barred outlawed impermissible; required mandatory compulsory obliged | optional
    voluntary; abolished | retained kept; constitutional | unconstitutional; valid | invalid void;
    guilty convicted | innocent acquitted; upheld affirmed | overturned quashed; granted | refused
    denied; accepted approved | rejected; increased rose rising increases | decreased fell falling
    decreases; supported | opposed; enabled | disabled; safe | unsafe dangerous; effective |
    ineffective; encrypted | unencrypted plaintext; true | false; succeeded | failed; won | lost;
    present | absent; admissible | inadmissible; eligible | ineligible; exempt | liable; enforceable
    | unenforceable; open | closed; alive | dead; included includes | excluded excludes; possible |
    impossible; sufficient | insufficient; binding | nonbinding; available | unavailable; public |
    confidential; reversible | irreversible
"""
"""Words that deny each other: those that stand on either side of a bar."""

_ADJECTIVES = frozenset(
    "lawful legal unlawful illegal valid invalid public open closed safe unsafe present true false "
    "binding effective possible available dead dangerous mandatory voluntary optional compulsory "
    "encrypted unencrypted confidential eligible required permitted prohibited authorised "
    "authorized approved accepted included excluded banned enabled disabled".split()
)
"""Before a noun these say what kind of thing it is, and claim nothing: `a lawful purpose`."""

_NEGATIONS = frozenset("not never no neither nor none nobody cannot without".split())
_MODALS = frozenset("may can must shall should will need".split())
_CLAUSE = re.compile(r"[,;:—–]")
_HEDGED = re.compile(
    r"\bnot (?:only|merely|just|simply|solely|necessarily|always|all|every\w*|until|yet|both)\b|"
    r"\bno (?:doubt|matter|sooner)\b|\bwhether\b|\bif\b|\bunless\b|\bexcept|\bonly\b|\bprovided\b|"
    r"\bwithout\b|\bsubject to\b|\bother than\b|\bsave (?:for|where|that|in)\b|\buntil\b|\balthough"
    r"\b|\bwhere(?:as)?\b|\bwhile\b|\bwhen\b|\bonce\b|\bin case\b|\bsome(?:times|what)?\b|\bmany\b|"
    r"\bmost\b|\bfew\b|\bseveral\b|\boften\b|\busually\b|\bgenerally\b|\btypically\b|\bcertain\b|"
    r"\brarely\b|\bnormally\b|\bmerely\b|\brather than\b|\bno longer\b|\bbut\b|\bmight\b|\bcould\b|"
    r"\bwould\b|\bhardly\b|\bbarely\b|\bless than\b|\bmore than\b|\bnor\b|\bother\b|\bapart from\b",
    re.IGNORECASE,
)


def _poles() -> dict[str, tuple[str, bool]]:
    """For each folded word, the name of its group and whether it affirms."""
    found: dict[str, tuple[str, bool]] = {}
    for group in _GROUPS.split(";"):
        yes, no = (side.split() for side in group.split("|"))
        name = f"{yes[0]} or {no[0]}"
        found |= dict.fromkeys(yes, (name, True)) | dict.fromkeys(no, (name, False))
    return found


_POLES: Mapping[str, tuple[str, bool]] = _poles()
_ALLOWED, _REQUIRED = _POLES["allowed"], _POLES["required"]
POLAR = frozenset(
    word.term for folded in (*_POLES, *_NEGATIONS, *_MODALS) for word in words(folded)
)
"""The stems of all these words; they say how a thing is, not which thing."""


@dataclass(frozen=True, slots=True)
class Stance:
    """What a sentence says of each group (`valid or invalid`) and of the words it denies.

    `hedged` sentences hold under a condition, in part or at times; they contradict nothing.
    `denied` are the stems that directly follow a negation.
    """

    poles: Mapping[str, bool]
    denied: frozenset[str]
    hedged: bool

    def opposes(self, other: "Stance", terms: frozenset[str], others: frozenset[str]) -> str:
        """What they are at odds about, or nothing; `terms` and `others` are all their stems."""
        if self.hedged or other.hedged:
            return ""
        shared = self.poles.keys() & other.poles.keys()
        opposed = sorted(name for name in shared if self.poles[name] != other.poles[name])
        if opposed and not (len(shared) > len(opposed) and _ALLOWED[0] not in opposed):
            return opposed[0]
        if shared:
            return ""
        denied_there = self.denied & others or other.denied & terms
        # two denials, each of something the other affirms, speak of different things
        one_denies = not (self.denied and other.denied)
        return "affirmed or denied" if one_denies and denied_there else ""


def stance(sentence: str, found: Sequence[Word]) -> Stance:
    """What `sentence`, whose words are `found`, affirms and denies."""
    claims: dict[str, set[bool]] = {}
    denied = set()
    for at, word in enumerate(found):
        negated = _negated(sentence, found, at)
        for name, side in _said(sentence, found, at, negated):
            claims.setdefault(name, set()).add(side != negated)
        if _denies(word):
            denied |= _next_claim(sentence, found, at)
    poles = {name: sides.pop() for name, sides in claims.items() if len(sides) == 1}
    return Stance(poles, frozenset(denied), bool(_HEDGED.search(sentence)))


def _said(sentence: str, found: Sequence[Word], at: int, negated: bool) -> list[tuple[str, bool]]:
    """The groups the word at `at` takes a side of."""
    folded = found[at].folded
    if folded == "need":
        return [_REQUIRED] if negated else []
    if folded in {"must", "shall"}:
        return [_ALLOWED] if negated else [_ALLOWED, _REQUIRED]
    if folded in {"may", "can", "cannot", "can't", "mustn't", "should"}:
        return [_ALLOWED]
    if folded not in _POLES or (folded in _ADJECTIVES and _before_noun(sentence, found, at)):
        return []
    return [_POLES[folded]]


def _before_noun(sentence: str, found: Sequence[Word], at: int) -> bool:
    following = found[at + 1 : at + 2]
    joined = following and not sentence[found[at].end : following[0].start].strip()
    return bool(joined and following[0].informative and not following[0].folded.endswith("ly"))


def _negated(sentence: str, found: Sequence[Word], at: int) -> bool:
    """Whether an odd number of negations bears on the word at `at`."""
    word = found[at]
    count = int(word.folded in {"cannot", "can't", "mustn't", "shouldn't"})
    if word.folded in _MODALS:
        following = found[at + 1].folded if at + 1 < len(found) else ""
        count += following in {"not", "never"}
    else:
        count += any(_denies(w) and w.folded != "no" for w in found[max(at - 3, 0) : at])
    opening = found[max(at - 7, 0) : at]
    starts = [w for w in opening if w.folded in {"no", "neither", "nobody", "none"}]
    if starts and not _CLAUSE.search(sentence, starts[-1].end, word.start):
        count += 1
    return count % 2 == 1


def _denies(word: Word) -> bool:
    return word.folded in _NEGATIONS or word.folded.endswith("n't")


def _next_claim(sentence: str, found: Sequence[Word], at: int) -> set[str]:
    """The stem of the first informative word after a negation in its clause."""
    for word in found[at + 1 : at + 6]:
        if _CLAUSE.search(sentence, found[at].end, word.start):
            break
        if word.informative and not word.folded.endswith("ly"):
            return {word.term}
    return set()
