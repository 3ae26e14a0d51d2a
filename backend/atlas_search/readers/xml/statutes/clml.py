"""Acts and instruments of the United Kingdom in CLML, https://github.com/legislation/clml-schema."""

from collections.abc import Iterator

from lxml import etree

from atlas_search.readers import Read, Skipped
from atlas_search.readers.xml.draft import draft, text_of
from atlas_search.readers.xml.statutes.clml_facts import facts, title_of
from atlas_search.readers.xml.statutes.clml_notes import Notes
from atlas_search.readers.xml.statutes.clml_places import Places, printed
from atlas_search.readers.xml.statutes.numerals import item_label
from atlas_search.readers.xml.statutes.outline import Outline, line_of
from atlas_search.readers.xml.walk import Layout, names, walk
from atlas_search.readers.xml.writer import Writer

_TEXTS = ("primary", "secondary", "euretained")
_GROUPS = names("p1group p2group p3group")
_HEADED = _GROUPS | names(
    "part chapter pblock psubblock schedule division eupart eutitle euchapter eusection "
    "eusubsection appendix abstract attachment attachmentgroup explanatorynotes earlierorders"
)
_PROVISIONS = names("p1 p2")
_PLACED = names("schedule attachment appendix p1group") | _PROVISIONS
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


def is_british_law(root: etree._Element) -> bool:
    """Whether it is in the schema of legislation.gov.uk."""
    return root.tag == "legislation" and root.find("metadata") is not None


def british_laws(root: etree._Element) -> Iterator[Read]:
    """One draft: an act, an instrument, or a part of one."""
    if not any(root.find(tag) is not None for tag in _TEXTS):
        yield Skipped(
            "it holds what is said about a law but not its text; get the data.xml of the whole law"
        )
        return
    writer = Writer()
    law = _Law(writer, root)
    walk(root, law)
    law.finish()
    yield draft(writer.finish(), facts(root), title=title_of(root))


class _Law:
    """Writes a law. Provisions that it inserts into another law are text of the section that does.

    Footnotes and the history of amendments come after the section they belong to.
    """

    layout = _LAYOUT

    def __init__(self, writer: Writer, root: etree._Element) -> None:
        self.writer = writer
        self._outline = Outline(writer)
        self._places = Places(root)
        self._notes = Notes(root)
        self._quotations = 0

    def enter(self, element: etree._Element) -> bool:
        tag = element.tag
        self._notes.refer(element)
        if tag in _QUOTATIONS:
            self._quotations += 1
        elif tag == "pnumber":
            self._put_label(printed(element))
            self._notes.refer(*element.iter())
            return False
        elif tag == "title":
            return self._begin_title(element)
        elif tag == "listitem":
            self._put_label(_item_label(element))
        elif tag in ("appendtext", "datetext") and element.getprevious() is not None:
            self._run_on(element)
        else:
            self._begin(element)
        return True

    def leave(self, element: etree._Element) -> None:
        tag = element.tag
        if tag in _QUOTATIONS:
            self._quotations -= 1
        elif tag == "number" and _holder(element) == "division" and text_of(element):
            self.writer.run_in()
        elif tag == "title" and _holder(element) not in _GROUPS:
            self.writer.block()
        elif _holder(element) == "mfrac" and element.getnext() is not None:
            self.writer.add("/")
        else:
            self._end(element)

    def finish(self) -> None:
        """Writes the notes that nothing refers to."""
        self._write_notes(self._notes.rest())

    def _begin(self, element: etree._Element) -> None:
        if element.tag in _PROVISIONS:
            before = element.getprevious()
            if before is not None and before.tag == "title" and _holder(element) in _GROUPS:
                self.writer.line()
            else:
                self.writer.block()
        if not self._quotations:
            self._open(element)

    def _open(self, element: etree._Element) -> None:
        if element.tag in _HEADED:
            self._write_notes(self._notes.due())
            self._outline.open(_depth(element), _heading(element))
        if element.tag in _PLACED:
            place = self._places.of(element, self._outline.locator)
            self._outline.enter(place, first=self._places.first_level(element, place))

    def _end(self, element: etree._Element) -> None:
        if not self._quotations:
            self._close(element)
        if element.tag in _PROVISIONS:
            self.writer.block()

    def _close(self, element: etree._Element) -> None:
        if element.tag in _HEADED or element.tag == "p1":
            self._write_notes(self._notes.due())
        if element.tag in _PLACED:
            self._outline.leave()
        if element.tag in _HEADED:
            self._outline.close(_depth(element))

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


def _depth(element: etree._Element) -> int:
    return sum(1 for _ in element.iterancestors())


def _heading(element: etree._Element) -> str:
    """The number and the title of what is headed; a number beside a text is no heading."""
    title = element.find("title")
    if title is None and element.tag == "division":
        return ""
    return line_of(
        element.find("number"), element.find("titleblock/title") if title is None else title
    )


def _item_label(item: etree._Element) -> str:
    """What is printed before an item of a list; the dash of an unnumbered one is not words."""
    stated: str = item.get("numberoverride", "")
    holder = item.getparent()
    if stated or holder.tag != "orderedlist":
        return stated
    start = holder.get("start", "1")
    first = int(start) if start.isdecimal() else 1
    before = sum(1 for _ in item.itersiblings(item.tag, preceding=True))
    return item_label(max(first, 1) + before, holder.get("type", ""), holder.get("decoration", ""))
