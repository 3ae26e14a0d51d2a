"""The parts of an EPUB: what it says about itself, its reading order, its table of contents."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from atlas_search.readers.archive import BadArchive, part, xml_part
from atlas_search.readers.epub.chapter import chapter_tree
from atlas_search.readers.epub.pages import EPUB_TYPE, Labels, page_list
from atlas_search.readers.markup import tag_of, words

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FONT_METHODS = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
_FONTS = (".ttf", ".otf", ".woff", ".woff2")
_NCX = "application/x-dtbncx+xml"
_TEXTS = frozenset(
    {"application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml"}
)

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class Item:
    """A file of the book; `is_text` is false for a picture."""

    name: str
    is_text: bool
    properties: str


@dataclass(frozen=True, slots=True)
class Package:
    """A book: its metadata as the element that holds it, its items in reading order.

    `contents` are the titles that lead to a file, outermost first: `("Part 2", "Chapter 1")`;
    `pages` are the printed pages that begin in it, from the page list.
    """

    metadata: etree._Element
    spine: Sequence[Item]
    contents: Mapping[str, tuple[str, ...]]
    pages: Mapping[str, Labels]


def package_of(archive: ZipFile) -> Package:
    """The book in an archive; raises BadArchive if it is damaged or protected."""
    _refuse_protected(archive)
    name = _package_name(xml_part(archive, _CONTAINER))
    root = xml_part(archive, name)
    items = _items(root, posixpath.dirname(name))
    references = [ref.get("idref", "") for ref in children(root, "spine", "itemref")]
    if not references:
        raise BadArchive(f"its part {name} lists no chapters; get the whole file again")
    tables = list(_tables(archive, root, items))
    unlisted = Item("", is_text=True, properties="")
    spine = [items.get(reference, unlisted) for reference in references]
    return Package(
        metadata=next(children(root, "metadata"), root),
        spine=_each_once(spine),
        contents=_first(_titles(table, folder) for table, folder in tables),
        pages=_first(page_list(table, folder) for table, folder in tables),
    )


def _each_once(spine: Iterable[Item]) -> list[Item]:
    """A reading order without what was there before: a book says nothing twice."""
    seen: set[str] = set()
    once = []
    for item in spine:
        if item.name not in seen:
            once.append(item)
        if item.name:
            seen.add(item.name)
    return once


def children(root: etree._Element, *path: str) -> Iterator[etree._Element]:
    """The elements below `root` along a path of names without namespaces."""
    for child in root:
        if tag_of(child) == path[0]:
            if path[1:]:
                yield from children(child, *path[1:])
            else:
                yield child


def _package_name(container: etree._Element) -> str:
    for root in children(container, "rootfiles", "rootfile"):
        if root.get("media-type", "").endswith("package+xml"):
            return str(root.get("full-path", ""))
    raise BadArchive(f"its part {_CONTAINER} names no book; get the whole file again")


def _refuse_protected(archive: ZipFile) -> None:
    if _ENCRYPTION not in archive.namelist():
        return
    locked = [
        entry
        for entry in children(xml_part(archive, _ENCRYPTION), "encrypteddata")
        if not _is_font(entry)
    ]
    if locked:
        raise BadArchive(
            f"it is protected (DRM): {len(locked)} of its parts are encrypted; "
            "get a copy without protection"
        )


def _is_font(entry: etree._Element) -> bool:
    """Fonts may be scrambled in any book."""
    methods = {method.get("Algorithm") for method in children(entry, "encryptionmethod")}
    targets = children(entry, "cipherdata", "cipherreference")
    return bool(methods & _FONT_METHODS) or all(
        target.get("URI", "").lower().endswith(_FONTS) for target in targets
    )


def _items(root: etree._Element, folder: str) -> dict[str, Item]:
    return {
        item.get("id", ""): Item(
            _target(folder, item.get("href", "")),
            item.get("media-type", "").lower() in _TEXTS,
            item.get("properties", ""),
        )
        for item in children(root, "manifest", "item")
    }


def _target(folder: str, link: str) -> str:
    """The name of the file that a link in `folder` leads to."""
    path = unquote(re.split("[#?]", link)[0])
    return posixpath.normpath(posixpath.join(folder, path)) if path else ""


def _tables(
    archive: ZipFile, root: etree._Element, items: Mapping[str, Item]
) -> Iterator[tuple[etree._Element, str]]:
    """The tables of contents that can be read, and the folders their links start from.

    Without one the chapters' headings must do.
    """
    ncx = {ref.get("toc", "") for ref in children(root, "spine")}
    ncx |= {i.get("id", "") for i in children(root, "manifest", "item") if _is_ncx(i)}
    tables = [item for item in items.values() if "nav" in item.properties.split()]
    for table in (*tables, *(item for id_, item in items.items() if id_ in ncx)):
        try:
            tree, _ = chapter_tree(part(archive, table.name))
        except ValueError:  # BadArchive is one
            continue
        yield tree, posixpath.dirname(table.name)


def _first(found: Iterable[dict[str, Content]]) -> dict[str, Content]:
    """The first that is not empty, or an empty one."""
    return next(filter(None, found), {})


def _is_ncx(item: etree._Element) -> bool:
    return bool(item.get("media-type") == _NCX)


def _titles(table: etree._Element, folder: str) -> dict[str, tuple[str, ...]]:
    """From `nav` (EPUB 3) or `navMap` (EPUB 2); of several entries for a file the first counts."""
    paths: dict[etree._Element, tuple[str, ...]] = {}
    found: dict[str, tuple[str, ...]] = {}
    for entry in (entry for list_ in _lists(table) for entry in list_.iter("{*}li", "{*}navPoint")):
        above = next((paths[up] for up in entry.iterancestors() if up in paths), ())
        title, link = _entry(entry)
        paths[entry] = (*above, title) if title else above
        target = _target(folder, link)
        if title and target:
            found.setdefault(target, paths[entry])
    return found


def _lists(table: etree._Element) -> list[etree._Element]:
    """The main list, or one that does not say what it lists: it may be pages or landmarks."""
    maps, navs = (_outermost(table, tag) for tag in ("{*}navMap", "{*}nav"))
    main = [nav for nav in navs if nav.get(EPUB_TYPE) == "toc"]
    return maps or main or [nav for nav in navs if EPUB_TYPE not in nav.attrib][:1]


def _outermost(table: etree._Element, tag: str) -> list[etree._Element]:
    """The elements of a name that stand in no other: each is read with all that is in it."""
    return [one for one in table.iter(tag) if next(one.iterancestors(tag), None) is None]


def _entry(entry: etree._Element) -> tuple[str, str]:
    """Title and link of one entry; a mere heading of others has no link."""
    for child in entry:
        tag = tag_of(child)
        if tag in ("a", "span"):
            return words(child), child.get("href", "")
        if tag == "navlabel":
            links = (content.get("src", "") for content in children(entry, "content"))
            return words(child), next(links, "")
    return "", ""
