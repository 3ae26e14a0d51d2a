"""What a reader would take for a citation though it is no citation token."""

import re
from collections.abc import Collection, Iterable

# longer brackets are asides; the bound keeps the search linear
_BRACKETS = re.compile(r"([\[［【(（])([^\[\]［］【】()（）]{1,300})([\]］】)）]?)")
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
    """The brackets in a sentence, without its tokens, that pass for citations.

    A bare number or name of a source stands for nothing if it comes, with the words around it,
    from one of the `cited` texts; what names a page is always taken for ours.
    """
    squeezed = [" ".join(text.split()) for text in cited] if _BRACKETS.search(sentence) else []
    found = []
    for bracket in _BRACKETS.finditer(sentence):
        opening, inside, closing = bracket.groups()
        if _names_a_page(opening, inside, closing, document_ids):
            found.append(bracket.group() if closing else " ".join(bracket.group().split()[:2]))
        elif _names_a_source(opening, inside, closing):
            around = sentence[max(bracket.start() - _AROUND, 0) : bracket.end() + _AROUND]
            if not any(" ".join(around.split()) in text for text in squeezed):
                found.append(bracket.group())
    return found


def _names_a_page(opening: str, inside: str, closing: str, document_ids: Collection[str]) -> bool:
    if any(_names_a_document(part, document_ids) for part in re.split("[,;]", inside)):
        return True
    if opening in "[［" and closing:
        return bool(_PAGE.search(inside))
    return bool(_TOKEN.search(inside))


def _names_a_document(part: str, document_ids: Collection[str]) -> bool:
    """Whether it is the id of a document, alone or with a page."""
    name, *rest = _SEPARATOR.split(part.strip())
    return name in document_ids and (not rest or rest[-1][-1:].isdigit())


def _names_a_source(opening: str, inside: str, closing: str) -> bool:
    if not closing:
        return False
    if opening == "【":
        return True
    numbered = bool(_NUMBERED.fullmatch(inside))
    return numbered or (opening in "[［" and bool(_NUMBERS.fullmatch(inside)))
