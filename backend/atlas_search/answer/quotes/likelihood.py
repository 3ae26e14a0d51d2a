"""How likely quotes are to hold what a question asks for, from what can be seen of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from math import exp
from typing import Literal

from atlas_search.answer.quotes.kinds import holds_new_name, kinds_asked_for
from atlas_search.answer.quotes.mismatch import figures_missing, mismatch
from atlas_search.answer.quotes.names import (
    absent_names,
    bodies_elsewhere,
    passages_beside,
    speaks_of_any,
)
from atlas_search.answer.quotes.quotable import Quote
from atlas_search.answer.quotes.roles import is_of_others
from atlas_search.core.domain import Passage
from atlas_search.language.english import AUXILIARIES, any_of
from atlas_search.language.languages import DEFAULT_LANGUAGE

MOST_TERMS = 15
FULL_SCORE = 1.2
QUOTED = 3  # quotes that an answer usually has
LIKELY = 0.6
"""From here on an answer is called `likely`; with less it is one only where a target or a
collection says so."""

_YES_OR_NO = re.compile(rf"^{any_of(AUXILIARIES)}")


@dataclass(frozen=True)
class Signs:
    """What is seen of the quotes for a question, each a number.

    `score` is that of the best, from 0 to 1.6. `terms` is the number of informative words asked
    with, up to MOST_TERMS, as a share of these, times what the score lacks to FULL_SCORE: the more
    words, the less of them a right quote has; of a full score they say nothing. `name` says whether
    the best holds a name that the question does not, `yes_or_no` whether nothing in particular is
    asked for; `denial` and `opposite` are mismatches of the best, the latter also if it says of
    others what is asked.
    """

    score: float = 0.0
    terms: float = 0.0
    name: float = 0.0
    denial: float = 0.0
    opposite: float = 0.0
    yes_or_no: float = 0.0


WEIGHTS = Signs(score=6.0, terms=5.2, name=0.3, denial=-3.7, opposite=-3.4, yes_or_no=0.8)
INTERCEPT = -6.5
"""Rounded from a logistic regression on the development halves of two public sets, alone and among
others, on the bundled labels and on 40 questions about 671 real documents. On others about these,
questions for yes or no were answered wrongly too often, so `yes_or_no` was lowered from 2.0.
`tests.benchmarks.truth.fit` prints what the public sets and the labels alone would give."""


@dataclass(frozen=True)
class Confidence:
    """How surely an answer in the sources' own words answers: a word, and the likelihood in [0, 1]
    that the word stands for."""

    word: Literal["likely", "possible"]
    likelihood: float


@dataclass(frozen=True)
class Grounds:
    """Why quotes are likely to answer, or not.

    `likelihood` is in [0, 1]. `absent` are names of the question that no quoted passage holds,
    and `share_absent` is their share of its weight; `figures` are years and other figures of it
    that none holds. `asked` is the kind of thing asked for, empty if it is nothing in particular or
    if a quote holds one.
    """

    signs: Signs
    likelihood: float
    absent: tuple[str, ...] = ()
    share_absent: float = 0.0
    figures: tuple[str, ...] = ()
    asked: str = ""

    @property
    def word(self) -> Literal["likely", "possible"]:
        """How a reader would call it."""
        return "likely" if self.likelihood >= LIKELY else "possible"

    def to_dict(self) -> dict[str, float]:
        """The signs by name, and the likelihood."""
        return {**asdict(self.signs), "likelihood": round(self.likelihood, 4)}


def grounds(
    question: str,
    quotes: Sequence[Quote],
    passages: Sequence[Passage],
    weights: Mapping[str, float],
) -> Grounds:
    """What speaks for and against `quotes`, best first, chosen from `passages`.

    `weights` are the idf of the question's terms.
    """
    if not quotes:
        return Grounds(Signs(), 0.0)
    best, kinds = quotes[0], kinds_asked_for(question)
    quoted = tuple({quote.passage.id: quote.passage for quote in quotes[:QUOTED]}.values())
    evidence = _as_text(passages)
    if best.passage.language != DEFAULT_LANGUAGE:  # the rules below are for English
        signs = Signs(best.score, _terms(weights, best.score))
        return Grounds(signs, likelihood(signs))
    lacking = [k for k in kinds if not any(k.held(q.text, evidence, question) for q in quotes)]
    wrong = mismatch(question, best.text, best.passage.text, evidence)
    # a figure is not that of the company asked for because another source names this company
    own = passages_beside(best, quotes[:QUOTED])
    named = quoted if speaks_of_any(own, question) else own
    absent, share = absent_names(question, named, weights)
    document = best.passage.document_id
    elsewhere = bodies_elsewhere(
        question,
        [passage for passage in passages if passage.document_id == document],
        [passage for passage in passages if passage.document_id != document],
    )
    if elsewhere:
        absent, share = (*absent, *elsewhere), 1.0
    signs = Signs(
        score=best.score,
        terms=_terms(weights, best.score),
        name=float(holds_new_name(best.text, question)),
        denial=float(wrong == "denial"),
        opposite=float(wrong == "opposite" or is_of_others(question, best.text)),
        yes_or_no=float(bool(_YES_OR_NO.match(question))),
    )
    asked = lacking[0].name if lacking else ""
    figures = figures_missing(question, _as_text(quoted))
    return Grounds(signs, likelihood(signs), absent, share, figures, asked)


def _as_text(passages: Sequence[Passage]) -> str:
    return "\n".join(f"{p.title}\n{p.section}\n{p.date}\n{p.text}" for p in passages)


def _terms(weights: Mapping[str, float], score: float) -> float:
    share = min(len(weights), MOST_TERMS) / MOST_TERMS
    return share * max(0.0, FULL_SCORE - score)


def likelihood(signs: Signs) -> float:
    """The probability that quotes with these signs hold the answer."""
    pairs = zip(astuple(signs), astuple(WEIGHTS), strict=True)
    return 1 / (1 + exp(-(INTERCEPT + sum(value * weight for value, weight in pairs))))
