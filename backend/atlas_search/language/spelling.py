"""How one word can be written: accents, ligatures, the long s, and hyphens at a line's end."""

import re
import unicodedata
from collections.abc import Callable

_CHARACTERS = [chr(code) for code in range(0x80, 0x10000)]
MARKS = "".join(c for c in _CHARACTERS if unicodedata.category(c).startswith("M"))
"""Accents in decomposed form, and vowels of scripts that write them as marks."""

CAPITAL = f"[A-Z{''.join(c for c in _CHARACTERS if c.isupper())}]"
INVISIBLE = "\u00ad\u200d"
"""Soft hyphens and joiners: nothing is seen of them inside a word."""

# what printers and transcribers put where a line breaks a word
_HYPHEN = "[-\u2010\u00ad\u00ac\u2e17]"
_BLANKS = "[ \t\u00a0]*"
BREAK = (
    rf"{_HYPHEN}(?:(?<=[^\W\d_].)|(?<=[{MARKS}].)){_BLANKS}\r?\n{_BLANKS}"
    rf"(?=[^\W\d_])(?!{CAPITAL})"
)
"""A hyphen behind a letter, the end of a line, and a letter in front that is no capital."""

# from the first hyphen on, or a long run of them takes quadratic time
_JOINT = re.compile(rf"(?<!{_HYPHEN}){_HYPHEN}*+[ \t\u00a0\r]*\n\s*")
_UNSEEN = str.maketrans(dict.fromkeys(INVISIBLE, ""))
# letters that no decomposition makes plain, and blanks that decomposition makes
_PLAIN = _UNSEEN | str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ı": "i"}
    | {"’": "'", " ": ""}
)


def fold(word: str) -> str:
    """Case-folded, without diacritics, hyphens at a line's end and what is not seen.

    Ligatures and the long s are taken apart, apostrophes are straight: `Café` and `CAFE` meet,
    `encyclopædia` and `encyclopaedia`, `conſti-` and `tution` on the next line and `constitution`.
    """
    whole = _JOINT.sub("", word) if "\n" in word else word
    if whole.isascii():
        return whole.casefold()
    # casefolding can bring marks back, and decomposing capitals, hence twice
    return without_marks(without_marks(whole).casefold()).translate(_PLAIN)


def as_written(word: str) -> str:
    """With its capitals and accents, composed, but whole and with straight apostrophes."""
    if word.isascii() and "\n" not in word:
        return word
    whole = _JOINT.sub("", word).translate(_UNSEEN).replace("’", "'")
    return unicodedata.normalize("NFC", whole)


def lower_composed(word: str, lower: Callable[[str], str]) -> str:
    """In small letters, whole like a folded word but with its accents, composed."""
    return unicodedata.normalize("NFC", lower(as_written(word)))


def halves(word: str) -> list[str]:
    """What stands before and after each line's end inside a word; one item if there is none."""
    return _JOINT.split(word) if "\n" in word else [word]


def without_marks(text: str) -> str:
    """In compatibility decomposition, without combining marks and what is not seen."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKD", text.translate(_UNSEEN)).translate(_MARKS)


class _Marks(dict[int, str]):
    """For `translate`: nothing for a combining mark, each other character as it is."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = "" if unicodedata.combining(character) else character
        return self[code]


_MARKS = _Marks()  # filled as characters are met: a third faster than to ask for each
