"""Telling a model's refusal from an answer, in whatever words it refuses."""

import re

from backend.answer.markers import Languages, Written, stretches, without_begun_token
from backend.answer.refusal_phrases import (
    APOLOGY,
    CONTRAST,
    COURTESY,
    DENIAL,
    DENYING,
    MIXED,
    NAMES_PASSAGES,
    OPENING,
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
# what begins a clause that states something, whatever it holds
_REASONS = re.compile(
    r"[;:—–(]| - |\b(?:because|although|though|whereas|despite|while|whilst|weil|obwohl|car"
    r"|parce que|puisque|bien que|porque|aunque|omdat|hoewel)\b"
    r"|\b(?:as|since|so|for) (?:[\w'-]+ ){1,4}(?:is|are|was|were|has|had|have|did|does)\b"
)
_JOINT = re.compile(
    r", (?=(?:and|or|nor|und|oder|et|ou|y|o|en|of)\b)|,| (?=(?:and|und|et)\b)"
    r"|\b(?:but|yet|aber|mais|pero|maar)\b"
)
_STATING = re.compile(
    r"(?:as|since|which|who|whom|whose|that|for|so|given|even|after|before|until|unless|if|it|he"
    r"|she|they|this|these|there|we|i|when|where|da|denn|der|die|das|qui|que)\b"
    r"|.*\b(?:is|are|was|were|be|been|being|has|had|have|does|do|did|will|would|shall|should|can"
    r"|could|may|might|must|\w{2,}ed|said|says|held|made|took|gave|got|won|wrote|paid|killed|ist"
    r"|war|wurde|hat|est|était|fut|es|fue|werd|heeft)\b"
)
_ASKING = re.compile(
    r"(?:(?:and|or|nor|und|oder|et|ou) )?(?:whether|how|why|what|ob|wie|warum|pourquoi|comment)\b"
    r"|(?:and|or|nor) (?:(?:by|to|in|at|on|from) )?(?:whom?|when|where|which|whose)\b"
    r"|nor (?:do|does|did)\b|(?:when|where|who)$"
)
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
    """Whether a sentence only says what the passages do not hold.

    One with a further clause says more: `The passages do not say so, as he was bribed.`
    """
    said = _folded(sentence)
    if not (DENIAL.match(said) or PASSIVE.match(said)) or len(sentence) > _READ:
        return False
    return _refuses(Written(sentence, ())) and not _states_more(said)


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


def _states_more(said: str) -> bool:
    """Whether a denial has a further clause that states something."""
    opening = OPENING.match(said)
    parts = _JOINT.split(said[opening.end() if opening else 0 :])
    return bool(_REASONS.search(said)) or any(_states(part.strip(" .")) for part in parts[1:])


def _states(part: str) -> bool:
    denies = DENYING.match(part) or PASSIVE.match(part) or _ASKING.match(part)
    return not denies and bool(_STATING.match(part))


def _continues(sentence: Written) -> bool:
    """Whether it says of passages that were named before what they do not hold."""
    return not sentence.markers and bool(THEY.match(_folded(sentence.text)))
