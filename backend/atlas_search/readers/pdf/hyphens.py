"""Joining the words that a line end breaks."""

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from atlas_search.readers.pdf.page import BROKEN

_WORD = re.compile(r"\w+(?:-\w+)*")
_MARK = f"{BROKEN}\n"


def mend(pages: Sequence[str]) -> list[str]:
    """`pages` with each word that BROKEN marks made whole, on one line with what follows.

    The hyphen goes unless the next line begins with a capital, or the document writes the word
    with its hyphen elsewhere and never without.
    """
    if not any(BROKEN in page for page in pages):
        return list(pages)
    words = {word for page in pages for word in _WORD.findall(page.lower())}
    return [_mend_page(page, words) for page in pages]


def _mend_page(page: str, words: Collection[str]) -> str:
    parts = page.split(_MARK)
    pieces = [parts[0]]
    for before, after in pairwise(parts):
        rest = re.match(r"(\S*)\s?", after)
        assert rest is not None
        pieces.append("-" if _keeps_hyphen(before.split()[-1], rest[1], words) else "")
        pieces.append(f"{rest[1]} {after[rest.end() :]}" if rest[0] != after else after)
    return "".join(pieces)


def _keeps_hyphen(left: str, right: str, words: Collection[str]) -> bool:
    left, right = re.sub(r"^\W+", "", left), re.sub(r"(?<!\W)\W+$", "", right)
    if right[:1].isupper() and not (left.isupper() and right.isupper()):
        return True
    return f"{left}-{right}".lower() in words and f"{left}{right}".lower() not in words
