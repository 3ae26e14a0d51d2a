"""Reading TEI, https://tei-c.org: P5, ParlaMint and Parla-CLARIN, and in the main P4."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lxml import etree

from atlas_search.readers import Read, Skipped
from atlas_search.readers.xml.draft import COLUMNS, NO_TEXT, PAGES, distinct, draft, unique_keys
from atlas_search.readers.xml.parse import INCLUDE
from atlas_search.readers.xml.tei_body import TeiText, Wording, plain_text, wording_of
from atlas_search.readers.xml.tei_header import metadata_of, title_of
from atlas_search.readers.xml.tei_names import are_known, listed_names, name_of, resolve_pointers
from atlas_search.readers.xml.walk import names, walk
from atlas_search.readers.xml.writer import Writer

ROOTS = names("tei tei.2 teicorpus teicorpus.2")
LISTS = names("listperson listorg listplace listevent taxonomy classdecl teiheader standoff")
"""Roots of the files beside the texts of a corpus such as ParlaMint."""

_TEXTS = ("tei", "tei.2")
_LISTED = names("person persongrp org place nym")
_PERSONS = names("persname"), names("person per")
_PLACES = names("placename geogname settlement"), names("place city country region loc")


@dataclass(frozen=True)
class _Document:
    """What is the same for every draft of one TEI text."""

    wording: Wording
    title: str
    metadata: Mapping[str, object]
    remark: str


@dataclass(frozen=True)
class _Part:
    """An element of a text that is a draft, and the label of the page on which it begins."""

    element: etree._Element
    page: str = ""
    has_page: bool = False


def tei_drafts(root: etree._Element, *, normalised: bool, documents_at: str) -> Iterator[Read]:
    """One draft for each TEI text of a corpus, with its id or place as key, or one for the file.

    With `documents_at`, one for every outermost element of that name in them.
    """
    texts = [root] if root.tag in _TEXTS else list(root.iter(*_TEXTS))
    if not texts:
        yield Skipped(_no_texts(root))
    shared = {} if root in texts else listed_names(root)
    keys = unique_keys([_id(text) for text in texts])
    for tei, key in zip(texts, keys, strict=True):
        for read in _text_drafts(tei, shared, documents_at.lower(), normalised=normalised):
            both = filter(None, [key if tei is not root else "", read.key])
            yield replace(read, key="/".join(both))


def _no_texts(root: etree._Element) -> str:
    includes = sum(1 for _ in root.iter(INCLUDE))
    if not includes:
        return f"{NO_TEXT}: a corpus without any TEI"
    return (
        f"{NO_TEXT} of its own, only {includes} xi:include: put the files that they name into the "
        "folder, each is read by itself"
    )


def _text_drafts(
    tei: etree._Element, shared: Mapping[str, str], documents_at: str, *, normalised: bool
) -> Iterator[Read]:
    text = tei.find("text")
    if text is None:
        yield Skipped(f"{NO_TEXT}: there is no <text> beside its header")
        return
    document = _document(tei, text, {**shared, **listed_names(tei)}, normalised=normalised)
    if not documents_at:
        yield _draft(_Part(text), document, document.title, "")
        return
    parts = list(_parts(text, documents_at, document.wording.page_element))
    if not parts:
        yield Skipped(f"it has no <{documents_at}>, at which its documents should begin")
    for part, key in zip(parts, unique_keys([_id(part.element) for part in parts]), strict=True):
        head = part.element.find("head")
        title = "" if head is None else plain_text(head, document.wording)
        yield _draft(part, document, title or document.title, key)


def _document(
    tei: etree._Element, text: etree._Element, known: Mapping[str, str], *, normalised: bool
) -> _Document:
    header = tei.find("teiheader")
    includes = sum(1 for _ in text.iter(INCLUDE))
    remark = f"{includes} xi:include were not followed: they point to other files"
    return _Document(
        wording_of(text, known, normalised=normalised),
        "" if header is None else title_of(header),
        {} if header is None else metadata_of(tei, header),
        remark if includes else "",
    )


def _parts(text: etree._Element, name: str, page_element: str) -> Iterator[_Part]:
    page = None
    for element in text.iter(name, page_element):
        if element.tag == page_element:
            page = element.get("n", "")
        elif next(element.iterancestors(name), None) is None:
            yield _Part(element, page or "", page is not None)


def _draft(part: _Part, document: _Document, title: str, key: str) -> Read:
    writer = Writer()
    if part.has_page:
        writer.page(part.page)
    walk(part.element, TeiText(writer, document.wording))
    mentioned = {
        "persons": _mentions(part.element, document.wording, *_PERSONS),
        "places": _mentions(part.element, document.wording, *_PLACES),
    }
    return draft(
        writer.finish(),
        {**document.metadata, **mentioned},
        title=title,
        key=key,
        breaks=PAGES if document.wording.page_element == "pb" else COLUMNS,
        remarks=[document.remark],
    )


def _id(element: etree._Element) -> str:
    return str(element.get("id") or element.get("n") or "")


def _mentions(
    part: etree._Element, wording: Wording, tags: frozenset[str], types: frozenset[str]
) -> list[str]:
    """The persons or places that a text names, by their listed names where they have one."""
    found: list[str] = []
    for element in part.iter(*tags, "rs", "name"):
        above = element.getparent().tag
        is_one = element.tag in tags or element.get("type", "").lower() in types
        if is_one and above not in _LISTED and above != element.tag:
            pointers = element.get("ref") or element.get("key") or ""
            is_listed = are_known(pointers, wording.known)
            named = resolve_pointers(pointers, wording.known) if is_listed else ""
            found.append(named or _name_in_text(element, wording))
    return distinct(found)


def _name_in_text(name: etree._Element, wording: Wording) -> str:
    """A name as the text has it, or from its parts where it has only those."""
    has_parts = name.find("forename") is not None and name.find("surname") is not None
    return name_of(name) if has_parts else plain_text(name, wording)
