"""What the styles of a Word document say about a paragraph."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lxml import etree

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LEVELS = {"title": 1} | {f"heading {level}": level for level in range(1, 10)}
_OFF = frozenset({"0", "false", "off"})
_UNNUMBERED = frozenset({"bullet", "none", ""})


@dataclass(frozen=True, slots=True)
class Style:
    """What holds for a paragraph.

    `level` is that of a heading, 0 for text; `numbered` that Word puts a number before it.
    """

    level: int = 0
    numbered: bool = False
    new_page: bool = False


@dataclass(frozen=True, slots=True)
class _Own:
    """What one element says; None where it says nothing."""

    level: int | None
    list: str | None
    depth: str | None
    new_page: bool | None


@dataclass(frozen=True)
class Styles:
    """What each style says, followed by those it is based on, and how lists are numbered.

    `default` is the id of the style that counts where none is named; `formats` has kinds of
    numbers (`decimal`) by list and depth.
    """

    chains: Mapping[str, tuple[_Own, ...]]
    default: str
    formats: Mapping[tuple[str, str], str]

    def of(self, properties: etree._Element | None) -> Style:
        """The style of a paragraph with these properties (`w:pPr`)."""
        id_ = _value(properties, "pStyle") or self.default
        chain = (_own(properties), *self.chains.get(id_, ()))
        list_ = next((one.list for one in chain if one.list is not None), "")
        depth = next((one.depth for one in chain if one.depth is not None), "0")
        return Style(
            level=next((one.level for one in chain if one.level is not None), 0),
            numbered=self.formats.get((list_, depth), "") not in _UNNUMBERED,
            new_page=next((one.new_page for one in chain if one.new_page is not None), False),
        )


def styles_of(styles: etree._Element, numbering: etree._Element) -> Styles:
    """From the trees of `styles.xml` and `numbering.xml`."""
    elements = {
        style.get(f"{W}styleId", ""): style
        for style in styles.iter(f"{W}style")
        if style.get(f"{W}type") == "paragraph"
    }
    default = (id_ for id_, style in elements.items() if style.get(f"{W}default") in ("1", "true"))
    return Styles(
        {id_: _chain(elements, id_) for id_ in elements}, next(default, ""), _formats(numbering)
    )


def _chain(elements: Mapping[str, etree._Element], id_: str) -> tuple[_Own, ...]:
    found: dict[str, _Own] = {}
    while id_ in elements and id_ not in found:
        style = elements[id_]
        found[id_] = _own(style.find(f"{W}pPr"), _value(style, "name") or "")
        id_ = _value(style, "basedOn") or ""
    return tuple(found.values())


def _formats(numbering: etree._Element) -> dict[tuple[str, str], str]:
    lists = {list_.get(f"{W}abstractNumId"): list_ for list_ in numbering.iter(f"{W}abstractNum")}
    return {
        (number.get(f"{W}numId", ""), level.get(f"{W}ilvl", "")): _value(level, "numFmt") or ""
        for number in numbering.iter(f"{W}num")
        if (list_ := lists.get(_value(number, "abstractNumId"))) is not None
        for level in list_.iter(f"{W}lvl")
    }


def _own(properties: etree._Element | None, name: str = "") -> _Own:
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
    )


def _value(element: etree._Element | None, name: str) -> str | None:
    found = _child(element, name)
    return None if found is None else str(found.get(f"{W}val", ""))


def _child(element: etree._Element | None, name: str) -> etree._Element | None:
    return None if element is None else element.find(f"{W}{name}")
