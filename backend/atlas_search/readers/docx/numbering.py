"""The numbers that Word computes for paragraphs of lists: ECMA-376, part 1, 17.9."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from lxml import etree

from atlas_search.readers.list_numbers import letters, roman

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_UNNUMBERED = frozenset({"bullet", "none", ""})
_PLACE = re.compile(r"%([1-9])")
_HIGHEST = 3000  # no list is longer, and no letters or roman numbers are
_LEVELS = 9


@dataclass(frozen=True, slots=True)
class Level:
    """How one level of a list is numbered. `restart` is the level, from 1, that begins it anew."""

    kind: str = ""
    text: str = ""
    start: int = 1
    restart: int = _LEVELS
    legal: bool = False

    @property
    def is_numbered(self) -> bool:
        """Whether Word puts a number before its paragraphs."""
        return self.kind not in _UNNUMBERED


@dataclass(frozen=True, slots=True)
class Definition:
    """A list: the id of what it counts by, its levels, and with what it begins which of them anew
    if its first paragraph is on that level."""

    counted_as: str
    levels: Mapping[int, Level]
    anew: Mapping[int, int]


@dataclass(slots=True)
class Numbering:
    """Counts the paragraphs of all lists. `styled` are the levels that styles stand for, by list
    and style."""

    lists: Mapping[str, Definition]
    styled: Mapping[tuple[str, str], int]
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)
    _doubtful: set[str] = field(default_factory=set)

    def level(self, list_: str, depth: int) -> Level:
        """How a level of a list is numbered."""
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
        return "" if definition.counted_as in self._doubtful else _written(levels, depth, counts)

    def doubt(self, list_: str) -> None:
        """From here on the numbers of a list are not known.

        Its number came to a paragraph without words: of 96 judgments whose print is known four
        count these, and one does not.
        """
        self._doubtful.add(self.lists[list_].counted_as)


def numbering_of(numbering: etree._Element) -> Numbering:
    """From the tree of `numbering.xml`."""
    abstract = {
        each.get(f"{W}abstractNumId", ""): each for each in numbering.iter(f"{W}abstractNum")
    }
    by_style = {_value(each, "styleLink"): id_ for id_, each in abstract.items()}
    lists: dict[str, Definition] = {}
    styled: dict[tuple[str, str], int] = {}
    for each in numbering.iter(f"{W}num"):
        id_, counted_as = each.get(f"{W}numId", ""), _value(each, "abstractNumId")
        linked = _value(abstract.get(counted_as), "numStyleLink")
        defined_as = by_style.get(linked, counted_as) if linked else counted_as
        if defined_as not in abstract:
            continue
        own = list(each.iter(f"{W}lvlOverride"))
        # more levels are against the schema, and each of many lists would read them again
        defined = islice(abstract[defined_as].iter(f"{W}lvl"), _LEVELS)
        elements = [*defined, *each.iter(f"{W}lvl")]
        levels = {_depth(element): _level(element) for element in elements}
        anew = {
            _depth(e): _integer(e, "startOverride", 1) for e in own if _value(e, "startOverride")
        }
        lists[id_] = Definition(counted_as, levels, anew)
        styled |= {(id_, style): _depth(e) for e in elements if (style := _value(e, "pStyle"))}
    return Numbering(lists, styled)


def _level(element: etree._Element) -> Level:
    is_legal = element.find(f"{W}isLgl")
    return Level(
        _value(element, "numFmt"),
        _value(element, "lvlText"),
        _integer(element, "start", 1),
        _integer(element, "lvlRestart", _LEVELS),
        is_legal is not None and is_legal.get(f"{W}val", "1") not in ("0", "false", "off"),
    )


def _written(levels: Mapping[int, Level], depth: int, counts: Mapping[int, int]) -> str:
    level = levels[depth]
    written = ""
    for piece in re.split(r"(%[1-9])", level.text):
        if _PLACE.fullmatch(piece):
            above = int(piece[1]) - 1
            if above > depth:
                return ""
            kind = "decimal" if level.legal else levels.get(above, Level()).kind
            piece = _count(counts[above], kind)
            if not piece:
                return ""
        written += piece
    return " ".join(written.split()) if _PLACE.search(level.text) else ""


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
    written = element.get(f"{W}ilvl", "")
    return int(written) if written.isdecimal() and len(written) == 1 else 0


def _integer(element: etree._Element, name: str, default: int) -> int:
    written = _value(element, name)
    return int(written) if re.fullmatch("[0-9]{1,6}", written) else default


def _value(element: etree._Element | None, name: str) -> str:
    found = None if element is None else element.find(f"{W}{name}")
    return "" if found is None else str(found.get(f"{W}val", ""))
