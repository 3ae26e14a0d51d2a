"""Texts of IIIF manifests and collections, Presentation API 2.1 and 3.0.

https://iiif.io/api/presentation/3.0, https://iiif.io/api/presentation/2.1. A text is in ALTO, hOCR
or plain text that a canvas names (`seeAlso`, `rendering`), or in annotations on it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import takewhile
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple
from urllib.parse import urldefrag

import typer
from lxml.etree import LxmlError
from lxml.html import document_fromstring

from atlas_search.core.addresses import is_link
from atlas_search.core.domain import PAGE_URLS
from atlas_search.providers.http import Fault
from atlas_search.readers import Read, Skipped
from atlas_search.readers.fetch import (
    AllowPrivate,
    Contact,
    Delay,
    FailedAddress,
    FetchOptions,
    Page,
    PoliteSession,
    Refresh,
    Robots,
    page_name,
    read_held_page,
    reason,
    remove_pages,
    save_page,
)
from atlas_search.readers.metadata import name_of
from atlas_search.readers.records.bib import readable
from atlas_search.readers.scans.alto import alto_pages
from atlas_search.readers.scans.hocr import hocr_pages
from atlas_search.readers.scans.pages import Block, ScannedPage, ScannedWord, scan_draft
from atlas_search.readers.xml.parse import parse

Node = dict[str, Any]
Load = Callable[[str], Page | None]
"""Gives what an address holds, if it can be had."""

_KINDS = ("alto", "hocr", "plain")
"""Forms of a text, those that state more of it first."""
_SPOKEN = re.compile(r"(?<![a-z])(alto|hocr)(?![a-z])")
_OF_TEXT = frozenset({"supplementing", "transcribing", "painting"})
"""Motivations of annotations that are the text of a page and not remarks on it."""
_LINKS = ("seeAlso", "rendering")
_ANNOTATIONS = ("annotations", "otherContent")
_NO_TEXT = (
    "it names no text that is read: neither ALTO, hOCR or plain text of its pages nor annotations "
    "with their words"
)
_NOT_GIVEN = "none of the texts or annotations that it names holds words of its pages"
_NO_MANIFEST = "it is no manifest or collection of IIIF"


@dataclass(frozen=True)
class IiifReader:
    """Reads manifests beside the texts that they name, each called by its address."""

    suffixes: ClassVar[frozenset[str]] = frozenset({".json"})
    # the words of its description may be more than those of its pages
    options: ClassVar[Mapping[str, object]] = {"version": 1, "documents_at": "canvas"}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The one document of a manifest."""
        manifest = _json_of(path.read_bytes())
        if _type_of(manifest) != "Manifest":
            yield Skipped(_NO_MANIFEST)
            return
        yield _draft(manifest, lambda url: read_held_page(path.parent / page_name(url, ".txt")))


def iiif_reader(
    source: Annotated[
        list[str], typer.Argument(help="Addresses of manifests and collections, or saved manifests")
    ],
    contact: Contact = FetchOptions.contact,
    delay: Delay = FetchOptions.delay,
    refresh: Refresh = FetchOptions.refresh,
    allow_private: AllowPrivate = FetchOptions.allow_private,
) -> IiifReader:
    """Build a collection from IIIF manifests: a document each, of the texts of its pages.

    They are fetched as `robots.txt` allows. Citations lead to the pictures of pages.
    """
    return IiifReader()


class FetchedManifest(NamedTuple):
    """The file of a manifest, and those of its texts."""

    path: Path
    texts: tuple[str, ...]


def fetch_manifests(
    urls: Sequence[str],
    folder: Path,
    options: FetchOptions,
    progress: Callable[[int, int], None],
) -> tuple[list[FetchedManifest], list[FailedAddress]]:
    """Fetch manifests, those of collections too, with the texts of their pages, into `folder`.

    What was fetched before is asked for again only with `options.refresh`. `progress` gets the
    addresses done and all that are known. Also returns the addresses that gave nothing, or nothing
    new.
    """
    failures: dict[str, str] = {}
    held: dict[Path, None] = {}
    with closing(PoliteSession(options)) as session:
        robots = Robots(session)

        def load(url: str, suffix: str = ".txt") -> Page | None:
            path = folder / page_name(url, suffix)
            page = read_held_page(path)
            try:
                if (options.refresh and path not in held) or not page:
                    page = session.get(url, robots.check, held=page)
                    save_page(path, *page)
            except Fault as fault:
                failures[url] = reason(fault)
            if page:
                held[path] = None
            return page

        manifests = []
        waiting = dict.fromkeys(urldefrag(url).url for url in urls)
        done: set[str] = set()
        while todo := [url for url in waiting if url not in done]:
            for url in todo:
                done.add(url)
                page = load(url, ".json")
                node = _json_of(page.content) if page else {}
                if _type_of(node) == "Manifest":
                    before = len(held)
                    _texts_of(node, load)
                    path = folder / page_name(url, ".json")
                    manifests.append(FetchedManifest(path, tuple(map(str, held))[before:]))
                elif "Collection" in _type_of(node):
                    waiting |= dict.fromkeys(_members(node))
                elif page:
                    failures[url] = _NO_MANIFEST
                progress(len(done), len(waiting))
    remove_pages(folder.parent, frozenset(held))
    return manifests, [FailedAddress(*each) for each in failures.items()]


def _members(collection: Node) -> Iterator[str]:
    """The addresses of what is in a collection, and of its other pages."""
    names = ("items", "members", "collections", "manifests", "first", "next")
    for node in (each for name in names for each in _nodes(collection.get(name))):
        if is_link(url := urldefrag(_id_of(node)).url):
            yield url


class _CanvasText(NamedTuple):
    canvas: Node
    pages: Sequence[ScannedPage]


def _texts_of(manifest: Node, load: Load) -> list[_CanvasText]:
    """The text of each canvas, as far as it can be had; a single one, if only the whole has it."""
    canvases = _canvases(manifest)
    texts = [_CanvasText(canvas, _pages_of(canvas, load)) for canvas in canvases]
    if any(_words_in(text.pages) for text in texts):
        return texts
    wholes = (_pages_of(each, load) for each in (manifest, *_nodes(manifest.get("sequences"))))
    pages = next(filter(_words_in, wholes), [])
    if len(pages) == len(canvases):
        return [_CanvasText(at, [page]) for at, page in zip(canvases, pages, strict=True)]
    return [_CanvasText({}, pages)]


def _pages_of(node: Node, load: Load) -> Sequence[ScannedPage]:
    """The first text of those that it names that has words."""
    named = [(_kind_of(link), url) for link in _linked(node) for url in _urls(link)]
    known = filter(itemgetter(0), named)
    for kind, url in sorted(known, key=lambda each: _KINDS.index(each[0])):
        page = load(url)
        if page and _words_in(pages := _parsed(kind, page)):
            return pages
    return _plain_pages("\n\n".join(_annotated(node, load)))


def _linked(node: Node) -> list[Node]:
    """The files that it names, and those with boxes of words that are bodies of annotations."""
    pages = (page for name in _ANNOTATIONS for page in _nodes(node.get(name)))
    notes = (each for page in pages for each in _items(page) if _is_text(each))
    bodies = (body for each in notes for body in map(_chosen, _bodies(each)))
    boxed = [body for body in bodies if _kind_of(body) in ("alto", "hocr")]
    return [*(link for name in _LINKS for link in _nodes(node.get(name))), *boxed]


def _urls(node: Node) -> list[str]:
    return [url] if is_link(url := _id_of(node)) else []


def _kind_of(link: Node) -> str:
    media_type = str(link.get("format", "")).lower()
    if media_type.startswith("text/plain"):
        return "plain"
    said = (media_type, link.get("profile"), _id_of(link), *_values(link.get("label")))
    spoken = _SPOKEN.search(" ".join(map(str, said)).lower())
    is_markup = not media_type or "xml" in media_type or "html" in media_type
    return spoken[1] if spoken and is_markup else ""


def _parsed(kind: str, page: Page) -> Sequence[ScannedPage]:
    """The pages of a text; none of one that is something else."""
    if kind == "plain":
        return _plain_pages(_decoded(page))
    if kind == "hocr":
        with suppress(LxmlError):
            return hocr_pages(document_fromstring(page.content))
        return []
    parsed = parse(page.content, page.origin.charset)
    return [] if isinstance(parsed, Skipped) else alto_pages(parsed.root)


def _decoded(page: Page) -> str:
    with suppress(LookupError):  # an encoding that nobody knows
        return page.content.decode(page.origin.charset or "utf-8-sig", "replace")
    return page.content.decode("utf-8-sig", "replace")


def _plain_pages(text: str) -> list[ScannedPage]:
    """The pages of a plain text, which form feeds may part."""
    return [
        ScannedPage([_block(part) for part in re.split(r"\n\s*\n", page)])
        for page in text.removesuffix("\f").split("\f")
    ]


def _block(text: str) -> Block:
    return Block([[ScannedWord(word) for word in line.split()] for line in text.splitlines()])


def _words_in(pages: Sequence[ScannedPage]) -> bool:
    return any(line for page in pages for block in page.blocks for line in block.lines)


def _annotated(node: Node, load: Load) -> list[str]:
    """The texts of annotations, each once: a list of lines may be beside one of their words."""
    texts: dict[str, str] = {}
    waiting = [each for name in _ANNOTATIONS for each in _nodes(node.get(name))]
    seen: set[str] = set()
    while waiting:
        page = waiting.pop(0)
        if not _items(page) and (url := _id_of(page)) not in seen and is_link(url):
            seen.add(url)
            held = load(url)
            page = _json_of(held.content) if held else {}
        waiting[:0] = [{"id": _id_of(each)} for each in _nodes(page.get("next"))]
        by_grain: dict[str, list[str]] = {}
        for annotation in filter(_is_text, _items(page)):
            lines = by_grain.setdefault(str(annotation.get("textGranularity", "")), [])
            bodies = map(_chosen, _bodies(annotation))
            lines += filter(None, (_words_of(each, load) for each in bodies))
        for grain, lines in by_grain.items():
            text = (" " if grain in ("word", "glyph") else "\n").join(lines)
            texts.setdefault(" ".join(text.split()), text)
    texts.pop("", None)
    return list(texts.values())


def _items(page: Node) -> list[Node]:
    """The annotations of a page of them."""
    return _nodes(page.get("items", page.get("resources")))


def _is_text(annotation: Node) -> bool:
    stated = annotation.get("motivation")
    names = stated if isinstance(stated, list) else [stated]
    names = [*names, *(body.get("purpose") for body in _bodies(annotation))]
    return any(str(name).rpartition(":")[2] in _OF_TEXT for name in names)


def _bodies(annotation: Node) -> list[Node]:
    return _nodes(annotation.get("body", annotation.get("resource")))


def _chosen(body: Node) -> Node:
    """The first of a choice."""
    while inner := _nodes(body.get("items")) or _nodes(body.get("default")):
        body = inner[0]
    return body


def _words_of(body: Node, load: Load) -> str:
    media_type = str(body.get("format", ""))
    text = body.get("value", body.get("chars"))
    if isinstance(text, str):
        return readable(text) if "html" in media_type else text.strip()
    is_file = _type_of(body) == "Text" and media_type.startswith("text/plain")
    page = load(_id_of(body)) if is_file and is_link(_id_of(body)) else None
    return _decoded(page) if page else ""


def _draft(manifest: Node, load: Load) -> Read:
    canvases = _canvases(manifest)
    texts = _texts_of(manifest, load)
    sections = _sections(manifest)
    pages, pictures = [], []
    for text in texts:
        label = " ".join(_values(text.canvas.get("label")))
        section = _joined(sections.get(_id_of(text.canvas), []))
        for page in text.pages or [ScannedPage([])]:
            blocks = page.blocks
            own = "" if label.strip("-. []") in ("", "NP") else label
            pages.append(ScannedPage(blocks, own or page.label, section=section))
            pictures.append(_picture(text.canvas))
    metadata = _metadata(manifest)
    metadata[PAGE_URLS] = " ".join(pictures) if any(map(is_link, pictures)) else ""
    title = " ".join(_values(manifest.get("label")))
    if not _words_in(pages):
        nodes = [manifest, *canvases]
        is_named = any(_kind_of(link) for node in nodes for link in _linked(node))
        is_noted = any(node.get(name) for node in nodes for name in _ANNOTATIONS)
        return Skipped(_NOT_GIVEN if is_named or is_noted else _NO_TEXT)
    without = sum(not _words_in(text.pages) for text in texts)
    remark = f"{without} of its {len(texts)} pages have no text" if without else ""
    return scan_draft(pages, metadata, title=title, remark=remark)


def _metadata(manifest: Node) -> dict[str, object]:
    """What a manifest says of its object: its pairs, by their English names if it has them."""
    metadata: dict[str, object] = {}
    for pair in _nodes(manifest.get("metadata")):
        name = name_of(" ".join(map(readable, _values(pair.get("label"), "en"))))
        values = [text for each in _values(pair.get("value")) if (text := readable(each))]
        if name and values:
            metadata[name] = values if len(values) > 1 else values[0]
    statement = manifest.get("requiredStatement")
    stated = statement.get("value") if isinstance(statement, dict) else manifest.get("attribution")
    pages = [*_nodes(manifest.get("homepage")), *_nodes(manifest.get("related"))]
    facts = {
        "abstract": _readable(manifest.get("summary", manifest.get("description"))),
        "attribution": _readable(stated),
        "rights": manifest.get("rights") or manifest.get("license"),
        "manifest": _id_of(manifest),
        "url": next((url for page in pages for url in _urls(page)), _id_of(manifest)),
        "content_type": "iiif",
    }
    metadata.setdefault("date", str(manifest.get("navDate") or "")[:10])
    return {name: value for name, value in {**metadata, **facts}.items() if value}


def _readable(value: object) -> str:
    return "\n".join(map(readable, _values(value)))


def _sections(manifest: Node) -> Mapping[str, list[tuple[str, ...]]]:
    """The paths of the ranges in which each canvas stands; one around all is none."""
    ranges = {_id_of(each): each for each in _nodes(manifest.get("structures"))}
    inner = {_id_of(child) for each in ranges.values() for child in _children(each)}
    tops = [each for id_, each in ranges.items() if id_ not in inner]
    found: dict[str, list[tuple[str, ...]]] = {}

    def parts(range_: Node) -> list[Node]:
        children = [ranges.get(_id_of(each), each) for each in _children(range_)]
        return [each for each in children if _type_of(each) == "Range"]

    if len(tops) == 1 and len(parts(tops[0])) == len(_children(tops[0])):
        tops = parts(tops[0])
    waiting: list[tuple[Node, tuple[str, ...]]] = [(each, ()) for each in tops]
    seen: set[int] = set()  # one may name what it stands in
    while waiting:
        each, above = waiting.pop(0)
        path = (*above, *filter(None, [" ".join(_values(each.get("label")))]))
        for child in _children(each):
            if _type_of(child) != "Range":
                found.setdefault(urldefrag(_id_of(child)).url, []).append(path)
        waiting[:0] = [(part, path) for part in parts(each) if id(part) not in seen]
        seen.update(map(id, parts(each)))
    return found


def _children(range_: Node) -> list[Node]:
    names = ("items", "members", "ranges", "canvases")
    nodes = [each for name in names for each in _nodes(range_.get(name))]
    return [_nodes(each["source"])[0] if each.get("source") else each for each in nodes]


def _joined(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """One path of those of a page on which several sections stand: what is common, then all."""
    deepest = [
        path
        for path in dict.fromkeys(paths)
        if not any(path != other and path == other[: len(path)] for other in paths)
    ]
    levels = zip(*deepest, strict=False)
    common = [names[0] for names in takewhile(lambda names: len({*names}) == 1, levels)]
    rest = filter(None, (" > ".join(path[len(common) :]) for path in deepest))
    return tuple(filter(None, (*common, "; ".join(rest))))


def _picture(canvas: Node) -> str:
    """The address of the picture of a page; `-` without one."""
    painted = [each for page in _nodes(canvas.get("items")) for each in _nodes(page.get("items"))]
    for each in (*painted, *_nodes(canvas.get("images"))):
        for body in map(_chosen, _bodies(each)):
            if is_link(url := _id_of(body)):
                return url
    return "-"


def _canvases(manifest: Node) -> list[Node]:
    sequences = _nodes(manifest.get("sequences"))
    return _nodes(sequences[0].get("canvases")) if sequences else _nodes(manifest.get("items"))


def _json_of(content: bytes) -> Node:
    """The object of a JSON file; empty if it is something else."""
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _nodes(value: object) -> list[Node]:
    """The objects of a value, or of a list of them; an address stands for one."""
    values = value if isinstance(value, list) else [value]
    nodes = [{"id": each} if isinstance(each, str) else each for each in values]
    return [each for each in nodes if isinstance(each, dict)]


def _id_of(node: Node) -> str:
    return str(node.get("id") or node.get("@id") or "")


def _type_of(node: Node) -> str:
    stated = node.get("type") or node.get("@type") or ""
    return str(stated[0] if isinstance(stated, list) else stated).rpartition(":")[2]


def _values(value: Any, language: str = "") -> list[str]:
    """The texts of a value in one language: in that one, if it is there, else in the first."""
    if isinstance(value, dict) and "@value" not in value:  # a language map of Presentation 3
        stated: Any = value.get(language) or next(iter(value.values()), [])
        return [str(each) for each in (stated if isinstance(stated, list) else [stated])]
    given = value if isinstance(value, list) else [value]
    texts = [each if isinstance(each, dict) else {"@value": each} for each in given]
    languages = [each.get("@language") for each in texts]
    chosen = language if language in languages else next(iter(languages), None)
    own = (each.get("@value") for each in texts if each.get("@language") == chosen)
    return [str(each) for each in own if each]
