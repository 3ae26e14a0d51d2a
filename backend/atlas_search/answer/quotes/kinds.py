"""What kind of thing a question asks for, and whether a sentence can be the answer.

A passage can be about the right subject without holding the answer. These patterns are cheap and
coarse; a question that fits none of them asks for nothing in particular and any sentence will do.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from atlas_search.language.english import MONTHS, NUMBERS, SCALES
from atlas_search.language.text import fold, words

_COUNTS = [word for word in (*NUMBERS, *SCALES) if len(word) > 2]
_WORDS = "|".join([*_COUNTS, "half", "unanimous", "unanimously"])
_MONTH = "|".join(month.title() for month in MONTHS)
_CALENDAR = frozenset(fold(month) for month in MONTHS)
# at the start only: elsewhere "who" and "which" mostly introduce a clause
_BEGIN = r"^(?:(?:at|by|for|from|in|of|on|to) )?"
_END = r"(?= (?:who|that|which|of|for|in|to|against)\b|\?|$)"
_ROLE = re.compile(
    # a source need not call a country a country
    rf"{_BEGIN}(?:which|what) (?!(?:is|was|are|were|country|city|town|state)\b)([a-z]+)|"
    rf"\bwho (?:was|were|is|are) the (?:[a-z]+ )?([a-z]+){_END}|"
    rf"\bnames? of (?:the )?(?:\S+ ){{0,2}}?([a-z]+){_END}",
    re.IGNORECASE,
)

_PLACED = re.compile(
    r"\b(?:in|at|on|near|under|beside|between|over|behind|inside|outside|from|to)\s+"
    r"(?:(?:the|an?|its|his|her|their|this|that)\s+)?(?P<place>\w+(?:\s+\w+)?)"
)

_COUNT = re.compile(rf"\d|(?i:\b(?:{_WORDS})\b)")
_NUMBERED = re.compile(
    r"(?i:\b(?:sections?|sub-?sections?|ss?|articles?|art|amendments?|chapters?|parts?|clauses?|"
    r"rules?|regulations?|schedules?|paragraphs?|paras?|pages?|pp?|volumes?|vol|nos?|numbers?|"
    r"standing orders?)\.? )\d+[a-z]?\b(?:\(\w+\))*"
)
"""The number of a part of a text, which counts nothing."""
_DATED = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)? (?:{_MONTH})\b|\b(?:{_MONTH}) \d{{1,2}}\b(?!,\d)|"
    r"(?<![\d,.$£€])(?:1[5-9]|20)\d\d(?:[-–/]\d\d)?\b(?![,.]\d)"
)

Held = Callable[[str, str, str], bool]


@dataclass(frozen=True)
class AnswerKind:
    """A kind of answer: its name, and whether a sentence holds one.

    `held` takes the sentence, all the evidence it was taken from, and the question.
    """

    name: str
    held: Held


def _holds_new_name(sentence: str, evidence: str, question: str) -> bool:
    """A capitalised word, not the first, that the question does not bring along.

    AnswerKind for "which barrister", the evidence must also speak of a barrister.
    """
    role = _ROLE.search(question)
    if role:
        (wanted,) = words(next(filter(None, role.groups())))
        if wanted.term not in _stems_of(evidence):
            return False
    return (
        holds_new_name(sentence, question)
        or (question[:3].lower() == "who" and _holds_new_agent(sentence, question))
        or (question[:5].lower() == "where" and _holds_new_place(sentence, question))
    )


@lru_cache(4)  # the same evidence is asked for each sentence
def _stems_of(evidence: str) -> frozenset[str]:
    return frozenset(word.term for word in words(evidence))


def _holds_new_agent(sentence: str, question: str) -> bool:
    """`The second keeper rings the bell`: a new word stands before one of the question."""
    known = {word.term for word in words(question) if word.informative}
    return any(
        one.informative and one.term not in known and other.term in known
        for one, other in pairwise(words(sentence))
    )


def _holds_new_place(sentence: str, question: str) -> bool:
    """`It is kept in the tower`: a new word stands behind where something is."""
    known = {word.term for word in words(question)}
    return any(
        word.informative and word.term not in known
        for place in _PLACED.finditer(sentence)
        for word in words(place["place"])
    )


def _holds_count(sentence: str, *_: str) -> bool:
    """A number that is no year, no day of a month, and not that of a section."""
    return bool(_COUNT.search(_NUMBERED.sub(" ", _DATED.sub(" ", sentence))))


def holds_new_name(sentence: str, question: str) -> bool:
    """Whether it holds a capitalised word, not its first, that the question does not."""
    known = {word.term for word in words(question)}
    return any(
        sentence[word.start].isupper() and word.term not in known and word.folded not in _CALENDAR
        for word in words(sentence)[1:]
    )


def _kind(name: str, question: str, answer: str | Held) -> tuple[re.Pattern[str], AnswerKind]:
    if isinstance(answer, str):
        pattern = re.compile(answer)
        return _kind(name, question, lambda sentence, *_: bool(pattern.search(sentence)))
    return re.compile(question, re.IGNORECASE), AnswerKind(name, answer)


_TIMES = r"(?:seconds?|minutes?|hours?|(?:working |business |sitting )?days?|weeks?|months?|years?|"
_TIMES += r"decades?|centur(?:y|ies))"
_SPAN = "[^.;]{0,20}"  # between a number and its unit: `two consecutive months`
_DATES = (
    rf"\b1\d{{3}}s?\b|\b20\d\ds?\b|\b[Ii]n \d{{3}}\b|\d (?:AD|BC)\b|\b(?:{_MONTH})\b|"
    # a rule says when by what comes before it: `within 90 days of registration`
    rf"\bcentur(?:y|ies)\b|(?i:(?:\d|\b(?:{_WORDS}))\b{_SPAN}\b{_TIMES}\b)|"
    r"(?i:\b(?:immediately|as soon as|upon|once|until|after|before)\b)"
)
_KINDS = (
    _kind(
        "age",
        r"\bhow old\b|\b(?:what|which) age\b|\byoungest age\b",
        r"(?i:\b(?:aged?|years?[- ]old|years of age|birthdays?)\b)",
    ),
    _kind(
        "money",
        r"\bhow (?:much|many (?:dollars|pounds|cents))\b.*\b(?:pay|paid|cost|fees?|award\w*|fined?|"
        r"damages|owe\w*|price|compensation|income|profits?|revenues?|earn\w*)\b|"
        r"\bwhat (?:sum|amount)\b|\btotal amount\b",
        r"[$£€¥]|\b(?:dollars?|pounds?|cents?|pence|guineas?|shillings?)\b",
    ),
    _kind(
        "time",
        r"\bhow many (?:(?:calendar|business|sitting|working|clear) )?(?:minutes|hours|days|weeks|"
        r"months|years)\b",
        rf"(?i:(?:\d|\b(?:{_WORDS}|an?))\b{_SPAN}\b{_TIMES}\b)",
    ),
    _kind(
        "time",
        r"\bhow long (?:do|does|did|has|have|is|was|are|were|must|may|can|will|should|after|"
        r"before)\b|"
        r"\b(?:deadline|time limit|notice period|waiting period|retention period)\b|"
        r"\b(?:what|how long a|which) (?:time|period|term)\b|\bhow (?:soon|quickly)\b",
        rf"(?i:(?:\d|\b(?:{_WORDS}|an?|next|same))\b{_SPAN}\b{_TIMES}\b)|"
        rf"\b(?:{_MONTH}) \d|\d (?:{_MONTH})\b|(?i:immediately|forthwith|without delay|until|"
        r"\bfrom\b.*\b(?:to|until)\b|\bsince\b)",
    ),
    _kind(
        "share",
        r"\b(?:what|which) (?:percentage|per ?cent|proportion|share|fraction)\b",
        r"%|\bper ?cent|\b(?:half|third|quarter|fifth|tenth|all|none)s?\b|\d/\d",
    ),
    _kind(
        "number",
        r"\bhow (?:many|long|far|often)\b|\b(?:what|which) (?:percentage|proportion|number)\b",
        _holds_count,
    ),
    _kind(  # a rule says what must be so, not on which day
        "date",
        r"^when (?:do|does|is|are|may|must|shall|can|will|should)\b"
        r"(?!.*,.*\b(?:what|which|who|how)\b)",
        rf"{_DATES}|(?i:\b(?:when|whenever|if|where)\b)",
    ),
    _kind(
        "date",
        r"^when\b(?!.*,.*\b(?:what|which|who|how)\b)|"
        r"\b(?:what|which) (?:year|date|day|month|century)\b",
        _DATES,
    ),
    _kind(
        "name",
        rf"{_BEGIN}(?:(?:who(?:m|se)?|where|(?:what (?:is|was|are|were) the )?names? of)\b|"
        r"(?:which|what) (?:judges?|justices?|lawyers?|barristers?|person|people|mps?|"
        r"politicians?|ministers?|company|companies|firms?|city|town|street|hospital|country|"
        r"state|court|party)\b)",
        _holds_new_name,
    ),
    _kind(
        "reason",
        r"^why\b|\b(?:what|which|whose)\b.{0,30}\b(?:reasons?|causes?)\b|\bfor what reason",
        r"(?i:\b(?:because|causes?|caused|since|so that|reason\w*|grounds?|therefore|in order|"
        r"owing|due to|for fear|on the basis|thought|feared|found that|held that|"
        r"to (?:avoid|protect|prevent|ensure|give))\b)",
    ),
)
MEASURES = frozenset({"age", "money", "time", "share", "number", "date"})
"""Kinds that can be seen of a sentence: one without cannot be all of the answer."""

KINDS = {
    "age": "an age",
    "money": "a sum of money",
    "time": "a time",
    "share": "a share",
    "number": "a number",
    "date": "a date",
    "name": "a name",
    "reason": "a reason",
}
"""What is asked for, in words, by the name of its kind."""

_CURRENT = re.compile(
    r"\b(?:current\w*|now|nowadays|today|still|present\w*)\b|"
    r"^(?:is|are|am|does|do|can|may|must|should)\b",
    re.IGNORECASE,
)
# "..., and when did it end": a further question, not `the law on how and when`
_FURTHER = re.compile(r",? and (?=(?:when|where|why|who|how (?:many|much|long|old|often))\b)")
ANYTHING = AnswerKind("anything", lambda *_: True)


def asked_for(question: str) -> AnswerKind:
    """The kind of answer `question` asks for; ANYTHING if no pattern fits."""
    return next((asked for pattern, asked in _KINDS if pattern.search(question)), ANYTHING)


def kinds_asked_for(question: str) -> tuple[AnswerKind, ...]:
    """The kinds that a question and its further ones ask for: `where was it, and when?`"""
    first, *others = _FURTHER.split(question)
    found = (asked_for(part) for part in (first, *others))
    kinds = {kind.name: kind for kind in found if kind is not ANYTHING}
    return tuple(kinds.values()) or (ANYTHING,)


def asks_for_current(question: str) -> bool:
    """Whether it is about how things stand now, so that superseded sources cannot answer it."""
    return bool(_CURRENT.search(question))
