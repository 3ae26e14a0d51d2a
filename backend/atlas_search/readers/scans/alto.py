"""Reading ALTO 1 to 4, https://www.loc.gov/standards/alto: the words of scanned pages."""

from collections.abc import Iterator, Mapping, Sequence

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

ROOT = "alto"

_AREAS = ("topmargin", "leftmargin", "printspace", "rightmargin", "bottommargin")
"""The areas of a page as they are read: in the file all margins come first."""

_HALVES: Mapping[str, Half] = {"hyppart1": "first", "hyppart2": "second"}


def alto_draft(root: etree._Element) -> Read:
    """The one document of a file."""
    languages = distinct(
        block.get("lang") or block.get("language") or "" for block in root.iter("textblock")
    )
    language = languages[0] if len(languages) == 1 else ""
    return scan_draft(alto_pages(root), {**SCAN, "language": language})


def alto_pages(root: etree._Element) -> list[ScannedPage]:
    """The pages of a file in their order.

    Blocks are in the order of its `ReadingOrder`, else of the chains that `IDNEXT` makes, else as
    they stand.
    """
    named = root.findtext("description/sourceimageinformation/filename") or ""
    order = [ref.get("ref", "") for ref in root.iterfind("readingorder//elementref")]
    return [
        ScannedPage(
            list(map(_block, in_order(blocks := _blocks(page), order or _chain(blocks)))),
            page.get("printed_img_nr", ""),
            number_of(page.get("width")),
            number_of(page.get("height")),
            named.strip(),
        )
        for page in root.iter("page")
    ]


def _blocks(page: etree._Element) -> list[etree._Element]:
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


def _block(block: etree._Element) -> Block:
    parts = [*block.iter(), *block.iterancestors("composedblock")]
    return Block(
        [list(_words(line)) for line in block.iter("textline")],
        tuple(id_ for part in parts if (id_ := part.get("id"))),
    )


def _words(line: etree._Element) -> Iterator[ScannedWord]:
    """The words of a line; a half whose whole is not stated keeps its hyphen."""
    for string in line.iterchildren("string"):
        text, whole = string.get("content", "").strip(), string.get("subs_content", "")
        half: Half = _HALVES.get(string.get("subs_type", "").lower(), "")
        hyphen = next(string.itersiblings("string", "hyp"), None)
        if hyphen is not None and hyphen.tag == "hyp" and not text.endswith(("-", "\u00ad", "¬")):
            text += hyphen.get("content") or "-"
        if text:
            yield ScannedWord(text, confidence_of(string.get("wc")), half, whole, _sides(string))


def _sides(string: etree._Element) -> Sides:
    left, top, width, height = (
        number_of(string.get(name)) for name in ("hpos", "vpos", "width", "height")
    )
    return left, top, left + width, top + height
