"""What a reader would take for a citation though it is no citation token."""

import re
from collections.abc import Collection, Iterator, Sequence

from atlas_search.answer.check.read_passage import ReadPassage
from atlas_search.core.locator import LOCATOR_IN_TEXT, TOKEN_PLACE

# longer brackets are asides; the bound keeps the search linear. What the levels of a locator are in
# belongs to the inside: `(act s10(1)(a))`
_BRACKETS = re.compile(
    r"([\[［【(（{｛<＜⟨〈《⟦〔〖])"
    r"((?:[^\[\]［］【】()（）{}｛｝<>＜＞⟨⟩〈〉《》⟦⟧〔〕〖〗]|(?<=[\w)])\([0-9A-Za-z]{1,5}\)){1,300})"
    r"([\]］】)）}｝>＞⟩〉》⟧〕〗]?)"
)
_ROUND = "(（"
_LESS = "<＜"  # before a blank: less than
_ALWAYS = "【⟦〔〖"  # no scholar's brackets in running text, but those of chat assistants
_WORD = r"(?<![\w.\-/])(\w++(?:[.\-/]\w++)*+)"
_BARE = re.compile(rf"{_WORD}[\s,:#]{{1,3}}p\.?\s?\d++\b", re.IGNORECASE)
_BARE_LOCATOR = re.compile(rf"{_WORD}[\s,:#]{{1,3}}{LOCATOR_IN_TEXT}")
_PAGE = re.compile(r"\b(?:pp?|pages?)\.?\s*\d", re.IGNORECASE)
_TOKEN = re.compile(r"(?:^|[\s,;])[^\s,;]+[ ,:#]+p\d+\b", re.IGNORECASE)
_PLACE = re.compile(rf"{TOKEN_PLACE}|pp?[ivxlcdm]+", re.IGNORECASE)
_LOCATOR = re.compile(LOCATOR_IN_TEXT)
_PLACE_AT_END = re.compile(r"(?:^|(?<=[\s,:#]))([^\W\d]+)\.?(\s?)(\d[^\s,;]*)\s*$")
_NUMBERS = re.compile(r"\s*\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*\s*")
_NUMBERED = re.compile(
    r"\s*(?:source|passage|document|doc|reference|ref|citation|chunk|excerpt|context|footnote)s?"
    r"\s*[.:#]?\s*\d+\b.*",
    re.IGNORECASE | re.DOTALL,
)
_SEPARATOR = re.compile(r"[#:,\s]+")
_AROUND = 20  # characters on either side that a quotation from the source has in common with it


def lookalikes(
    sentence: str, document_ids: Collection[str], cited: Sequence[ReadPassage]
) -> list[str]:
    """What passes for a citation in a sentence without its tokens: brackets, and bare ids with a
    page or a locator.

    It is none of ours, but the source's own, if it comes with the words around it from one of the
    `cited` passages.
    """
    found = _find(sentence, document_ids)
    return [_show(match) for match in found if not any(_comes_from(read, match) for read in cited)]


def _comes_from(read: ReadPassage, match: re.Match[str]) -> bool:
    read.compare()
    return _around(match) in read.squeezed


def _find(sentence: str, document_ids: Collection[str]) -> Iterator[re.Match[str]]:
    end = 0  # of what was found last
    brackets = [m for m in _BRACKETS.finditer(sentence) if _passes(m, document_ids)]
    pages, locators = _BARE.finditer(sentence), _BARE_LOCATOR.finditer(sentence)
    bare = [m for m in (*pages, *locators) if _is_an_id(m[1], document_ids)]
    for match in sorted([*brackets, *bare], key=lambda m: m.span()):
        if match.start() >= end:
            end = match.end()
            yield match


def _passes(bracket: re.Match[str], document_ids: Collection[str]) -> bool:
    opening, inside, closing = bracket.groups()
    if opening in _LESS and inside[:1].isspace():
        return False
    return _names_a_place(opening, inside, closing, document_ids) or (
        bool(closing) and _names_a_source(opening, inside)
    )


def _names_a_place(opening: str, inside: str, closing: str, document_ids: Collection[str]) -> bool:
    if any(_names_a_document(part, document_ids) for part in re.split("[,;]", inside)):
        return True
    if opening in "[［" and closing:
        return bool(_PAGE.search(inside)) or _cites_a_locator(inside)
    # an opening angle alone is less than something
    return (bool(closing) or opening in "[［(（") and (
        bool(_TOKEN.search(inside))
        or any(_is_an_id(m[1], document_ids) for m in _BARE_LOCATOR.finditer(inside))
    )


def _names_a_document(part: str, document_ids: Collection[str]) -> bool:
    """Whether it is the id of a document, alone or with a place."""
    name, *rest = _SEPARATOR.split(part.strip())
    place = re.sub(r"\.", "", "".join(rest)).replace("§", "s")
    return name in document_ids and (
        not rest or place[-1:].isdigit() or _PLACE.fullmatch(place) is not None
    )


def _cites_a_locator(inside: str) -> bool:
    """Whether it is a locator as tokens have it (`s10(1)`), or ends in one behind a name.

    `[s 10]` and `[under s 10]` are what writers put into quotations.
    """
    found = _PLACE_AT_END.search(inside)
    if found is None or not _LOCATOR.fullmatch(found[1] + found[3]):
        return False
    before = inside[: found.start()].strip()
    return re.search("[A-Z._]", before) is not None if before else not found[2]


def _names_a_source(opening: str, inside: str) -> bool:
    if opening in _ALWAYS or _NUMBERED.fullmatch(inside):
        return True
    return opening not in _ROUND and bool(_NUMBERS.fullmatch(inside))


def _is_an_id(name: str, document_ids: Collection[str]) -> bool:
    """Whether a word is the id of a document, or made as ids are: `act.1968`, `uk_act`.

    `s.10` is a place.
    """
    if _LOCATOR.fullmatch(name.replace(".", "").lower()):
        return name in document_ids
    made = ("." in name or "_" in name) and any(character.isalpha() for character in name)
    return made or name in document_ids


def _around(match: re.Match[str]) -> str:
    around = match.string[max(match.start() - _AROUND, 0) : match.end() + _AROUND]
    return " ".join(around.split())


def _show(match: re.Match[str]) -> str:
    """The match; of a bracket that is not closed, what may be the token."""
    unclosed = match.re is _BRACKETS and not match[3]
    return " ".join(match.group().split()[:2]) if unclosed else match.group()
