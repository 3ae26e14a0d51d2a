"""Reading hOCR, https://kba.github.io/hocr-spec: the words of scanned pages in HTML."""

import re
from collections.abc import Iterator, Mapping

from lxml.etree import XPath
from lxml.html import HtmlElement

from atlas_search.readers.scans.pages import (
    Block,
    ScannedPage,
    ScannedWord,
    Sides,
    confidence_of,
    number_of,
)

_PAGE, _WORD = frozenset({"ocr_page"}), frozenset({"ocrx_word"})
_BLOCKS = frozenset("ocr_par ocr_carea ocrx_block ocr_page".split())
_LINES = frozenset("ocr_line ocrx_line ocr_header ocr_footer ocr_caption ocr_textfloat".split())
_TEXTS = XPath(".//text()[not(ancestor::del)]")
"""The texts of an element without what `ins` was chosen over."""

_PROPERTY = re.compile(r"(\w+)\s+([^;]*)")


def is_hocr(root: HtmlElement) -> bool:
    """Say if a page of HTML is one of text recognition."""
    return next(_of_class(root, _PAGE), None) is not None


def hocr_pages(root: HtmlElement) -> list[ScannedPage]:
    """The pages of a file; boxes are those of the image, whose corner may lie elsewhere."""
    return [_page(page, _properties(page)) for page in _of_class(root, _PAGE)]


def _page(page: HtmlElement, stated: Mapping[str, str]) -> ScannedPage:
    _, _, width, height = _sides(stated)
    image = stated.get("image", "").strip("\"'")
    return ScannedPage(list(_blocks(page)), stated.get("lpageno", ""), width, height, image)


def _of_class(around: HtmlElement, classes: frozenset[str]) -> Iterator[HtmlElement]:
    """The elements of one of the classes in another, or it itself."""
    return (each for each in around.iter("*") if classes & _classes(each))


def _classes(element: HtmlElement) -> set[str]:
    return set((element.get("class") or "").split())


def _blocks(page: HtmlElement) -> Iterator[Block]:
    """The innermost lines of a page by what they stand in; without lines, the page as one."""
    lines = list(_of_class(page, _LINES))
    outer = {around for line in lines for around in line.iterancestors()}
    blocks: dict[HtmlElement, list[list[ScannedWord]]] = {}
    for line in [line for line in lines if line not in outer] or [page]:
        around = (line, *line.iterancestors())
        block = next(each for each in around if _classes(each) & _BLOCKS)
        blocks.setdefault(block, []).append(list(_words(line)))
    return map(Block, blocks.values())


def _words(line: HtmlElement) -> Iterator[ScannedWord]:
    words = list(_of_class(line, _WORD)) or [line]
    for word in words:
        stated = _properties(word)
        confidence, sides = confidence_of(stated.get("x_wconf"), 100), _sides(stated)
        for text in "".join(_TEXTS(word)).split():
            yield ScannedWord(text, confidence, sides=sides)


def _sides(stated: Mapping[str, str]) -> Sides:
    numbers = [number_of(each) for each in stated.get("bbox", "").split()]
    left, top, right, bottom = numbers if len(numbers) == 4 else (0, 0, 0, 0)
    return left, top, right, bottom


def _properties(element: HtmlElement) -> dict[str, str]:
    """The properties that a `title` states: `bbox 0 0 20 30; x_wconf 93`."""
    return {name: value.strip() for name, value in _PROPERTY.findall(element.get("title") or "")}
