"""What somebody argued, which is not what was found or decided."""

import re

_VERBS = (
    r"submi(?:t|ts|tted|ssions?)|argu(?:es?|ed|ments?)|conten(?:ds?|ded|tions?)|averred|"
    r"alleg(?:es?|ed|ations?)|assert(?:s|ed|ions?)?|claim(?:s|ed)?"
)
# `argued very forcefully that`
_ARGUED = re.compile(
    rf"\b(?:{_VERBS}) (?:(?:\w+ly|very|further|also|was|is|were) ){{0,3}}(?:that|as follows)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(rf"\b(?:{_VERBS}|case for|say|said|says)\b", re.IGNORECASE)


def is_argued(sentence: str) -> bool:
    """Whether an English sentence says what somebody submits: `counsel argued that it is void`."""
    return bool(_ARGUED.search(sentence))


def asks_what_is_argued(question: str) -> bool:
    """Whether an English question asks for what somebody says."""
    return bool(_ASKED.search(question))
