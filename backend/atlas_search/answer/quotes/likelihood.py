"""How likely quotes are to hold what a question asks for, from what can be seen of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from math import exp
from typing import Literal

from atlas_search.answer.quotes.kinds import asked_for, holds_new_name
from atlas_search.answer.quotes.mismatch import figures_missing, mismatch
from atlas_search.answer.quotes.names import absent_names
from atlas_search.answer.quotes.quotable import Quote
from atlas_search.core.domain import Passage
from atlas_search.language.english import AUXILIARIES, any_of

MOST_TERMS = 15
LIKELY = 0.7
"""From here on an answer is called `likely`."""

_YES_OR_NO = re.compile(rf"^{any_of(AUXILIARIES)}")


@dataclass(frozen=True)
class Signs:
    """What is seen of the quotes for a question, each a number.

    `score` is that of the best, from 0 to 1.6; `terms` the number of informative words asked with,
    up to MOST_TERMS, as a share of these; `kind` is 1 if the best holds the kind of thing asked
    for, half if only another does; `name` whether the best holds a name that the question does not;
    `denial`, `figure` and `opposite` are the mismatches of the best; `yes_or_no` whether nothing in
    particular is asked for; `absent` the share of the question's names that no passage holds.
    """

    score: float = 0.0
    terms: float = 0.0
    kind: float = 0.0
    name: float = 0.0
    denial: float = 0.0
    figure: float = 0.0
    opposite: float = 0.0
    yes_or_no: float = 0.0
    absent: float = 0.0


WEIGHTS = Signs(3.2, 3.8, 1.4, 0.6, -3.4, -3.5, -2.7, 1.3, -2.7)
INTERCEPT = -6.35
"""A logistic regression, fitted on the development halves of the sets of `tests.benchmarks.truth`,
which prints the weights that are best today."""


@dataclass(frozen=True)
class Confidence:
    """How surely an answer in the sources' own words answers: a word, and the likelihood in [0, 1]
    that the word stands for."""

    word: Literal["likely", "possible"]
    likelihood: float


@dataclass(frozen=True)
class Grounds:
    """Why quotes are likely to answer, or not.

    `likelihood` is in [0, 1]; `absent` are names of the question that no passage holds, `figures`
    years and other figures of it that none holds; `asked` is the kind of thing asked for, empty if
    it is nothing in particular or if a quote holds one.
    """

    signs: Signs
    likelihood: float
    absent: tuple[str, ...] = ()
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
    """What speaks for and against `quotes`, best first, chosen from `passages`."""
    if not quotes:
        return Grounds(Signs(), 0.0)
    evidence = "\n".join(f"{p.title}\n{p.date}\n{p.text}" for p in passages)
    best, kind = quotes[0], asked_for(question)
    english = best.passage.language == "en"
    wrong = mismatch(question, best.text, best.passage.text, evidence) if english else ""
    absent, share = absent_names(question, passages, weights) if english else ((), 0.0)
    held = [kind.held(quote.text, evidence, question) for quote in quotes]
    signs = Signs(
        score=best.score,
        terms=min(len(weights), MOST_TERMS) / MOST_TERMS,
        kind=(held[0] + any(held)) / 2,
        name=float(holds_new_name(best.text, question)),
        denial=float(wrong == "denial"),
        figure=float(wrong == "figure"),
        opposite=float(wrong == "opposite"),
        yes_or_no=float(bool(_YES_OR_NO.match(question))),
        absent=share,
    )
    figures = figures_missing(question, evidence) if english else ()
    asked = "" if any(held) else kind.name
    return Grounds(signs, likelihood(signs), absent, figures, asked)


def likelihood(signs: Signs) -> float:
    """The probability that quotes with these signs hold the answer."""
    pairs = zip(astuple(signs), astuple(WEIGHTS), strict=True)
    return 1 / (1 + exp(-(INTERCEPT + sum(value * weight for value, weight in pairs))))
