"""Going through a tree in reading order, without recursion, so that no depth can exhaust it."""

from dataclasses import dataclass
from typing import Protocol

from lxml import etree

from atlas_search.readers.xml.writer import Writer


@dataclass(frozen=True)
class Layout:
    """How the elements of a format stand on the page, by name. Those not named are inline."""

    blocks: frozenset[str]
    lines: frozenset[str]
    cells: frozenset[str]
    breaks: frozenset[str]
    left_out: frozenset[str]


class Shape(Protocol):
    """What a format makes of its elements beyond their layout."""

    layout: Layout
    writer: Writer

    def enter(self, element: etree._Element) -> bool:
        """Whether to read what is inside; its own paragraph or line has begun."""

    def leave(self, element: etree._Element) -> None:
        """After its content, before its paragraph or line ends. Not if `enter` said no."""


def names(text: str) -> frozenset[str]:
    """A set of element names, written as one text."""
    return frozenset(text.split())


def walk(root: etree._Element, shape: Shape) -> None:
    """Writes the text of `root`, and of what is in it, as `shape` says."""
    writer, layout = shape.writer, shape.layout
    passed_over = None
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "start":
            _begin(element, layout, writer)
            if element.tag not in layout.left_out and shape.enter(element):
                writer.add(element.text)
            else:
                walker.skip_subtree()
                passed_over = element
            continue
        if element is not passed_over:
            shape.leave(element)
        _end(element, layout, writer)
        if element is not root:
            writer.add(element.tail)


def _begin(element: etree._Element, layout: Layout, writer: Writer) -> None:
    if element.tag in layout.blocks:
        writer.block()
    elif element.tag in layout.lines:
        writer.line()
    elif element.tag in layout.breaks:
        writer.blank()
    elif element.tag in layout.cells:
        before = element.itersiblings(*layout.cells, preceding=True)
        writer.open_cell(is_first=next(before, None) is None)


def _end(element: etree._Element, layout: Layout, writer: Writer) -> None:
    if element.tag in layout.blocks:
        writer.block()
    elif element.tag in layout.lines:
        writer.line()
    elif element.tag in layout.cells:
        writer.close_cell()
