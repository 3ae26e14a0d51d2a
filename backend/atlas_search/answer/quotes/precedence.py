"""Which passages are quoted, and which of several quotes come first."""

import re
from collections.abc import Sequence

from atlas_search.answer.quotes.argued import asks_what_is_argued, is_argued
from atlas_search.answer.quotes.holders import HOLDER
from atlas_search.answer.quotes.kind import AnswerKind
from atlas_search.answer.quotes.kinds import TELLING
from atlas_search.answer.quotes.mismatch import denies_nothing, denies_what_is_asked
from atlas_search.answer.quotes.quotable import Quote
from atlas_search.answer.quotes.speakers import is_said_by
from atlas_search.core.domain import CheckedPassage

_CURRENT = re.compile(
    r"\b(?:current\w*|now|nowadays|today|still|present\w*)\b|"
    r"^(?:is|are|am|does|do|can|may|must|should)\b",
    re.IGNORECASE,
)


def asks_for_current(question: str) -> bool:
    """Whether it is about how things stand now, so that superseded sources cannot answer it."""
    return bool(_CURRENT.search(question))


def to_quote(question: str, passages: Sequence[CheckedPassage]) -> Sequence[CheckedPassage]:
    """The passages quotes are taken from: not what was superseded, if asked how things stand now,
    and of whom it is asked what he said, his own words."""
    left = tuple(passages)
    if asks_for_current(question):
        # a rule that was overruled or repealed is not how things stand
        left = tuple(p for p in left if "superseded_by" not in p.passage.metadata)
    # of whom it is asked what he said, his own words go before what others say of him
    spoken = tuple(p for p in left if is_said_by(p.passage, question))
    return spoken or left or passages


def in_order(
    question: str, quotes: Sequence[Quote], asked: AnswerKind, evidence: str
) -> list[Quote]:
    """`quotes`, best first, as they are to be said.

    Where a date, a number or who does something is asked for, those that hold one lead; what
    somebody argued comes last, unless it is asked for, or of those that do not say who held an
    office, if that is; where it is asked what is not so, those that deny it lead.
    """
    found = list(quotes)
    if asked in TELLING:
        found.sort(key=lambda quote: not asked.held(quote.text, evidence, question))
    if not asks_what_is_argued(question):
        found.sort(key=lambda quote: is_argued(quote.text))
    if asked is HOLDER:  # `Justices Ash and Birch dissented, and argued that`
        found.sort(key=lambda quote: not asked.held(quote.text, evidence, question))
    return _denying_first(question, found)


def _denying_first(question: str, quotes: list[Quote]) -> list[Quote]:
    if not quotes or not denies_nothing(question, quotes[0].text):
        return quotes
    denying = [quote for quote in quotes if denies_what_is_asked(question, quote.text)]
    return [*denying, *(q for q in quotes if q not in denying)]
