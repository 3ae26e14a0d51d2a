"""Reading PAGE XML, https://github.com/PRImA-Research-Lab/PAGE-XML: the words of scanned pages."""

from collections.abc import Iterator

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.scans.pages import (
    SCAN,
    Block,
    ScannedPage,
    ScannedWord,
    Sides,
    confidence_of,
    in_order,
    number_of,
    scan_draft,
)

ROOT = "pcgts"
_REGION = "textregion"


def page_xml_draft(root: etree._Element) -> Read:
    """The one document of a file."""
    return scan_draft(page_xml_pages(root), SCAN)


def page_xml_pages(root: etree._Element) -> list[ScannedPage]:
    """The pages of a file; a region of the type `page-number` is what is printed on its page."""
    return [_page(page) for page in root.iter("page")]


def _page(page: etree._Element) -> ScannedPage:
    order = [each.get("regionref", "") for each in _ordered(page.find("readingorder"))]
    regions = in_order(list(page.iter(_REGION)), order)
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
