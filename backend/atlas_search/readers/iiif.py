"""Texts of IIIF manifests and collections, Presentation API 2.1 and 3.0.

https://iiif.io/api/presentation/3.0, https://iiif.io/api/presentation/2.1. A text is in ALTO, hOCR
or plain text that a canvas names, or in annotations on it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import urldefrag

import typer
from lxml.etree import LxmlError
from lxml.html import HTMLParser, document_fromstring

from atlas_search.core.addresses import is_link
from atlas_search.core.domain import PAGE_URLS
from atlas_search.providers.http import Fault
from atlas_search.readers import Read, Skipped
from atlas_search.readers.fetch import (
    AllowPrivate,
    Contact,
    Delay,
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
from atlas_search.readers.scans.hocr import hocr_pages
from atlas_search.readers.scans.page_files import alto_pages
from atlas_search.readers.scans.pages import Block, ScannedPage, ScannedWord, scan_draft
from atlas_search.readers.xml.parse import parse

Node = dict[str, Any]
Load = Callable[[str], Page | None]
"""Gives what an address holds, if it can be had."""

_NEW_NAMES = {
    "@id": "id",
    "@type": "type",
    "resource": "body",
    "chars": "value",
    "license": "rights",
    "otherContent": "annotations",
    "description": "summary",
    "related": "homepage",
    **dict.fromkeys("sequences canvases images resources ranges members".split(), "items"),
    **dict.fromkeys("collections manifests default item".split(), "items"),
}
"""Names of Presentation 2, as those of Presentation 3."""
_KINDS = ("alto", "hocr", "plain")
"""Forms of a text, those that state more of it first."""
_FORM = re.compile(r"(?<![a-z])(alto|hocr)(?![a-z])")
_OF_TEXT = frozenset({"supplementing", "transcribing", "painting"})
"""Motivations of annotations that are the text of a page and not remarks on it."""
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
        manifest = _json_of(path.read_bytes())
        if manifest.get("type") == "Manifest":
            yield _draft(manifest, lambda url: read_held_page(path.parent / page_name(url, ".txt")))
        else:
            yield Skipped(_NO_MANIFEST)


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


def fetch_manifests(
    urls: Sequence[str], folder: Path, options: FetchOptions, progress: Callable[[int, int], None]
) -> tuple[dict[Path, tuple[str, ...]], list[tuple[str, str]]]:
    """Fetch manifests, those of collections too, into a `folder`: their files, with those of the
    texts of their pages, and the addresses that gave nothing, or nothing new, with why.

    What was fetched before is asked for again only with `options.refresh`. `progress` gets the
    addresses done and all that are known.
    """
    failures: dict[str, str] = {}
    held: dict[Path, None] = {}
    manifests: dict[Path, tuple[str, ...]] = {}
    with closing(PoliteSession(options)) as session:
        robots = Robots(session)

        def load(url: str, suffix: str = ".txt") -> Page | None:
            path = folder / page_name(url, suffix)
            page = read_held_page(path)
            try:
                if not page or (options.refresh and path not in held):
                    page = session.get(url, robots.check, held=page)
                    save_page(path, *page)
            except Fault as fault:
                failures[url] = reason(fault)
            held.update({path: None} if page else {})
            return page

        known = dict.fromkeys(urldefrag(url).url for url in urls)
        waiting = [*known]
        for done, url in enumerate(waiting, start=1):  # which grows meanwhile
            page = load(url, ".json")
            path = folder / page_name(url, ".json")
            node = _json_of(page.content) if page else {}
            if node.get("type") == "Manifest":
                before = len(held)
                _texts_of(node, load)
                manifests[path] = tuple(map(str, held))[before:]
            elif node.get("type") == "Collection":
                parts = (part for name in ("items", "first", "next") for part in _nodes(node, name))
                found = (urldefrag(part["id"]).url for part in parts if is_link(part.get("id")))
                new = dict.fromkeys(each for each in found if each not in known)
                known |= new
                waiting += new
            elif page:
                failures.setdefault(url, _NO_MANIFEST)
                del held[path]
            progress(done, len(waiting))
    remove_pages(folder.parent, frozenset(held))
    return manifests, list(failures.items())


_CanvasText = tuple[Node, Sequence[ScannedPage]]


def _texts_of(manifest: Node, load: Load) -> list[_CanvasText]:
    """The text of each canvas, as far as it can be had; a single one, if only the whole has it."""
    sequence = next(iter(_items(manifest)), {})
    canvases = _items(sequence if sequence.get("type") == "Sequence" else manifest)
    texts: list[_CanvasText] = [(canvas, _pages_of(canvas, load)) for canvas in canvases]
    if any(_has_words(pages) for _, pages in texts):
        return texts
    whole = next(filter(_has_words, (_pages_of(each, load) for each in (manifest, sequence))), [])
    if len(whole) == len(canvases):
        return [(canvas, [page]) for canvas, page in zip(canvases, whole, strict=True)]
    return [({}, whole)] if whole else texts


def _pages_of(node: Node, load: Load) -> Sequence[ScannedPage]:
    """The first text of those that it names that has words."""
    named = [(kind, link["id"]) for link in _links(node) if (kind := _kind_of(link))]
    for kind, url in sorted(named, key=lambda each: _KINDS.index(each[0])):
        page = load(url)
        if page and _has_words(pages := _parsed(kind, page)):
            return pages
    return _plain_pages("\n\n".join(_annotated(node, load)))


def _links(node: Node) -> list[Node]:
    """The files that it names, and those with boxes of words that are bodies of annotations."""
    notes = (each for page in _nodes(node, "annotations") for each in _items(page))
    bodies = (body for each in notes if _is_text(each) for body in _bodies(each))
    boxed = [body for body in bodies if _kind_of(body) != "plain"]
    return [*_nodes(node, "seeAlso"), *_nodes(node, "rendering"), *boxed]


def _kind_of(link: Node) -> str:
    media_type = str(link.get("format", "")).lower()
    said = (media_type, link.get("profile"), link.get("id"), *_values(link.get("label")))
    form = _FORM.search(" ".join(map(str, said)).lower())
    if not is_link(link.get("id")):
        return ""
    if media_type.startswith("text/plain"):
        return "plain"
    return form[1] if form and re.search("xml|html|^$", media_type) else ""


def _parsed(kind: str, page: Page) -> Sequence[ScannedPage]:
    """The pages of a text; none of one that is something else."""
    if kind == "plain":
        return _plain_pages(_decoded(page))
    if kind == "hocr":
        with suppress(LxmlError, LookupError):
            form = HTMLParser(encoding=page.origin.charset or "utf-8")
            return hocr_pages(document_fromstring(page.content, parser=form))
        return []
    parsed = parse(page.content, page.origin.charset)
    return [] if isinstance(parsed, Skipped) else alto_pages(parsed.root)


def _decoded(page: Page) -> str:
    for encoding in (page.origin.charset or "utf-8-sig", "cp1252"):
        with suppress(LookupError, UnicodeDecodeError):
            return page.content.decode(encoding)
    return page.content.decode("latin-1")


def _plain_pages(text: str) -> list[ScannedPage]:
    """The pages of a plain text, which form feeds may part."""
    return [
        ScannedPage([_block(part) for part in re.split(r"\n\s*\n", page)])
        for page in text.removesuffix("\f").split("\f")
    ]


def _block(text: str) -> Block:
    return Block([[ScannedWord(word) for word in line.split()] for line in text.splitlines()])


def _has_words(pages: Sequence[ScannedPage]) -> bool:
    return any(line for page in pages for block in page.blocks for line in block.lines)


def _annotated(node: Node, load: Load) -> list[str]:
    """The texts of annotations, each once: a list of lines may be beside one of their words."""
    texts: dict[str, str] = {}
    waiting = _nodes(node, "annotations")
    seen: set[str] = set()
    for page in waiting:  # which grows meanwhile
        if not page.get("items") and (url := page.get("id", "")) not in seen and is_link(url):
            seen.add(url)
            held = load(url)
            page = _json_of(held.content) if held else {}
        waiting += ({"id": each.get("id", "")} for each in _nodes(page, "next"))
        by_grain: dict[object, list[str]] = {}
        for each in filter(_is_text, _items(page)):
            lines = by_grain.setdefault(str(each.get("textGranularity")), [])
            lines += filter(None, (_words_of(body, load) for body in _bodies(each)))
        for grain, lines in by_grain.items():
            text = (" " if grain in ("word", "glyph") else "\n").join(lines)
            texts.setdefault(" ".join(text.split()), text)
    return list(filter(None, texts.values()))


def _is_text(annotation: Node) -> bool:
    stated = annotation.get("motivation")
    names = [*stated] if isinstance(stated, list) else [stated]
    names += (body.get("purpose") for body in _bodies(annotation))
    return any(str(name).rpartition(":")[2] in _OF_TEXT for name in names)


def _bodies(annotation: Node) -> list[Node]:
    """The bodies of an annotation; of a choice the first."""
    bodies = _nodes(annotation, "body")
    while any(map(_items, bodies)):
        bodies = [(_items(each) or [each])[0] for each in bodies]
    return bodies


def _words_of(body: Node, load: Load) -> str:
    text = body.get("value")
    if isinstance(text, str):
        return readable(text) if "html" in str(body.get("format")) else text.strip()
    page = load(body["id"]) if _kind_of(body) == "plain" else None
    return _decoded(page).strip() if page else ""


def _draft(manifest: Node, load: Load) -> Read:
    texts = _texts_of(manifest, load)
    sections = _sections(manifest)
    pages, pictures = [], []
    for canvas, own in texts:
        label = _text(canvas.get("label"))
        label = "" if label.strip("-. []") in ("", "NP") else label
        section = _joined(sections.get(canvas.get("id", ""), []))
        for page in own:
            pages.append(page._replace(label=label or page.label, section=section))
            pictures.append(_picture(canvas))
    if not _has_words(pages):
        nodes = [manifest, *(canvas for canvas, _ in texts)]
        is_named = any(map(_kind_of, (link for node in nodes for link in _links(node))))
        is_noted = any(node.get("annotations") for node in nodes)
        return Skipped(_NOT_GIVEN if is_named or is_noted else _NO_TEXT)
    metadata = _metadata(manifest)
    metadata[PAGE_URLS] = " ".join(pictures) if any(map(is_link, pictures)) else ""
    without = sum(not _has_words(own) for _, own in texts)
    remark = f"pages without text: {without} of {len(texts)}" if without else ""
    return scan_draft(pages, metadata, title=_text(manifest.get("label")), remark=remark)


def _metadata(manifest: Node) -> dict[str, object]:
    """Facts of its object: pairs by their English names, if they have them, and other fields."""
    metadata: dict[str, object] = {"date": str(manifest.get("navDate") or "")[:10]}
    for pair in _nodes(manifest, "metadata"):
        values = list(filter(None, map(readable, _values(pair.get("value")))))
        name = name_of(readable(" ".join(_values(pair.get("label"), "en"))))
        metadata |= {name: values if len(values) > 1 else values[0]} if name and values else {}
    statement = manifest.get("requiredStatement")
    pages = [page["id"] for page in _nodes(manifest, "homepage") if is_link(page.get("id"))]
    stated = statement.get("value") if isinstance(statement, dict) else manifest.get("attribution")
    return metadata | {
        "abstract": readable(_text(manifest.get("summary"))),
        "attribution": readable(_text(stated)),
        "rights": manifest.get("rights") or "",
        "manifest": manifest.get("id", ""),
        "url": next(iter(pages), manifest.get("id", "")),
        "content_type": "iiif",
    }


_Path = tuple[str, ...]


def _sections(manifest: Node) -> Mapping[str, list[_Path]]:
    """The paths of the ranges in which each canvas stands; one around all is none."""
    ranges = {each.get("id", ""): each for each in _nodes(manifest, "structures")}

    def parts(range_: Node) -> list[Node]:
        inner = ((_nodes(each, "source") or [each])[0] for each in _items(range_))
        return [ranges.get(each.get("id", ""), each) for each in inner]

    inside = {part.get("id") for each in ranges.values() for part in parts(each)}
    tops = [each for id_, each in ranges.items() if id_ not in inside]
    if len(tops) == 1 and all(each.get("type") == "Range" for each in parts(tops[0])):
        tops = parts(tops[0])
    found: dict[str, list[_Path]] = {}
    waiting: list[tuple[Node, _Path]] = [(each, ()) for each in tops]
    seen: set[int] = set()  # one may name what it stands in
    while waiting:
        each, above = waiting.pop(0)
        path = (*above, *filter(None, [_text(each.get("label"))]))
        for part in parts(each):
            found.setdefault(urldefrag(part.get("id", "")).url, []).append(path)
        below = [part for part in parts(each) if "items" in part and id(part) not in seen]
        seen.update(map(id, below))
        waiting[:0] = [(part, path) for part in below]
    return found


def _joined(paths: Sequence[_Path]) -> _Path:
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
    painted = [note for each in _items(canvas) for note in (_items(each) or [each])]
    bodies = (body.get("id", "") for note in painted for body in _bodies(note))
    return next(filter(is_link, bodies), "-")


def _json_of(content: bytes) -> Node:
    """The object of a JSON file, by names of Presentation 3; empty if it is something else."""
    try:
        value = json.loads(content.decode("utf-8-sig"), object_hook=_renamed)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _renamed(given: Node) -> Node:
    node: Node = {}
    for old, value in given.items():
        name = _NEW_NAMES.get(old, old)
        if name == "items":
            values = value if isinstance(value, list) else [value]
            node[name] = [*node.get(name, []), *values]
        elif name == "type":
            node[name] = str(value[0] if isinstance(value, list) and value else value)
            node[name] = node[name].rpartition(":")[2]
        else:
            node[name] = str(value) if name == "id" else value
    return node


def _nodes(node: Node, name: str) -> list[Node]:
    """The objects of a field; an address stands for one."""
    value = node.get(name)
    values = value if isinstance(value, list) else [value]
    nodes = ({"id": each} if isinstance(each, str) else each for each in values)
    return [each for each in nodes if isinstance(each, dict)]


def _items(node: Node) -> list[Node]:
    return _nodes(node, "items")


def _text(value: object) -> str:
    return " ".join(_values(value))


def _values(value: Any, language: str = "") -> list[str]:
    """The texts of a value in one language: in that one, if it is there, else in the first."""
    given = value if isinstance(value, list) else [value]
    if isinstance(value, dict) and "@value" not in value:  # a language map of Presentation 3
        stated: Any = value.get(language) or next(iter(value.values()), [])
        given = stated if isinstance(stated, list) else [stated]
    texts = [each if isinstance(each, dict) else {"@value": each} for each in given]
    languages = [each.get("@language") for each in texts]
    chosen = language if language in languages else next(iter(languages), None)
    own = (each.get("@value") for each in texts if each.get("@language") == chosen)
    return [str(each) for each in own if each]
