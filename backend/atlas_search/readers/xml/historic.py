"""Historic Hansard: the bound volumes of the UK Parliament, 1803 to 2005.

The shape is that of https://github.com/millbanksystems/hansard (`hansard_v9.xsd`), as published
at https://www.hansard-archive.parliament.uk.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from lxml import etree

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.persons import printed
from atlas_search.readers.xml.draft import COLUMNS, NO_TEXT, draft, text_of, unique_keys
from atlas_search.readers.xml.walk import Layout, names, walk
from atlas_search.readers.xml.writer import Writer

_SITTINGS = names("housecommons houselords")
_APART = names(
    "writtenanswers writtenstatements westminsterhall grandcommitteereport committeewholehouse"
)
"""Parts of a sitting with columns of their own numbering, which makes them documents."""

_SECTIONS = names("section group oralquestions")
_LEFT = ("titlepage", "frontmatter", "tablecontents", "appendix", "index")
_HOUSES = {"housecommons": "House of Commons", "houselords": "House of Lords"}
_HEAD = 100
"""Elements at the beginning of a sitting among which its date is: each of its parts looks there."""

_LONGEST_DAY = 200  # characters of a printed date, which is in the title of each part
_COLUMN = re.compile(r"[A-Z]*\s*([0-9]+)\s*[A-Z]*")
_LAYOUT = Layout(
    blocks=names("p title date table division body debates ol ul list") | _SECTIONS,
    lines=names("tr li item"),
    cells=names("td th"),
    breaks=names("lb"),
    left_out=names("image img"),
)


def is_historic(root: etree._Element) -> bool:
    """Whether sittings or their parts stand at the root or right below it."""
    wanted = _SITTINGS | _APART
    return root.tag in wanted or (root.tag == "hansard" and any(e.tag in wanted for e in root))


def historic_drafts(root: etree._Element) -> Iterator[Read]:
    """One draft for each sitting of a volume that has text, and for each part with own columns.

    Keys are element and date: `housecommons-1985-12-16`. A file with one has no key.
    """
    elements = list(root.iter(*_SITTINGS, *_APART))
    keys = unique_keys([f"{element.tag}-{_date(element)}".rstrip("-") for element in elements])
    days = {date: text_of(date)[:_LONGEST_DAY] for date in {*map(_find_date, elements)}}
    reads = [
        _draft(element, key if len(elements) > 1 else "", days[_find_date(element)])
        for element, key in zip(elements, keys, strict=True)
    ]
    drafts = [read for read in reads if isinstance(read, Draft)]
    if not drafts:
        yield Skipped(NO_TEXT)
        return
    left = [name for name in _LEFT if root.find(name) is not None]
    remark = f"left out of the volume: {', '.join(left)}" if left else ""
    yield replace(drafts[0], remark="; ".join(filter(None, [remark, drafts[0].remark])))
    yield from drafts[1:]


def _draft(sitting: etree._Element, key: str, day: str) -> Read:
    writer = Writer()
    walk(sitting, _Sitting(writer, sitting))
    house = next(sitting.iterancestors(*_SITTINGS), sitting)
    date = _date(sitting)
    year = re.search(r"\b1[0-9]{3}\b|\b20[0-9]{2}\b", day)
    doubt = f"its date is given as {date} and as {day}"
    return draft(
        writer.finish(),
        {"date": date, "house": _HOUSES.get(house.tag, "")},
        title=", ".join(filter(None, [text_of(sitting.find("title")).rstrip(" .,"), day])),
        key=key,
        breaks=COLUMNS,
        remarks=[doubt] if date and year and year[0] != date[:4] else [],
    )


class _Sitting:
    """Writes a sitting without the parts that are documents on their own."""

    layout = _LAYOUT

    def __init__(self, writer: Writer, root: etree._Element) -> None:
        self.writer = writer
        self._root = root
        self._keeps_speaker = root.tag in ("writtenanswers", "writtenstatements")

    def enter(self, element: etree._Element) -> bool:
        tag = element.tag
        if tag in _APART and element is not self._root:
            return False
        if tag == "col":
            self.writer.page(_column(text_of(element)))
            return False
        if tag in _SECTIONS:
            self.writer.open_section(text_of(element.find("title")))
        elif tag == "p":
            self._speaker(element)
        elif tag == "quote" and element.getparent().tag not in ("p", "membercontribution"):
            self.writer.block()
        return True

    def leave(self, element: etree._Element) -> None:
        if element.tag in _SECTIONS:
            self.writer.close_section()
        elif element.tag == "quote" and element.getparent().tag not in ("p", "membercontribution"):
            self.writer.block()

    def _speaker(self, paragraph: etree._Element) -> None:
        """A paragraph without a member is procedure, but in written answers goes on."""
        member = paragraph.find(".//member")
        if member is not None:
            self.writer.speech(printed(text_of(member)))
        elif paragraph.find(".//membercontribution") is None and not self._keeps_speaker:
            self.writer.voice("")


def _column(label: str) -> str:
    """`345W`, `GC 345` and `345` are all column 345, each of its own sequence."""
    match = _COLUMN.fullmatch(label)
    return match[1] if match else label


def _find_date(sitting: etree._Element) -> etree._Element | None:
    """The date of a part, or of the sitting that it is part of."""
    around = [sitting, *sitting.iterancestors(*_SITTINGS)]
    first = (child for element in around for child in islice(element.iterchildren(), _HEAD))
    return next((child for child in first if child.tag == "date"), None)


def _date(sitting: etree._Element) -> str:
    date = _find_date(sitting)
    format_ = "" if date is None else date.get("format", "")
    return format_ if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", format_) else ""
