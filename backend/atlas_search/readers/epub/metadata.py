"""What an EPUB says about itself, in Dublin Core."""

import re

from lxml import etree

from atlas_search.readers.markup import tag_of, words

_SINGLE = ("title", "language", "publisher", "source")
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})T.*")
_UNKNOWN = "0101-01-01"  # calibre's
_EVENT = "{http://www.idpf.org/2007/opf}event"
_EVENTS = {"": "date", "publication": "date", "creation": "created", "modification": "modified"}


def epub_metadata(package: etree._Element) -> dict[str, object]:
    """The fields of the `metadata` element; of several languages or publishers the first."""
    values = _values(package)
    identifiers = values.get("identifier", [])
    links = [value for value in identifiers + values.get("source", []) if _is_link(value)]
    found: dict[str, object] = {name: values[name][0] for name in _SINGLE if name in values}
    found |= {"author": values.get("creator", []), "tags": values.get("subject", [])}
    found |= {"identifier": identifiers[0] if len(identifiers) == 1 else identifiers}
    found |= {"url": links[0] if links else ""} | _dates(package)
    return {name: value for name, value in found.items() if value}


def _values(package: etree._Element) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for element in package.iter("{*}*"):
        if value := words(element):
            found.setdefault(tag_of(element), []).append(value)
    return found


def _dates(package: etree._Element) -> dict[str, str]:
    """EPUB 2 says by an attribute what a date is, EPUB 3 has a property for the last change."""
    found: dict[str, str] = {}
    for element in package.iter("{*}*"):
        name = ""
        if tag_of(element) == "date":
            name = _EVENTS.get(element.get(_EVENT, "").lower(), "")
        elif element.get("property") == "dcterms:modified":
            name = "modified"
        value = _DAY.sub(r"\1", words(element)) if name else ""
        if value and value != _UNKNOWN:
            found.setdefault(name, value)
    return found


def _is_link(value: str) -> bool:
    return value.startswith(("http://", "https://"))
