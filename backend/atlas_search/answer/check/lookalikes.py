"""What a reader would take for a citation though it is no citation token."""

import re
from collections.abc import Collection, Iterable, Iterator

# longer brackets are asides; the bound keeps the search linear
_BRACKETS = re.compile(
    r"([\[［【(（{｛<＜⟨〈《⟦〔〖])([^\[\]［］【】()（）{}｛｝<>＜＞⟨⟩〈〉《》⟦⟧〔〕〖〗]{1,300})"
    r"([\]］】)）}｝>＞⟩〉》⟧〕〗]?)"
)
_ROUND = "(（"
_LESS = "<＜"  # before a blank: less than
_ALWAYS = "【⟦〔〖"  # no scholar's brackets in running text, but those of chat assistants
_BARE = re.compile(r"(?<![\w.\-/])(\w++(?:[.\-/]\w++)*+)[\s,:#]{1,3}p\.?\s?\d++\b", re.IGNORECASE)
_PAGE = re.compile(r"\b(?:pp?|pages?)\.?\s*\d", re.IGNORECASE)
_TOKEN = re.compile(r"(?:^|[\s,;])[^\s,;]+[ ,:#]+p\d+\b", re.IGNORECASE)
_NUMBERS = re.compile(r"\s*\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*\s*")
_NUMBERED = re.compile(
    r"\s*(?:source|passage|document|doc|reference|ref|citation|chunk|excerpt|context|footnote)s?"
    r"\s*[.:#]?\s*\d+\b.*",
    re.IGNORECASE | re.DOTALL,
)
_SEPARATOR = re.compile(r"[#:,\s]+")
_AROUND = 20  # characters on either side that a quotation from the source has in common with it


def lookalikes(sentence: str, document_ids: Collection[str], cited: Iterable[str]) -> list[str]:
    """What passes for a citation in a sentence without its tokens: brackets, and bare ids with a
    page.

    It is none of ours, but the source's own, if it comes with the words around it from one of the
    `cited` texts.
    """
    found = list(_find(sentence, document_ids))
    squeezed = [" ".join(text.split()) for text in cited] if found else []
    return [_show(match) for match in found if not any(_around(match) in text for text in squeezed)]


def _find(sentence: str, document_ids: Collection[str]) -> Iterator[re.Match[str]]:
    end = 0  # of what was found last
    brackets = [m for m in _BRACKETS.finditer(sentence) if _passes(m, document_ids)]
    bare = [m for m in _BARE.finditer(sentence) if _is_an_id(m[1], document_ids)]
    for match in sorted([*brackets, *bare], key=lambda m: m.span()):
        if match.start() >= end:
            end = match.end()
            yield match


def _passes(bracket: re.Match[str], document_ids: Collection[str]) -> bool:
    opening, inside, closing = bracket.groups()
    if opening in _LESS and inside[:1].isspace():
        return False
    return _names_a_page(opening, inside, closing, document_ids) or (
        bool(closing) and _names_a_source(opening, inside)
    )


def _names_a_page(opening: str, inside: str, closing: str, document_ids: Collection[str]) -> bool:
    if any(_names_a_document(part, document_ids) for part in re.split("[,;]", inside)):
        return True
    if opening in "[［" and closing:
        return bool(_PAGE.search(inside))
    # an opening angle alone is less than something
    return (bool(closing) or opening in "[［(（") and bool(_TOKEN.search(inside))


def _names_a_document(part: str, document_ids: Collection[str]) -> bool:
    """Whether it is the id of a document, alone or with a page."""
    name, *rest = _SEPARATOR.split(part.strip())
    return name in document_ids and (not rest or rest[-1][-1:].isdigit())


def _names_a_source(opening: str, inside: str) -> bool:
    if opening in _ALWAYS or _NUMBERED.fullmatch(inside):
        return True
    return opening not in _ROUND and bool(_NUMBERS.fullmatch(inside))


def _is_an_id(name: str, document_ids: Collection[str]) -> bool:
    """Whether a word is the id of a document, or made as ids are: `act.1968`, `uk_act`."""
    made = ("." in name or "_" in name) and any(character.isalpha() for character in name)
    return made or name in document_ids


def _around(match: re.Match[str]) -> str:
    around = match.string[max(match.start() - _AROUND, 0) : match.end() + _AROUND]
    return " ".join(around.split())


def _show(match: re.Match[str]) -> str:
    """The match; of a bracket that is not closed, what may be the token."""
    unclosed = match.re is _BRACKETS and not match[3]
    return " ".join(match.group().split()[:2]) if unclosed else match.group()
