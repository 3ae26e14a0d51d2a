"""What a pointer points to, in what was said before."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from atlas_search.answer.follow_up.names import (
    KIN,
    ORGANISATIONS,
    TITLES,
    Gender,
    Name,
    distinct_names,
    names_in,
)
from atlas_search.answer.follow_up.pointers import NOUNS, Pointer
from atlas_search.language.english import AUXILIARIES
from atlas_search.language.languages import FUNCTION_WORDS
from atlas_search.language.text import sentences

MOST_QUESTIONS = 6
"""How far back a name is looked for; what came before is another subject."""

_IS = r"(?:is|was|are|were|['’]s)"
_TOPIC = re.compile(
    rf"(?:(?P<asks>who|what|where) ?{_IS} (?P<be>.+?)|what (?:does|do|did) (?P<mean>.+?) mean|"
    r"how (?:does|do|did) (?P<work>.+?) work|(?:please )?(?:tell me (?:more |something )?about|"
    r"describe|explain|what do you know about) (?P<about>.+?))[?.! ]*",
    re.IGNORECASE,
)
_PASSIVE = re.compile(
    r"(?i:(?:(?:when|where|why|how|by whom) )?(?:is|was|are|were)) "
    r"(?P<phrase>(?:the|an?) [a-z][\w-]*(?: (?!(?:of|in|on|at|by|to|for|with|from)\b)"
    r"[a-z][\w-]*(?<!ly)(?<!ed))*?) "
    r"(?P<verb>[a-z]+ed|built|made|begun|won|lost|held|sold|found|written|set up|drawn|brought|cut|"
    r"taken|given)\b(?P<rest>[^?]*)"
)
_ARTICLE = re.compile(r"(?:the|an?) ", re.IGNORECASE)
_OF = re.compile(r"\bof (?P<inner>.+)$")
_ABSTRACT = re.compile(
    r"(?:the )?(?:main )?(?:purpose|aim|meaning|definition|effect|scope|contents?|text|title|name|"
    r"subject|point|significance|importance|origin|history|date) of ",
    re.IGNORECASE,
)
_VERBAL = re.compile(r"(?:ed|ing|ible|able|ly)\b|\b(?:to|that|who|which|about|known|responsible)\b")
_WHO_ACTS = re.compile(rf"(?:and )?(?:who|which [a-z]+|whose) (?!{_IS} )", re.IGNORECASE)
_PERSONS = re.compile(
    r"\b(?:minister|president|king|queen|judge|man|woman|child|person|mayor|governor|leader|author|"
    r"officer|soldier|lawyer|politician)$",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:in|on|since|by|until|during|before|after|January|February|March|April|May|June|July|"
    r"August|September|October|November|December)(?: \d{1,2},)? (?P<year>1\d{3}|20\d\d)\b(?![-/%])"
)
_PLURAL = re.compile(r"\b(?:people|men|women|children|[a-z]{3,}(?<![suid'])s)\b")
_NOT_PLURAL = FUNCTION_WORDS | frozenset(AUXILIARIES.split()) | {"always", "perhaps", "means"}
_VERB_OF_WHO = re.compile(r"\b(?:who|which \w+) [a-z]+s\b", re.IGNORECASE)
_BOTH = re.compile(r" and ")


@dataclass(frozen=True)
class Conversation:
    """The questions so far as they were read, oldest first, and the last answer if there is one."""

    questions: tuple[str, ...] = ()
    answer: str = ""


def antecedent(pointer: Pointer, question: str, said: Conversation) -> str:
    """What a pointer stands for, to be written in its place; empty where nothing is sure.

    What the `question` itself names is not what it points to.
    """
    known = distinct_names(_all_names(said))
    named = frozenset(word for name in names_in(question) for word in name.words)
    if pointer.referent == "then" or NOUNS.get(pointer.noun) == ("year",):
        return _time(said)
    for asked, answer in _exchanges(said):
        found, told = (
            _candidates(pointer, text, _unnamed(text, known, named)) for text in (asked, answer)
        )
        if found or len(told) == 1:
            return (found or told)[0] if len(found) < 2 else ""
        if pointer.weak or pointer.referent == "this" or _opens_a_subject(pointer, asked):
            return ""
    return ""


def _unnamed(text: str, known: Sequence[Name], named: frozenset[str]) -> list[Name]:
    """The names of a text that the question itself does not name."""
    return [name for name in distinct_names(names_in(text), known) if not name.words & named]


def _all_names(said: Conversation) -> list[Name]:
    return [name for text in (*said.questions, said.answer) for name in names_in(text)]


def _exchanges(said: Conversation) -> list[tuple[str, str]]:
    """The questions from the last one back, the last with its answer."""
    newest = said.questions[: -MOST_QUESTIONS - 1 : -1] or ("",)
    return list(zip_longest(newest, [said.answer], fillvalue=""))


def _opens_a_subject(pointer: Pointer, text: str) -> bool:
    """Whether a text has a subject of its own, behind which nothing is meant."""
    if pointer.referent in {"he", "she"}:
        return bool(_WHO_ACTS.match(text))
    return pointer.referent in {"it", "they"} and bool(_topic(text) or _PASSIVE.match(text))


def _candidates(pointer: Pointer, text: str, names: Sequence[Name]) -> list[str]:
    """What in a text the pointer may point to."""
    match pointer.referent:
        case "he" | "she":
            return _people(pointer.referent, text, names)
        case "it":
            return _things(text, names)
        case "they":
            return _several(text, names)
        case "this":
            return _topics(text, names)
        case "there":
            return [f"in {name.text}" for name in names if name.located and name.kind != "person"]
        case "noun":
            return _of_noun(pointer.noun, names)
        case _:
            return []


def _people(pronoun: Gender, text: str, names: Sequence[Name]) -> list[str]:
    if _WHO_ACTS.match(text):
        return []  # whoever it asks for, or whom it names
    fits = [
        name.text
        for name in names
        if name.gender in {"", pronoun}
        and (name.kind == "person" or (name.kind == "unknown" and _looks_personal(name)))
    ]
    topic = _topic(text)
    if not topic.lower().startswith(("the ", "a ", "an ")) and not re.search(KIN, topic):
        return fits
    if not re.match("who", text, re.IGNORECASE) or topic in fits:
        return fits
    gender = next((TITLES[w] for w in reversed(topic.casefold().split()) if w in TITLES), "")
    if gender == pronoun:
        return [topic]
    inside = [name for name in fits if f" of {name}" in topic or re.search(f"{name}['’]s", topic)]
    return inside + [topic] * (not gender)


def _looks_personal(name: Name) -> bool:
    return not re.search(r"\d|^the ", name.text) and (len(name.words) in (2, 3, 4))


def _things(text: str, names: Sequence[Name]) -> list[str]:
    things = [name for name in names if name.kind == "thing"]
    topics = _topics(text, names)
    if topics:
        return topics
    passive = _PASSIVE.match(text)
    if not things and passive and not _PERSONS.search(passive["phrase"]):
        plural = re.match(r"\w* ?(?:are|were)\b", text)
        other = re.search(r"(?<!\bin )\b(?:the|an?) ", passive["rest"])
        return [] if other or plural else [passive["phrase"]]
    return [name.text for name in things]


def _topics(text: str, names: Sequence[Name]) -> list[str]:
    """What a question is about as a whole, if that is no person: `What is the minimum wage?`"""
    topic = _topic(text)
    if not topic or re.match("who", text, re.IGNORECASE):
        return []
    whole = [name for name in names if topic in {name.text, name.text.removeprefix("the ")}]
    if whole:
        return [name.text for name in whole if name.kind != "person"]
    if re.match(r"what (?:are|were)\b", text, re.IGNORECASE) or not _is_phrase(topic):
        return []
    inner = _OF.search(topic)
    if not inner or not any(name.text in inner["inner"] for name in names):
        return [topic]
    of = [name.text for name in names if name.text in inner["inner"]]
    return of if _ABSTRACT.match(topic) else [topic, *of]


def _is_phrase(topic: str) -> bool:
    """Whether a topic is a noun with what belongs to it, and no clause."""
    if len(topic.split()) > 10 or _VERBAL.search(topic) or "," in topic:
        return False
    return bool(_ARTICLE.match(topic)) or (len(topic.split()) <= 4 and topic[:1].islower())


def _topic(text: str) -> str:
    found = _TOPIC.fullmatch(text.strip())
    if not found:
        return ""
    return next(found[group] for group in ("be", "mean", "work", "about") if found[group])


def _several(text: str, names: Sequence[Name]) -> list[str]:
    """Whom or what `they` means: two names, several things, an organisation or one person."""
    people = [name.text for name in names if name.kind in {"person", "unknown"}]
    pair = " and ".join(people)
    if len(people) == 2 and _BOTH.search(text) and pair in text:
        return [pair]
    verbs = [m.span() for m in _VERB_OF_WHO.finditer(text)]
    plurals = [
        m
        for m in _PLURAL.finditer(text)
        if m.group() not in _NOT_PLURAL and all(m.end() != end for _, end in verbs)
    ]
    if plurals:
        return _one_plural(text, plurals)
    bodies = [name.text for name in names if name.head in ORGANISATIONS]
    return bodies or (people if _topic(text) in people else [])


def _one_plural(text: str, plurals: Sequence[re.Match[str]]) -> list[str]:
    """The only plural of a question, with its article; none of several is sure."""
    if len(plurals) > 1:
        return [match.group() for match in plurals]
    start, end = plurals[0].span()
    lead = re.search(r"(?:\b(?:the|these|those|all) (?:[a-z][\w-]* )?)$", text[:start])
    return [text[lead.start() : end] if lead else text[start:end]]


def _of_noun(noun: str, names: Sequence[Name]) -> list[str]:
    wanted = NOUNS[noun]
    if wanted == ("person",):
        gender: Gender = {"man": "he", "woman": "she"}.get(noun, "")  # type: ignore[assignment]
        return [n.text for n in names if n.kind == "person" and n.gender in {"", gender}]
    if wanted in {("country",), ("place",)}:
        return [name.text for name in names if name.kind == "place"]
    return [name.text for name in names if name.head in wanted]


def _time(said: Conversation) -> str:
    """The year that was spoken of last, as `in 1967`."""
    for text in _exchanges(said)[0]:
        years = {match["year"] for match in _DATED.finditer(text)}
        if years:
            return f"in {years.pop()}" if len(years) == 1 else ""
    return ""


def first_sentence(text: str) -> str:
    """The first sentence of an answer, which says what it is about."""
    spans = sentences(text)
    return text[spans[0].start : spans[0].end] if spans else ""
