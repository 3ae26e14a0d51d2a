"""What a reader would take for a citation though it is no citation token."""

import re
from collections.abc import Iterator, Sequence

from atlas_search.answer.check.read_passage import ReadPassage
from atlas_search.core.locator import LOCATOR_IN_TEXT

# longer brackets are asides; the bound keeps the search linear. What the levels of a locator are in
# belongs to the inside: `(act s10(1)(a))`
_INSIDE = r"(?:[^\[\]［］【】(){}<>]|(?<=[\w)])\([0-9A-Za-z]{1,5}\)){1,300}"
_BRACKETS = re.compile(rf"([\[［【({{<])({_INSIDE})[\]］】)}}>]")
_PAGE = re.compile(r"\bpp?\.?\s?\d")
_TOKEN = re.compile(r"[^\s,;]+[ ,:#]+p\d+")
_NUMBERS = re.compile(r"\s*\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*\s*")
_NUMBERED = re.compile(
    r"\s*(?:source|passage|document|ref(?:erence)?|citation|chunk|excerpt)s?\s*[.:#]?\s*\d+.*",
    re.IGNORECASE | re.DOTALL,
)
_BARE = re.compile(
    rf"(?<![\w.\-/])(\w++(?:[.\-/]\w++)*+)[\s,:#]{{1,3}}(?:p\.?\s?\d++|{LOCATOR_IN_TEXT})"
)
_ID = re.compile(r"[a-z]{2}[\w-]*[._][\w.-]*\w")  # as ids are made: `act.1968`, `uk_act`
_AROUND = 20  # characters on either side that a quotation from the source has in common with it


def lookalikes(
    sentence: str, document_ids: frozenset[str], cited: Sequence[ReadPassage]
) -> list[str]:
    """What passes for a citation in a sentence without its tokens: brackets, and bare ids with a
    page or a locator.

    It is none of ours, but the source's own, if it comes with the words around it from one of the
    `cited` passages.
    """
    return [
        match.group()
        for match in _find(sentence, document_ids)
        if not any(_comes_from(read, match) for read in cited)
    ]


def _find(sentence: str, document_ids: frozenset[str]) -> Iterator[re.Match[str]]:
    end = 0  # of what was found last
    brackets = [m for m in _BRACKETS.finditer(sentence) if _passes(m[1], m[2], document_ids)]
    bare = [m for m in _BARE.finditer(sentence) if m[1] in document_ids or _ID.fullmatch(m[1])]
    for match in sorted([*brackets, *bare], key=lambda m: m.span()):
        if match.start() >= end:
            end = match.end()
            yield match


def _passes(opening: str, inside: str, document_ids: frozenset[str]) -> bool:
    if not document_ids.isdisjoint(re.split(r"[\s,;:#]+", inside)):
        return True
    if opening in "([［" and _TOKEN.fullmatch(inside):
        return True
    if opening in "[［" and _PAGE.search(inside):
        return True
    return opening == "【" or bool(
        _NUMBERED.fullmatch(inside) or (opening != "(" and _NUMBERS.fullmatch(inside))
    )


def _comes_from(read: ReadPassage, match: re.Match[str]) -> bool:
    read.compare()
    around = match.string[max(match.start() - _AROUND, 0) : match.end() + _AROUND]
    return " ".join(around.split()) in read.squeezed
