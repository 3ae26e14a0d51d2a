"""What kind of thing a question asks for, and whether a sentence can be the answer.

A passage can be about the right subject without holding the answer. These patterns are cheap and
coarse; a question that fits none of them asks for nothing in particular and any sentence will do.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from backend.text import fold, words

_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty "
    "fifty sixty hundred thousand million half unanimous unanimously"
)
_NUMBER = re.compile(rf"\d|\b(?:{'|'.join(_NUMBER_WORDS.split())})\b", re.IGNORECASE)
_MONEY = re.compile(r"[$£€¥]|\b(?:dollars?|pounds?|cents?|pence|guineas?|shillings?)\b")
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(
    rf"\b1\d{{3}}s?\b|\b20\d\ds?\b|\b[Ii]n \d{{3}}\b|\d (?:AD|BC)\b|\b(?:{_MONTH})\b|"
    r"\bcentur(?:y|ies)\b"
)
_AGE = re.compile(r"\b(?:aged?|years?[- ]old|years of age)\b", re.IGNORECASE)
_CAUSE = re.compile(
    r"\b(?:because|since|so that|reason\w*|grounds?|therefore|in order|owing|due to|for fear|"
    r"on the basis|thought|feared|found that|held that|to (?:avoid|protect|prevent|ensure|give))\b",
    re.IGNORECASE,
)
_CALENDAR = frozenset(fold(month) for month in _MONTH.split("|"))


@dataclass(frozen=True)
class Asked:
    """A kind of answer: its name, and whether a sentence holds one.

    `held` takes the sentence, all the evidence it was taken from, and the question.
    """

    name: str
    held: Callable[[str, str, str], bool]


def _holds(pattern: re.Pattern[str]) -> Callable[[str, str, str], bool]:
    return lambda sentence, _evidence, _question: bool(pattern.search(sentence))


def _holds_new_name(sentence: str, evidence: str, question: str) -> bool:
    """A capitalised word, not the first, that the question does not bring along.

    Asked for "which barrister", the evidence must also speak of a barrister.
    """
    role = _ROLE.search(question)
    if role and not _mentions(evidence, next(filter(None, role.groups()))):
        return False
    known = {word.term for word in words(question)}
    return any(
        sentence[word.start].isupper() and word.term not in known and word.folded not in _CALENDAR
        for word in words(sentence)[1:]
    )


def _mentions(evidence: str, noun: str) -> bool:
    (wanted,) = words(noun)
    return any(word.term == wanted.term for word in words(evidence))


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
_WHO = rf"{_BEGIN}(?:who(?:m|se)?|where|(?:what (?:is|was|are|were) the )?names? of)\b"
_WHICH = (
    rf"{_BEGIN}(?:which|what) (?:judges?|justices?|lawyers?|barristers?|person|people|mps?|"
    r"politicians?|ministers?|company|companies|firms?|city|town|street|hospital|country|state|"
    r"court|party)\b"
)
_KINDS = tuple(
    (re.compile(pattern, re.IGNORECASE), asked)
    for pattern, asked in (
        (r"\bhow old\b|\b(?:what|which) age\b|\byoungest age\b", Asked("age", _holds(_AGE))),
        (
            r"\bhow (?:much|many (?:dollars|pounds|cents))\b.*\b(?:pay|paid|cost|fees?|award\w*|"
            r"fined?|damages|owe\w*|price|compensation)\b|\bwhat (?:sum|amount)\b|\btotal amount\b",
            Asked("money", _holds(_MONEY)),
        ),
        (
            r"\bhow (?:many|long|far|often)\b|\b(?:what|which) (?:percentage|proportion|number)\b",
            Asked("number", _holds(_NUMBER)),
        ),
        (
            r"^when\b(?!.*,.*\b(?:what|which|who|how)\b)|"
            r"\b(?:what|which) (?:year|date|day|month|century)\b",
            Asked("date", _holds(_DATE)),
        ),
        (rf"{_WHO}|{_WHICH}", Asked("name", _holds_new_name)),
        (r"^why\b", Asked("reason", _holds(_CAUSE))),
    )
)
_CURRENT = re.compile(
    r"\b(?:current\w*|now|nowadays|today|still|present\w*)\b|"
    r"^(?:is|are|am|does|do|can|may|must|should)\b",
    re.IGNORECASE,
)
ANYTHING = Asked("anything", lambda _sentence, _evidence, _question: True)


def asked_for(question: str) -> Asked:
    """The kind of answer `question` asks for; ANYTHING if no pattern fits."""
    return next((asked for pattern, asked in _KINDS if pattern.search(question)), ANYTHING)


def asks_for_current(question: str) -> bool:
    """Whether it is about how things stand now, so that superseded sources cannot answer it."""
    return bool(_CURRENT.search(question))
