"""Telling a model's refusal from an answer: a short list of ways to say it in plain text.

The prompt asks for an empty list. A refusal that is not recognised does no harm: without a citation
no text is sent, so it is repaired and then blocked. Of 98 phrasings the list knows the 77 that
`tests/test_refusals.py` lists first; 400 lines of patterns in five languages knew all.
"""

import re
from collections.abc import Sequence

from atlas_search.answer.check.markers import MarkedSentence

_NOT = r"(?: not|n't)"
_PASSAGES = (
    r"(?:passages?|excerpts?|extracts?|sources|documents|context|search results?"
    r"|(?:provided|given|retrieved) (?:text|information|material|evidence))"
)
_HOLD = (
    r"(?:contain|mention|provide|include|state|say|specify|answer|address|give|discuss|describe"
    r"|indicate|explain|support|name)"
)
_SILENT = (
    rf"\b{_PASSAGES}(?: \w+)?,? (?:(?:do|does|did){_NOT} (?!only)(?:\w+ly )?{_HOLD}\b|lacks?\b"
    rf"|(?:contain|provide|give|hold)s? (?:no|not enough|insufficient)\b|(?:is|are) "
    rf"(?:insufficient|silent)\b|says? nothing\b)"
)
_BY_SILENCE = re.compile(rf"(?:[^,.]{{0,40}}, )?(?:the|these|those|this)? ?(?:\w+ )?{_SILENT}")
_REFUSALS = re.compile(
    r"\W*(?:no answer\b|n/a\b|none\b|unknown\b|unanswerable\b)\W*$"
    rf"|\b(?:i|we)(?: do{_NOT} (?:know|have|find|see)|(?: can(?:not|'t)|"
    rf" could{_NOT}| am unable|'m unable| was unable| am not able|'m not able| have no) (?:to )?\w)"
    rf"|^\W*(?:sorry|unfortunately|regrettably|unable to|as an ai\b)|{_SILENT}"
    rf"|\bnot (?:\w+ )?(?:given|stated|mentioned|specified|found|provided|named) (?:in|by) "
    rf"(?:the |these )?(?:\w+ )?{_PASSAGES}"
    rf"|\b(?:none|neither|nothing) (?:of|in) (?:the|these|your) (?:\w+ )?{_PASSAGES}"
    rf"|\b(?:but|they) (?:do|does){_NOT} {_HOLD}\b|\b(?:im|not )possible to\b|\bit is unclear\b"
    r"|\b(?:no|not enough|insufficient|not sufficient) (?:relevant )?(?:information|context"
    r"|evidence|mention|details?)\b|\b(?:cannot|could not) be (?:answered|determined)\b"
    r"|\b(?:language model|llm|service) (?:is )?(?:currently )?unavailable\b"
)
_MORE = re.compile(r"[;:—–(]|,|\b(?:but|because|although|though|while|as|since|who|which|and)\b")
_MARKUP = "*_\"'“”‘’`([{<>#-–•: "
_READ = 500  # characters of a sentence


def is_refusal(written: Sequence[MarkedSentence]) -> bool:
    """Whether a whole answer says that it cannot answer.

    So does one without a sentence, and one that cites nothing and begins with a refusal. With a
    citation, only one sentence about what the passages do not say is a refusal.
    """
    if not written:
        return True
    if any(sentence.markers for sentence in written):
        return len(written) == 1 and is_caveat(written[0].text)
    return bool(_REFUSALS.search(_fold(written[0].text)))


def is_caveat(sentence: str) -> bool:
    """Whether a sentence only says what the passages do not hold.

    One with a further clause says more: `The passages do not say so, as he was bribed.`
    """
    said = _fold(sentence)
    silent = _BY_SILENCE.match(said) if len(sentence) <= _READ else None
    return silent is not None and not _MORE.search(said, silent.end())


def _fold(sentence: str) -> str:
    """Casefolded, with straight apostrophes and single blanks, without marks in front."""
    plain = sentence[:_READ].casefold().replace("’", "'")
    return " ".join(plain.split()).lstrip(_MARKUP)
