"""Numbers, times and amounts that a question asks for, and whether a sentence holds one."""

import re

from atlas_search.answer.quotes.kind import AnswerKind, leads
from atlas_search.language.english import COLOURS, MONTHS, NUMBERS, SCALES

_COUNTS = [word for word in (*NUMBERS, *SCALES) if len(word) > 2]
_WORDS = "|".join([*_COUNTS, "half", "unanimous", "unanimously"])
_MONTH = "|".join(month.title() for month in MONTHS)

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

_ONE_OF_MANY = re.compile(r"(?i:\bone of (?:the|its|our|their) (?:\w+est|most|least|best|worst)\b)")


def _holds_count(sentence: str, *_: str) -> bool:
    """A number that is no year, no day of a month, and not that of a section or of a sort."""
    for of_other_things in (_DATED, _NUMBERED, _ONE_OF_MANY):
        sentence = of_other_things.sub(" ", sentence)
    return bool(_COUNT.search(sentence))


_TIMES = r"(?:seconds?|minutes?|hours?|(?:working |business |sitting )?days?|weeks?|months?|years?|"
_TIMES += r"decades?|centur(?:y|ies))"
_SPAN = "[^.;]{0,20}"  # between a number and its unit: `two consecutive months`
_DATES = (
    rf"\b1\d{{3}}s?\b|\b20\d\ds?\b|\b[Ii]n \d{{3}}\b|\d (?:AD|BC)\b|\b(?:{_MONTH})\b|"
    # a rule says when by what comes before it: `within 90 days of registration`
    rf"\bcentur(?:y|ies)\b|(?i:(?:\d|\b(?:{_WORDS}))\b{_SPAN}\b{_TIMES}\b)|"
    r"(?i:\b(?:immediately|as soon as|upon|once|until|after|before)\b)"
)
_MONEY = (
    r"[$£€¥]|\b(?:Rs?\.?|EUR|USD|CHF|DM) ?\d|"
    r"\b(?:dollars?|pounds?|cents?|pence|guineas?|shillings?|euros?|francs?|rupees?|rand)\b"
)
_VOTES = r"\d+ ?(?:-|–|to|against) ?\d+|(?i:unanimous\w*|\b(?:ayes|noes|yeas|nays|in favou?r)\b)"
_BEGINS = r"(?:enter(?:s|ed)?|comes?|came) into (?:force|effect|operation)|(?:takes?|took) effect"
MEASURED = (
    AnswerKind(
        "age",
        leads(r"\bhow old\b|\b(?:what|which) age\b|\byoungest age\b"),
        re.compile(r"(?i:\b(?:aged?|years?[- ]old|years of age|birthdays?)\b)"),
    ),
    AnswerKind(
        "money",
        leads(
            r"\bhow (?:much|many (?:dollars|pounds|cents))\b.*\b(?:pay|paid|cost|fees?|award\w*|"
            r"fined?|damages|owe\w*|price|compensation|income|profits?|revenues?|earn\w*)\b|"
            r"\bwhat (?:sum|amount)\b|\btotal amount\b"
        ),
        re.compile(_MONEY),
    ),
    AnswerKind(  # a penalty may be a sum or a time
        "amount",
        leads(
            r"\b(?:what|how (?:much|high|large|heavy)) (?:is|was|are|were) (?:the|a|an) "
            r"(?:(?:maximum|minimum|highest|lowest|usual) )?(?:fines?|penalt(?:y|ies)|fees?|salary|"
            r"price|costs?|punishment|sentence|compensation)\b|"
            r"\bhow much (?:is|are|may|must|can|shall|do|does)\b"
        ),
        re.compile(
            rf"{_MONEY}|%|\bper ?cent|(?i:(?:\d|\b(?:{_WORDS}|an?))\b{_SPAN}\b{_TIMES}\b)|"
            r"(?i:\b(?:for life|life imprisonment|death|free of charge|without compensation))"
        ),
    ),
    AnswerKind(
        "votes",
        leads(r"\bwhat (?:is|was|were) the votes?\b|\bby what (?:vote|majority|margin)\b"),
        re.compile(_VOTES),
    ),
    AnswerKind(
        "time",
        leads(
            r"\bhow many (?:(?:calendar|business|sitting|working|clear) )?(?:minutes|hours|days|"
            r"weeks|months|years)\b"
        ),
        re.compile(rf"(?i:(?:\d|\b(?:{_WORDS}|an?))\b{_SPAN}\b{_TIMES}\b)"),
    ),
    AnswerKind(
        "time",
        leads(
            r"\bhow long (?:do|does|did|has|have|is|was|are|were|must|may|can|will|should|after|"
            r"before)\b|"
            r"\b(?:deadline|time limit|notice period|waiting period|retention period)\b|"
            r"\b(?:what|how long a|which) (?:time|period|term)\b|\bhow (?:soon|quickly)\b"
        ),
        re.compile(
            rf"(?i:(?:\d|\b(?:{_WORDS}|an?|next|same))\b{_SPAN}\b{_TIMES}\b)|"
            rf"\b(?:{_MONTH}) \d|\d (?:{_MONTH})\b|(?i:immediately|forthwith|without delay|until|"
            r"\bfrom\b.*\b(?:to|until)\b|\bsince\b)"
        ),
    ),
    AnswerKind(
        "share",
        leads(r"\b(?:what|which) (?:percentage|per ?cent|proportion|share|fraction)\b"),
        re.compile(r"%|\bper ?cent|\b(?:half|third|quarter|fifth|tenth|all|none)s?\b|\d/\d"),
    ),
    AnswerKind(
        "number",
        leads(
            r"\bhow (?:many|long|far|often|tall|heavy|wide|deep|fast)\b|"
            r"\b(?:what|which) (?:percentage|proportion|number)\b"
        ),
        _holds_count,
    ),
    AnswerKind(
        "colour",
        leads(r"\b(?:what|which) colou?rs?\b"),
        re.compile(rf"(?i:\b(?:{'|'.join(COLOURS)})\b|\bcolou?rless\b)"),
    ),
    AnswerKind(  # `within five years of the entry into force` does not say when that is
        "date",
        leads(rf"^when\b.*\b(?:{_BEGINS})\b"),
        re.compile(
            rf"\A(?=(?s:.)*(?:{_DATES}|(?i:\b(?:when|whenever|if|where)\b)))(?s:.)*(?i:\b(?:"
            rf"{_BEGINS}|commence\w*|effective|in (?:force|effect|operation) (?:from|since|on|as)|"
            r"brought into force)\b)"
        ),
    ),
    AnswerKind(  # a rule says what must be so, not on which day
        "date",
        leads(
            r"^when (?:do|does|is|are|may|must|shall|can|will|should)\b"
            r"(?!.*,.*\b(?:what|which|who|how)\b)"
        ),
        re.compile(rf"{_DATES}|(?i:\b(?:when|whenever|if|where)\b)"),
    ),
    AnswerKind(
        "date",
        leads(
            r"^when\b(?!.*,.*\b(?:what|which|who|how)\b)|"
            r"\b(?:what|which) (?:year|date|day|month|century)\b"
        ),
        re.compile(_DATES),
    ),
)
"""Kinds that can be seen of a sentence: one without cannot be all of the answer. The first that a
question leads to is asked for."""
