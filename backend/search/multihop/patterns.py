"""Words and forms that the rules for taking questions apart look for."""

import re

from backend.text import FUNCTION_WORDS, words


def any_of(listed: str) -> str:
    """A pattern for any of some words, whatever their case."""
    return rf"(?i:\b(?:{'|'.join(listed.split())})\b)"


WH = any_of("who whom whose what which when where why how")
AUXILIARY = any_of(
    "are can could did do does had has have is may might must shall should was were will would"
)
PREPOSITION = any_of(
    """about across after against at before by during for from in into of on over through under
    within"""
)
_COMMON = rf"(?:{WH}|{AUXILIARY}|{PREPOSITION}|{any_of('a an and but or the')})"
CAPITAL = f"[{''.join(c for c in map(chr, range(0x250)) if c.isupper())}0-9\ue000-\uf8ff]"
NAMED = (
    rf"(?<!\w)(?!{_COMMON}){CAPITAL}[^\s,:;?]*+"
    rf"(?: (?:(?:of|the|v\.?|vs\.?|for) )*{CAPITAL}[^\s,:;?]*+)*+"
)
NAME = re.compile(rf"(?:the )?{NAMED}")
STANDS_IN = re.compile(rf"^(?:the )?(?:that|those|ones?) (?={PREPOSITION})", re.I)
QUESTION = re.compile(rf"(?:{PREPOSITION} )?(?:{WH}|{AUXILIARY})")
REQUEST = re.compile(
    any_of("compare contrast describe discuss distinguish explain outline please summari[sz]e")
)
OPENING = re.compile(rf"(?:^|[,:] |^{PREPOSITION} )(?:{WH}|{AUXILIARY}|{REQUEST.pattern})")
BETWEEN = re.compile(
    r"\b(?:comparison|contrast|difference|distinction|parallel|similarit(?:y|ie))s? "
    r"(?:(?:in|of) (?P<topic>.+?) )?between (?P<sides>.+)",
    re.I,
)
VERSUS = re.compile(r" (?:versus|vs\.?) (?=[a-z])")
JOINT = re.compile(r",? (?P<word>and|with|against|versus|vs\.?|to)(?: then)? ", re.I)


def topics_of(text: str) -> list[str]:
    """The informative words that are not names."""
    return [
        word.folded
        for word in words(text)
        if word.folded not in FUNCTION_WORDS
        and text[word.start].islower()
        and word.folded not in {"v", "vs"}
    ]
