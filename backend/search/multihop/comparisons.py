"""Comparisons and lists within one clause."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from backend.search.multihop.ellipsis import completed_phrase, place_of_like, shared_parts
from backend.search.multihop.patterns import (
    AUXILIARY,
    BETWEEN,
    JOINT,
    NAME,
    NAMED,
    OPENING,
    PREPOSITION,
    QUESTION,
    STANDS_IN,
    VERSUS,
    WH,
    topics_of,
)

_COMPARING = re.compile(
    r"(?:please |(?:can|could|would) you (?:please )?)?"
    r"(?:compare|contrast)(?: and (?:compare|contrast))? (?P<sides>.+)",
    re.I,
)
_DIFFERING = [
    re.compile(rf"\b(?:{asking}) (?P<subject>.+?) (?:{verb})\b ?(?P<rest>.*)", re.I)
    for asking, verb in (
        ("(?:how|in what (?:way|respect)s?) (?:do|does|did)", "differ|compare|contrast|vary"),
        ("(?:how|in what (?:way|respect)s?) (?:is|are|was|were)", "different|similar|alike"),
        ("what (?:do|did)", "have in common"),
    )
]
_RANK = {"to": 0, "and": 1}
_FIXED_PAIRS = frozenset(
    """aiding-abetting assault-battery black-white breaking-entering cause-effect checks-balances
    goods-services health-safety husband-wife law-order pros-cons rights-duties rights-freedoms
    rights-responsibilities search-seizure stop-search supply-demand terms-conditions""".split()
)
_AND = re.compile(r",? (?:and|as well as)(?: also| then)? ", re.I)
_REPEATED = re.compile(
    # "women in Britain and in France voted": what follows a bare name belongs to both
    rf"(?!for ){PREPOSITION} (?!{NAMED} (?!{PREPOSITION}))"
)
_BOTH = re.compile(r"\bboth ", re.I)
_OWNERS = re.compile(rf"(?P<a>{NAMED})(?<=['’]s) and (?P<b>{NAMED})(?<=['’]s) (?=\w)")
_PLACED = re.compile(rf" (?P<preposition>in|under) (?:the )?{NAMED}$")


def taken_apart(clause: str) -> list[str]:
    """The things one clause compares or lists; empty if it asks for one."""
    rules: Sequence[Callable[[str], list[str]]] = (
        _compared,
        _between,
        _differing,
        _against,
        _repeated,
        _both,
        _owners,
        _listed,
        _placed,
    )
    return next((parts for rule in rules if (parts := rule(clause))), [])


def _halves(sides: str, joints: str = "and") -> list[str]:
    """`sides` cut at the joint that fits best; empty if two fit equally well."""
    found = [
        joint
        for joint in JOINT.finditer(sides)
        if joint["word"].lower() in joints.split()
        and joint.start() > 0
        and joint.end() < len(sides)
    ]
    ranked = sorted(((_fit(sides, joint), joint.span()) for joint in found), reverse=True)
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return []
    start, end = ranked[0][1]
    return shared_parts(sides[:start], sides[end:])


def _fit(sides: str, joint: re.Match[str]) -> tuple[int, ...]:
    """How well a joint divides what is compared, first by what says most."""
    left, right = sides[: joint.start()], sides[joint.end() :]
    (before, after), first = (left.split()[-1], right.split()[0]), left.split()[0]
    return (
        f"{before}-{after}".lower() not in _FIXED_PAIRS,
        bool(STANDS_IN.match(right))
        or bool(re.match(PREPOSITION, right) and place_of_like(left, right))
        or bool(re.match(rf"{WH}|(?:the|an?)\b", right) and after == first),
        bool(NAME.search(left)) == bool(NAME.search(right)),
        _RANK.get(joint["word"].lower(), 2),
        not (NAME.match(before) and NAME.match(after)),
    )


def _compared(clause: str) -> list[str]:
    """`Compare A with B`, `Can you compare and contrast A and B?`"""
    found = _COMPARING.match(clause)
    return _halves(found["sides"], "and with against versus vs vs. to") if found else []


def _between(clause: str) -> list[str]:
    """`the difference (in T) between A and B`, but not what someone thinks of it."""
    found = BETWEEN.search(clause)
    if not found:
        return []
    opening = OPENING.search(clause, 0, found.start())
    start, end = opening.span() if opening else (0, 0)
    asker = clause[end : found.start()]
    if len(topics_of(asker)) > 1 or NAME.search(asker):
        return []
    context = clause[:start] + ", " if start else ""
    topic = f"{found['topic']} in " if found["topic"] else ""
    return [context + topic + side for side in _halves(found["sides"])]


def _differing(clause: str) -> list[str]:
    """`How does A differ from B`, `How do A and B differ`, `How does T differ between A and B`"""
    found = next((found for rule in _DIFFERING if (found := rule.search(clause))), None)
    if not found:
        return []
    subject, (joint, _, rest) = found["subject"], found["rest"].partition(" ")
    if joint in {"from", "to", "with", "than"}:
        return shared_parts(subject, rest) if rest else []
    if joint in {"between", "across"}:
        return [f"{subject} in {side}" for side in _halves(rest)]
    return [f"{side} {found['rest']}" for side in _halves(subject)]


def _against(clause: str) -> list[str]:
    """`strict liability versus negligence`; a name or small letters throughout may be a case."""
    found = VERSUS.search(clause)
    if not found or found.start() > 60 or OPENING.search(clause) or clause.islower():
        return []
    return shared_parts(clause[: found.start()], clause[found.end() :])


def _repeated(clause: str) -> list[str]:
    """`in 1954 and in 1960`, `both in civil and in criminal trials`: the same preposition twice."""
    for joint in _AND.finditer(clause):
        left, right = clause[: joint.start()], clause[joint.end() :]
        at = place_of_like(left, right) if _REPEATED.match(right) else 0
        if at and (_BOTH.search(left) or (NAME.search(left, at) and NAME.search(right))):
            starts = [at]
            while left[: starts[0]].endswith(", ") and (
                at := place_of_like(left[: starts[0] - 2], right)
            ):
                starts.insert(0, at)
            items = [left[start:end] for start, end in pairwise([*starts, len(left)])]
            return [_BOTH.sub("", left[: starts[0]]) + item for item in [*items, right]]
    return []


def _both(clause: str) -> list[str]:
    """`in both A and B`, `wrote both the opinion on A and the one on B`"""
    said = _BOTH.search(clause)
    joint = said and _AND.search(clause, said.end())
    if not said or not joint:
        return []
    before, left = clause[: said.start()], clause[said.end() : joint.start()]
    right = clause[joint.end() :]
    name = NAME.match(right)
    if name and NAME.fullmatch(left) and re.match(rf"$| {PREPOSITION}", right[name.end() :]):
        return [before + left + right[name.end() :], before + right]
    if not re.match(r"(?:the|an?) ", left) or re.search(rf"{AUXILIARY} $", before):
        return []
    if STANDS_IN.match(right):
        other = completed_phrase(before + left, right)
        return [before + left, other] if other else []
    return [before + left, before + right] if left.split()[0] == right.split()[0] else []


def _owners(clause: str) -> list[str]:
    """`New York's and Britain's highest courts`"""
    found = _OWNERS.search(clause)
    if not found:
        return []
    before, after = clause[: found.start()], clause[found.end() :]
    return [f"{before}{found[owner]} {after}" for owner in ("a", "b")]


def _listed(clause: str) -> list[str]:
    """`What is the penalty: a fine in A, prison in B, and what in C?`"""
    frame, colon, rest = clause.rpartition(": ")
    items = re.split(r",? (?:and|or) |, ", rest)
    placed = all(re.search(r"\b(?:in|under) ", item) for item in items)
    if not colon or not placed or QUESTION.match(rest) or not OPENING.search(frame):
        return []
    return [f"{frame}: {re.sub(rf'^{WH} ', '', item)}" for item in items]


def _placed(clause: str) -> list[str]:
    """`Is there a fine in A and a reward in B?`: like articles before, like places after."""
    for joint in _AND.finditer(clause):
        left, right = clause[: joint.start()], clause[joint.end() :]
        article = re.match(r"(?:an?|the) ", right)
        here, there = _PLACED.search(left), _PLACED.search(right)
        if article and here and there and here["preposition"] == there["preposition"]:
            start = left.rfind(f" {article.group()}", 0, here.start()) + 1
            if start:
                return [left, left[:start] + right]
    return []
