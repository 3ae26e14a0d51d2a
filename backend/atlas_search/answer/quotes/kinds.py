"""What kind of thing a question asks for, and whether a sentence can be the answer.

A passage can be about the right subject without holding the answer. These patterns are cheap and
coarse; a question that fits none of them asks for nothing in particular and any sentence will do.
"""

import re
from functools import lru_cache
from itertools import pairwise

from atlas_search.answer.quotes.holders import HOLDER
from atlas_search.answer.quotes.kind import ANYTHING, AnswerKind, leads
from atlas_search.answer.quotes.measured import MEASURED
from atlas_search.language.english import MONTHS
from atlas_search.language.text import fold, words

_CALENDAR = frozenset(fold(month) for month in MONTHS)
_ARTICLE = r"(?:over|on|for|the|an?)"
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

_DOES = leads(
    rf"^who (?!(?:is|was|has|does)\b)(?P<verb>[a-z]{{3,20}}s) (?:{_ARTICLE} )?(?P<whom>.*)"
)
_ENDING = re.compile(r"(?:ie|e)?s$")
_CHARGE = re.compile(r"[A-Z]\w* for (?:the )?(?P<charge>[A-Z]\w*)")
"""`Vice President for Finance`: what tells an office from others of its name."""
_PARTS = re.compile(r";|\n[ \t]*\n|\n(?=[ \t]*(?:\(?\w{1,4}[.)]|[-*•])[ \t])")
_PLACED = re.compile(
    r"\b(?:in|at|on|near|under|beside|between|over|behind|inside|outside|from|to)\s+"
    r"(?:(?:the|an?|its|his|her|their|this|that)\s+)?(?P<place>\w+(?:\s+\w+)?)"
)


def _holds_new_name(sentence: str, evidence: str, question: str) -> bool:
    """A capitalised word, not the first, that the question does not bring along.

    Asked for "which barrister", the evidence must also speak of a barrister.
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


def holds_new_name(sentence: str, question: str) -> bool:
    """Whether it holds a capitalised word, not its first, that the question does not."""
    known = {word.term for word in words(question)}
    return any(
        sentence[word.start].isupper() and word.term not in known and word.folded not in _CALENDAR
        for word in words(sentence)[1:]
    )


def _holds_doer(sentence: str, evidence: str, question: str) -> bool:
    """`Who appoints the clerk?`: somebody who does this, and no appointment of another kind."""
    asked = _DOES.search(question)
    verb = _ENDING.sub("", asked["verb"]) if asked else ""
    done = re.compile(rf"\b{re.escape(verb)}(?:e|y|i)?(?:s|d|es|ed|ing)?\b", re.IGNORECASE)
    whom = _telling_terms(asked["whom"]) if asked else frozenset()
    told = any(done.search(c) and whom <= {w.term for w in words(c)} for c in _clauses(sentence))
    return told and _holds_new_name(sentence, evidence, question)


def _telling_terms(whom: str) -> frozenset[str]:
    """The first stem of those to whom it is done, and that of their charge."""
    first = [word.term for word in words(whom) if word.informative][:1]
    charges = (word.term for found in _CHARGE.finditer(whom) for word in words(found["charge"]))
    return frozenset([*first, *charges])


def _clauses(sentence: str) -> list[str]:
    """What semicolons part, paragraphs and items; these also behind what introduces them."""
    parts = [part for part in _PARTS.split(sentence) if part.strip()]
    leads_on = bool(parts) and parts[0].rstrip().endswith((":", "—", "–", "-"))
    return [*parts, *(f"{parts[0]} {item}" for item in parts[1:] if leads_on)]


_WHO = (
    HOLDER,
    AnswerKind("name", _DOES, _holds_doer),
    AnswerKind(
        "question",
        leads(r"\bwhat (?:is|was|are|were) the (?:legal |central |main )?(?:question|issue)s?\b"),
        re.compile(
            r"(?i:\b(?:question|issue)s?\b[^.;]{0,80}\b(?:is|are|was|were|whether)\b|\?$|"
            r"\b(?:decide|ask|consider|determine)(?:s|d|ed)?\b[^.;]{0,40}\b(?:if|what|whether)\b)"
        ),
    ),
)
TELLING = (*MEASURED, *_WHO)
"""Kinds of which a sentence that holds one leads."""
_KINDS = (
    *TELLING,
    AnswerKind(
        "name",
        leads(
            rf"{_BEGIN}(?:(?:who(?:m|se)?|where|(?:what (?:is|was|are|were) the )?names? of)\b|"
            r"(?:which|what) (?:judges?|justices?|lawyers?|barristers?|person|people|mps?|"
            r"politicians?|ministers?|company|companies|firms?|city|town|street|hospital|country|"
            r"state|court|party)\b)"
        ),
        _holds_new_name,
    ),
    AnswerKind(
        "reason",
        leads(r"^why\b|\b(?:what|which|whose)\b.{0,30}\b(?:reasons?|causes?)\b|\bfor what reason"),
        re.compile(
            r"(?i:\b(?:because|causes?|caused|since|so that|reason\w*|grounds?|therefore|in order|"
            r"owing|due to|for fear|on the basis|thought|feared|found that|held that|"
            r"to (?:avoid|protect|prevent|ensure|give))\b)"
        ),
    ),
)
KINDS = {
    "age": "an age",
    "money": "a sum of money",
    "time": "a time",
    "amount": "an amount",
    "votes": "the votes",
    "question": "the question",
    "share": "a share",
    "number": "a number",
    "colour": "a colour",
    "date": "a date",
    "name": "a name",
    "reason": "a reason",
    "provision": "the words of this provision",
    "words": "the words of the one asked for",
}
"""What is asked for, in words, by the name of its kind."""

# "..., and when did it end": a further question, not `the law on how and when`
_FURTHER = re.compile(r",? and (?=(?:when|where|why|who|how (?:many|much|long|old|often))\b)")


def asked_for(question: str) -> AnswerKind:
    """The kind of answer `question` asks for; ANYTHING if no pattern fits."""
    return next((asked for asked in _KINDS if asked.leads.search(question)), ANYTHING)


def kinds_asked_for(question: str) -> tuple[AnswerKind, ...]:
    """The kinds that a question and its further ones ask for: `where was it, and when?`"""
    first, *others = _FURTHER.split(question)
    found = (asked_for(part) for part in (first, *others))
    kinds = {kind.name: kind for kind in found if kind is not ANYTHING}
    return tuple(kinds.values()) or (ANYTHING,)
