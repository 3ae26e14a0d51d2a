"""The numbers that Word computes for paragraphs of lists: ECMA-376, part 1, 17.9."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from lxml import etree

from atlas_search.readers.print import letters, roman

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_UNNUMBERED = frozenset({"bullet", "none", ""})
_PLACE = re.compile(r"%([1-9])")
_HIGHEST = 3000  # no list is longer, and no letters or roman numbers are
_LIST_LEVELS = 9


@dataclass(frozen=True, slots=True)
class Level:
    """The numbers of one level of a list. `restart` is the level, from 1, that begins it anew."""

    kind: str = ""
    text: str = ""
    start: int = 1
    restart: int = _LIST_LEVELS
    legal: bool = False

    @property
    def is_numbered(self) -> bool:
        """Say if Word puts a number before its paragraphs."""
        return self.kind not in _UNNUMBERED


@dataclass(frozen=True, slots=True)
class Definition:
    """A list: the id of what it counts by, its levels, and with what it begins which of them anew
    if its first paragraph is on that level."""

    counted_as: str
    levels: Mapping[int, Level]
    anew: Mapping[int, int]


@dataclass(slots=True)
class ListNumbering:
    """Counts the paragraphs of all lists. `styled` are the levels that styles stand for, by list
    and style."""

    lists: Mapping[str, Definition]
    styled: Mapping[tuple[str, str], int]
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)
    _doubtful: set[str] = field(default_factory=set)

    def level(self, list_: str, depth: int) -> Level:
        """Return a level of a list; one without numbers if there is none."""
        definition = self.lists.get(list_)
        return definition.levels.get(depth, Level()) if definition else Level()

    def number(self, list_: str, depth: int) -> str:
        """The number of the next paragraph; empty if it is of a kind that is not computed."""
        definition = self.lists[list_]
        counts = self._counts.setdefault(definition.counted_as, {})
        levels = definition.levels
        for above in range(depth):
            counts.setdefault(above, levels.get(above, Level()).start)
        is_anew = depth in definition.anew and list_ not in self._begun
        self._begun.add(list_)
        if is_anew or depth not in counts:
            counts[depth] = definition.anew.get(depth, levels[depth].start)
        else:
            counts[depth] += 1
        for below in [each for each in counts if each > depth]:
            if depth < levels.get(below, Level()).restart:
                del counts[below]
        return (
            "" if definition.counted_as in self._doubtful else _count_label(levels, depth, counts)
        )

    def doubt(self, list_: str) -> None:
        """From here on the numbers of a list are not known.

        Its number came to a paragraph without words: of 96 judgments whose print is known four
        count these, and one does not.
        """
        self._doubtful.add(self.lists[list_].counted_as)


def is_on(switch: etree._Element | None) -> bool:
    """Say if a property is there and not switched off."""
    return switch is not None and switch.get(f"{W}val", "1") not in ("0", "false", "off")


def numbering_of(numbering: etree._Element) -> ListNumbering:
    """From the tree of `numbering.xml`."""
    abstract = {
        each.get(f"{W}abstractNumId", ""): each for each in numbering.iter(f"{W}abstractNum")
    }
    by_style = {_number_value(each, "styleLink"): id_ for id_, each in abstract.items()}
    lists: dict[str, Definition] = {}
    styled: dict[tuple[str, str], int] = {}
    for each in numbering.iter(f"{W}num"):
        id_, counted_as = each.get(f"{W}numId", ""), _number_value(each, "abstractNumId")
        linked = _number_value(abstract.get(counted_as), "numStyleLink")
        defined_as = by_style.get(linked, counted_as) if linked else counted_as
        if defined_as not in abstract:
            continue
        own = list(each.iter(f"{W}lvlOverride"))
        # more levels are against the schema, and each of many lists would read them again
        defined = islice(abstract[defined_as].iter(f"{W}lvl"), _LIST_LEVELS)
        elements = [*defined, *each.iter(f"{W}lvl")]
        levels = {_depth(element): _level(element) for element in elements}
        anew = {
            _depth(e): _integer(e, "startOverride", 1)
            for e in own
            if _number_value(e, "startOverride")
        }
        lists[id_] = Definition(counted_as, levels, anew)
        styled |= {
            (id_, style): _depth(e) for e in elements if (style := _number_value(e, "pStyle"))
        }
    return ListNumbering(lists, styled)


def _level(element: etree._Element) -> Level:
    return Level(
        _number_value(element, "numFmt"),
        _number_value(element, "lvlText"),
        _integer(element, "start", 1),
        _integer(element, "lvlRestart", _LIST_LEVELS),
        is_on(element.find(f"{W}isLgl")),
    )


def _count_label(levels: Mapping[int, Level], depth: int, counts: Mapping[int, int]) -> str:
    level = levels[depth]
    label = ""
    for piece in re.split(r"(%[1-9])", level.text):
        if _PLACE.fullmatch(piece):
            above = int(piece[1]) - 1
            if above > depth:
                return ""
            kind = "decimal" if level.legal else levels.get(above, Level()).kind
            piece = _count(counts[above], kind)
            if not piece:
                return ""
        label += piece
    return " ".join(label.split()) if _PLACE.search(level.text) else ""


def _count(count: int, kind: str) -> str:
    if not 0 <= count <= _HIGHEST:
        return ""
    if kind in ("decimal", "decimalZero"):
        return f"{count:02}" if kind == "decimalZero" else str(count)
    if not count:
        return ""
    if kind in ("lowerLetter", "upperLetter"):
        return letters(count) if kind == "lowerLetter" else letters(count).upper()
    if kind in ("lowerRoman", "upperRoman"):
        return roman(count) if kind == "lowerRoman" else roman(count).upper()
    return ""


def _depth(element: etree._Element) -> int:
    value = element.get(f"{W}ilvl", "")
    return int(value) if value.isdecimal() and len(value) == 1 else 0


def _integer(element: etree._Element, name: str, default: int) -> int:
    value = _number_value(element, name)
    return int(value) if re.fullmatch("[0-9]{1,6}", value) else default


def _number_value(element: etree._Element | None, name: str) -> str:
    return _style_value(element, name) or ""


_HEADING_LEVELS = {"title": 1} | {f"heading {level}": level for level in range(1, 10)}
_LONGEST_CHAIN = 100
"""Styles that a style is based on, one on the other: each of thousands may be on the next."""


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """The style of a paragraph.

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
    """The statements of one element; None where it has none."""

    level: int | None
    list: str | None
    depth: str | None
    new_page: bool | None
    style: str = ""


@dataclass(frozen=True)
class Styles:
    """The statements of each style, followed by those of its bases, and the numbers of lists.

    `default` is the id of the style that counts where none is named.
    """

    chains: Mapping[str, tuple[_Own, ...]]
    default: str
    numbering: ListNumbering

    def of(self, properties: etree._Element | None) -> ParagraphStyle:
        """The style of a paragraph with these properties (`w:pPr`)."""
        id_ = _style_value(properties, "pStyle") or self.default
        chain = (_own(properties), *self.chains.get(id_, ()))
        list_ = next((one.list for one in chain if one.list is not None), "")
        depth = self._depth(list_, chain)
        return ParagraphStyle(
            level=next((one.level for one in chain if one.level is not None), 0),
            list=list_,
            depth=depth,
            is_numbered=self.numbering.level(list_, depth).is_numbered,
            new_page=next((one.new_page for one in chain if one.new_page is not None), False),
        )

    def _depth(self, list_: str, chain: Sequence[_Own]) -> int:
        """Return the stated level, else the level that names the style as its own."""
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
    chain: dict[str, _Own] = {}
    while id_ in elements and id_ not in chain and len(chain) < _LONGEST_CHAIN:
        style = elements[id_]
        chain[id_] = _own(style.find(f"{W}pPr"), _style_value(style, "name") or "", id_)
        id_ = _style_value(style, "basedOn") or ""
    return tuple(chain.values())


def _own(properties: etree._Element | None, name: str = "", id_: str = "") -> _Own:
    level = _HEADING_LEVELS.get(name.lower())
    outline = _style_value(properties, "outlineLvl")
    if level is None and outline is not None and re.fullmatch("[0-9]", outline):
        level = (int(outline) + 1) % 10  # 9 is body text
    number = _child(properties, "numPr")
    break_ = _child(properties, "pageBreakBefore")
    return _Own(
        level,
        _style_value(number, "numId"),
        _style_value(number, "ilvl"),
        None if break_ is None else is_on(break_),
        id_,
    )


def _style_value(element: etree._Element | None, name: str) -> str | None:
    child = _child(element, name)
    return None if child is None else str(child.get(f"{W}val", ""))


def _child(element: etree._Element | None, name: str) -> etree._Element | None:
    return None if element is None else element.find(f"{W}{name}")
