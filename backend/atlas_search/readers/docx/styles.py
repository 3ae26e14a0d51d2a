"""What the styles of a Word document say about a paragraph."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lxml import etree

from atlas_search.readers.docx.numbering import Numbering, W, numbering_of

_LEVELS = {"title": 1} | {f"heading {level}": level for level in range(1, 10)}
_LONGEST_CHAIN = 100
"""Styles that a style is based on, one on the other: each of thousands may be on the next."""

_OFF = frozenset({"0", "false", "off"})


@dataclass(frozen=True, slots=True)
class Style:
    """What holds for a paragraph.

    `level` is that of a heading, 0 for text; `list` and `depth` say by which list and on which of
    its levels Word counts it, if it `is_numbered`.
    """

    level: int = 0
    list: str = ""
    depth: int = 0
    is_numbered: bool = False
    new_page: bool = False


@dataclass(frozen=True, slots=True)
class _Own:
    """What one element says; None where it says nothing."""

    level: int | None
    list: str | None
    depth: str | None
    new_page: bool | None
    style: str = ""


@dataclass(frozen=True)
class Styles:
    """What each style says, followed by those it is based on, and how lists are numbered.

    `default` is the id of the style that counts where none is named.
    """

    chains: Mapping[str, tuple[_Own, ...]]
    default: str
    numbering: Numbering

    def of(self, properties: etree._Element | None) -> Style:
        """The style of a paragraph with these properties (`w:pPr`)."""
        id_ = _value(properties, "pStyle") or self.default
        chain = (_own(properties), *self.chains.get(id_, ()))
        list_ = next((one.list for one in chain if one.list is not None), "")
        depth = self._depth(list_, chain)
        return Style(
            level=next((one.level for one in chain if one.level is not None), 0),
            list=list_,
            depth=depth,
            is_numbered=self.numbering.level(list_, depth).is_numbered,
            new_page=next((one.new_page for one in chain if one.new_page is not None), False),
        )

    def _depth(self, list_: str, chain: Sequence[_Own]) -> int:
        """What the paragraph or its style says, else the level that names the style as its own."""
        for one in chain:
            if one.depth is not None and one.depth.isdecimal():
                return min(int(one.depth[:2]), 8)
            if (list_, one.style) in self.numbering.styled:
                return self.numbering.styled[list_, one.style]
        return 0


def styles_of(styles: etree._Element, numbering: etree._Element) -> Styles:
    """From the trees of `styles.xml` and `numbering.xml`."""
    elements = {
        style.get(f"{W}styleId", ""): style
        for style in styles.iter(f"{W}style")
        if style.get(f"{W}type") == "paragraph"
    }
    default = (id_ for id_, style in elements.items() if style.get(f"{W}default") in ("1", "true"))
    chains = {id_: _chain(elements, id_) for id_ in elements}
    return Styles(chains, next(default, ""), numbering_of(numbering))


def _chain(elements: Mapping[str, etree._Element], id_: str) -> tuple[_Own, ...]:
    found: dict[str, _Own] = {}
    while id_ in elements and id_ not in found and len(found) < _LONGEST_CHAIN:
        style = elements[id_]
        found[id_] = _own(style.find(f"{W}pPr"), _value(style, "name") or "", id_)
        id_ = _value(style, "basedOn") or ""
    return tuple(found.values())


def _own(properties: etree._Element | None, name: str = "", id_: str = "") -> _Own:
    level = _LEVELS.get(name.lower())
    outline = _value(properties, "outlineLvl")
    if level is None and outline is not None and re.fullmatch("[0-9]", outline):
        level = (int(outline) + 1) % 10  # 9 is body text
    number = _child(properties, "numPr")
    break_ = _child(properties, "pageBreakBefore")
    return _Own(
        level,
        _value(number, "numId"),
        _value(number, "ilvl"),
        None if break_ is None else break_.get(f"{W}val", "1") not in _OFF,
        id_,
    )


def _value(element: etree._Element | None, name: str) -> str | None:
    found = _child(element, name)
    return None if found is None else str(found.get(f"{W}val", ""))


def _child(element: etree._Element | None, name: str) -> etree._Element | None:
    return None if element is None else element.find(f"{W}{name}")
