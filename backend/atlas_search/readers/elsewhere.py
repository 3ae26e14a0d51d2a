"""The place of a file where most of its words stand, to see that they are those of its text."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from atlas_search.readers.archive import BadArchive
from atlas_search.readers.archive import part as read_part

if TYPE_CHECKING:
    from lxml import etree

LEAST = 0.1
"""The share of the words of a file's wordiest place that must reach its documents: with less, they
are a unit, a label or a remark. Of 1,878 real files one had less, an ALTO file named .html, and all
but three more than .2."""

ENOUGH = 0.2
"""The share of the bytes of a file from which on the characters of its documents are its text: what
else it holds cannot have ten times their words. Then it is not looked at again."""

FEWEST = 30
"""Different words below which a place is no text: an attribute of a stub has as many."""

_READ = 20_000_000
"""Bytes that are looked at: what is left out can only make the share larger."""

_PACKAGES = (".docx", ".epub")
_PART = re.compile(r"word/[^/]+\.xml|.*\.x?html?", re.IGNORECASE)
"""The parts of packages in which text can stand: no forms, bibliographies or properties."""

_MARKUP = (".xml", ".tei", ".html", ".htm", ".xhtml", ".hocr")
_RECORDS = (".json", ".jsonl", ".ndjson")
_NEVER_TEXT = frozenset("class for href id idref schemalocation src style type".split())
_SCRIPTS = ("script", "style")

# neither parts of addresses and names such as `note-12`, nor of pictures written in letters
_WORD = re.compile(r"(?<![\w/@=+&.:-])[^\W\d_]{2,}(?![\w/@=+&-]|[.:]\w)")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"(\s*:)?')


def has_places(path: Path) -> bool:
    """Return True for a file whose words can stand in places that no document has."""
    return path.name.lower().endswith((*_PACKAGES, *_MARKUP, *_RECORDS))


def words_of(text: str) -> set[str]:
    """The different words of a text."""
    return set(_WORD.findall(text))


def wordiest_place(path: Path) -> tuple[str, int]:
    """The place of a file that holds most different words, and their number.

    That is an element or attribute of markup, a part of a package or a field of records.
    """
    held: defaultdict[str, set[str]] = defaultdict(set)
    for place, text in _texts(path):
        held[place] |= words_of(text)
    return max(((name, len(own)) for name, own in held.items()), key=itemgetter(1), default=("", 0))


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    name = path.name.lower()
    if name.endswith(_PACKAGES):
        with ZipFile(path) as archive:
            for part in archive.namelist():
                if _PART.fullmatch(part):
                    with suppress(BadArchive):  # of which its reader has told
                        root = _root(read_part(archive, part)[:_READ], part.lower())
                        yield part, "" if root is None else " ".join(root.itertext())
    elif name.endswith(_MARKUP):
        with path.open("rb") as file:
            yield from _of_markup(_root(file.read(_READ), name))
    elif name.endswith(_RECORDS):
        with path.open(encoding="utf-8", errors="replace") as file:
            yield from _of_records(file.read(_READ))


def _of_markup(root: "etree._Element | None") -> Iterator[tuple[str, str]]:
    """Texts below the name of their element, and values of attributes below `string/@content`."""
    for element in () if root is None else root.iter():
        around = element.getparent()
        if around is not None:
            yield _local(around.tag), element.tail or ""
        if isinstance(element.tag, str) and element.tag not in _SCRIPTS:
            tag = _local(element.tag)
            yield tag, element.text or ""
            for key, value in element.items():
                if (attribute := _local(key)) not in _NEVER_TEXT:
                    yield f"{tag}/@{attribute}", value


def _root(data: bytes, name: str) -> "etree._Element | None":
    from lxml import etree

    kind = etree.XMLParser if name.endswith((".xml", ".tei")) else etree.HTMLParser
    # nothing else is opened, and faults are passed over: a reader has told them
    options = {} if kind is etree.HTMLParser else {"resolve_entities": False}
    try:
        return etree.fromstring(data, kind(recover=True, no_network=True, **options))
    except etree.XMLSyntaxError:
        return None


def _local(name: str) -> str:
    return name.rpartition("}")[2].lower()


def _of_records(text: str) -> Iterator[tuple[str, str]]:
    """The values of JSON that are texts, each below the last name before it."""
    name = ""
    for string in _STRING.finditer(text):
        if string[2]:
            name = string[1]
        else:
            yield name, _unescape(string) if "\\" in string[1] else string[1]


def _unescape(string: re.Match[str]) -> str:
    try:
        return str(json.loads(string[0], strict=False))
    except ValueError:  # it is broken, which its reader has told
        return string[1]
