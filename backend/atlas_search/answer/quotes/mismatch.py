"""Whether a sentence answers another question than the one asked.

Trick questions ask for the opposite, or another date, of what a source says. These checks are few
and sure: on half of SQuAD 2's questions they find a sixth of the tricks and lose one answer of 130.
"""

import re
from collections.abc import Iterator
from typing import Literal

from atlas_search.language.english import AUXILIARIES, ORDINALS, any_of, are_opposite
from atlas_search.language.text import all_terms, sentences, words

# round and small numbers are left out: a text may spell them in words
_FIGURE = re.compile(r"\d[\d,.]*\d(?:st|nd|rd|th|['’]?s)?\b")
_YEAR = re.compile(r"(1\d{3}|20\d\d)s?")
_CENTURY = re.compile(r"(1\d|2[01])(?:th|st)")
# a limit need not be what the evidence speaks of
_BOUND = re.compile(
    r"(?:\b(?:after|before|since|until|till|by|between|from|to|than|and)\s+(?:the\s+)?[$£€]?|[-–])$",
    re.IGNORECASE,
)
# the answer may be that it is not so
_YES_OR_NO = re.compile(rf"^{any_of(AUXILIARIES)}")
_DENIED = re.compile(
    r"(?<!\bor )\b(?:not|never|cannot|\w+n['’]t)\b(?! (?:only|just|merely|necessarily)\b)"
    r"(?!.*\b(?:other than|except|unless|until|without|but)\b)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"(?:\b(?:not|never|cannot|nor|neither|no)|n['’]t)\b"
    r"(?! (?:more|less|fewer|later|earlier|only|just|merely|necessarily)\b)",
    re.IGNORECASE,
)
_DENYING_WORDS = (
    "no not never cannot nor none nothing nobody neither without unless only little few less "
    "hardly barely rarely seldom instead rather against deny denied denies denial ban bans banned "
    "barred"
)
_DENYING_STEMS = (
    "except lack fail refus reject declin prevent avoid prohibit forb exclu exempt absen oppos non "
    "imposs impract immob imperf impro irre irra illeg illic illog"
)
_DENIES = re.compile(
    rf"\b(?:{'|'.join(_DENYING_WORDS.split())})\b|\b(?:{'|'.join(_DENYING_STEMS.split())})|n['’]t\b|"
    # united, under and until deny nothing, nor do interest and international
    r"\bun(?!i|d|t)\w{3,}|\bdis\w{4,}|\w{3,}less\b|"
    r"\bin(?:[aj]|c[ao]|d[ei]|e[flx]|hu|nu|op|s[eou]|v[ai])\w{3,}",
    re.IGNORECASE,
)
Mismatch = Literal["", "denial", "figure", "opposite"]


def mismatch(question: str, sentence: str, passage: str, evidence: str) -> Mismatch:
    """Why an English sentence answers another question than the one asked; "" if it may be this.

    denial      the question says `not`, and the sentence denies nothing
    figure      the question has a year or another figure that all the `evidence` lacks
    opposite    the question has a word that the `passage` lacks, and its sentence the opposite

    Of a question of several sentences the last is compared: those before it tell what it is about.
    `tests.benchmarks.truth` says how often this is right.
    """
    if figures_missing(question, evidence):
        return "figure"
    if denies_nothing(question, sentence):
        return "denial"
    question = _last_sentence(question)
    if _YES_OR_NO.search(question) or _DENIED.search(question) or _DENIED.search(sentence):
        return ""
    return "opposite" if _turns_round(question, sentence, passage) else ""


def denies_nothing(question: str, sentence: str) -> bool:
    """Whether an English question says `not`, but the sentence denies nothing."""
    asked = _last_sentence(question)
    denied = _DENIED.search(asked) and not _YES_OR_NO.search(asked)
    return bool(denied) and not _DENIES.search(sentence)


def denies_what_is_asked(question: str, sentence: str) -> bool:
    """Whether a sentence denies a word of the question: `it does not apply to courts`."""
    asked = {word.term for word in words(question) if word.informative}
    for denial in _NOT.finditer(sentence):
        following = (word for word in words(sentence[denial.end() :]) if word.informative)
        if next((word.term in asked for word in following), False):
            return True
    return False


def figures_missing(question: str, evidence: str) -> tuple[str, ...]:
    """The years and other figures of an English question that the evidence lacks."""
    asked = _figures_asked_of(_last_sentence(question))
    return tuple(figure for figure in asked if not _has_figure(evidence, figure))


def _last_sentence(text: str) -> str:
    return next((text[start:end] for start, end in reversed(sentences(text))), "")


def _figures_asked_of(question: str) -> Iterator[str]:
    for match in _FIGURE.finditer(question):
        figure = _plain(match.group())
        spelled = figure.isdigit() and (int(figure) <= 20 or int(figure) % 10 == 0)
        bound = _BOUND.search(question[: match.start()]) or question[match.end() :][:1] in {*"-–"}
        if not bound and not (spelled and not _YEAR.fullmatch(figure)):
            yield figure


def _has_figure(evidence: str, figure: str) -> bool:
    """Whether it is there, or a year of the decade or century it names."""
    if figure.isdigit() and figure in evidence.replace(",", ""):
        return True
    found = {_plain(match.group()) for match in _FIGURE.finditer(evidence)}
    lowered = evidence.casefold()
    found |= {f"{n}th" for n, word in enumerate(ORDINALS[9:], 10) if word in lowered}
    return any(figure == one or figure in _periods(one) for one in found)


def _plain(figure: str) -> str:
    return re.sub(r"[,'’]", "", figure)


def _periods(figure: str) -> set[str]:
    """The decade and the century of a year or decade, and the years of a century: `1900s`."""
    if year := _YEAR.fullmatch(figure):
        decade, century = int(year[1]) // 10, int(year[1]) // 100
        return {f"{decade}0s", f"{century}00s", f"{century + 1}{'st' if century == 20 else 'th'}"}
    if ordinal := _CENTURY.fullmatch(figure):
        return {f"{int(ordinal[1]) - 1}00s"}
    return set()


def _turns_round(question: str, sentence: str, passage: str) -> bool:
    asked = words(question)
    known = {word.term for word in asked}
    said = [word.folded for word in words(sentence) if word.term not in known]
    turned = {w.term for w in asked if any(are_opposite(w.folded, other) for other in said)}
    return bool(turned) and not turned <= all_terms(passage)
