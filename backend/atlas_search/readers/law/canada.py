"""Acts, regulations and debates of Canada.

Acts and regulations: https://github.com/justicecanada/laws-lois-xml. Debates and committee evidence
of the House of Commons, from 2006 on, in the shape of
https://www.ourcommons.ca/Content/House/441/Debates/001/HAN001-E.XML.
"""

import re
from collections.abc import Iterator

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.law.debates import Debate
from atlas_search.readers.law.persons import printed, without_title
from atlas_search.readers.law.statutes import Law, Place, line_of, number, schedule_number
from atlas_search.readers.xml.tree import Layout, distinct, draft, first, names, text_of, walk

_TITLES = "orderofbusinesstitle subjectofbusinesstitle catchline subjectofbusinessqualifier".split()
_SECTIONS = names("orderofbusiness subjectofbusiness")
_INTERVENTIONS = names("intervention writtenquestionresponse writtenquestion writtenresponse")
_LABELS = names("personspeaking questioner responder")
_PARAGRAPHS = names("paratext proceduraltext thronespeechpara quotepara")
_DEBATE_LAYOUT = Layout(
    blocks=names(
        "intro content timestamp floorlanguage division divisiontype affiliationgroup poetry verse "
        "list table quote documenttitle petition appendix item"
    )
    | frozenset(_TITLES)
    | _SECTIONS
    | _INTERVENTIONS
    | _LABELS
    | _PARAGRAPHS,
    lines=names("row tr total line"),
    cells=names("entry td th"),
    breaks=names("br"),
    left_out=names("extractedinformation startpagenumber"),
)


def is_canadian(root: etree._Element) -> bool:
    """Say if the file has interventions and the table of facts before them."""
    return root.find(".//intervention") is not None and root.find(".//extracteditem") is not None


def canadian_drafts(root: etree._Element) -> Iterator[Read]:
    """One draft: a sitting in one of the two languages."""
    sitting = _Sitting()
    walk(root, sitting)
    facts = {item.get("name", ""): text_of(item) for item in root.iter("extracteditem")}
    institution, day = facts.get("Institution", ""), facts.get("Date", "")
    metadata: dict[str, object] = {
        "date": _date(facts),
        "series": institution,
        "parliament": facts.get("ParliamentNumber", ""),
        "session": facts.get("SessionNumber", ""),
        "volume": facts.get("Volume", ""),
        "number": facts.get("Number", ""),
        "language": root.get("lang", "").lower(),
    }
    title = ", ".join(filter(None, [institution, day]))
    yield draft(sitting.writer.finish(), metadata, title=title)


def _date(facts: dict[str, str]) -> str:
    parts = [facts.get(f"MetaDateNum{part}", "") for part in ("Year", "Month", "Day")]
    if all(part.isdecimal() for part in parts):
        return f"{parts[0]}-{parts[1]:0>2}-{parts[2]:0>2}"
    return facts.get("Date", "")


class _Sitting(Debate):
    """Writes a sitting. The label of a speaker stands at the head of the speech, as printed."""

    layout = _DEBATE_LAYOUT
    sections = _SECTIONS
    labels = _LABELS

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[str, str] = {}
        self._main = ""

    def _title(self, section: etree._Element) -> str:
        titles = (text_of(section.find(title)) for title in _TITLES)
        return next(filter(None, titles), "")

    def _begin(self, element: etree._Element) -> bool:
        if element.tag in _LABELS:
            self._main = self._name(element.find("affiliation"), element)
            self.writer.speech(self._main)
        elif element.tag in _PARAGRAPHS:
            self._interjection(element)
        return True

    def _end(self, element: etree._Element) -> None:
        if element.tag in _INTERVENTIONS:
            self._main = ""
            self.writer.voice("")

    def _name(self, affiliation: etree._Element | None, label: etree._Element) -> str:
        """A person's name without title, riding and party, the first for speeches with one id."""
        text = text_of(label if affiliation is None else affiliation)
        name = without_title(printed(text))
        id_ = "" if affiliation is None else affiliation.get("dbid", "")
        return self._names.setdefault(id_, name) if id_.strip("0") else name

    def _interjection(self, paragraph: etree._Element) -> None:
        """A paragraph that begins with a name and a colon is said by somebody else."""
        first = paragraph[0] if len(paragraph) and not (paragraph.text or "").strip() else None
        if first is not None and first.tag in ("b", "affiliation") and _has_colon(first):
            self.writer.speech(self._name(first, first))
        elif self._main and self.writer.speaker != self._main:
            self.writer.voice(self._main)


def _has_colon(label: etree._Element) -> bool:
    return text_of(label).endswith(":") or (label.tail or "").lstrip().startswith(":")


_FIRST_DAYS = ("2002-12-31", "2006-03-22")
"""From when the acts and the regulations are kept: not a day on which something came into force."""

_REVISED = {"en": "R.S.C., 1985, c. {chapter}", "fr": "L.R.C. (1985), ch. {chapter}"}
_ANNUAL = {"en": "S.C. {year}, c. {chapter}", "fr": "L.C. {year}, ch. {chapter}"}
_CONSOLIDATED = ("C.R.C.", "1978")


def _in_force_from(root: etree._Element) -> str:
    """Known of a law that was never amended: the day is that of the version otherwise."""
    begun: str = root.get("inforce-start-date", "")
    return "" if root.get("haspreviousversion") or begun in _FIRST_DAYS else begun


def _law_date(about: etree._Element, instrument: str) -> str:
    stated = first(about, "registrationdate/date", "billhistory/stages[@stage='assented-to']/date")
    if stated is not None:
        year, month, day = (text_of(stated.find(part)) for part in ("yyyy", "mm", "dd"))
        return f"{year}-{month:0>2}-{day:0>2}" if month and day else year
    if instrument.startswith(_CONSOLIDATED[0]):
        return _CONSOLIDATED[1]
    if _is_revised(about):
        return "1985"
    return text_of(about.find("chapter/annualstatuteid/yyyy"))[:4]


def _citation(about: etree._Element, language: str) -> str:
    if _is_revised(about):
        chapter = text_of(about.find("chapter/consolidatednumber"))
        return _REVISED.get(language, _REVISED["en"]).format(chapter=chapter)
    annual = about.find("chapter/annualstatuteid")
    if annual is None:
        return ""
    year, chapter = text_of(annual.find("yyyy")), text_of(annual.find("annualstatutenumber"))
    return _ANNUAL.get(language, _ANNUAL["en"]).format(year=year, chapter=chapter)


def _is_revised(about: etree._Element) -> bool:
    """Say if it is a chapter of the Revised Statutes of 1985."""
    return about.find("chapter/consolidatednumber[@official='yes']") is not None


_DEPTHS = {"preamble": 0, "schedule": 0, "section": 100, "subsection": 101}
_GROUP_DEPTH = 10
"""Depths of headings; those of the body have levels from 1 to 5."""

_HEADING_PARTS = names("label originatingref titletext")
_GROUPS = names("group formgroup")
_QUOTATIONS = names("amendedtext readastext amendedcontent quotedtext")
_FOREIGN = "relatedornotinforce"
_UNNUMBERED = "sch"
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


def _put_notes_last(root: etree._Element) -> None:
    """The history inside a marginal note, and a marginal note inside a heading, come after it."""
    for note in list(root.iter("marginalnote")):
        holder = note.getparent()
        if holder.tag == "heading":
            holder.append(note)
        else:
            holder.extend(note.findall("historicalnote"))


class CanadianLaw(Law):
    """Writes an act or a regulation in one of the two languages."""

    layout = _LAYOUT
    headed = _GROUPS | _DEPTHS.keys()
    lasting = names("heading")
    quotations = _QUOTATIONS
    labels = names("marginalnote label")

    def __init__(self, root: etree._Element) -> None:
        _put_notes_last(root)
        super().__init__(root)

    @staticmethod
    def fits(root: etree._Element) -> bool:
        """Both kinds of law identify themselves at their head."""
        return root.tag in ("statute", "regulation") and root.find("identification") is not None

    def _title(self) -> str:
        about = self.root.find("identification")
        return text_of(about.find("shorttitle")) or text_of(about.find("longtitle"))

    def _facts(self) -> dict[str, object]:
        """`date` is that of assent or registration, or else of the revision."""
        root, about = self.root, self.root.find("identification")
        language = root.get("lang", "").lower()
        instrument = text_of(about.find("instrumentnumber"))
        return {
            "date": _law_date(about, instrument),
            "in_force_from": _in_force_from(root),
            "last_amended": root.get("lastamendeddate", ""),
            "long_title": text_of(about.find("longtitle")),
            "citation": instrument or _citation(about, language),
            "chapter": text_of(about.find("chapter/consolidatednumber")),
            "instrument_number": instrument,
            "enabling_act": distinct(map(text_of, about.iter("enablingauthority"))),
            "amended_by": distinct(map(text_of, root.iter("amendmentcitation"))),
            "jurisdiction": "Canada",
            "document_type": "act" if root.tag == "statute" else "regulation",
            "language": language,
        }

    def _begin(self, element: etree._Element) -> bool | None:
        if element.tag == "longtitle":
            return element.getparent().find("shorttitle") is not None
        return True if self._is_bounded(element) else None

    def _end(self, element: etree._Element) -> bool:
        if element.tag == "label" and text_of(element) and _runs_on(element):
            self.writer.run_in()
            return True
        return self._is_bounded(element)

    def _is_bounded(self, element: etree._Element) -> bool:
        """Separate a provision or a repeal from the text on both sides; false for all others.

        A provision inside another one is a line of it; a repeal among words is among words.
        """
        if element.tag not in ("provision", "repealed"):
            return False
        holder = element.getparent().tag
        if element.tag == "provision" or holder not in ("text", "titletext", "entry"):
            self.writer.line() if holder == "provision" else self.writer.block()
        return True

    def _heading(self, element: etree._Element) -> str:
        match element.tag:
            case "heading":
                return _heading(element)
            case "preamble":
                return line_of(element.find(".//marginalnote"))
            case "schedule" | "formgroup":
                return _heading(element.find("scheduleformheading"))
            case "group":
                return _heading(element.find("groupheading"))
        return line_of(element.find("marginalnote"))

    def _depth(self, element: etree._Element) -> int:
        if element.tag == "heading":
            stated = element.get("level", "1")
            return int(stated) if stated.isdecimal() else 1
        if element.tag in _GROUPS:
            return _GROUP_DEPTH + sum(1 for _ in element.iterancestors(*_GROUPS))
        return _DEPTHS[element.tag]

    def _label(self, element: etree._Element) -> str:
        """The words of its label but the sign of a footnote."""
        label = element.find("label")
        if label is None:
            return ""
        text = text_of(label)
        for sign in label.iter("footnoteref"):
            text = text.replace(text_of(sign), "", 1)
        return text

    def _place(self, element: etree._Element) -> Place | None:
        if element.tag == "schedule":
            heading = element.find("scheduleformheading")
            schedule = "" if heading is None else schedule_number(self._label(heading))
            cited = f"sch {schedule}" if schedule else ""
            return Place(cited, schedule=cited or _UNNUMBERED)
        if element.tag in _GROUPS:
            article = _ARTICLE.match(self._heading(element))
            is_cited = article and self.schedule not in ("", _UNNUMBERED)
            return Place(
                f"{self.schedule} art {article[1]}"
                if article and is_cited
                else self.outline.locator
            )
        return self._section(element) if element.tag == "section" else None

    def _section(self, section: etree._Element) -> Place:
        own_number = number(self._label(section))
        is_foreign = next(section.iterancestors(_FOREIGN), None) is not None
        if not own_number or is_foreign or self.schedule == _UNNUMBERED:
            return Place("")
        return Place(f"{self.schedule} s {own_number}".strip(), self._first_level(section))


def _heading(element: etree._Element | None) -> str:
    """The line of a heading: its label, where it comes from, and its title."""
    if element is None:
        return ""
    return line_of(*(part for part in element if part.tag in _HEADING_PARTS))


def _runs_on(label: etree._Element) -> bool:
    """Say if the first subsection stands on the line of the section's label."""
    after = label.getnext()
    return (
        after is not None
        and after.tag == "subsection"
        and label.getparent().tag == "section"
        and after.find("marginalnote") is None
    )
