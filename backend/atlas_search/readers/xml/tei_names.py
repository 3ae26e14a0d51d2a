"""Names of persons and bodies in a TEI document: its lists, and what points into them."""

import re
from collections.abc import Mapping

from lxml import etree

from atlas_search.readers.xml.draft import text_of
from atlas_search.readers.xml.writer import LONGEST

_LISTED = ("person", "persongrp", "org", "place")
_NAMES = ("persname", "orgname", "placename", "geogname", "name")
_FORENAMES, _SURNAMES = ("forename",), ("surname", "namelink")
_ID_OF_NAMES = re.compile(r"(?:[^\W\d_]|[-'’._])+?(?:[._]\d+)?")
_UNKNOWN = frozenset({"", "unknown", "unk", "none"})
_PARTICLES = ("Mc", "Mac")


def listed_names(root: etree._Element) -> dict[str, str]:
    """The first name of everyone and everything that `root` lists with an id."""
    found: dict[str, str] = {}
    for element in root.iter(*_LISTED):
        name = next((name for name in element.iterchildren(*_NAMES)), None)
        if name is not None and (id_ := element.get("id")) and (text := name_of(name)):
            found.setdefault(id_, text[:LONGEST])
    return found


def name_of(element: etree._Element) -> str:
    """A name in the order in which it is spoken: forenames, then surnames."""
    forenames = [text_of(part) for part in element.iter(*_FORENAMES)]
    surnames = [text_of(part) for part in element.iter(*_SURNAMES)]
    return " ".join(filter(None, [*forenames, *surnames])) or text_of(element)


def resolve_pointers(pointers: str, known: Mapping[str, str]) -> str:
    """Whom `#a #b` point at, by the names in `known`, joined by commas.

    An id that is not listed here, as in ParlaMint where the persons stand in a file of their own,
    is taken apart if it is made of names (`#AbbottDiane`: Abbott Diane), else shown as it is.
    """
    names = (_name(pointer, known) for pointer in pointers.split())
    return ", ".join(dict.fromkeys(filter(None, names)))


def are_known(pointers: str, known: Mapping[str, str]) -> bool:
    """Whether all of `pointers` are in `known`, and there is one."""
    ids = [_id(pointer) for pointer in pointers.split()]
    return bool(ids) and all(id_ in known for id_ in ids)


def _name(pointer: str, known: Mapping[str, str]) -> str:
    id_ = _id(pointer)
    if id_.casefold() in _UNKNOWN:
        return ""
    return known.get(id_) or _take_apart(id_)


def _id(pointer: str) -> str:
    return pointer.rpartition("#")[2]


def _take_apart(id_: str) -> str:
    if not _ID_OF_NAMES.fullmatch(id_):
        return id_
    words = re.split(r"[._]+", re.sub(r"[._]\d+$", "", id_))
    return " ".join(_space(word) for word in words if word)


def _space(word: str) -> str:
    """`AbbottDiane` as two words, `McDonald` as one."""
    spaced = ""
    begin = 0
    for at in range(1, len(word)):
        is_start = word[at].isupper() and word[at - 1].islower()
        if is_start and word[begin:at] not in _PARTICLES:
            spaced += f"{word[begin:at]} "
            begin = at
    return spaced + word[begin:]
