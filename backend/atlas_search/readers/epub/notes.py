"""The signs in a text that lead to its notes: printed small and high, they are no part of words."""

import re
from collections.abc import Iterator

from lxml import etree

from atlas_search.readers.epub.pages import empty, has_type
from atlas_search.readers.markup import tag_of, words

_TYPES = frozenset({"noteref", "doc-noteref"})
_CLASSES = frozenset(
    {"noteref", "fnanchor", "fnref", "footnote-ref", "footnoteref", "footnote-reference"}
)
_INLINE = frozenset("a abbr b bdi cite code dfn em i q s small span strong sub sup u var".split())
_ONE = r"(?:\d{1,4}|[a-z]|[ivxlc]{2,6}|[*†‡§‖¶]{1,4})"
_SIGN = re.compile(rf"[\[(]?{_ONE}(?:\s?[,;–-]\s?{_ONE})*[\])]?")


def drop_note_signs(root: etree._Element) -> None:
    """Empties each sign that follows a word: `Savannah1 was` would be another word.

    One at the beginning of a paragraph, or behind a blank, stays: it may be the number of the note
    itself, or of a verse.
    """
    for sign in list(_signs(root)):
        empty(sign)


def _signs(root: etree._Element) -> Iterator[etree._Element]:
    last = ""
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "end":
            last = _last(element.tail, last if tag_of(element) in _INLINE else "")
        elif last.strip() and _is_sign(element):
            yield element
            walker.skip_subtree()
        else:
            last = _last(element.text, last if tag_of(element) in _INLINE else "")


def _last(text: str | None, before: str) -> str:
    return text[-1] if text else before


def _is_sign(element: etree._Element) -> bool:
    """Whether it is a link to a note, or a `sup` of nothing else, and holds a sign only."""
    tag = tag_of(element)
    if tag not in ("a", "sup") or not _SIGN.fullmatch(words(element)):
        return False
    links = [element] if tag == "a" else list(element.iter("{*}a"))
    if tag == "a" and not _is_named(element):
        return "#" in element.get("href", "") and next(element.iter("{*}sup"), None) is not None
    return _is_named(element) or any("#" in link.get("href", "") for link in links)


def _is_named(element: etree._Element) -> bool:
    return has_type(element, _TYPES) or not _CLASSES.isdisjoint(element.get("class", "").split())
