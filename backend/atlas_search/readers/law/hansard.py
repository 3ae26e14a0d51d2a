"""Historic Hansard: the bound volumes of the UK Parliament, 1803 to 2005.

The shape is that of https://github.com/millbanksystems/hansard (`hansard_v9.xsd`), as published
at https://www.hansard-archive.parliament.uk.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from lxml import etree

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.law.debates import Debate
from atlas_search.readers.law.persons import printed, without_title
from atlas_search.readers.xml.tree import (
    COLUMNS,
    NO_TEXT,
    Layout,
    draft,
    names,
    starts_of,
    text_of,
    unique_keys,
    walk,
)

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
_HISTORIC_LAYOUT = Layout(
    blocks=names("p title date table division body debates ol ul list") | _SECTIONS,
    lines=names("tr li item"),
    cells=names("td th"),
    breaks=names("lb"),
    left_out=names("image img"),
)


def is_historic(root: etree._Element) -> bool:
    """Say if sittings or their parts stand at the root or right below it."""
    tags = _SITTINGS | _APART
    return root.tag in tags or (root.tag == "hansard" and any(e.tag in tags for e in root))


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
    left_out = [name for name in _LEFT if root.find(name) is not None]
    remark = f"left out of the volume: {', '.join(left_out)}" if left_out else ""
    yield replace(drafts[0], remark="; ".join(filter(None, [remark, drafts[0].remark])))
    yield from drafts[1:]


def _draft(sitting: etree._Element, key: str, day: str) -> Read:
    walker = _Sitting(sitting)
    walk(sitting, walker)
    house = next(sitting.iterancestors(*_SITTINGS), sitting)
    date = _date(sitting)
    year = re.search(r"\b1[0-9]{3}\b|\b20[0-9]{2}\b", day)
    doubt = f"its date is given as {date} and as {day}"
    return draft(
        walker.writer.finish(),
        {"date": date, "house": _HOUSES.get(house.tag, "")},
        title=", ".join(filter(None, [text_of(sitting.find("title")).rstrip(" .,"), day])),
        key=key,
        breaks=COLUMNS,
        remarks=[doubt] if date and year and year[0] != date[:4] else [],
    )


class _Sitting(Debate):
    """Writes a sitting without the parts that are documents on their own."""

    layout = _HISTORIC_LAYOUT
    sections = _SECTIONS

    def __init__(self, root: etree._Element) -> None:
        super().__init__()
        self._root = root
        self._keeps_speaker = root.tag in ("writtenanswers", "writtenstatements")

    def _title(self, section: etree._Element) -> str:
        return text_of(section.find("title"))

    def _begin(self, element: etree._Element) -> bool:
        if element.tag in _APART and element is not self._root:
            return False
        if element.tag == "col":
            self.writer.page(_column(text_of(element)))
            return False
        if element.tag == "p":
            self._paragraph(element)
        self._end(element)
        return True

    def _end(self, element: etree._Element) -> None:
        """A quotation is a paragraph unless it is in one."""
        if element.tag == "quote" and element.getparent().tag not in ("p", "membercontribution"):
            self.writer.block()

    def _paragraph(self, paragraph: etree._Element) -> None:
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


_HEADINGS = names("oral-heading major-heading minor-heading")
_SPEECHES = names("speech ques reply")
_TWFY_LAYOUT = Layout(
    blocks=names("p table ul ol dl blockquote division divisioncount mplist memberlist lordlist")
    | _HEADINGS
    | _SPEECHES,
    lines=names("tr li dt dd mpname member lord br"),
    cells=names("td th"),
    breaks=names(""),
    left_out=names("bills gidredirect"),
)
_ID = re.compile(r"[^/]+/([a-z]+)/([0-9]{4}-[0-9]{2}-[0-9]{2})")
_KINDS = {
    ("publicwhip", "debate"): "House of Commons debates",
    ("publicwhip", "westminhall"): "Westminster Hall debates",
    ("publicwhip", "wrans"): "House of Commons written answers",
    ("publicwhip", "wms"): "House of Commons written ministerial statements",
    ("publicwhip", "lords"): "House of Lords debates",
    ("publicwhip", "lordswrans"): "House of Lords written answers",
    ("publicwhip", "lordswms"): "House of Lords written ministerial statements",
    ("debates", "debate"): "House of Representatives debates",
    ("debates", "lords"): "Senate debates",
}
"""The contents of a file by its ids. OpenAustralia took over the root `debates` and these ids."""


def is_twfy(root: etree._Element) -> bool:
    """Say if headings and speeches stand in a row below the root."""
    return root.tag in ("publicwhip", "debates") and any(
        element.tag in _HEADINGS | _SPEECHES for element in root
    )


def twfy_drafts(root: etree._Element) -> Iterator[Read]:
    """One draft: a day of one chamber. Columns are known only where a speech begins."""
    day = _Day(_names(root))
    walk(root, day)
    kind, date = _kind_and_date(root)
    url = next((element.get("url") for element in root if element.get("url")), "")
    title = f"{kind}, {date}" if kind else ""
    metadata = {"date": date, "series": kind, "url": url}
    yield draft(day.writer.finish(), metadata, title=title, breaks=starts_of(COLUMNS))


def _kind_and_date(root: etree._Element) -> tuple[str, str]:
    ids = (_ID.match(element.get("id", "")) for element in root)
    match = next(filter(None, ids), None)
    return (_KINDS.get((root.tag, match[1]), ""), match[2]) if match else ("", "")


class _Day(Debate):
    """Writes headings, speeches and divisions; the counts of a division stand in attributes."""

    layout = _TWFY_LAYOUT
    speeches = _SPEECHES

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self._names = names
        self._major = ""

    def _speaker(self, speech: etree._Element) -> str:
        return self._names.get(_id(speech)) or _speaker(speech)

    def _begin(self, element: etree._Element) -> bool:
        tag = element.tag
        if column := element.get("colnum", ""):
            self.writer.page(re.sub(r"[^0-9]", "", column) or column)
        if tag in _HEADINGS:
            self._heading(element)
        elif tag == "division":
            self.writer.voice("")
            self.writer.add(f"[Division {element.get('divnumber', '')}]".replace(" ]", "]"))
            self.writer.block()
        elif tag == "divisioncount":
            counts = ", ".join(f"{name} {count}" for name, count in element.items())
            self.writer.add(f"[{counts}]" if counts else "")
        elif vote := element.get("vote", "") if tag in ("mplist", "memberlist", "lordlist") else "":
            self.writer.add(f"[{vote}]")
        return True

    def _heading(self, heading: etree._Element) -> None:
        title = text_of(heading)
        if heading.tag == "minor-heading":
            self.writer.section(self._major, title)
        else:
            self._major = title
            self.writer.section(title)


def _names(root: etree._Element) -> dict[str, str]:
    """The most frequent name of each person by id."""
    counts: dict[str, Counter[str]] = {}
    for speech in root.iter(*_SPEECHES):
        if (id_ := _id(speech)) and (name := _speaker(speech)):
            counts.setdefault(id_, Counter())[name] += 1
    return {id_: names.most_common(1)[0][0] for id_, names in counts.items()}


def _id(speech: etree._Element) -> str:
    """Return the id of the person; older files have one for each membership. Empty if unknown."""
    id_ = speech.get("person_id") or speech.get("speakerid") or ""
    return "" if id_.lower() in ("unknown", "none") else id_


def _speaker(speech: etree._Element) -> str:
    name = without_title(printed(speech.get("speakername", "")))
    is_nobody = speech.get("nospeaker", "").lower() == "true" and not speech.get("person_id")
    return "" if name.lower() in ("unknown", "no speaker") or (is_nobody and not name) else name
