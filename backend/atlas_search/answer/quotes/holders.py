"""Who held an office or had a part: `who was the judge?`, `who is the director of the survey?`."""

import re
from collections.abc import Collection

from atlas_search.answer.quotes.kind import AnswerKind, leads
from atlas_search.language.english import MONTHS, OFFICES, any_of
from atlas_search.language.text import Word, fold, words

_ANY_OFFICE = any_of(" ".join(sorted(OFFICES)))
_KIN = any_of(
    "father mother parent parents grandfather grandmother son sons daughter daughters child "
    "children brother brothers sister sisters husband wife widow uncle aunt nephew niece cousin"
)
"""The other way round it is called otherwise: `Emma, the sister of Richard`."""
_ASKED = leads(
    # elsewhere it begins a clause: `what did the man who was the captain say?`
    r"(?:^|[,;:.?!] |\band |\btell (?:me|us) )"
    r"who (?:was|were|is|are) (?:the|\S+['’]s?) (?P<rank>[a-z]+ )?"
    rf"(?!{_KIN})(?P<office>(?-i:[a-z]+)|{_ANY_OFFICE})"  # `the Norman` has no office
    r"(?= (?:(?:who|that) (?P<did>\w+)|which|of|for|in|to|against)\b|\?|$)"
)
_NEAR = 4  # words from an office to a name: `Rollo, the leader of`, `the judge in Roe was Anna Hay`
_OF_A_JUDGE = frozenset("judge judges justice justices j jj lj cj lord lady".split())
_OF_A_LAWYER = frozenset(
    "lawyer lawyers counsel attorney attorneys barrister barristers solicitor solicitors advocate "
    "advocates qc kc".split()
)
"""How law reports call them."""
_DOER = re.compile(r"(?P<does>\w{3,})(?:er|or)")
_LEAST = 4  # letters of an office that other words begin with: `captaincy`, `leadership`
_NOBODY = frozenset(
    "counsel court courts appellant appellants respondent respondents plaintiff plaintiffs "
    "defendant defendants claimant claimants applicant applicants act section article rule order "
    "bill committee house parliament government crown state mr mrs ms miss dr sir "
    "deputy assistant acting former chair".split()
)
"""Words that sources write with a capital, and that name no holder of an office."""
_CALENDAR = frozenset(fold(month) for month in MONTHS)
_OF_ONE = re.compile(r",|\s(?:J|JJ|LJ|CJ|is|was|became)\b")
_CHARGE = re.compile(r" (?:of|for) (?:the )?((?:[A-Z]\w*(?: and )?)+)")
_VERSUS = re.compile(r" v\.? ")
_APART = re.compile(r"[;:!?]|\.\s|\bv\b")
"""Between an office and a name that have nothing to do with each other: other clauses, parties."""


def holds_holder(sentence: str, question: str) -> bool:
    """Whether a name that the question does not have stands near the office it asks for.

    Of `the judges who dissented` the sentence must say that they did.
    """
    asked = _ASKED.search(question)
    if asked is None:
        return False
    every = words(sentence)
    did = {word.term for word in words(asked["did"] or "") if word.informative}
    if not did <= {word.term for word in every}:
        return False
    known = {word.term for word in words(question)}
    names = _new_names(sentence, known)
    rank = (asked["rank"] or "").strip().lower()
    offices = [
        at
        for at, word in enumerate(every)
        if _is_called(word, asked["office"])
        and not _is_of_another(sentence, word, asked["office"], known)
    ]
    return any(
        (rank not in OFFICES or any(word.folded == rank for word in near))
        and any(word in names and not _are_apart(sentence, every[at], word) for word in near)
        for at in offices
        for near in [every[max(0, at - _NEAR) : at + _NEAR + 1]]
    )


def _new_names(sentence: str, known: Collection[str]) -> list[Word]:
    """The capitalised words that the question does not have, and that do not name an office.

    The first is one if more of a name follows, a comma or what he was: `Rollo, the leader`.
    """
    every = words(sentence)
    names = [word for word in every if _may_name(sentence, word) and word.term not in known]
    begins = bool(names) and names[0] is every[0]
    if begins and names[1:2] != every[1:2] and not _OF_ONE.match(sentence, names[0].end):
        return names[1:]
    return names


def _is_called(word: Word, office: str) -> bool:
    """Whether a word names an office, in its own way: `justice`, `leadership`."""
    office = fold(office)
    for names in (_OF_A_JUDGE, _OF_A_LAWYER):
        if office in names:
            return word.folded in names
    one = office.removesuffix("s")
    if office in OFFICES or len(one) < _LEAST:
        return word.folded in (office, f"{office}s", one)
    doer = _DOER.fullmatch(one)
    does = doer and re.fullmatch(rf"{doer['does']}(?:e?s|e?d|ing|ions?)", word.folded)
    return bool(does) or word.folded.startswith(one)


def _is_of_another(sentence: str, word: Word, office: str, known: Collection[str]) -> bool:
    """Whether it is another office of that name: `Minister of Justice`, not of Health."""
    charge = _CHARGE.match(sentence, word.end)
    if charge is None or word.folded != fold(office):  # `the leadership of Hay`
        return False
    return not any(own.term in known for own in words(charge[1]))


def _may_name(sentence: str, word: Word) -> bool:
    before = sentence[max(0, word.start - 4) : word.start]  # ` v. `
    is_party = before.endswith((" v ", " v. ")) or _VERSUS.match(sentence, word.end)
    return (
        sentence[word.start].isupper()
        and word.informative
        and not is_party
        and word.folded not in OFFICES | _OF_A_JUDGE | _OF_A_LAWYER | _NOBODY | _CALENDAR
    )


def _are_apart(sentence: str, one: Word, other: Word) -> bool:
    first, last = sorted((one, other), key=lambda word: word.start)
    return bool(_APART.search(sentence, first.end, last.start))


HOLDER = AnswerKind("name", _ASKED, lambda sentence, _, question: holds_holder(sentence, question))
