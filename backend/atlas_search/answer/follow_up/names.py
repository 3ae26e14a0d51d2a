"""Names in a question or an answer, each with its kind as far as its words and neighbours tell."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from atlas_search.language.countries import is_country
from atlas_search.language.english import AUXILIARIES, MONTHS, any_of
from atlas_search.language.languages import FUNCTION_WORDS
from atlas_search.language.spelling import CAPITAL

Kind = Literal["person", "place", "thing", "unknown"]
Gender = Literal["he", "she", ""]

_HE = "mr sir lord king prince emperor pope baron father husband son brother man grandfather"
_SHE = "mrs ms miss dame lady queen princess empress wife mother daughter sister woman"
TITLES: dict[str, Gender] = {
    **dict.fromkeys(_HE.split(), "he"),
    **dict.fromkeys(_SHE.split(), "she"),
}
"""What a person is called that tells which pronoun follows."""

KIN = any_of(
    "wife husband son daughter father mother brother sister widow widower friend successor "
    "predecessor deputy secretary lawyer killer murderer assassin teacher colleague rival"
)
"""Persons that are called by another person."""

_OFFICES = frozenset(
    "dr judge justice president prime chief minister premier general captain colonel senator "
    "governor chancellor professor reverend secretary bishop archbishop attorney".split()
)
ORGANISATIONS = frozenset(
    "court council committee commission parliament congress senate party university college "
    "company bank corporation society association union board department ministry agency church "
    "army tribunal government inquiry cabinet police".split()
)
"""What is spoken of as one thing or as several people."""

_HEADS = ORGANISATIONS | frozenset(
    "act bill code treaty convention covenant charter constitution regulation regulations rules "
    "order directive agreement declaration amendment house school office war battle bridge river "
    "case report project plan programme program law crown empire league library museum hospital "
    "newspaper newspapers times fund scheme service protocol statute accord pact revolution rights "
    "championship festival prize award system network railway".split()
)
_JOINS_MORE = (
    "(?:Convention|Covenant|Treaty|Act|Court|Department|Ministry|Office|Committee|Commission|"
    "Council|Centre|Agreement|Declaration)"
)
_BARE = rf"{CAPITAL}[\w-]*(?:['’](?!s\b)\w+)*"
_PART = rf"(?:{_JOINS_MORE} (?:on|for)(?: the)? {_BARE}|{CAPITAL}\.(?= ?{CAPITAL})|{_BARE})"
_NAME = re.compile(
    rf"(?:\b[Tt]he )?(?<![\w'’]){_PART}"
    rf"(?: (?:(?:of(?: the)?|vs?\.?|de|van|von|der) )?{_PART})*(?: [12]\d{{3}}\b)?"
)
_ARTICLE = re.compile("[Tt]he ")
_AGAINST = re.compile(r" vs?\.? ")
_HEAD = re.compile(r"(?: (?:of|on|for) .*)?(?: [12]\d{3})?$")
_SENTENCE_START = re.compile(r"(?:^|[.?!:]\s+)[\"“‘(]*$")
_BEFORE = 40  # characters before a name that are looked at
_OPENING = FUNCTION_WORDS | frozenset(AUXILIARIES.split()) | frozenset(
    "tell explain describe compare list name give whose what's who's where's".split()
)  # fmt: skip
_CALENDAR = frozenset(MONTHS) | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday i".split()
)

# the neighbours of a name that tell its kind
_IN = re.compile(
    r"\b(?:in|at|near|across|throughout|within|outside|inside|where (?:is|was)) $", re.I
)
_WHO_IS = re.compile(r"\b(?:who(?: is| was|['’]s)) $", re.IGNORECASE)
_WHAT_IS = re.compile(r"\b(?:what(?: is| was|['’]s)|called) $", re.IGNORECASE)
_BE = r"(?:(?:is|was|be|been|being|had been|has been) (?:\w+ly |first |also )?)?"
_OF_PERSON = re.compile(
    rf"['’]s {KIN}| {_BE}(?:born|buried|killed|murdered|assassinated|executed|elected|appointed|"
    r"arrested|convicted|imprisoned|married|knighted|educated|die|died|dies|disappear|disappeared|"
    r"drown|drowned|resign|resigned|retire|retired|marry|live|lived|write|wrote|think|believe|"
    r"study|studied|become|became|grow up|grew up|speak|spoke|want|wanted)\b"
    r"| (?:is|was) an? (?:[\w-]+ ){0,3}?(?:politician|lawyer|judge|barrister|writer|author|poet|"
    r"painter|artist|actor|actress|scientist|soldier|officer|journalist|historian|economist|"
    r"philosopher|composer|singer|statesman|leader|explorer|inventor|engineer|physician|doctor)\b"
    r"| \((?:born )?\d{4}",
)
_OF_THING = re.compile(
    rf" {_BE}(?:introduced|enacted|passed|signed|founded|established|built|opened|published|"
    r"repealed|invented|created|abolished|launched|adopted|ratified|amended|drafted|commence|apply|"
    r"contain|provide|cover)\b"
)


@dataclass(frozen=True)
class Name:
    """`text[start:end]`, with an article where there is one: `the Privacy Act 1993`.

    `located` if it stands behind a word such as `in`; `gender` is empty where nothing tells it.
    """

    text: str
    kind: Kind
    gender: Gender
    start: int
    end: int
    located: bool = False

    @property
    def words(self) -> frozenset[str]:
        """Its words in small letters, without the article."""
        return frozenset(re.findall(r"[\w'’-]+", self.text.casefold())) - {"the", "of", "v", "vs"}

    @property
    def head(self) -> str:
        """The word that says what it is, in small letters: `act` of `the Act of Settlement 1701`;
        `v` of a case."""
        if _AGAINST.search(self.text):
            return "v"
        return _HEAD.sub("", _ARTICLE.sub("", self.text, count=1)).rpartition(" ")[2].casefold()


def names_in(text: str) -> list[Name]:
    """The names in a text, in order; none if every word is capitalised."""
    words = [word for word in re.findall(r"[^\W\d_][\w'’-]*", text) if word.lower() not in _OPENING]
    if len(words) > 4 and all(word[0].isupper() for word in words):
        return []
    return [name for match in _NAME.finditer(text) if (name := _name(text, *match.span()))]


def _name(text: str, start: int, end: int) -> Name | None:
    first = bool(_SENTENCE_START.search(text, max(0, start - _BEFORE), start))
    start = _behind_opening(text, start, end) if first else start
    found = text[start:end]
    bare = _ARTICLE.sub("", found, count=1)
    if all(word.casefold() in _CALENDAR or word.isdigit() for word in bare.split()):
        return None
    kind, gender = _kind(text, start, end), TITLES.get(bare.split()[0].casefold(), "")
    if first and kind == "unknown" and " " not in bare and start == 0:
        return None  # any word is capitalised there
    article = bare if bare == found else f"the {bare}"
    located = bool(_IN.search(text, max(0, start - _BEFORE), start))
    return Name(article, kind, gender, start, end, located)


def _behind_opening(text: str, start: int, end: int) -> int:
    """Where a name begins, behind capitalised words that only open the sentence."""
    while start < end:
        word = text[start:end].split(" ")[0]
        keeps = word.casefold() == "the" or word.casefold() not in _OPENING
        if keeps or (word.isupper() and len(word) > 1):
            break
        start = min(start + len(word) + 1, end)
    return start


def _kind(text: str, start: int, end: int) -> Kind:
    before, after, found = text[max(0, start - _BEFORE) : start], text[end:], text[start:end]
    bare = _ARTICLE.sub("", found, count=1)
    name = Name(found, "unknown", "", start, end)
    first = bare.split()[0].casefold()
    if name.head == "v" or name.head in _HEADS:
        return "thing"
    if is_country(bare):
        return "place"
    if first in TITLES or first in _OFFICES:
        return "person"
    if _IN.search(before):
        return "place"
    if _WHO_IS.search(before) or _OF_PERSON.match(after):
        return "person"
    if bare != found or _WHAT_IS.search(before) or _OF_THING.match(after):
        return "thing"
    return "unknown"


def distinct_names(names: Iterable[Name], known: Sequence[Name] = ()) -> list[Name]:
    """Each name once, in its longest form there or among the `known`, and of the kind that any of
    them tells."""
    found: list[Name] = []
    for name in names:
        same = [other for other in (*known, name) if name.words <= other.words]
        longest = max(same, key=lambda other: (len(other.words), other is name))
        kinds = [other.kind for other in (name, *same) if other.kind != "unknown"]
        genders = [other.gender for other in (name, *same) if other.gender]
        full = replace(
            name,
            text=longest.text,
            kind=kinds[0] if kinds else "unknown",
            gender=genders[0] if genders else "",
        )
        rest = [other for other in found if not other.words <= full.words]
        if not any(full.words <= other.words for other in rest):
            found = [*rest, full]
    return found
