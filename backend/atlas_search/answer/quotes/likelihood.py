"""How likely quotes are to hold what a question asks for, from what can be seen of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from math import exp
from typing import Literal

from atlas_search.answer.quotes.kinds import holds_new_name, kinds_asked_for
from atlas_search.answer.quotes.mismatch import figures_missing, mismatch
from atlas_search.answer.quotes.names import absent_names
from atlas_search.answer.quotes.quotable import Quote
from atlas_search.core.domain import Passage
from atlas_search.language.english import AUXILIARIES, any_of
from atlas_search.language.languages import DEFAULT_LANGUAGE

MOST_TERMS = 15
QUOTED = 3  # quotes that an answer usually has
LIKELY = 0.7
"""From here on an answer is called `likely`."""

_YES_OR_NO = re.compile(rf"^{any_of(AUXILIARIES)}")


@dataclass(frozen=True)
class Signs:
    """What is seen of the quotes for a question, each a number.

    `score` is that of the best, from 0 to 1.6; `terms` the number of informative words asked with,
    up to MOST_TERMS, as a share of these; `kind` is 1 if the best holds the kind of thing asked
    for, half if only another does; `name` whether the best holds a name that the question does not;
    `denial` and `opposite` are mismatches of the best; `figure` is 1 if no passage holds a year or
    other figure of the question, half if only others do than those quoted; `yes_or_no` says whether
    nothing in particular is asked for; `absent` is the share of the question's names that no
    passage holds, and half that of those that only others hold.
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

    `likelihood` is in [0, 1]; `absent` are names of the question that no passage holds and
    `share_absent` their share of its weight, `figures` years and other figures of it that none holds; `asked` is the kind of thing asked for, empty if
    it is nothing in particular or if a quote holds one.
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
    """What speaks for and against `quotes`, best first, chosen from `passages`."""
    if not quotes:
        return Grounds(Signs(), 0.0)
    best, kinds = quotes[0], kinds_asked_for(question)
    quoted = tuple({quote.passage.id: quote.passage for quote in quotes[:QUOTED]}.values())
    evidence, near = _as_text(passages), _as_text(quoted)
    held = [all(kind.held(quote.text, evidence, question) for kind in kinds) for quote in quotes]
    lacking = [k for k in kinds if not any(k.held(q.text, evidence, question) for q in quotes)]
    if best.passage.language != DEFAULT_LANGUAGE:  # the rules below are for English
        signs = Signs(best.score, _terms(weights), (held[0] + any(held)) / 2)
        return Grounds(signs, likelihood(signs))
    wrong = mismatch(question, best.text, best.passage.text, evidence)
    missing, missing_near = (figures_missing(question, text) for text in (evidence, near))
    absent, share = absent_names(question, passages, weights)
    _, share_near = absent_names(question, quoted, weights)
    signs = Signs(
        score=best.score,
        terms=_terms(weights),
        kind=(held[0] + (not lacking)) / 2,
        name=float(holds_new_name(best.text, question)),
        denial=float(wrong == "denial"),
        figure=(bool(missing) + bool(missing_near)) / 2,
        opposite=float(wrong == "opposite"),
        yes_or_no=float(bool(_YES_OR_NO.match(question))),
        absent=(share + share_near) / 2,
    )
    asked = lacking[0].name if lacking else ""
    return Grounds(signs, likelihood(signs), absent, share, missing, asked)


def _as_text(passages: Sequence[Passage]) -> str:
    return "\n".join(f"{p.title}\n{p.date}\n{p.text}" for p in passages)


def _terms(weights: Mapping[str, float]) -> float:
    return min(len(weights), MOST_TERMS) / MOST_TERMS


def likelihood(signs: Signs) -> float:
    """The probability that quotes with these signs hold the answer."""
    pairs = zip(astuple(signs), astuple(WEIGHTS), strict=True)
    return 1 / (1 + exp(-(INTERCEPT + sum(value * weight for value, weight in pairs))))
