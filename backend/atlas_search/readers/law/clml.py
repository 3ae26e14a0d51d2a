"""Acts and instruments of the United Kingdom in CLML, https://github.com/legislation/clml-schema."""

import re
from collections.abc import Iterator

from lxml import etree

from atlas_search.readers import Read, Skipped
from atlas_search.readers.law.statutes import (
    Law,
    Place,
    attribute,
    item_label,
    level,
    line_of,
    number,
    schedule_number,
)
from atlas_search.readers.xml.tree import Layout, first, first_address, names, text_of, walk

_PLACES = {
    "UnitedKingdom": "United Kingdom",
    "GreatBritain": "United Kingdom",
    "Scottish": "Scotland",
    "Welsh": "Wales",
    "NorthernIreland": "Northern Ireland",
    "EuropeanUnion": "European Union",
}
_DATES = ("enactmentdate", "made", "comingintoforce/datetime")
_PRELIMS = ("primary/primaryprelims", "secondary/secondaryprelims", "euretained/euprelims")


def _last_amended(about: etree._Element) -> str:
    """The day from which a revised version holds."""
    return text_of(about.find("valid")) if _value(about, "documentstatus") == "revised" else ""


def _type(about: etree._Element, kind: str) -> str:
    minor = _value(about, "documentminortype").removesuffix("s")
    return minor or kind.removeprefix("EuropeanUnion").lower()


def _prelims(root: etree._Element, tag: str) -> etree._Element | None:
    return first(root, *(f"{prelims}/{tag}" for prelims in _PRELIMS))


def _value(about: etree._Element, tag: str, name: str = "value") -> str:
    """An attribute of the first such element of the law itself, not of one that changes it."""
    return attribute(first(about, f"*/{tag}", f"*/documentclassification/{tag}"), name)


_CONTAINERS = ("commentaries", "footnotes", "marginnotes")
_SIGNS = ("commentaryref", "footnoteref", "marginnoteref")


class Notes:
    """Footnotes and histories of amendments, by the id that the text refers to."""

    def __init__(self, root: etree._Element) -> None:
        self._waiting = {
            note.get("id") or f"note {place}": note
            for container in root.iter(*_CONTAINERS)
            for place, note in enumerate(container)
        }
        self._due: list[str] = []

    def refer(self, *elements: etree._Element) -> None:
        """The notes to which these elements refer are due."""
        for element in elements:
            name = element.get("ref" if element.tag in _SIGNS else "commentaryref")
            if name in self._waiting:
                self._due.append(name)

    def due(self) -> Iterator[etree._Element]:
        """Yield the notes referred to, in that order, none twice; a note may refer to others."""
        while self._due:
            note = self._waiting.pop(self._due.pop(0), None)
            if note is not None:
                yield note

    def rest(self) -> Iterator[etree._Element]:
        yield from self.due()
        self._due = list(self._waiting)
        yield from self.due()


_KINDS = {"section": "s", "regulation": "reg", "article": "art", "rule": "r", "paragraph": "para"}
_MINOR = {"order": "art", "regulation": "reg", "rule": "r", "scheme": "para"}
_ID = re.compile(r"(section|regulation|article|rule|paragraph)-[^-]+\Z")
_ARTICLES = ("EuropeanUnion", "NorthernIrelandOrderInCouncil")
_NOT_CITED = "attachment"  # provisions in one, or in an appendix, have no citation


def printed(pnumber: etree._Element) -> str:
    """A label with the brackets that the schema leaves to the printer: `1`, `(1)`, `(a)`."""
    text = text_of(pnumber)
    before, after = pnumber.get("puncbefore"), pnumber.get("puncafter")
    if before is not None or after is not None:
        return f"{before or ''}{text}{after or ''}"
    if pnumber.getparent().tag == "p1" or not text[:1].isalnum():
        return text
    return f"({text})"


def _kind(root: etree._Element) -> str:
    """Return the kind of the provisions of a law whose ids do not say it."""
    main = root.find("metadata//documentmaintype")
    if main is not None and main.get("value", "").startswith(_ARTICLES):
        return "art"
    minor = root.find("metadata//documentminortype")
    if minor is not None:
        return _MINOR.get(minor.get("value", "").removesuffix("s"), "reg")
    return "s" if root.find("primary") is not None else "reg"


_TEXTS = ("primary", "secondary", "euretained")
_GROUPS = names("p1group p2group p3group")
_HEADED = _GROUPS | names(
    "part chapter pblock psubblock schedule division eupart eutitle euchapter eusection "
    "eusubsection appendix abstract attachment attachmentgroup explanatorynotes earlierorders"
)
_QUOTATIONS = names("blockamendment blockextract")
_LAYOUT = Layout(
    blocks=_HEADED
    | _QUOTATIONS
    | names(
        "number reference p longtitle dateofenactment madedate laiddate comingintoforce "
        "approved sifteddate laiddraft draft enactingtext introductorytext subjectinformation "
        "signedsection signatory tabular table caption formula where form figure comment "
        "footnote commentary marginnote primarypreamble secondarypreamble eupreamble "
        "multilinetitle fragmentnumber fragmenttitle warning resolution royalpresence"
    ),
    lines=names(
        "title subtitle text p3 p4 p5 p6 p7 listitem keylistitem tr subject personname jobtitle "
        "department addressline lsseal comingintoforceclauses tabletext blocktext"
    ),
    cells=names("td th"),
    breaks=names("datetext br para key expanded"),
    left_out=names(
        "metadata contents resources versions footnotes commentaries marginnotes annotation"
    ),
)


class BritishLaw(Law):
    """Writes an act, an instrument, or a part of one.

    Footnotes and the history of amendments come after the section they belong to.
    """

    layout = _LAYOUT
    headed = _HEADED
    quotations = _QUOTATIONS
    provisions = names("p1 p2")

    def __init__(self, root: etree._Element) -> None:
        super().__init__(root)
        self._kind = _kind(root)
        self._notes = Notes(root)

    @staticmethod
    def fits(root: etree._Element) -> bool:
        """It is in the schema of legislation.gov.uk."""
        return root.tag == "legislation" and root.find("metadata") is not None

    def _title(self) -> str:
        return text_of(self.root.find("metadata/title")) or text_of(_prelims(self.root, "title"))

    def _facts(self) -> dict[str, object]:
        """`date` is that of enactment or making, else of coming into force, else the year."""
        root, about = self.root, self.root.find("metadata")
        kind = _value(about, "documentmaintype")
        is_primary = _value(about, "documentcategory") == "primary"
        year, serial = _value(about, "year"), _value(about, "number")
        addresses = [root.get("documenturi", ""), *map(text_of, about.iter("identifier"))]
        return {
            "date": next(filter(None, (_value(about, tag, "date") for tag in _DATES)), year),
            "in_force_from": _value(about, "comingintoforce/datetime", "date"),
            "last_amended": _last_amended(about),
            "long_title": text_of(_prelims(root, "longtitle")),
            "citation": text_of(_prelims(root, "number")),
            "chapter": serial if is_primary else "",
            "instrument_number": f"{year}/{serial}" if year and serial and not is_primary else "",
            "jurisdiction": next((_PLACES[name] for name in _PLACES if kind.startswith(name)), ""),
            "document_type": "act" if is_primary else _type(about, kind),
            "language": text_of(about.find("language")) or root.get("lang", ""),
            "url": first_address(addresses),
        }

    def read(self) -> Read:
        """Return the draft, or skip a file without the text of its law."""
        if not any(self.root.find(tag) is not None for tag in _TEXTS):
            return Skipped(
                "it holds what is said about a law but not its text; get the data.xml of the whole "
                "law"
            )
        return super().read()

    def enter(self, element: etree._Element) -> bool:
        self._notes.refer(element)
        return super().enter(element)

    def _begin(self, element: etree._Element) -> bool | None:
        match element.tag:
            case "pnumber":
                self._put_label(printed(element))
                self._notes.refer(*element.iter())
                return False
            case "title":
                return self._begin_title(element)
            case "listitem":
                self._put_label(_item_label(element))
                return True
            case "appendtext" | "datetext" if element.getprevious() is not None:
                self._run_on(element)
                return True
        return None

    def _end(self, element: etree._Element) -> bool:
        tag, holder = element.tag, _holder(element)
        if tag == "number" and holder == "division" and text_of(element):
            self.writer.run_in()
        elif tag == "title" and holder not in _GROUPS:
            self.writer.block()
        else:
            if holder == "mfrac" and element.getnext() is not None:
                self.writer.add("/")
            return False
        return True

    def _finish(self) -> None:
        self._write_notes(self._notes.rest())

    def _open(self, element: etree._Element) -> None:
        if element.tag in self.headed:
            self._write_notes(self._notes.due())
        super()._open(element)

    def _close(self, element: etree._Element) -> None:
        if element.tag in self.headed or element.tag == "p1":
            self._write_notes(self._notes.due())
        super()._close(element)

    def _is_below_heading(self, provision: etree._Element) -> bool:
        before = provision.getprevious()
        return before is not None and before.tag == "title" and _holder(provision) in _GROUPS

    def _heading(self, element: etree._Element) -> str:
        """The number and the title of what is headed; a number beside a text is no heading."""
        if element.tag == "division" and element.find("title") is None:
            return ""
        return line_of(element.find("number"), first(element, "title", "titleblock/title"))

    def _label(self, element: etree._Element) -> str:
        """The number of a provision as it stands in the file."""
        return text_of(element.find("pnumber"))

    def _is_part(self, element: etree._Element) -> bool:
        """Provisions are cited by their own rules."""
        return False

    def _place(self, element: etree._Element) -> Place | None:
        """The place of a schedule, a provision, or a group of them: `s 10(1)`, `sch 1 para 3`."""
        match element.tag:
            case "schedule":
                schedule = schedule_number(text_of(element.find("number")))
                cited = f"sch {schedule}" if schedule else ""
                return Place(cited, schedule=cited or "sch")
            case "attachment" | "appendix":
                return Place("", schedule=_NOT_CITED)
            case "p1group":
                first = element.find("p1")
                return Place(self.outline.locator) if first is None else self._provision(first)
            case "p1":
                return self._provision(element)
            case "p2":
                return Place(self._subsection(element, self.outline.locator))
        return None

    def _provision(self, p1: etree._Element) -> Place:
        label, schedule = number(self._label(p1)), self.schedule
        if not label or schedule == _NOT_CITED:
            cited = schedule if " " in schedule else ""
        else:
            stated = _ID.search(p1.get("id", ""))
            kind = _KINDS[stated[1]] if stated else "para" if schedule else self._kind
            cited = f"{schedule} {kind} {label}".strip()
        body = p1.find("p1para")
        if body is None or not len(body) or body[0].tag != "p2":
            return Place(cited)
        inner = self._subsection(body[0], cited)
        return Place(cited, inner.removeprefix(cited) if inner.startswith(cited) else "")

    def _subsection(self, p2: etree._Element, around: str) -> str:
        """Numbers such as 5.1 name the provision 5 already."""
        if not around or next(p2.iterancestors("p1"), None) is None:
            return around
        label = self._label(p2)
        head, _, last = around.rpartition(" ")
        if number(label).startswith(f"{last}."):
            return f"{head} {number(label)}"
        return around + level(label)

    def _run_on(self, element: etree._Element) -> None:
        """On the line before it; a full stop there, without a blank."""
        self.writer.run_in()
        if not text_of(element)[:1].isalnum():
            self.writer.glue()

    def _put_label(self, label: str) -> None:
        if label:
            self.writer.add(label)
            self.writer.run_in()

    def _begin_title(self, element: etree._Element) -> bool:
        """A title stands beside its number; that of the law is its title, not its text."""
        holder = element.getparent()
        if holder.tag in ("primaryprelims", "secondaryprelims"):
            return False
        if not text_of(element):
            return True
        before = element.getprevious() if holder.tag != "titleblock" else holder.getprevious()
        if before is not None and before.tag == "number" and text_of(before):
            self.writer.run_in()
        else:
            self.writer.block()
        return True

    def _write_notes(self, notes: Iterator[etree._Element]) -> None:
        for note in notes:
            self.writer.block()
            walk(note, self)
            self.writer.block()


def _holder(element: etree._Element) -> str:
    """The name of the element around, empty for the root."""
    around = element.getparent()
    return "" if around is None else str(around.tag)


def _item_label(item: etree._Element) -> str:
    """Return the label of an item of a list; the dash of an unnumbered one is not words."""
    stated: str = item.get("numberoverride", "")
    holder = item.getparent()
    if stated or holder.tag != "orderedlist":
        return stated
    start = holder.get("start", "1")
    first = int(start) if start.isdecimal() else 1
    before = sum(1 for _ in item.itersiblings(item.tag, preceding=True))
    return item_label(max(first, 1) + before, holder.get("type", ""), holder.get("decoration", ""))
