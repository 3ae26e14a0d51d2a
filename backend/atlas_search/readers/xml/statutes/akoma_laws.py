"""Acts, bills, judgments and reports in Akoma Ntoso, https://docs.oasis-open.org/legaldocml."""

from collections.abc import Iterator
from itertools import islice

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.xml.draft import draft, text_of
from atlas_search.readers.xml.statutes.akoma_facts import (
    facts,
    judgment_facts,
    judgment_title,
    title_of,
)
from atlas_search.readers.xml.statutes.labels import level, number, schedule_number
from atlas_search.readers.xml.statutes.outline import Outline, line_of
from atlas_search.readers.xml.walk import Layout, names, walk
from atlas_search.readers.xml.writer import Writer

_LAWS = names("act bill doc documentcollection portion amendment statement")
_JUDGMENTS = names("judgment judgement")  # the second in version 2
_IN_PARAGRAPHS = _JUDGMENTS | names("debatereport")
_HEAD = 20  # elements at the beginning of a provision, its number among them
_KINDS = {"section": "s", "article": "art", "rule": "r", "clause": "cl", "paragraph": "para"}
_PARTS = {
    "section": "subsection",
    "article": "paragraph",
    "rule": "subrule",
    "clause": "subclause",
    "paragraph": "subparagraph",
    "hcontainer": "paragraph",
}
_SUBSECTIONS = names("subsection subrule subclause")
_DIVISIONS = names(
    "book chapter division part subchapter subdivision subpart subtitle title tome hcontainer "
    "tblock attachment crossheading component transitional level"
)
_HEADED = _DIVISIONS | _KINDS.keys()
_QUOTATIONS = names("quotedstructure embeddedstructure")
_SCHEDULES = ("schedule", "annex", "appendix", "anexo")
_LAYOUT = Layout(
    blocks=_DIVISIONS
    | _QUOTATIONS
    | names(
        "section article rule clause longtitle formula citation "
        "recital preface preamble conclusions coverpage container blocklist table block signature "
        "interstitial doc act bill mainbody caption ul ol"
    ),
    lines=names(
        "p paragraph subparagraph point indent alinea item listintroduction listwrapup wrapup "
        "intro subheading tr li proviso sublist"
    ),
    cells=names("td th"),
    breaks=names("br eol num heading content docketnumber"),
    left_out=names("meta toc"),
)
_PROSE = Layout(
    blocks=_LAYOUT.blocks
    | names(
        "header judgmentbody judgementbody introduction background arguments remedies motivation "
        "decision p paragraph subparagraph item listintroduction listwrapup wrapup intro subheading"
    ),
    lines=_LAYOUT.lines,
    cells=_LAYOUT.cells,
    breaks=_LAYOUT.breaks,
    left_out=_LAYOUT.left_out,
)
"""Of judgments and reports, whose paragraphs are longer than those of laws."""


def is_akoma_law(root: etree._Element) -> bool:
    """Whether it is Akoma Ntoso with a law, a judgment or a report in it, by the element inside
    the root."""
    known = _LAWS | _IN_PARAGRAPHS
    return root.tag == "akomantoso" and any(child.tag in known for child in root)


def akoma_laws(root: etree._Element) -> Iterator[Read]:
    """One draft: a law with its schedules, a judgment, a report."""
    writer = Writer()
    law = _Law(writer, root)
    walk(root, law)
    law.finish()
    if root[0].tag in _JUDGMENTS:
        yield draft(writer.finish(), judgment_facts(root), title=judgment_title(root))
    else:
        yield draft(writer.finish(), facts(root), title=title_of(root))


class _Law:
    """Writes a law. What it quotes to amend another is text of the provision that quotes."""

    def __init__(self, writer: Writer, root: etree._Element) -> None:
        self.writer = writer
        self.layout = _PROSE if root[0].tag in _IN_PARAGRAPHS else _LAYOUT
        self._is_judgment = root[0].tag in _JUDGMENTS
        self._outline = Outline(writer)
        self._quotations = 0
        self._schedules: list[str] = []
        self._notes = {
            f"#{note.get('eid') or note.get('id')}": note for note in root.iterfind(".//notes/note")
        }

    def enter(self, element: etree._Element) -> bool:
        tag = element.tag
        if tag in _QUOTATIONS:
            self._quotations += 1
        elif tag == "authorialnote":
            self.writer.note(_spaced(element))
            return False
        elif tag == "noteref":
            self._refer(element.get("href", ""))
        elif tag in _SUBSECTIONS:
            self._begin_subsection(element)
        elif not self._quotations:
            self._open(element)
        return True

    def leave(self, element: etree._Element) -> None:
        tag = element.tag
        if tag in _QUOTATIONS:
            self._quotations -= 1
        elif tag in ("num", "heading"):
            self._end_label(element)
        elif not self._quotations:
            self._close(element)
        if tag in _SUBSECTIONS:
            self.writer.block()

    def _begin_subsection(self, element: etree._Element) -> None:
        """The first stands below the heading of its section, as other text does."""
        before = element.getprevious()
        if before is not None and before.tag == "heading":
            self.writer.line()
        else:
            self.writer.block()
        if not self._quotations:
            self._open(element)

    def finish(self) -> None:
        """Writes the notes that nothing refers to."""
        for name in list(self._notes):
            self._refer(name)

    def _refer(self, name: str) -> None:
        note = self._notes.pop(name, None)
        if note is not None:
            self.writer.note(_spaced(note))

    def _end_label(self, element: etree._Element) -> None:
        """A heading is a line with its number; without one the text stands beside the number."""
        holder = element.getparent()
        is_heading = element.tag == "heading"
        if is_heading or (holder.tag in _DIVISIONS and holder.find("heading") is None):
            self.writer.block() if holder.tag in _DIVISIONS else self.writer.line()
        elif text_of(element):
            self.writer.run_in()

    def _open(self, element: etree._Element) -> None:
        if element.tag in _HEADED:
            self._outline.open(_depth(element), _heading(element))
        if _is_schedule(element):
            found = _schedule_number(element)
            self._schedules.append(f"sch {found}" if found else self._schedule or "sch")
            self._outline.enter(self._schedule if self._schedule != "sch" else "")
        elif kind := _kind(element):
            found = number(text_of(element.find("num")))
            if self._is_judgment and not _is_own(element, found):
                found = ""
            place = " ".join(filter(None, [self._schedule, kind, found]))
            if found:
                self._outline.enter(place, first=_first_level(element))
            else:
                self._outline.enter(self._outline.locator)
        elif _is_part(element):
            around = self._outline.locator
            self._outline.enter(around and around + level(text_of(element.find("num"))))

    def _close(self, element: etree._Element) -> None:
        if _is_schedule(element):
            self._schedules.pop()
            self._leave()
        elif _kind(element) or _is_part(element):
            self._leave()
        if element.tag in _HEADED:
            self._outline.close(_depth(element))

    def _leave(self) -> None:
        """Its notes are still of the provision."""
        self.writer.block()
        self._outline.leave()

    @property
    def _schedule(self) -> str:
        return self._schedules[-1] if self._schedules else ""


def _is_schedule(element: etree._Element) -> bool:
    if element.tag == "attachment":
        return True
    return element.tag in ("hcontainer", "doc") and element.get("name", "").lower().startswith(
        _SCHEDULES
    )


def _schedule_number(element: etree._Element) -> str:
    """From its number, its heading (`Schedule 2`), or its name (`schedule2`)."""
    name = "".join(filter(str.isdecimal, element.get("name", "")))
    labels = (text_of(element.find(tag)) for tag in ("num", "heading"))
    return next(filter(None, map(schedule_number, labels)), name)


def _kind(element: etree._Element) -> str:
    """How a provision is cited, empty if it is a part of a numbered one, or none."""
    if any(map(_is_numbered, element.iterancestors(*_KINDS))):
        return ""
    if element.tag == "hcontainer":
        return "reg" if element.get("name") == "regulation" else ""
    return _KINDS.get(str(element.tag), "")


def _is_numbered(provision: etree._Element) -> bool:
    """Whether it begins with a number; all elements in it ask that."""
    return any(child.tag == "num" for child in islice(provision, _HEAD))


def _is_own(paragraph: etree._Element, found: str) -> bool:
    """Whether a judgment counts the paragraph as its own: what it quotes has numbers, too."""
    own: str = paragraph.get("eid", "")
    return own.rpartition("__")[2] == f"para_{found}"


def _is_part(element: etree._Element) -> bool:
    """Whether it is a subsection, or what the schema calls so in other provisions."""
    holder = element.getparent()
    return (
        holder is not None
        and element.tag == _PARTS.get(str(holder.tag), "")
        and bool(_kind(holder))
    )


def _depth(element: etree._Element) -> int:
    return sum(1 for _ in element.iterancestors())


def _heading(element: etree._Element) -> str:
    """The line of its number and heading; the number of a provision alone is no heading."""
    heading = element.find("heading")
    if not text_of(heading) and element.tag in _KINDS:
        return ""
    return line_of(element.find("num"), heading)


def _first_level(provision: etree._Element) -> str:
    first = next((part for part in provision if part.tag not in ("num", "heading")), None)
    if first is None or not _is_part(first):
        return ""
    return level(text_of(first.find("num")))


def _spaced(element: etree._Element) -> str:
    """The texts of a note with blanks between its paragraphs."""
    return " ".join(" ".join(element.itertext()).split())
