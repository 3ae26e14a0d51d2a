"""Texts of sources as quoted material: they neither end it nor speak in a chat model's tokens.

Only the bracket is another one then. All else stays as the source has it, format characters (such
as the joiners of Persian) among it, for what a model quotes is looked up in the source.
"""

import re
from collections.abc import Iterable

_FORMAT = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
"""Characters of the category Cf: not seen, and skipped by who reads a tag."""

_GAP = rf"[\s{_FORMAT}]*"
_SLASH = rf"(?:{_GAP}/)?{_GAP}"


def _spread(word: str) -> str:
    return f"[{_FORMAT}]*".join(word)


# `<|im_start|>`, `<s>` and `[INST]` as several families of models have them; not `<|>` and `|>`,
# which are operators
_CHAT = (
    rf"<(?={_GAP}\|[^<>|\n]{{1,40}}\|{_GAP}>)",
    rf"<(?={_SLASH}s{_GAP}>)",
    rf"\[(?={_SLASH}{_spread('INST')}{_GAP}\])",
)
_CHAT_TOKEN = re.compile("|".join(_CHAT), re.IGNORECASE)


def opening_of(tags: Iterable[str]) -> re.Pattern[str]:
    """The first character of what could pass for one of these tags, or for a token of a chat."""
    names = "|".join(map(_spread, tags))
    return re.compile("|".join((rf"<(?={_SLASH}(?:{names}))", *_CHAT)), re.IGNORECASE)


def without_chat_tokens(text: str) -> str:
    """A text that holds nothing that a chat model could take for a token of its own."""
    return _CHAT_TOKEN.sub("‹", text)


def attribute(value: str) -> str:
    """A value that cannot end the attribute, or the tag, that it stands in."""
    plain = without_chat_tokens(value)
    return " ".join(plain.translate({ord("<"): "‹", ord(">"): "›", ord('"'): "'"}).split())
