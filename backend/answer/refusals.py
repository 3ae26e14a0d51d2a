"""Telling a model's refusal from an answer, in whatever words it refuses."""

import re

from backend.answer.markers import Languages, Written, stretches, without_begun_token
from backend.answer.refusal_phrases import (
    APOLOGY,
    CONTRAST,
    COURTESY,
    DENIAL,
    MIXED,
    NAMES_PASSAGES,
    PASSIVE,
    STRONG,
    THEY,
    TOPIC,
    WEAK,
)
from backend.languages import DEFAULT_LANGUAGE

_MOST = 8  # sentences; who refuses is brief
_READ = 500  # characters of a sentence
_MARKUP = "*_\"'“”‘’`([{<>#-–•: "
_QUOTING = re.compile(r"[\s>*_-]*[\"“„«‘'][^\"”“»’]{1,500}[\"”“»’],? \w")  # somebody else's words
_LANGUAGES = Languages({}, DEFAULT_LANGUAGE)
_OPENINGS = (STRONG, WEAK, MIXED, TOPIC, APOLOGY)
_FOLLOWING = (*_OPENINGS, THEY, COURTESY)


def is_refusal(answer: str) -> bool:
    """Whether the whole answer says that it cannot answer.

    It may say so in several sentences, be polite, and say what the passages are about instead; but
    a sentence that says anything about the subject makes it an answer. So does a citation behind
    what the sources themselves may say: `There is no right of appeal [act p2].` An answer without
    a letter or a digit is a refusal.
    """
    written = _sentences(answer)
    if len(written) > _MOST:
        return False
    refused = not written
    for number, sentence in enumerate(written):
        if _refuses(sentence) or (number and _continues(sentence)):
            refused = True
        elif not _accompanies(sentence, refused=refused):
            return False
    return refused


def is_caveat(sentence: str) -> bool:
    """Whether a sentence only says what the passages do not hold."""
    said = _folded(sentence)
    return bool(DENIAL.match(said) or PASSIVE.match(said)) and _refuses(Written(sentence, ()))


def may_become_refusal(beginning: str) -> bool:
    """Whether a text that has just begun could still turn out to be a refusal.

    False means that it is none, but for those that only their end shows: `The date is not given in
    the passages.`
    """
    written = _sentences(without_begun_token(beginning))
    if len(written) > _MOST:
        return False
    for number, sentence in enumerate(written):
        said = _folded(sentence.text)
        if not any(p.match(said, partial=True) for p in (_FOLLOWING if number else _OPENINGS)):
            return False
    return True


def _sentences(answer: str) -> list[Written]:
    return [written for stretch in stretches(answer, _LANGUAGES) for written in stretch.sentences]


def _folded(sentence: str) -> str:
    """Casefolded, with straight apostrophes and single blanks, without marks in front."""
    plain = sentence[:_READ].casefold().replace("’", "'")
    return " ".join(plain.split()).lstrip(_MARKUP)


def _refuses(sentence: Written) -> bool:
    said = _folded(sentence.text)
    if _QUOTING.match(sentence.text) or not _denies(said, cited=bool(sentence.markers)):
        return False
    # what follows a `but` may be an answer
    clauses = [clause for clause in CONTRAST.split(said)[1:] if clause.strip()]
    return MIXED.match(said) is not None or all(
        any(p.match(clause) for p in (STRONG, WEAK, TOPIC, THEY, COURTESY)) for clause in clauses
    )


def _denies(said: str, *, cited: bool) -> bool:
    if STRONG.match(said):
        return True
    if not cited and (MIXED.match(said) or PASSIVE.match(said)):
        return True
    return bool(WEAK.match(said)) and (not cited or bool(NAMES_PASSAGES.search(said)))


def _accompanies(sentence: Written, *, refused: bool) -> bool:
    """Whether a sentence beside a refusal says nothing about the subject."""
    said = _folded(sentence.text)
    if APOLOGY.match(said):
        return True
    if not refused:
        return not sentence.markers and bool(TOPIC.match(said))
    if TOPIC.match(said):
        return True
    return not sentence.markers and bool(COURTESY.match(said))


def _continues(sentence: Written) -> bool:
    """Whether it says of passages that were named before what they do not hold."""
    return not sentence.markers and bool(THEY.match(_folded(sentence.text)))
