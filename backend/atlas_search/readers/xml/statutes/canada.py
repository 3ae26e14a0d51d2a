"""Acts and regulations of Canada, https://github.com/justicecanada/laws-lois-xml."""

import re
from collections.abc import Iterator

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.xml.draft import draft, text_of
from atlas_search.readers.xml.statutes.canada_facts import facts, title_of
from atlas_search.readers.xml.statutes.labels import level, number, schedule_number
from atlas_search.readers.xml.statutes.outline import Outline, line_of
from atlas_search.readers.xml.walk import Layout, names, walk
from atlas_search.readers.xml.writer import Writer

_ROOTS = names("statute regulation")
_SCHEDULE, _PREAMBLE, _GROUP, _SECTION, _SUBSECTION = 0, 0, 10, 100, 101
"""How deep headings are; those of the body have levels from 1 to 5."""

_HEADING_PARTS = names("label originatingref titletext")
_GROUPS = names("group formgroup")
_QUOTATIONS = names("amendedtext readastext amendedcontent quotedtext")
_FOREIGN = "relatedornotinforce"
_ARTICLE = re.compile(r"(?i)article\s+(\w+)\.?")
_LAYOUT = Layout(
    blocks=names(
        "longtitle enablingauthority readernote heading section subsection groupheading footnote "
        "scheduleformheading historicalnote tablegroup title caption formulagroup imagegroup "
        "signatureblock list bilingualgroup preamble enacts order formgroup documentinternal group "
        "conventionagreementtreaty recommendation notice oath explanatorynote mathmlblock note "
        "figuregroup formheading provisionheading header footer commentblock"
    )
    | _QUOTATIONS,
    lines=names(
        "marginalnote paragraph subparagraph clause subclause subsubclause definition item row "
        "continuedsectionsubsection continuedparagraph continuedsubparagraph continuedclause "
        "continuedsubclause continueddefinition continuedformulaparagraph formula formulaconnector "
        "formuladefinition formulaparagraph signaturename signaturetitle signatureline "
        "bilingualitemen bilingualitemfr historicalnotesubitem alternatetext linebreak"
    ),
    cells=names("entry"),
    breaks=names("text titletext originatingref formulaterm leader leaderrightjustified label"),
    left_out=names(
        "shorttitle runninghead billhistory chapter billnumber parliament billrefnumber "
        "consolidationdate instrumentnumber registrationdate regulationmakerorder "
        "recentamendments lastmodifieddate lastamendeddate"
    ),
)


def is_canadian_law(root: etree._Element) -> bool:
    """Whether it is an act or a regulation of Canada."""
    return root.tag in _ROOTS and root.find("identification") is not None


def canadian_laws(root: etree._Element) -> Iterator[Read]:
    """One draft: an act or a regulation in one of the two languages."""
    _put_notes_last(root)
    writer = Writer()
    walk(root, _Law(writer))
    yield draft(writer.finish(), facts(root), title=title_of(root))


def _put_notes_last(root: etree._Element) -> None:
    """The history inside a marginal note, and a marginal note inside a heading, come after it."""
    for note in list(root.iter("marginalnote")):
        holder = note.getparent()
        if holder.tag == "heading":
            holder.append(note)
        else:
            holder.extend(note.findall("historicalnote"))


class _Law:
    """Writes a law. Sections in amendments that it quotes are text of the section that quotes."""

    layout = _LAYOUT

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self._outline = Outline(writer)
        self._quotations = 0
        self._foreign = 0
        self._groups = 0
        self._schedule: str | None = None

    def enter(self, element: etree._Element) -> bool:
        tag = element.tag
        if tag in _QUOTATIONS:
            self._quotations += 1
        elif tag == _FOREIGN:
            self._foreign += 1
        elif tag == "longtitle":
            return element.getparent().find("shorttitle") is not None
        elif tag in ("provision", "repealed"):
            self._begin(element)
        elif not self._quotations:
            self._open(element)
        return True

    def leave(self, element: etree._Element) -> None:
        tag = element.tag
        if tag in _QUOTATIONS:
            self._quotations -= 1
        elif tag == _FOREIGN:
            self._foreign -= 1
        elif tag in ("provision", "repealed"):
            self._begin(element)
        elif tag == "label" and text_of(element) and _runs_on(element):
            self.writer.run_in()
        elif not self._quotations:
            self._close(tag)

    def _begin(self, element: etree._Element) -> None:
        """A provision inside another one is a line of it; a repeal among words is among words."""
        holder = element.getparent()
        if element.tag == "repealed" and holder.tag in ("text", "titletext", "entry"):
            return
        if holder.tag == "provision":
            self.writer.line()
        else:
            self.writer.block()

    def _open(self, element: etree._Element) -> None:
        tag = element.tag
        if tag == "heading":
            depth = element.get("level", "1")
            self._outline.open(int(depth) if depth.isdecimal() else 1, _heading(element))
        elif tag == "preamble":
            self._outline.open(_PREAMBLE, line_of(element.find(".//marginalnote")))
        elif tag == "schedule":
            self._open_schedule(element)
        elif tag in _GROUPS:
            self._open_group(element)
        elif tag == "section":
            self._open_section(element)
        elif tag == "subsection":
            self._outline.open(_SUBSECTION, line_of(element.find("marginalnote")))
            self._outline.enter(self._outline.locator and self._outline.locator + _level(element))

    def _close(self, tag: str) -> None:
        if tag in ("preamble", "schedule"):
            self._outline.close(_SCHEDULE)
        elif tag in _GROUPS:
            self._groups -= 1
            self._outline.close(_GROUP + self._groups)
        elif tag in ("section", "subsection"):
            self._outline.close(_SECTION if tag == "section" else _SUBSECTION)
        if tag in _GROUPS or tag in ("schedule", "section", "subsection"):
            self._outline.leave()
        if tag == "schedule":
            self._schedule = None

    def _open_schedule(self, element: etree._Element) -> None:
        heading = element.find("scheduleformheading")
        self._outline.open(_SCHEDULE, _heading(heading))
        label = "" if heading is None else _label(heading)
        self._schedule = schedule_number(label)
        self._outline.enter(self._schedule and f"sch {self._schedule}")

    def _open_group(self, element: etree._Element) -> None:
        heading = _heading(element.find("groupheading"))
        if element.tag == "formgroup":
            heading = _heading(element.find("scheduleformheading"))
        self._outline.open(_GROUP + self._groups, heading)
        self._groups += 1
        article = _ARTICLE.match(heading)
        self._outline.enter(
            f"sch {self._schedule} art {article[1]}"
            if article and self._schedule
            else self._outline.locator
        )

    def _open_section(self, element: etree._Element) -> None:
        self._outline.open(_SECTION, line_of(element.find("marginalnote")))
        found = number(_label(element))
        if not found or self._foreign or self._schedule == "":
            self._outline.enter("")
            return
        place = f"sch {self._schedule} s {found}" if self._schedule else f"s {found}"
        self._outline.enter(place, first=_first_level(element))


def _heading(element: etree._Element | None) -> str:
    """The line of a heading: its label, where it comes from, and its title."""
    if element is None:
        return ""
    return line_of(*(part for part in element if part.tag in _HEADING_PARTS))


def _runs_on(label: etree._Element) -> bool:
    """Whether the first subsection stands on the line of the section's label."""
    after = label.getnext()
    return (
        after is not None
        and after.tag == "subsection"
        and label.getparent().tag == "section"
        and after.find("marginalnote") is None
    )


def _first_level(section: etree._Element) -> str:
    """The level of the subsection with which the text of the section begins, or empty."""
    first = next((part for part in section if part.tag not in ("marginalnote", "label")), None)
    return _level(first) if first is not None and first.tag == "subsection" else ""


def _level(element: etree._Element) -> str:
    return level(_label(element))


def _label(element: etree._Element) -> str:
    """The words of its label but the sign of a footnote."""
    label = element.find("label")
    if label is None:
        return ""
    signs = [text_of(sign) for sign in label.iter("footnoteref")]
    text = text_of(label)
    for sign in signs:
        text = text.replace(sign, "", 1)
    return text
