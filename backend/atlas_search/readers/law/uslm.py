"""The United States Code, statutes and bills in USLM, https://github.com/usgpo/uslm."""

import re
from collections.abc import Iterable

from lxml import etree

from atlas_search.readers.law.statutes import Law, Place, line_of, note_text, number
from atlas_search.readers.xml.tree import Layout, first, first_address, names, text_of

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


def _about(root: etree._Element) -> etree._Element:
    about = first(root, "meta", "amendmeta")
    return etree.Element("meta") if about is None else about


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
    match = None if first is None else _DAY.search(" ".join(first.itertext()))
    return match[0] if match else ""


_NAMESPACES = ("http://xml.house.gov/schemas/uslm/", "http://schemas.gpo.gov/xml/uslm")
_QUOTATIONS = names("quotedcontent amendmentcontent")
_DIVISIONS = names(
    "title subtitle chapter subchapter part subpart division subdivision article subarticle "
    "preliminary level appendix courtrules reorganizationplan"
)
_HEADING_PARTS = names("num editorialnote heading")
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
    lines=_QUOTATIONS
    | names(
        "paragraph subparagraph clause subclause item subitem subsubitem p continuation tr tocitem "
        "referenceitem headingitem groupitem header listitem doctitle signature role notation name "
        "subheading actioninstruction"
    ),
    cells=names("td th column"),
    breaks=names(
        "content chapeau heading headingtext br actiondescription date docnumber type designator "
        "label target editorialnote listcontent proviso committee"
    ),
    left_out=names("meta amendmeta"),
)


class AmericanLaw(Law):
    """Writes a title of the Code, a public law, a compilation, a bill or a resolution.

    Notes of editors to a section are cited as such (`§ 1 note`): they are no law.
    """

    layout = _LAYOUT
    headed = _DIVISIONS | names("section appropriations note")
    quotations = _QUOTATIONS
    provisions = names("subsection")

    def __init__(self, root: etree._Element) -> None:
        for note in root.iterfind(".//note[@type='footnote']"):
            note.tag = "footnote"  # as in the later versions of the schema
        super().__init__(root)

    @staticmethod
    def fits(root: etree._Element) -> bool:
        """USLM has many roots, but its own namespaces."""
        return any(uri.startswith(_NAMESPACES) for uri in root.nsmap.values())

    def _title(self) -> str:
        """The first short title of the whole law, or the title of the Code, or the stated one."""
        root, about = self.root, _about(self.root)
        if root.tag == "uscdoc":
            heading = text_of(root.find("main/title/heading"))
            return " ".join(filter(None, ["U.S. Code", _stated(about, "title"), heading]))
        short = (text_of(each) for each in root.iter("shorttitle") if each.get("role") == "act")
        stated = [_stated(about, "citableasshorttitle"), *short, _stated(about, "title")]
        return next(filter(None, [*stated, text_of(root.find(".//officialtitle"))]), "")

    def _facts(self) -> dict[str, object]:
        """`date` is that of approval, of the last action, of the edition, or the session."""
        root, about = self.root, _about(self.root)
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
            "url": first_address(map(text_of, about.iter("identifier", "source"))),
        }

    def _begin(self, element: etree._Element) -> bool | None:
        match element.tag:
            case "footnote" | "sidenote":
                self.writer.note(note_text(element))
                return False
            case "page":
                self.writer.page(number(text_of(element).rpartition(" ")[2]))
                return False
            case "toc":
                return bool(self.quoted) or next(element.iterancestors("content"), None) is not None
        return None

    def _end(self, element: etree._Element) -> bool:
        """The heading of a division or a section is a line; others run on, as printed."""
        holder = element.getparent()
        if element.tag not in self.labels or holder is None:
            return False
        if self._ends_heading(element, holder):
            self.writer.line() if holder.tag == "section" else self.writer.block()
        elif text_of(element):
            self.writer.run_in()
        return True

    def _ends_heading(self, element: etree._Element, holder: etree._Element) -> bool:
        """Say if a line of its own ends here: the text stands beside a number without heading."""
        if element.tag == "heading":
            return holder.tag in self.headed
        return holder.tag in _DIVISIONS and holder.find("heading") is None

    def _is_below_heading(self, provision: etree._Element) -> bool:
        return super()._is_below_heading(provision) and provision.getparent().tag == "section"

    def _heading(self, element: etree._Element) -> str:
        """The line that its heading ends; a number alone is one of a division only."""
        if element.find("heading") is None:
            return line_of(element.find("num")) if element.tag in _DIVISIONS else ""
        parts = (part for part in element if part.tag in _HEADING_PARTS and _is_headed(part))
        return line_of(*parts)

    def _label(self, element: etree._Element) -> str:
        """The number as the file states it, or as it is printed."""
        num = element.find("num")
        return "" if num is None else num.get("value") or text_of(num)

    def _place(self, element: etree._Element) -> Place | None:
        if element.tag == "section":
            section = number(self._label(element))
            return Place(f"§ {section}" if section else "", self._first_level(element))
        if element.tag in ("notes", "note"):
            around = self.outline.locator
            is_new = around and not around.endswith(" note")
            return Place(f"{around} note" if is_new else around)
        return None


def _is_headed(part: etree._Element) -> bool:
    """Say if it is the heading or stands before it."""
    return part.tag == "heading" or next(part.itersiblings("heading"), None) is not None
