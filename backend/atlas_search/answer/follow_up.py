"""Questions that lean on what was said before, and what they may mean: a few English rules.

What a pronoun, `that case` or a part of a question points to is taken to be the subject named last.
Kinship, offices and chains of pronouns are left to a language model (CONDENSE_FOLLOWUPS).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from atlas_search.core.domain import MARKER, ChatTurn
from atlas_search.language.english import AUXILIARIES, any_of
from atlas_search.language.languages import CAPITAL
from atlas_search.language.text import is_function_word, sentences, words

LONGEST = 300
"""Characters of a question; a longer one says what it is about."""
TELLING = 6
"""Informative words of a question; one with more says what it is about. Of 10,380 questions
that were asked alone, put behind three others, the rules touch 1 in 150."""
TELLING_ALONE = 3
"""The same bound with nothing said before; a name is enough, too."""
TURNS_READ = 20
CHARACTERS_READ = 2000
"""Characters read of a turn."""

_WH = "who whom whose what which when where why how"
_PREPOSITION = r"(?:in|under|for|during|since|by|before|after|at|to|from|against|of|on|about|with)"
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|\[[^\]]*\]')
_POINTER = re.compile(
    r"\b(?:(?P<he>he|him|his|she|her|hers)|(?P<it>it|its)|(?P<they>they|them|their)|"
    rf"(?P<noun>(?:this|that|these|those|the same|the said) (?!{any_of(AUXILIARIES)})(?:act|law|"
    r"statute|bill|treaty|agreement|case|decision|judgment|ruling|court|committee|commission|"
    r"council|company|report|country|man|woman|person))|"
    r"(?P<there>there)(?=\W*$)|(?P<then>then|(?:that|the same) year)(?=\W*$)|"
    r"(?P<this>this|that)(?=\W*$))\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(  # `is it lawful to`, `makes it a crime`, `it takes`
    r"\b(?:is|was|be) it (?:not )?(?:[\w'’-]+ ){0,7}?"
    r"(?:to (?!the\b|an?\b)|(?:that|whether|if|who|for)\b)|"
    r"\bit (?:is|was|takes?|took|matters?|seems?|appears?|follows?|means? to)\b|"
    r"\b(?:makes?|made|finds?|found|thinks?|thought) it\b|\bhow far is it\b|\bis it called when\b",
    re.IGNORECASE,
)
_OWN = re.compile(  # what a pronoun behind it may mean in its own question
    rf"\b(?i:the|an?|every|each|any|some|no|another|which|what|whose|my|our|your) "
    rf"(?!{_PREPOSITION} |{any_of(AUXILIARIES)})[a-z]|\b(?i:some|any|every|no)(?:one|body)\b|"
    rf"(?<!^)\b{CAPITAL}\w"
)
_PLURAL = re.compile(r"\b[a-z]{3,}(?<![suid'’])s\b|\b(?:people|men|women|children)\b")
_WHO_DOES = re.compile(rf"\bwho (?!{any_of(AUXILIARIES)})\w+ ", re.IGNORECASE)
_SUBORDINATE = re.compile(
    r"\b(?:if|when|while|because|unless|after|before|since|as) $", re.IGNORECASE
)
_OBJECT = re.compile(rf"\b(?:him|them|{_PREPOSITION} (?:it|this|that))$", re.IGNORECASE)
_FRAGMENT = re.compile(
    r"(?:(?:and|but|so|or|ok|okay),? )?(?:(?:what|how) about |what of )(?P<about>[^?]+?)\W*|"
    rf"(?:(?:and|but|or),? )(?P<also>(?:{_PREPOSITION} |the )?[^?]+?)\W*|"
    rf"(?P<place>{_PREPOSITION} (?:the )?(?-i:[A-Z\d])[^?]*?)\W*|"
    r"(?:(?:and|but|so),? )?(?P<asks>why|when|where|how|by whom)\W*",
    re.IGNORECASE,
)
_CLAUSE = re.compile(rf"{any_of(f'{AUXILIARIES} {_WH} tell explain describe compare list show')}")
_WHAT_IT_IS = re.compile(  # `What is libel?`, `Who was mayor?`, but not `Who was killed?`
    r"wh\w+(?: (?:is|are|was|were)|['’]s) (?!the\b|\w+ed\b).+", re.IGNORECASE
)
_YEAR = r"(?:1\d{3}|20\d\d)"
_NAME = re.compile(
    rf"(?P<before>\b[a-z]+ )?(?P<name>\b{CAPITAL}[\w.'’-]*"
    rf"(?: (?:(?:of|the|v\.?|vs\.?|for|and the|de|von|van) )*{CAPITAL}[\w.'’-]*)*(?: {_YEAR})?)"
    rf"(?P<of> [a-z]+(?=[?.,]| {_PREPOSITION} ))?"
)
_TOPIC = re.compile(
    r"(?:what|who|where) ?(?:is|was|are|were|['’]s) (?P<be>[^?.,]{2,60}?)"
    rf"(?= and {any_of(_WH)}|[?.,]|\Z)|"
    r"(?:when|why|how|where) (?:is|was|are|were) (?P<done>the [a-z][a-z -]{2,40}?) "
    r"\w+(?:ed|en|t)\W*$",
    re.IGNORECASE,
)
_PLACED = re.compile(r"(?:in|at|from|near|to|of|on|through) $")
_PLACED_BEFORE = re.compile(rf"\b{_PREPOSITION} the \Z")  # `in the Bondi Beach attack`
_POSSESSIVES = ("his", "her", "its", "their")
_POSSESSIVE = re.compile(r"['’]s?$")
_NO_PERSON = re.compile(
    r"\b(?:(?:in|at|from|near) [A-Z]|v\.? |(?:Act|Bill|Court|Code|Treaty|Convention|War|Case)\b)"
)
_CALLED = {"case": r" v", "decision": " v", "judgment": " v", "act": "Act", "law": "Act|Code|Law"}


@dataclass(frozen=True)
class FollowUp:
    """The reading of a follow-up: a whole `question`, empty if none is sure or it is no follow-up.

    `pointer` is the word that points back to what is not known, empty if none does.
    """

    question: str = ""
    pointer: str = ""


def read_follow_up(question: str, history: Sequence[ChatTurn]) -> FollowUp:
    """Read a question after `history`, oldest turn first."""
    questions: list[str] = []
    answer = ""
    for turn in history[-TURNS_READ:]:
        text = " ".join(MARKER.sub("", turn.content[:CHARACTERS_READ]).split())
        if turn.role == "user":
            questions.append((_read(text, questions, answer).question or text)[:LONGEST])
            answer = ""
        else:
            spans = sentences(text)
            answer = text[spans[0].start : spans[0].end][:LONGEST] if spans else ""
    return _read(" ".join(question.split()), questions, answer)


def _read(question: str, questions: Sequence[str], answer: str) -> FollowUp:
    telling = sum(word.informative for word in words(question))
    if len(question) > LONGEST or telling > TELLING:
        return FollowUp()
    if fragment := _fragment(question):
        whole = _completed(fragment, questions[-1]) if questions else ""
        return FollowUp(whole, "" if whole else question)
    if not questions and not answer and (telling > TELLING_ALONE or _names_in(question)):
        return FollowUp()
    pointers = _pointers(question)
    if not pointers:
        return _on_the_subject(question, questions, answer)
    referents = [(pointer, _referent(pointer, questions, answer)) for pointer in pointers]
    for pointer, name in referents:
        if not name:
            return FollowUp(pointer=pointer.group())
    text = question
    for pointer, name in reversed(referents):
        text = text[: pointer.start()] + name + text[pointer.end() :]
    text = re.sub(r"^(?:and|but|so),? ", "", text, flags=re.IGNORECASE)
    return FollowUp(text[:1].upper() + text[1:])


def _on_the_subject(question: str, questions: Sequence[str], answer: str) -> FollowUp:
    """Add the subject to a question of one word: `Who dissented?`

    `Who was the judge?` is of a named subject, but of no other.
    """
    telling = [word for word in words(question) if word.informative]
    is_part = len(telling) == 1 and _CLAUSE.match(question) and not _WHAT_IT_IS.match(question)
    if not (questions or answer) or not is_part or _names_in(question):
        return FollowUp()
    subject = "" if telling[0].folded == "else" else _subject(questions, answer)
    if " the " in question and _names_in(f"x {subject}") != [subject]:
        return FollowUp()
    if not subject:
        return FollowUp(pointer=question)
    return FollowUp(f"{question.rstrip('?!. ')} ({subject})?")


def _pointers(question: str) -> list[re.Match[str]]:
    """The words that point to something outside the question, each form once."""
    text = _QUOTED.sub(lambda quoted: "x" * len(quoted.group()), question)
    nothing = [match.span() for match in _NOTHING.finditer(text)]
    pointers: dict[str, re.Match[str]] = {}
    for match in _POINTER.finditer(text):
        inside = any(start <= match.start() < end for start, end in nothing)
        if match["it"] and (inside or match.group().isupper()):
            continue
        if not _means_its_own(match, text):
            pointers.setdefault(match.lastgroup or "", match)
    return list(pointers.values())


def _means_its_own(pointer: re.Match[str], text: str) -> bool:
    before = text[: pointer.start()]
    if pointer["noun"] or pointer["then"] or pointer["there"] or pointer["this"]:
        return False
    if _OBJECT.search(before + pointer.group()):
        return False
    if _SUBORDINATE.search(before):
        return "," in text[pointer.end() :] or any(word.informative for word in words(before))
    owned = pointer.group().lower() in _POSSESSIVES and _WHO_DOES.search(before)
    plural = pointer["they"] and _PLURAL.search(before)
    return bool(owned or plural or _OWN.search(before))


def _referent(pointer: re.Match[str], questions: Sequence[str], answer: str) -> str:
    """Return the words that a pointer stands for; empty if they are not sure."""
    kind, word = pointer.lastgroup, pointer.group().lower()
    if kind == "then":
        years = re.findall(rf"\b{_YEAR}\b", questions[-1] if questions else "")
        return f"in {years[0]}" if len(years) == 1 else ""
    subject = "" if kind == "this" else _subject(questions, answer, kind or "")
    if kind == "noun" and not re.search(_CALLED.get(word.split()[-1], ""), subject):
        return ""
    if kind == "there" and subject:
        return subject if _PLACED.search(pointer.string[: pointer.start()]) else f"in {subject}"
    goes_on = pointer.string[pointer.end() :].strip(" ?!.")
    return f"{subject}'s" if subject and word in _POSSESSIVES and goes_on else subject


def _subject(questions: Sequence[str], answer: str, kind: str = "") -> str:
    """The subject named last; empty where several were, or none that can be meant."""
    for number, text in enumerate(reversed(questions)):
        for line in (text, answer if not number else ""):
            is_person = bool(re.match("who ", line, re.IGNORECASE))
            topic = _TOPIC.match(line)
            names = _names_in(line)
            if kind == "he":
                names = [name for name in names if not _NO_PERSON.search(line)]
            if kind in ("it", "noun") and is_person:
                names = []
            if topic and kind != "there" and is_person == (kind == "he"):
                inner = re.search(r" of (.+)", topic["be"] or "")
                inner_names = _names_in(f"x {inner[1]}") if inner and kind != "he" else []
                names = inner_names if len(inner_names) == 1 else [topic["be"] or topic["done"]]
            if kind == "they" and len(names) == 2 and " and ".join(names) in line:
                names = [" and ".join(names)]
            if names:
                return names[0] if len(names) == 1 else ""
    return ""


def _names_in(text: str) -> list[str]:
    """The names in a text, each once; a word that only begins it is none."""
    names = []
    for match in _NAME.finditer(text):
        name = match["name"]
        if match.start("name") == 0:
            first, _, rest = name.partition(" ")
            name = rest if is_function_word(first) or _CLAUSE.fullmatch(first) else name
            if not rest:
                continue
        name = _POSSESSIVE.sub("", name.rstrip(".,"))
        if name and name != "I":
            the = "the " if match["before"] in ("the ", "The ") else ""
            of = (match["of"] or "") if _PLACED_BEFORE.search(text, 0, match.end("before")) else ""
            names.append(f"{the}{name}{of}" if the else name)
    return list(dict.fromkeys(names))


def _fragment(question: str) -> re.Match[str] | None:
    """Match a question that is only a part of one: `And in 1990?`, `Why?`"""
    match = _FRAGMENT.fullmatch(question)
    part = match and (match["about"] or match["also"] or match["place"])
    if part and (_CLAUSE.search(part) or "," in part or len(part.split()) > 6):
        return None
    return match


def _completed(fragment: re.Match[str], previous: str) -> str:
    """The previous question with a part in the place of its like; empty if that is not sure."""
    if fragment["asks"]:
        start = re.match(rf"(?:when|where|why|how)(?= {any_of(AUXILIARIES)})", previous, re.I)
        return f"{fragment['asks'].capitalize()}{previous[start.end() :]}" if start else ""
    part = next(fragment[group] for group in ("about", "also", "place") if fragment[group])
    place = re.match(rf"(?i:{_PREPOSITION}) (?P<what>.+)", part)
    what = place["what"] if place else part
    is_year = re.fullmatch(_YEAR, what)
    if not is_year and not _names_in(f"x {what}"):
        return ""
    alike = re.findall(rf"\b{_YEAR}\b", previous) if is_year else _names_in(previous)
    if place and not is_year:
        behind = rf"\b{_PREPOSITION} "
        alike = [name for name in alike if re.search(behind + re.escape(name), previous)]
    if len(alike) == 1:
        return previous.replace(alike[0], what)
    if alike or not place or (_names_in(previous) and not is_year):
        return ""
    return f"{previous.rstrip('?.! ')} {part[0].lower()}{part[1:]}?"
