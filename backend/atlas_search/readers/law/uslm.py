"""The United States Code, statutes and bills in USLM, https://github.com/usgpo/uslm."""

import re
from collections.abc import Iterable, Iterator

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.law.statutes import Outline, level, line_of, number
from atlas_search.readers.xml.tree import Layout, Writer, draft, names, text_of, walk

_TYPES = {
    "uscdoc": "code",
    "plaw": "act",
    "statutecompilation": "act",
    "lawdoc": "act",
    "bill": "bill",
    "resolution": "resolution",
    "engrossedamendment": "amendment",
    "amendment": "amendment",
}
_DAY = re.compile(r"[A-Z][a-z]{2,8}\.? \d{1,2}, \d{4}")
_CODE = re.compile(r"Title (\w+)")


def title_of(root: etree._Element) -> str:
    """The first short title of the whole law, or the title of the Code, or else the stated one."""
    about = _about(root)
    if root.tag == "uscdoc":
        heading = root.find("main/title/heading")
        return " ".join(filter(None, ["U.S. Code", _stated(about, "title"), text_of(heading)]))
    short = (text_of(each) for each in root.iter("shorttitle") if each.get("role") == "act")
    stated = [_stated(about, "citableasshorttitle"), *short, _stated(about, "title")]
    return next(filter(None, [*stated, text_of(root.find(".//officialtitle"))]), "")


def facts(root: etree._Element) -> dict[str, object]:
    """Metadata. `date` is that of approval, of the last action, of the edition, or the session."""
    about = _about(root)
    return {
        "date": _date(root, about),
        "last_amended": _stated(about, "currentthroughdate"),
        "long_title": text_of(root.find(".//officialtitle")),
        "citation": _citation(root, about),
        "chapter": _stated(about, "docnumber"),
        "congress": _stated(about, "congress"),
        "current_through": _stated(about, "currentthroughpubliclaw"),
        "jurisdiction": "United States",
        "document_type": _TYPES.get(str(root.tag), str(root.tag)),
        "language": (_stated(about, "language") or root.get("lang", "")).lower(),
        "url": _url(about),
    }


def _about(root: etree._Element) -> etree._Element:
    for tag in ("meta", "amendmeta"):
        found = root.find(tag)
        if found is not None:
            return found
    return etree.Element("meta")


def _stated(about: etree._Element, tag: str) -> str:
    return text_of(about.find(tag))


def _citation(root: etree._Element, about: etree._Element) -> str:
    code = _CODE.match(_stated(about, "title"))
    if root.tag == "uscdoc" and code:
        return f"{code[1]} U.S.C."
    return _stated(about, "citableas")


def _date(root: etree._Element, about: etree._Element) -> str:
    stated = [_stated(about, "approveddate"), _approval(root.iter("sidenote"))]
    actions = [each.get("date") or text_of(each) for each in root.iterfind(".//action/date")]
    others = [_stated(about, "created")[:10], _session_year(about)]
    return next(filter(None, [*stated, *reversed(actions), *others]), "")


def _session_year(about: etree._Element) -> str:
    """The year of a session: the first Congress met in 1789, each has a session a year."""
    congress, session = _stated(about, "congress"), _stated(about, "session") or "1"
    if not (congress.isdecimal() and session.isdecimal()):
        return ""
    return str(1787 + 2 * int(congress) + int(session) - 1)


def _approval(sidenotes: Iterable[etree._Element]) -> str:
    """The day in the margin beside the title of a public law."""
    first = next(iter(sidenotes), None)
    found = None if first is None else _DAY.search(" ".join(first.itertext()))
    return found[0] if found else ""


def _url(about: etree._Element) -> str:
    stated = (text_of(each) for each in about.iter("identifier", "source"))
    return next((url for url in stated if url.startswith(("http://", "https://"))), "")


_NAMESPACES = ("http://xml.house.gov/schemas/uslm/", "http://schemas.gpo.gov/xml/uslm")
_DIVISIONS = names(
    "title subtitle chapter subchapter part subpart division subdivision article subarticle "
    "preliminary level appendix courtrules reorganizationplan"
)
_HEADING_PARTS = names("num editorialnote heading")
_HEADED = _DIVISIONS | names("section appropriations note")
_SMALL = names("paragraph subparagraph clause subclause item subitem subsubitem")
_PROVISIONS = names("section subsection")
_QUOTATIONS = names("quotedcontent amendmentcontent")
_ASIDES = names("footnote sidenote")
_LAYOUT = Layout(
    blocks=_DIVISIONS
    | names(
        "section appropriations note notes sourcecredit table caption toc list block "
        "longtitle officialtitle enactingformula resolvingclause recital preamble preface main "
        "action signatures attestation endorsement legislativehistory explanationnote editionnote "
        "citationnote enrolleddateline endmarker slugline distributioncode congress session "
        "relateddocument currentchamber coverttitle coverpage amendmentinstruction amendpreface "
        "amendmain engrossedamendment component collection figure formula property"
    ),
    lines=_SMALL
    | _QUOTATIONS
    | names(
        "p continuation tr tocitem referenceitem headingitem groupitem header listitem doctitle "
        "signature role notation name subheading actioninstruction"
    ),
    cells=names("td th column"),
    breaks=names(
        "content chapeau heading headingtext br actiondescription date docnumber type designator "
        "label target editorialnote listcontent proviso committee"
    ),
    left_out=names("meta amendmeta"),
)


def is_american_law(root: etree._Element) -> bool:
    """Whether it is in USLM, whatever its root."""
    return any(uri.startswith(_NAMESPACES) for uri in root.nsmap.values())


def american_laws(root: etree._Element) -> Iterator[Read]:
    """One draft: a title of the Code, a public law, a compilation, a bill or a resolution."""
    for note in root.iterfind(".//note[@type='footnote']"):
        note.tag = "footnote"  # as in the later versions of the schema
    writer = Writer()
    walk(root, _Law(writer))
    yield draft(writer.finish(), facts(root), title=title_of(root))


class _Law:
    """Writes a law. What is quoted to amend another law is text of the section that quotes it.

    Notes of editors to a section are cited as such (`§ 1 note`): they are no law.
    """

    layout = _LAYOUT

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self._outline = Outline(writer)
        self._quotations = 0

    def enter(self, element: etree._Element) -> bool:
        tag = element.tag
        if tag in _QUOTATIONS:
            self._quotations += 1
        elif tag in _ASIDES:
            self.writer.note(_spaced(element))
            return False
        elif tag == "page":
            self.writer.page(number(text_of(element).rpartition(" ")[2]))
            return False
        elif tag == "toc":
            return bool(self._quotations) or _is_inside(element, "content")
        elif tag == "subsection":
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
        else:
            if tag in _PROVISIONS:
                self.writer.block()
            if not self._quotations:
                self._close(element)

    def _begin_subsection(self, element: etree._Element) -> None:
        before = element.getprevious()
        if before is not None and before.tag == "heading" and before.getparent().tag == "section":
            self.writer.line()
        else:
            self.writer.block()
        if not self._quotations:
            around = self._outline.locator
            self._outline.enter(around and around + level(_num(element)))

    def _end_label(self, element: etree._Element) -> None:
        """The heading of a division or a section is a line; others run on, as printed."""
        holder = element.getparent()
        if holder is None:
            return
        if _ends_heading(element, holder):
            self.writer.line() if holder.tag == "section" else self.writer.block()
        elif text_of(element):
            self.writer.run_in()

    def _open(self, element: etree._Element) -> None:
        tag = element.tag
        if tag in _HEADED:
            self._outline.open(_depth(element), _heading(element))
        if tag == "section":
            found = number(_num(element))
            self._outline.enter(f"§ {found}" if found else "", first=_first_level(element))
        elif tag in ("notes", "note"):
            around = self._outline.locator
            is_new = around and not around.endswith(" note")
            self._outline.enter(f"{around} note" if is_new else around)

    def _close(self, element: etree._Element) -> None:
        if element.tag in _PROVISIONS or element.tag in ("notes", "note"):
            self._outline.leave()
        if element.tag in _HEADED:
            self._outline.close(_depth(element))


def _is_inside(element: etree._Element, tag: str) -> bool:
    return next(element.iterancestors(tag), None) is not None


def _ends_heading(element: etree._Element, holder: etree._Element) -> bool:
    """Whether a line of its own ends here: the text stands beside a number without heading."""
    if element.tag == "heading":
        return holder.tag in _HEADED
    return holder.tag in _DIVISIONS and holder.find("heading") is None


def _depth(element: etree._Element) -> int:
    return sum(1 for _ in element.iterancestors())


def _heading(element: etree._Element) -> str:
    """The line that its heading ends; a number alone is one of a division only."""
    if element.find("heading") is None:
        return line_of(element.find("num")) if element.tag in _DIVISIONS else ""
    return line_of(*(part for part in element if part.tag in _HEADING_PARTS and _is_headed(part)))


def _is_headed(part: etree._Element) -> bool:
    """Whether it is the heading or stands before it."""
    return part.tag == "heading" or next(part.itersiblings("heading"), None) is not None


def _num(element: etree._Element) -> str:
    """The number as the file states it, or as it is printed."""
    num = element.find("num")
    return "" if num is None else num.get("value") or text_of(num)


def _first_level(section: etree._Element) -> str:
    first = next((part for part in section if part.tag not in ("num", "heading")), None)
    return level(_num(first)) if first is not None and first.tag == "subsection" else ""


def _spaced(element: etree._Element) -> str:
    """The texts of a note with blanks between its number and its paragraphs."""
    return " ".join(" ".join(element.itertext()).split())
