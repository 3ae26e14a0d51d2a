"""The words of a question that point back to something said before.

A word that may point to something in its own question, or to nothing at all ("Is it lawful to
..."), is left out: a pointer missed leaves a question as it is, a false one would spoil it.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from atlas_search.answer.follow_up.names import names_in
from atlas_search.answer.follow_up.same_question import AUXILIARY, may_be_meant, opens_a_text
from atlas_search.language.english import AUXILIARIES, any_of

Referent = Literal["he", "she", "it", "they", "this", "there", "then", "noun", "other"]

_FORMS: dict[str, tuple[Referent, str]] = {
    "he": ("he", "subject"),
    "him": ("he", "object"),
    "his": ("he", "possessive"),
    "she": ("she", "subject"),
    "her": ("she", "object"),
    "it": ("it", "subject"),
    "its": ("it", "possessive"),
    "they": ("they", "subject"),
    "them": ("they", "object"),
    "their": ("they", "possessive"),
}
NOUNS: dict[str, tuple[str, ...]] = {
    "act": ("act",),
    "law": ("act", "law", "code", "statute"),
    "statute": ("act", "statute"),
    "legislation": ("act", "code", "statute"),
    "bill": ("bill",),
    "treaty": ("treaty", "convention", "pact", "accord"),
    "convention": ("convention",),
    "agreement": ("agreement", "accord", "pact"),
    "charter": ("charter",),
    "constitution": ("constitution",),
    "case": ("v",),
    "decision": ("v",),
    "judgment": ("v",),
    "ruling": ("v",),
    "court": ("court", "tribunal"),
    "tribunal": ("tribunal",),
    "committee": ("committee",),
    "commission": ("commission",),
    "council": ("council",),
    "party": ("party",),
    "company": ("company", "corporation"),
    "war": ("war",),
    "battle": ("battle",),
    "report": ("report",),
    "code": ("code",),
    "amendment": ("amendment",),
    "directive": ("directive",),
    "order": ("order",),
    "country": ("country",),
    "nation": ("country",),
    "place": ("place",),
    "city": ("place",),
    "town": ("place",),
    "man": ("person",),
    "woman": ("person",),
    "person": ("person",),
    "politician": ("person",),
    "year": ("year",),
}
"""Nouns that take up a name, and the heads or kinds of names they may mean."""

_WEAK = frozenset(
    "act bill treaty convention agreement charter case judgment statute report code amendment "
    "directive tribunal committee commission war battle court".split()
)
_TOKEN = re.compile(r"[\w'’-]+")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|\[[^\]]*\]')
_AUX = any_of(f"{AUXILIARIES} be been being isn't wasn't aren't weren't doesn't didn't don't")
_AFTER_OBJECT = frozenset(
    "about after against and as at because before between but by during for from in into like of "
    "on or over so than through to under until upon when where while with without again anyway "
    "apply then there now today first last later still too not ever away down up out off".split()
)
_PREPOSITIONS = frozenset("about against at by for from in into of on over to under with".split())
_BEFORE_CLAUSE = frozenset(
    "why when how where what who which whether if since after before because until while once "
    "although though that than".split()
)
_CLAUSE = r"(?:to (?!the\b|an?\b|(?-i:[A-Z]))|(?:that|whether|if|how|why)\b)"
_EXPLETIVE = re.compile(
    rf"(?:(?:is|was|isn't|wasn't|['’]s) (?:not )?it|{_AUX} it (?:not )?(?:be|been|become)) "
    rf"(?:[\w'’-]+ ){{0,7}}?(?:{_CLAUSE}|(?:who|which|for [^?]*\bto)\b)"
    rf"|\bit (?:{_AUX}|['’]s)(?: not)?(?: be)? [^?]*?\b{_CLAUSE}"
    r"|\bit (?:take|takes|took|matter|matters|mattered|seem|seems|seemed|appear|appears|appeared|"
    r"happen|happens|happened|rain|snow|hurt|follow|follows|turn out|so|like|true)\b"
    r"|\bit (?:make|makes) (?:sense|a difference|any difference)\b"
    r"|\bit (?:mean|cost|help|pay) (?:to|if|that|when|for [^?]*\bto)\b"
    r"|\b(?:make|makes|made|find|found|consider|considered|think|thought) it "
    r"(?:[\w'’-]+ ){0,6}?(?:to|that|for|if)\b"
    r"|\bhow far (?:is|was) it\b|\bwhat (?:is|was) it called when\b"
    r"|\b(?:time|day|date|season|weather) (?:is|was) it\b",
    re.IGNORECASE,
)
_WITHOUT_ANTECEDENT = re.compile(
    r"\bthe (?:latter|former|others?)(?=\W*$| (?:is|was|are|were|do|does|did|have|has)\b)"
    r"|^(?:(?:and|but) )?(?:who|what|where|anything|anyone) else\W*$|\bwhich ones?\b",
    re.IGNORECASE,
)
_SPECIFIED = re.compile(
    r",? (?:of|that|which|who|whose|where|on|for|against|between|concerning|regarding|about|"
    r"[A-Z\d(]|(?:problem|tree|maker|making|law|student|number|book|officer|member|record)s?\b)"
)
_CLAIMS = re.compile(
    rf"{any_of('say says said think thinks thought know knew believe decide decided hold held')} $"
)
_BARE_THIS = re.compile(
    rf"(?<!^)\b(?P<this>this|that|these|those)(?=[?.!]*$)|{_AUX} (?P<subject>this|that)"
    r"(?=[?.!]*$| (?:an?|the|so|true|apply|mean|still|also|change|include|cover|why|how|legal|"
    r"lawful|possible|correct|right|allowed)\b)"
)


@dataclass(frozen=True)
class Pointer:
    """`question[start:end]` points to a `referent`; `noun` is what it calls it.

    `weak` if it may as well stand for itself, such as `the court`.
    """

    start: int
    end: int
    referent: Referent
    possessive: bool = False
    noun: str = ""
    weak: bool = False


def pointers(question: str) -> list[Pointer]:
    """What points back, in order; of several words for the same the first."""
    text = _QUOTED.sub(lambda quoted: "_" * len(quoted.group()), question)
    named = [*_pronouns(text), *_nouns(text), *_bare(text)]
    found = [pointer for pointer in named if opens_a_text(text, pointer.start)]
    first: dict[tuple[Referent, str], Pointer] = {}
    for pointer in sorted(found, key=lambda p: (p.start, p.end)):
        first.setdefault((pointer.referent, pointer.noun), pointer)
    return list(first.values())


def _pronouns(text: str) -> list[Pointer]:
    tokens = list(_TOKEN.finditer(text))
    found = []
    for at, token in enumerate(tokens):
        word = token.group() if at else token.group().lower()
        before = tokens[at - 1].group().lower() if at else ""
        joined = at + 1 < len(tokens) and not text[token.end() : tokens[at + 1].start()].strip()
        after = tokens[at + 1].group().lower() if joined else ""
        if word == "there" and _is_place(text[: token.start()], before, after):
            found.append(Pointer(token.start(), token.end(), "there"))
        elif word == "then" and _is_time(before, after):
            found.append(Pointer(token.start(), token.end(), "then"))
        elif word in _FORMS:
            found += _pronoun(text, token, before, after)
    return found


def _pronoun(text: str, token: re.Match[str], before: str, after: str) -> list[Pointer]:
    """The pointer that a pronoun is, or none."""
    referent, form = _FORMS[token.group().lower()]
    ends = not after or after in _AFTER_OBJECT
    if referent == "she" and form == "object" and not ends:
        form = "possessive"
    if referent == "it" and form == "subject":
        if _stands_for_nothing(text, token, before, after):
            return []
        object_ = before in _PREPOSITIONS or (ends and before not in AUXILIARY | _BEFORE_CLAUSE)
        form = "object" if object_ else "subject"
    if may_be_meant(text, token.start(), token.end(), referent, form):
        return []
    return [Pointer(token.start(), token.end(), referent, form == "possessive")]


def _stands_for_nothing(text: str, token: re.Match[str], before: str, after: str) -> bool:
    if any(start <= token.start() < end for start, end in _expletives(text)):
        return True
    opens_clause = before in _BEFORE_CLAUSE | AUXILIARY | {"", "and", "but"}
    return after in AUXILIARY and not opens_clause


@lru_cache(maxsize=32)  # asked for each `it` of a question
def _expletives(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _EXPLETIVE.finditer(text)]


def _is_place(said: str, before: str, after: str) -> bool:
    """Whether `there` is a place, and none was named before it."""
    if not before or (after and after not in _AFTER_OBJECT) or before in _BEFORE_CLAUSE:
        return False
    expletive = AUXILIARY | {"exist", "exists", "existed", "not"}
    if before.replace("’", "'").removesuffix("n't") in expletive or before.endswith("ing"):
        return False
    return not any(name.kind != "person" for name in names_in(said))


def _is_time(before: str, after: str) -> bool:
    return not after and before not in {"", "and", "but", "so", "if"}


def _nouns(text: str) -> list[Pointer]:
    """`the same act`, `that case`, `the treaty` where nothing says which one."""
    found = []
    pattern = rf"(?P<lead>\b(?:the same|the said|this|that|the)) (?P<noun>(?i:{'|'.join(NOUNS)}))\b"
    for match in re.finditer(pattern, f"{text[:1].lower()}{text[1:]}"):
        lead, noun = match["lead"], match["noun"].lower()
        rest = text[match.end() :]
        if _SPECIFIED.match(rest) or (lead == "that" and match["noun"][0].isupper()):
            continue
        if lead == "this" and noun in {"year", "country", "city", "town", "place", "order"}:
            continue  # that of whoever asks
        if lead == "the" and noun not in _WEAK:
            continue
        if lead == "that" and noun in {"law", "legislation", "order", "party"} and rest[:1] == " ":
            continue  # "decided that law students ..."
        if noun == "case" and re.search(r"\bin $", text[: match.start()]) and rest[:1] == ",":
            continue  # "In that case, ..." may only mean "then"
        if any(NOUNS[noun][0] in name.words for name in names_in(text[: match.start()])):
            continue
        found.append(Pointer(*match.span(), "noun", noun=noun, weak=lead == "the"))
    return found


def _bare(text: str) -> list[Pointer]:
    """`this` and `that` without a noun, and words such as `the latter`."""
    found = [Pointer(*match.span(), "other") for match in _WITHOUT_ANTECEDENT.finditer(text)]
    for match in _BARE_THIS.finditer(text):
        group = "this" if match["this"] else "subject"
        if "," in text[: match.start(group)]:
            continue  # what stands before it in its own question
        claim = _CLAIMS.search(text[: match.start(group)])
        found.append(Pointer(*match.span(group), "other" if claim else "this"))
    return found
