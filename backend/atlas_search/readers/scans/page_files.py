"""Reading scanned pages: ALTO 1 to 4, https://www.loc.gov/standards/alto, and PAGE XML,
https://github.com/PRImA-Research-Lab/PAGE-XML."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.scans.pages import (
    SCAN,
    Block,
    Half,
    ScannedPage,
    ScannedWord,
    Sides,
    confidence_of,
    in_order,
    number_of,
    scan_draft,
)
from atlas_search.readers.xml.tree import distinct

_AREAS = ("topmargin", "leftmargin", "printspace", "rightmargin", "bottommargin")
"""The areas of a page as they are read: in the file all margins come first."""

_HALVES: Mapping[str, Half] = {"hyppart1": "first", "hyppart2": "second"}


def alto_pages(root: etree._Element) -> list[ScannedPage]:
    """The pages of a file in their order.

    Blocks are in the order of its `ReadingOrder`, else of the chains that `IDNEXT` makes, else as
    they stand.
    """
    named = root.findtext("description/sourceimageinformation/filename") or ""
    order = [ref.get("ref", "") for ref in root.iterfind("readingorder//elementref")]
    return [
        ScannedPage(
            list(map(_alto_block, in_order(blocks := _alto_blocks(page), order or _chain(blocks)))),
            page.get("printed_img_nr", ""),
            number_of(page.get("width")),
            number_of(page.get("height")),
            named.strip(),
        )
        for page in root.iter("page")
    ]


def _alto_blocks(page: etree._Element) -> list[etree._Element]:
    areas = sorted(page, key=lambda area: _AREAS.index(area.tag) if area.tag in _AREAS else 2)
    return [block for area in areas for block in area.iter("textblock")]


def _chain(blocks: Sequence[etree._Element]) -> list[str]:
    """The ids of blocks, each followed by its `IDNEXT`; none where no block has one."""
    after = {block.get("id", ""): block.get("idnext", "") for block in blocks}
    later = set(after.values())
    order: dict[str, None] = {}
    for block in after:
        at = "" if block in later else block
        while at and at not in order:
            order[at] = None
            at = after.get(at, "")
    return list(order) if later - {""} else []


def _alto_block(block: etree._Element) -> Block:
    parts = [*block.iter(), *block.iterancestors("composedblock")]
    return Block(
        [list(_alto_words(line)) for line in block.iter("textline")],
        tuple(id_ for part in parts if (id_ := part.get("id"))),
    )


def _alto_words(line: etree._Element) -> Iterator[ScannedWord]:
    """The words of a line; a half whose whole is not stated keeps its hyphen."""
    for string in line.iterchildren("string"):
        text, whole = string.get("content", "").strip(), string.get("subs_content", "")
        half: Half = _HALVES.get(string.get("subs_type", "").lower(), "")
        hyphen = next(string.itersiblings("string", "hyp"), None)
        if hyphen is not None and hyphen.tag == "hyp" and not text.endswith(("-", "\u00ad", "¬")):
            text += hyphen.get("content") or "-"
        if text:
            yield ScannedWord(
                text, confidence_of(string.get("wc")), half, whole, _alto_sides(string)
            )


def _alto_sides(string: etree._Element) -> Sides:
    left, top, width, height = (
        number_of(string.get(name)) for name in ("hpos", "vpos", "width", "height")
    )
    return left, top, left + width, top + height


def _page(page: etree._Element) -> ScannedPage:
    """A page; a region of the type `page-number` is what is printed on it."""
    order = [each.get("regionref", "") for each in _ordered(page.find("readingorder"))]
    regions = in_order(list(page.iter("textregion")), order)
    numbers = (region for region in regions if region.get("type") == "page-number")
    label = next((_text(number) for number in numbers), "")
    return ScannedPage(
        [_block(region) for region in regions],
        label,
        number_of(page.get("imagewidth")),
        number_of(page.get("imageheight")),
        page.get("imagefilename", ""),
    )


def _ordered(group: etree._Element | None) -> Iterator[etree._Element]:
    """The references of a group and of those in it, by their `index`, else as they stand."""
    for each in sorted(() if group is None else group, key=_index):
        yield each
        yield from _ordered(each)


def _index(element: etree._Element) -> int:
    stated = element.get("index", "")
    return int(stated) if stated.isdecimal() else 0


def _block(region: etree._Element) -> Block:
    """The lines of a region, without those of regions in it; its own text where it has none."""
    lines = [list(_words(line)) for line in region.iterchildren("textline")]
    if not any(lines):
        lines = [[ScannedWord(word) for word in line.split()] for line in _text(region).split("\n")]
    return Block(lines, tuple(each.get("id", "") for each in region.iter()))


def _words(line: etree._Element) -> Iterator[ScannedWord]:
    """The words of a line by its own text, which was corrected last, else by those of its words."""
    words = [(_text(word).strip(), word) for word in line.iterchildren("word")]
    whole = _text(line).split() or [part for text, _ in words for part in text.split()]
    if whole != [text for text, _ in words]:
        words = [(text, line) for text in whole]
    return (ScannedWord(text, _confidence(of), sides=_sides(of)) for text, of in words)


def _sides(element: etree._Element) -> Sides:
    """The sides of the outline of a word or line, which PAGE 2010 gives point by point."""
    outline = element.find("coords")
    if outline is None:
        return 0, 0, 0, 0
    points = [point.split(",") for point in outline.get("points", "").split()]
    points += ([point.get("x", ""), point.get("y", "")] for point in outline.iter("point"))
    places = [(number_of(point[0]), number_of(point[-1])) for point in points]
    across, down = zip(*places, strict=True) if places else ((0,), (0,))
    return min(across), min(down), max(across), max(down)


def _reading(element: etree._Element) -> etree._Element | None:
    """The first of the alternative readings of an element, by their `index`."""
    readings = element.findall("textequiv")
    return min(readings, key=_index, default=None)


def _text(element: etree._Element) -> str:
    reading = _reading(element)
    return "" if reading is None else reading.findtext("unicode") or ""


def _confidence(element: etree._Element) -> float:
    reading = _reading(element)
    return -1 if reading is None else confidence_of(reading.get("conf"))


READERS: Mapping[str, Callable[[etree._Element], list[ScannedPage]]] = {
    "alto": alto_pages,
    "pcgts": lambda root: [*map(_page, root.iter("page"))],
}
"""The readers of pages, by the root of their files."""


def page_draft(root: etree._Element) -> Read:
    """The one document of a file."""
    languages = distinct(
        block.get("lang") or block.get("language") or "" for block in root.iter("textblock")
    )
    language = languages[0] if len(languages) == 1 else ""
    return scan_draft(READERS[root.tag](root), {**SCAN, "language": language})
