"""Reading METS, https://www.loc.gov/mets: the pages of a book or of a newspaper in their order.

It names the files of pages, says what is printed on each, and may say which blocks are one article.
"""

import os
from collections import ChainMap, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from lxml import etree

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.scans.page_files import READERS
from atlas_search.readers.scans.pages import SCAN, Block, ScannedPage, scan_draft
from atlas_search.readers.xml.parse import Parsed, parse
from atlas_search.readers.xml.tree import distinct, text_of, unique_keys

ROOT = "mets"
_NO_PAGES = (
    "no file of a page that it names (ALTO or PAGE XML) is found in its folder or below: put them "
    "where its addresses say"
)
_MISSING = "{count} of the XML files that it names are not in its folder or below"
_ARTICLES = frozenset("article advertisement advert ad death_notice".split())
_IMAGES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".jp2")
_UNPRINTED = ("NP",)
"""Labels of pages that bear no number: `non paginé`."""


class _PageBlock(NamedTuple):
    """A block in the order of the whole, and its page, of which `number` counts from 0."""

    number: int
    page: ScannedPage
    block: Block


_Document = tuple[str, list[ScannedPage], dict[str, Any], str, str]
"""The key, pages, metadata, title and remark of a document whose text is not made yet."""


def mets_drafts(root: etree._Element, path: Path) -> Iterator[Read]:
    """One document for each article, and one for whatever stands in none, or for the whole."""
    reads = (
        scan_draft(pages, {**SCAN, **metadata}, title=title, key=key, remark=remark)
        for key, pages, metadata, title, remark in _documents(root, path)
    )
    first = next(reads, Skipped(_NO_PAGES))
    return chain([first], reads)


def mets_pages(root: etree._Element, path: Path, key: str, text: str) -> list[ScannedPage]:
    """The pages of the document with this key; none if its text is another now."""
    pages = next((pages for own, pages, *_ in _documents(root, path) if own == key), [])
    read = scan_draft(pages, {})
    return pages if isinstance(read, Draft) and read.text == text else []


def _documents(root: etree._Element, path: Path) -> Iterator[_Document]:
    mets = _Mets(root, path.parent, path.parent)
    blocks, places = mets.blocks()
    if not blocks:
        return
    about = mets.about()
    title = about.pop("title", "")
    title = root.get("label", "") or title
    remark = _MISSING.format(count=mets.missing) if mets.missing else ""
    articles = _articles(mets, places)
    used = {number for _, numbers in articles for number in numbers}
    rest = [block for number, block in enumerate(blocks) if number not in used]
    if rest or remark:
        yield "", _pages(rest), about, title, remark
    keys = unique_keys([article.get("id", "") for article, _ in articles])
    for key, (article, numbers) in zip(keys, articles, strict=True):
        own = mets.described(article)
        name = own.pop("title", "")
        name = article.get("label", "") or name
        kind = article.get("type", "").lower()
        metadata = {**about, "source": title, "document_type": kind, **own}
        yield key, _pages([blocks[n] for n in numbers]), metadata, name, ""


class _Mets:
    """A METS file in `folder`, and the files that it names, which lie below `top`.

    `missing` counts the others; `images` are the addresses of images by their ids.
    """

    def __init__(self, root: etree._Element, folder: Path, top: Path) -> None:
        self.root, self._top = root, top
        self.files: dict[str, Path] = {}
        self.images: dict[str, str] = {}
        self.missing = 0
        for place in root.iterfind("filesec//flocat"):
            address = unquote(place.get("href", "").removeprefix("file://"))
            file = place.getparent()
            if address.lower().endswith(_IMAGES):
                if "thumb" not in file.getparent().get("use", "").lower():
                    self.images[file.get("id", "")] = address
            elif address.lower().endswith(".xml"):
                path = Path(os.path.realpath(folder / address))
                if path.is_relative_to(top.resolve()) and os.path.isfile(path):
                    self.files[file.get("id", "")] = path
                else:
                    self.missing += 1
        self.divisions = {division.get("id"): division for division in root.iter("div")}

    def tables(self) -> Iterator["_Mets"]:
        """The METS files that it names, such as a table of contents."""
        for path in self.files.values():
            data = path.read_bytes()
            parsed = parse(data, "") if b"structMap" in data else None
            if isinstance(parsed, Parsed) and parsed.root.tag == ROOT:
                yield _Mets(parsed.root, path.parent, self._top)

    def blocks(self) -> tuple[list[_PageBlock], dict[tuple[Path, str], list[int]]]:
        """All blocks in order, and the numbers of those in which an id of a file stands."""
        blocks: list[_PageBlock] = []
        places: defaultdict[tuple[Path, str], list[int]] = defaultdict(list)
        read: set[Path] = set()
        count = 0
        for division in self._page_divisions():
            paths = [path for id_ in _file_ids(division) if (path := self.files.get(id_))]
            path, pages = next(((p, pages) for p in paths if (pages := _scanned(p))), (None, []))
            if path is None or path in read:
                continue
            read.add(path)
            for page in pages:
                label = self._label(division) or page.label
                sheet = page._replace(label=label, image=self._image(division, path, page.image))
                for block in page.blocks:
                    for id_ in block.ids:
                        places[path, id_].append(len(blocks))
                    blocks.append(_PageBlock(count, sheet, block))
                count += 1
        return blocks, places

    def _page_divisions(self) -> Sequence[etree._Element]:
        """The divisions of pages; where no map of pages has any, the files themselves."""
        maps = self.root.findall("structmap")
        maps.sort(key=lambda each: str(each.get("type")).lower() != "physical")
        for each in maps:
            if divisions := [d for d in each.iter("div") if set(_file_ids(d)) & set(self.files)]:
                return divisions
        return list(self.root.iterfind("filesec//file"))

    def _label(self, division: etree._Element) -> str:
        """The number printed on a page, which NDNP states in its description."""
        described = self._section(division)
        numbers = [] if described is None else described.findall(".//extent[@unit='pages']/start")
        label = division.get("orderlabel", "") or text_of(next(iter(numbers), None))
        return "" if label in _UNPRINTED else label

    def _image(self, division: etree._Element, path: Path, stated: str) -> str:
        """The image of a page as seen from the METS file: the first of those named that is there,
        else what lies beside the file of the page."""
        named = [self.images[id_] for id_ in _file_ids(division) if id_ in self.images]
        own = PurePosixPath(stated.replace("\\", "/")).name or path.name
        beside = [path.with_name(own), *(path.with_suffix(ending) for ending in _IMAGES)]
        names = [*named, *(os.path.relpath(each, os.path.realpath(self._top)) for each in beside)]
        there = (each for each in names if each.lower().endswith(_IMAGES))
        return next((each for each in there if os.path.isfile(self._top / each)), names[0])

    def about(self) -> dict[str, Any]:
        """The fields of the whole, by the outermost division that states one; or the first."""
        outer = [self.described(each) for each in self.root.iterfind("structmap//div[div]")]
        first = filter(None, map(_about, self.root.iterfind("dmdsec")))
        return dict(ChainMap(*outer)) or next(first, {})

    def described(self, division: etree._Element) -> dict[str, Any]:
        return _about(self._section(division))

    def _section(self, division: etree._Element) -> etree._Element | None:
        ids = division.get("dmdid", "").split()
        return next((each for each in self.root.iterfind("dmdsec") if each.get("id") in ids), None)

    def areas(self, division: etree._Element) -> Iterator[tuple[Path, str]]:
        """The places of a logical division: its own, else of the physical ones it is linked to."""
        linked = [
            self.divisions[target]
            for each in division.iter("div")
            for target in self._links.get(each.get("id", ""), ())
            if target in self.divisions
        ]
        for area in (area for each in [division, *linked] for area in each.iter("area")):
            if path := self.files.get(area.get("fileid", "")):
                yield from ((path, id_) for name in ("begin", "end") if (id_ := area.get(name)))

    @cached_property
    def _links(self) -> Mapping[str, Sequence[str]]:
        """The physical divisions of each logical one, by their ids."""
        links: defaultdict[str, list[str]] = defaultdict(list)
        for link in self.root.iterfind("structlink//smlink"):
            links[link.get("from", "")].append(link.get("to", ""))
        for group in self.root.iterfind("structlink/smlinkgrp"):
            ids = [one.get("href", "").removeprefix("#") for one in group.iter("smlocatorlink")]
            links[next(iter(ids), "")] += ids[1:]
        return links


def _file_ids(division: etree._Element) -> list[str]:
    """The files of a division itself, or of a file."""
    pointers = [each for pointer in division.iterchildren("fptr") for each in pointer.iter()]
    return [each.get("fileid", "") for each in pointers] or [division.get("id", "")]


def _scanned(path: Path) -> list[ScannedPage]:
    """The pages of a file with words; none if it is of another kind, or damaged."""
    parsed = parse(path.read_bytes(), "")
    if isinstance(parsed, Skipped) or parsed.root.tag not in READERS:
        return []
    pages = READERS[parsed.root.tag](parsed.root)
    return pages if any(page.blocks for page in pages) else []


_Article = tuple[etree._Element, list[int]]


def _articles(mets: _Mets, places: Mapping[tuple[Path, str], Sequence[int]]) -> list[_Article]:
    """The outermost articles, here or in a table of contents, and the numbers of their blocks.

    A block belongs to the first one that names it.
    """
    articles: list[_Article] = []
    used: set[int] = set()
    for each in (mets, *mets.tables()):
        for division in each.root.iterfind("structmap//div"):
            above = [division, *division.iterancestors("div")]
            if [d.get("type", "").lower() in _ARTICLES for d in above].count(True) == 1 and (
                division.get("type", "").lower() in _ARTICLES
            ):
                numbers = dict.fromkeys(n for area in each.areas(division) for n in places[area])
                own = [number for number in numbers if number not in used]
                used.update(own)
                articles += [(division, own)] * bool(own)
    return articles


def _pages(blocks: Sequence[_PageBlock]) -> list[ScannedPage]:
    pages = (list(on_page) for _, on_page in groupby(blocks, key=attrgetter("number")))
    return [own[0].page._replace(blocks=[each.block for each in own]) for own in pages]


def _about(section: etree._Element | None) -> dict[str, Any]:
    """The fields that a section states in MODS or Dublin Core."""
    if section is None:
        return {}

    def texts(*tags: str) -> list[str]:
        return distinct(text_of(element) for tag in tags for element in section.iter(tag))

    fields = {
        "title": next(iter(texts("title")), ""),
        "author": texts("namepart", "creator"),
        "date": next(iter(texts("dateissued", "date")), ""),
        "publisher": next(iter(texts("publisher")), ""),
        "language": next(iter(texts("languageterm", "language")), ""),
    }
    return {name: value for name, value in fields.items() if value}
