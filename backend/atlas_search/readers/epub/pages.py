"""The printed pages of a book: those it lists, and the breaks that are marked in its chapters."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from lxml import etree

from atlas_search.readers.markup import Flat, flatten, words
from atlas_search.readers.page_labels import page_label

EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"
_TYPES = (EPUB_TYPE, "epub:type", "role")  # the second in a chapter that is read as HTML
_BREAKS = frozenset({"pagebreak", "doc-pagebreak"})
_IN_ID = re.compile(r"(?:^|[-_.]|p|pg|page)(\d+|[ivxlcdm]+)\Z", re.IGNORECASE)
_WITHIN_WORD = re.compile(r"\w(?=\w)\S*\s*")
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"  # Unicode keeps them out of texts
_MARK = re.compile(rf"{_OPEN}(\d+){_CLOSE}")

Labels = Mapping[str, str]
"""The label of each page that begins in a file, by the id of the element it begins at; that at the
beginning of the file has no id."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """The text of a file, and where in it pages begin, with their labels, in order."""

    flat: Flat
    breaks: tuple[tuple[int, str], ...] = ()


def page_list(table: etree._Element, folder: str) -> dict[str, Labels]:
    """The labels of pages by file, from the page list of a `nav` (EPUB 3) or NCX (EPUB 2)."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for link, label in _listed(table):
        path, _, fragment = link.partition("#")
        if path and label:
            name = posixpath.normpath(posixpath.join(folder, unquote(path)))
            found[name].setdefault(unquote(fragment), label)
    return dict(found)


def chapter_of(root: etree._Element, listed: Labels) -> Chapter:
    """The text of a chapter and its pages; the numbers of marked breaks are no part of the text."""
    breaks = list(_breaks(root, listed))
    for element, label in breaks:
        if _is_break(element) and page_label(words(element)) == label:
            empty(element)
    flat = flatten(root)
    start = [(0, listed[""])] if "" in listed else []
    return Chapter(flat, (*start, *_places(root, flat, breaks)))


def _listed(table: etree._Element) -> Iterator[tuple[str, str]]:
    for target in table.iter("{*}pageTarget"):
        link = next((content.get("src", "") for content in target.iter("{*}content")), "")
        named = next((words(label) for label in target.iter("{*}navLabel")), "")
        yield link, page_label(named) or target.get("value", "")
    for nav in table.iter("{*}nav"):
        if has_type(nav, {"page-list"}):
            yield from ((a.get("href", ""), page_label(words(a))) for a in nav.iter("{*}a"))


def _breaks(root: etree._Element, listed: Labels) -> Iterator[tuple[etree._Element, str]]:
    for element in root.iter(etree.Element):
        ids = (element.get("id", ""), element.get("name", ""))
        label = next((listed[id_] for id_ in ids if id_ and id_ in listed), None)
        if label is not None or _is_break(element):
            yield element, _own_label(element) if label is None else label


def _is_break(element: etree._Element) -> bool:
    return has_type(element, _BREAKS)


def has_type(element: etree._Element, types: Iterable[str]) -> bool:
    """Whether it says to be of one of these types, as `epub:type` or as `role`."""
    return any(set(types) & set(element.get(name, "").split()) for name in _TYPES)


def _own_label(element: etree._Element) -> str:
    """What a break says of itself; empty if nothing."""
    for written in (element.get("title", ""), element.get("aria-label", ""), words(element)):
        if label := page_label(written):
            return label
    in_id = _IN_ID.search(element.get("id", ""))
    return in_id[1] if in_id else ""


def empty(element: etree._Element) -> None:
    """Removes all that is in the element; what follows it stays."""
    element.text = None
    for child in list(element):
        element.remove(child)


def _places(
    root: etree._Element, flat: Flat, breaks: Sequence[tuple[etree._Element, str]]
) -> Iterator[tuple[int, str]]:
    """Where the pages begin: each at the first character that is printed behind its break.

    The tree is read once more with a mark before each break: what stands before a mark is counted,
    because white space around it is not the same as without it.
    """
    if not breaks or _MARK.search(flat.text):
        return
    for number, (element, _) in enumerate(breaks):
        _put_before(element, f"{_OPEN}{number}{_CLOSE}")
    solid = [at for at, character in enumerate(flat.text) if _is_solid(character)]
    before = last = start = 0
    marked = flatten(root).text
    for mark in _MARK.finditer(marked):
        before += sum(map(_is_solid, marked[last : mark.start()]))
        last = mark.end()
        place = solid[before] if before < len(solid) else len(flat.text)
        if place > start:  # or it stands in the word before, which may be long
            start = _behind_word(flat.text, place)
        yield start, breaks[int(mark[1])][1]


def _behind_word(text: str, start: int) -> int:
    """`start`, or the beginning of the next word: a word that a page breaks is left whole."""
    within = _WITHIN_WORD.match(text, max(start - 1, 0)) if start else None
    return within.end() if within else start


def _put_before(element: etree._Element, text: str) -> None:
    previous, parent = element.getprevious(), element.getparent()
    if previous is not None:
        previous.tail = (previous.tail or "") + text
    elif parent is not None:
        parent.text = (parent.text or "") + text
    else:
        element.text = text + (element.text or "")


def _is_solid(character: str) -> bool:
    """Whether it is printed; a bar may only join the cells of a row."""
    return not character.isspace() and character != "|"
