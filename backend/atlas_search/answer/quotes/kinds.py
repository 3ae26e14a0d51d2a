"""The kind of thing an English question asks for, and whether a sentence holds one.

A passage can be about the right subject without holding the answer. The patterns are cheap and
coarse; a question that fits none asks for nothing in particular, and any sentence will do.
`docs/measurements.md` says what they change.
"""

import re
from dataclasses import dataclass

from atlas_search.language.english import MONTHS
from atlas_search.language.languages import fold
from atlas_search.language.numerals import NUMBERS, SCALES
from atlas_search.language.text import words

_NUMBER = "|".join(word for word in (*NUMBERS, *SCALES) if len(word) > 2)
_MONTH = "|".join(month.title() for month in MONTHS)
_CALENDAR = frozenset(map(fold, MONTHS))
_UNIT = r"(?:second|minute|hour|(?:working |business |sitting )?day|week|month|year|decade)s?"
_TIME = rf"(?i:(?:\d|\b(?:{_NUMBER}|an?))\b[^.;]{{0,20}}\b{_UNIT}\b)"
_MONEY = (
    r"[$£€¥]|\b(?:Rs?\.?|EUR|USD|CHF) ?\d|"
    r"\b(?:dollars?|pounds?|cents?|pence|guineas?|shillings?|euros?|francs?|rupees?|rand)\b"
)
_DATE = (
    rf"\b1\d{{3}}s?\b|\b20\d\ds?\b|\d (?:AD|BC)\b|\b(?:{_MONTH})\b|{_TIME}|"
    r"(?i:\b(?:centur(?:y|ies)|immediately|as soon as|upon|once|until|after|before|when|"
    r"whenever)\b)"
)
_NOT_COUNTED = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)? (?:{_MONTH})\b|\b(?:{_MONTH}) \d{{1,2}}\b(?!,\d)|"
    r"(?<![\d,.$£€])(?:1[5-9]|20)\d\d(?:[-–/]\d\d)?\b(?![,.]\d)|"
    r"(?i:\b(?:sections?|ss?|articles?|art|chapters?|parts?|clauses?|rules?|paragraphs?|paras?|"
    r"pages?|pp?|nos?)\.? )\d+[a-z]?\b(?:\(\w+\))*"
)
"""Years, days of a month and numbers of parts of a text."""
_BY_WHOM = re.compile(r"\bby (?:the|an?|his|her|its|their) [a-z]")
"""`Opened by the king`: somebody without a name."""
_COUNT = re.compile(rf"\d|(?i:\b(?:{_NUMBER}|half|unanimous\w*)\b)")


@dataclass(frozen=True)
class AnswerKind:
    """A kind of answer: its name, and patterns of questions that ask for it and sentences that give
    it.

    Without `needed` it is a count or a name, which need more than a pattern.
    """

    name: str
    leads: re.Pattern[str]
    needed: re.Pattern[str] | None = None

    def held(self, sentence: str, question: str) -> bool:
        """Return True if the sentence gives an answer of this kind."""
        if self.needed:
            return bool(self.needed.search(sentence))
        if self.name == "a number":
            return bool(_COUNT.search(_NOT_COUNTED.sub(" ", sentence)))
        return holds_new_name(sentence, question) or bool(_BY_WHOM.search(sentence))


def holds_new_name(sentence: str, question: str) -> bool:
    """Return True if a word behind the first has a capital and is not in the question."""
    known = {word.term for word in words(question)}
    return any(
        sentence[word.start].isupper() and word.term not in known and word.folded not in _CALENDAR
        for word in words(sentence)[1:]
    )


def _kind(name: str, leads: str, needed: str = "") -> AnswerKind:
    return AnswerKind(
        name, re.compile(leads, re.IGNORECASE), re.compile(needed) if needed else None
    )


ANYTHING = _kind("anything", "", "(?s:.*)")
_KINDS = (
    _kind(
        "an amount",
        r"\b(?:what|how (?:much|high|large)) (?:is|was|are|were) (?:the|a|an) (?:\w+ )?(?:fines?|"
        r"penalt(?:y|ies)|fees?|salary|price|costs?|punishment|sentence|compensation)\b|"
        r"\bhow much\b|\bwhat (?:sum|amount)\b|\bhow many (?:dollars|pounds|cents)\b",
        rf"{_MONEY}|%|\bper ?cent|{_TIME}|\d",
    ),
    _kind(
        "a time",
        rf"\bhow many {_UNIT}\b|\bhow (?:long|soon|quickly|often)\b|"
        r"\b(?:deadline|time limit|(?:notice|waiting|retention) period)\b|"
        r"\b(?:what|which) (?:time|period|term)\b",
        rf"{_TIME}|\b(?:{_MONTH}) \d|\d (?:{_MONTH})\b|"
        r"(?i:immediately|forthwith|without delay|until|\bsince\b|\b(?:daily|weekly|monthly|"
        r"quarterly|annually|yearly|every|once|twice|always|never)\b)",
    ),
    _kind(
        "a share",
        r"\b(?:what|which) (?:percentage|per ?cent|proportion|share|fraction)\b",
        r"%|\bper ?cent|\b(?:half|third|quarter|fifth|tenth|all|none)s?\b|\d/\d",
    ),
    _kind("a number", r"\bhow (?:many|old|far|tall|heavy|wide|deep|fast)\b|\bwhat number\b"),
    _kind("a date", r"^when\b|\b(?:what|which) (?:year|date|day|month|century)\b", _DATE),
    _kind(
        "a name",
        r"^(?:(?:at|by|for|from|in|of|on|to) )?(?:who(?:m|se)?|(?:which|what) (?:prime )?"
        r"(?:judges?|justices?|lawyers?|barristers?|person|people|politicians?|ministers?|company|"
        r"companies|city|town|country|state|court|party)|(?:what (?:is|was|are|were) the )?"
        r"names? of)\b",
    ),
    _kind(
        "a reason",
        r"^why\b|\b(?:what|which|whose)\b.{0,30}\b(?:reasons?|causes?)\b|\bfor what reason",
        r"(?i:\b(?:because|caus\w+|since|so that|reason\w*|grounds?|therefore|in order|owing|"
        r"due to|for fear|thought|feared|found that|held that|"
        r"to (?:avoid|protect|prevent|ensure|give))\b)",
    ),
)


def asked_for(question: str) -> AnswerKind:
    """The kind of answer `question` asks for; ANYTHING if no pattern fits."""
    return next((kind for kind in _KINDS if kind.leads.search(question)), ANYTHING)
