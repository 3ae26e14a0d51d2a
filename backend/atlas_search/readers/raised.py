"""Signs that are raised behind a word, or linked there: numbers of notes, and exponents."""

import re
from collections.abc import Iterable, Iterator

from lxml import etree

from atlas_search.readers.markup import tag_of, words
from atlas_search.readers.print import RAISED_NUMBER, raised

EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"
_TYPES = (EPUB_TYPE, "epub:type", "role")  # the second in a chapter that is read as HTML

_NOTE_TYPES = frozenset({"noteref", "doc-noteref"})
_CLASSES = frozenset("noteref fnanchor fnref footnote-ref footnoteref footnote-reference".split())
_INLINE = frozenset("a abbr b bdi cite code dfn em i q s small span strong sub sup u var".split())
_ONE = r"(?:(?:[^\W\d_]{1,5}\.?\s)?\d{1,4}|[a-z]|[ivxlc]{2,6}|[*†‡§‖¶]{1,4})"  # also `note 3`
_SIGN = re.compile(rf"[\[(]?{_ONE}(?:\s?[,;–-]\s?{_ONE})*[\])]?")
_SUPER = re.compile(r"vertical-align:\s*super|\bsuperscript\b")
_BEFORE = 12  # characters by which the word before is known


def write_raised(root: etree._Element, note: str = "[{}]") -> None:
    """Write each sign that follows a word so that it is no part of it: `tariff[1]` and `km²`.

    `note` is the form of one that leads to a note; empty leaves it out. One at the beginning of a
    paragraph, or behind a blank, stays: it may be the number of the note itself, or of a verse.
    """
    for sign, before in list(_signs(root)):
        text = words(sign)
        linked = _leads_to_note(sign)
        empty(sign)
        sign.text = note.format(text.strip("[]()")) if linked else raised(text, before)


def _signs(root: etree._Element) -> Iterator[tuple[etree._Element, str]]:
    """The signs, and the text that stands before each."""
    last = ""
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        last = last if tag_of(element) in _INLINE else ""
        if event == "end":
            last = (last + (element.tail or ""))[-_BEFORE:]
        elif last[-1:].strip() and _is_sign(element):
            yield element, last
            walker.skip_subtree()
        else:
            last = (last + (element.text or ""))[-_BEFORE:]


def _is_sign(element: etree._Element) -> bool:
    """Say if it is a link to a note that holds a sign only, or a number that is raised or
    leads to a place."""
    styled = f"{element.get('style', '')} {element.get('class', '')}"
    is_raised = tag_of(element) == "sup" or _SUPER.search(styled) is not None
    if not is_raised and tag_of(element) != "a":
        return False
    text = words(element)
    is_raised = is_raised or "#" in element.get("href", "")
    is_number = is_raised and RAISED_NUMBER.fullmatch(text) is not None
    return is_number or (_SIGN.fullmatch(text) is not None and _leads_to_note(element))


def _leads_to_note(element: etree._Element) -> bool:
    """Say if it is a link to a note, or a `sup` of nothing else."""
    is_link = tag_of(element) == "a"
    links = [element] if is_link else list(element.iter("{*}a"))
    if is_link and not _is_named(element):
        return "#" in element.get("href", "") and next(element.iter("{*}sup"), None) is not None
    return _is_named(element) or any("#" in link.get("href", "") for link in links)


def _is_named(element: etree._Element) -> bool:
    return has_type(element, _NOTE_TYPES) or not _CLASSES.isdisjoint(
        element.get("class", "").split()
    )


def has_type(element: etree._Element, types: Iterable[str]) -> bool:
    """Say if it says to be of one of these types, as `epub:type` or as `role`."""
    return any(set(types) & set(element.get(name, "").split()) for name in _TYPES)


def empty(element: etree._Element) -> None:
    """Removes all that is in the element; what follows it stays."""
    element.text = None
    for child in list(element):
        element.remove(child)
