"""The parts of an EPUB: what it says about itself, its reading order, its table of contents."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, TypeVar
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.archive import BadArchive, open_archive, part, xml_parser, xml_part
from atlas_search.readers.markup import Flat, Heading, flatten, sections, tag_of, words
from atlas_search.readers.print import labels_of_pages, page_label
from atlas_search.readers.raised import EPUB_TYPE, empty, has_type, write_raised
from atlas_search.readers.xml.parse import with_html_characters
from atlas_search.readers.xml.tree import first_address

_ENCODING = re.compile(rb"""^[^<]{0,3}<\?xml[^>]*encoding=["']([A-Za-z0-9_.:-]+)["']""")


def chapter_tree(data: bytes) -> tuple[etree._Element, bool]:
    """The tree of an XHTML file, and whether it is well-formed; if not it is read as HTML.

    Raises ValueError where there is nothing to read.
    """
    for attempt in (data, with_html_characters(data)[0]):
        try:
            return etree.fromstring(attempt, xml_parser()), True
        except etree.XMLSyntaxError:
            continue
    return _html(data), False


def _html(data: bytes) -> etree._Element:
    declared = _ENCODING.match(data)
    try:
        encoding = declared[1].decode() if declared else "utf-8"
        root = etree.fromstring(data, etree.HTMLParser(encoding=encoding, no_network=True))
    except (etree.LxmlError, LookupError) as error:
        raise ValueError(str(error)) from error
    if root is None:
        raise ValueError("it holds no element")
    return root


_SINGLE = ("title", "language", "publisher", "source")
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})T.*")
_UNKNOWN = "0101-01-01"  # calibre's
_EVENT = "{http://www.idpf.org/2007/opf}event"
_EVENTS = {"": "date", "publication": "date", "creation": "created", "modification": "modified"}


def epub_metadata(package: etree._Element) -> dict[str, object]:
    """The fields of the `metadata` element; of several languages or publishers the first."""
    values = _values(package)
    identifiers = values.get("identifier", [])
    fields: dict[str, object] = {name: values[name][0] for name in _SINGLE if name in values}
    fields |= {"author": values.get("creator", []), "tags": values.get("subject", [])}
    fields |= {"identifier": identifiers[0] if len(identifiers) == 1 else identifiers}
    fields |= {"url": first_address(identifiers + values.get("source", [])), **_dates(package)}
    return {name: value for name, value in fields.items() if value}


def _values(package: etree._Element) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for element in package.iter("{*}*"):
        if value := words(element):
            values.setdefault(tag_of(element), []).append(value)
    return values


def _dates(package: etree._Element) -> dict[str, str]:
    """EPUB 2 says by an attribute what a date is, EPUB 3 has a property for the last change."""
    dates: dict[str, str] = {}
    for element in package.iter("{*}*"):
        name = ""
        if tag_of(element) == "date":
            name = _EVENTS.get(element.get(_EVENT, "").lower(), "")
        elif element.get("property") == "dcterms:modified":
            name = "modified"
        value = _DAY.sub(r"\1", words(element)) if name else ""
        if value and value != _UNKNOWN:
            dates.setdefault(name, value)
    return dates


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
    pages: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for link, label in _listed(table):
        path, _, fragment = link.partition("#")
        if path and label:
            name = posixpath.normpath(posixpath.join(folder, unquote(path)))
            pages[name].setdefault(unquote(fragment), label)
    return dict(pages)


def chapter_of(root: etree._Element, listed: Labels) -> Chapter:
    """The text of a chapter and its pages; the numbers of marked breaks are no part of the text."""
    breaks = list(_breaks(root, listed))
    for element, label in breaks:
        if has_type(element, _BREAKS) and page_label(words(element)) == label:
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
        if label is not None or has_type(element, _BREAKS):
            yield element, _own_label(element) if label is None else label


def _own_label(element: etree._Element) -> str:
    """Return the label in a break itself, or empty."""
    for candidate in (element.get("title", ""), element.get("aria-label", ""), words(element)):
        if label := page_label(candidate):
            return label
    in_id = _IN_ID.search(element.get("id", ""))
    return in_id[1] if in_id else ""


def _places(
    root: etree._Element, flat: Flat, breaks: Sequence[tuple[etree._Element, str]]
) -> Iterator[tuple[int, str]]:
    """Find the offset of each page: the first character that is printed behind its break.

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
    """Say if it is printed; a bar may only join the cells of a row."""
    return not character.isspace() and character != "|"


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
    spine: dict[str | int, Item] = {}  # a book says nothing twice
    for place, item in enumerate(items.get(reference, unlisted) for reference in references):
        spine.setdefault(item.name or place, item)
    return Package(
        metadata=next(children(root, "metadata"), root),
        spine=list(spine.values()),
        contents=_first(_titles(table, folder) for table, folder in tables),
        pages=_first(page_list(table, folder) for table, folder in tables),
    )


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
    ncx |= {
        i.get("id", "") for i in children(root, "manifest", "item") if i.get("media-type") == _NCX
    }
    tables = [item for item in items.values() if "nav" in item.properties.split()]
    for table in (*tables, *(item for id_, item in items.items() if id_ in ncx)):
        try:
            tree, _ = chapter_tree(part(archive, table.name))
        except ValueError:  # BadArchive is one
            continue
        yield tree, posixpath.dirname(table.name)


def _first(items: Iterable[dict[str, Content]]) -> dict[str, Content]:
    """The first that is not empty, or an empty one."""
    return next(filter(None, items), {})


def _titles(table: etree._Element, folder: str) -> dict[str, tuple[str, ...]]:
    """From `nav` (EPUB 3) or `navMap` (EPUB 2); of several entries for a file the first counts."""
    paths: dict[etree._Element, tuple[str, ...]] = {}
    titles: dict[str, tuple[str, ...]] = {}
    for entry in (entry for list_ in _lists(table) for entry in list_.iter("{*}li", "{*}navPoint")):
        above = next((paths[up] for up in entry.iterancestors() if up in paths), ())
        title, link = _entry(entry)
        paths[entry] = (*above, title) if title else above
        target = _target(folder, link)
        if title and target:
            titles.setdefault(target, paths[entry])
    return titles


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


_OUTERMOST = -1000
"""A level above all headings, where the path of a chapter in the table of contents begins."""

_NAMED = 3
_NOTHING = Chapter(Flat("", ()))


@dataclass(frozen=True)
class EpubReader:
    """Build a collection from EPUB files; pages are those of the print if it says them."""

    suffixes: ClassVar[frozenset[str]] = frozenset({".epub"})
    options: ClassVar[Mapping[str, object]] = {"version": 6}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """Read a book. Pages are those of the print where it lists or marks them, counted from 1;
        else page 3 is the third file of its reading order.

        Most books have a file for each chapter. Sections come from the headings in the chapters,
        below the titles that the table of contents has above them. Signs of notes behind words are
        left out, the notes are not. A book protected by DRM is not read.
        """
        try:
            with open_archive(path, "an EPUB") as archive:
                yield _draft(archive, package_of(archive))
        except BadArchive as error:
            yield Skipped(str(error))


def _draft(archive: ZipFile, package: Package) -> Read:
    problems: _Problems = {_MISSING: [], _MALFORMED: []}
    chapters = [
        _chapter(archive, item, package.pages.get(item.name, {}), problems)
        for item in package.spine
    ]
    remark = _remark(problems, len(chapters))
    text, starts = _join([chapter.flat.text for chapter in chapters])
    if not text:
        return Skipped(f"it holds no text; {remark or 'its pages may be pictures'}")
    metadata = epub_metadata(package.metadata)
    pages = _pages(chapters, starts, len(text))
    return Draft(
        text=text,
        title=str(metadata.get("title", "")),
        metadata=metadata,
        pages=tuple(start for start, _ in pages) or starts,
        segments=sections(_headings(package, [chapter.flat for chapter in chapters], starts)),
        remark=remark,
        printed_pages=labels_of_pages([label for _, label in pages]),
    )


_MISSING, _MALFORMED = "missing or damaged", "not well-formed, read as HTML"
_Problems = dict[str, list[str]]
"""Names of parts by what is wrong with them."""


def _remark(problems: _Problems, chapters: int) -> str:
    """`1 of 9 parts missing or damaged (text/ch2.xhtml)`."""
    return "; ".join(
        f"{len(names)} of {chapters} parts {what} ({', '.join(names[:_NAMED])}"
        f"{', ...' * (len(names) > _NAMED)})"
        for what, names in problems.items()
        if names
    )


def _chapter(archive: ZipFile, item: Item, listed: Labels, problems: _Problems) -> Chapter:
    if not item.is_text:
        return _NOTHING
    try:
        root, well_formed = chapter_tree(part(archive, item.name))
    except ValueError:  # BadArchive is one
        problems[_MISSING].append(item.name or "not in its list of files")
        return _NOTHING
    if not well_formed:
        problems[_MALFORMED].append(item.name)
    write_raised(root, note="")
    return chapter_of(root, listed)


def _pages(chapters: Sequence[Chapter], starts: Sequence[int], end: int) -> list[tuple[int, str]]:
    """Return the offsets and labels of the printed pages; none where fewer than two are known.

    Text before the first is a page without a label.
    """
    pages: list[tuple[int, str]] = []
    for chapter, start in zip(chapters, starts, strict=True):
        length = len(chapter.flat.text)
        for offset, label in chapter.breaks:
            behind = 2 if length and offset == length else 0  # the gap before the next chapter
            pages.append((min(start + offset + behind, end), label))
    if len(pages) < 2:
        return []
    return pages if pages[0][0] == 0 else [(0, ""), *pages]


def _join(texts: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """The whole text, and where each part begins; one without text where the next one does."""
    pages: list[int] = []
    length = 0
    for text in texts:
        pages.append(length)
        length += len(text) + 2 if text else 0
    end = max(0, length - 2)
    return "\n\n".join(filter(None, texts)), tuple(min(page, end) for page in pages)


def _headings(
    package: Package, chapters: Sequence[Flat], pages: Sequence[int]
) -> Iterator[Heading]:
    for item, chapter, start in zip(package.spine, chapters, pages, strict=True):
        if chapter.text:
            yield from _above(package.contents.get(item.name, ()), chapter, start)
            for heading in chapter.headings:
                yield replace(heading, start=start + heading.start)


def _above(titles: Sequence[str], chapter: Flat, start: int) -> Iterator[Heading]:
    """Return the titles of a chapter in the table of contents, which ends the sections before it.

    Its own title counts up to the first heading, which usually is the same. A chapter that the
    table does not name goes on with the section before.
    """
    if not titles:
        return
    yield Heading(start, _OUTERMOST, "")
    for depth, title in enumerate(titles[:-1], start=1):
        yield Heading(start, _OUTERMOST + depth, title)
    if not (chapter.headings and chapter.headings[0].start == 0):
        level = min((heading.level for heading in chapter.headings), default=1)
        yield Heading(start, level, titles[-1])
