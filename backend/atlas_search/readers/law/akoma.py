"""Debates in Akoma Ntoso, https://docs.oasis-open.org/legaldocml: Ireland, South Africa, SayIt."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.law.debates import Debate
from atlas_search.readers.law.statutes import (
    Law,
    Place,
    attribute,
    line_of,
    note_text,
    number,
    schedule_number,
)
from atlas_search.readers.xml.tei import are_known, resolve_pointers
from atlas_search.readers.xml.tree import (
    LONGEST,
    Layout,
    distinct,
    draft,
    first_address,
    names,
    text_of,
    walk,
)

_UNKNOWN = frozenset({"", "0001-01-01", "1000-01-01", "3000-01-01"})
"""Days that programs write where nobody knows the day."""


_TYPES = {"debatereport": "report"}


def _law_facts(root: etree._Element) -> dict[str, object]:
    """`date` is that of the work, which is the day of enactment or publication."""
    return {
        "date": _date(root),
        "last_amended": _last_amended(root),
        "long_title": _lines(root.find(".//preface//longtitle")),
        "citation": text_of(root.find(".//preface//docnumber")),
        "instrument_number": _value(root, "frbrnumber"),
    }


def _judgment_facts(root: etree._Element) -> dict[str, object]:
    """`date` is that of the work, unless it is that of a hearing, else the only one that is
    printed at its head."""
    dates = root.iterfind(".//frbrwork/frbrdate")
    stated = distinct(
        known_day(each) for each in dates if "hear" not in each.get("name", "").lower()
    )
    printed = distinct(map(known_day, root.iterfind(".//header//docdate")))
    return {
        "date": next(iter(stated), "") or (printed[0] if len(printed) == 1 else ""),
        "citation": text_of(root.find(".//neutralcitation")),
        "court": _author(root),
        "judges": distinct(map(text_of, root.iterfind(".//header//judge"))),
        "case_number": distinct(map(text_of, root.iterfind(".//header//docketnumber"))),
    }


def known_day(element: etree._Element) -> str:
    """The day in `date`; empty for one that stands for an unknown day."""
    day: str = element.get("date", "")[:10]
    return "" if day in _UNKNOWN else day


def _author(root: etree._Element) -> str:
    """The court that gave the judgment, by its name among the references."""
    author = root.find(".//frbrwork/frbrauthor")
    id_ = "" if author is None else author.get("href", "").rpartition("#")[2]
    courts = root.iterfind(".//references/tlcorganization")
    named = (court.get("showas", "") for court in courts if court.get("eid") == id_ != "")
    return next(filter(None, named), "")


def _lines(element: etree._Element | None) -> str:
    """A title that may stand in several paragraphs, on one line."""
    if element is None:
        return ""
    return " ".join(filter(None, map(text_of, element.findall("p")))) or text_of(element)


def _value(root: etree._Element, tag: str) -> str:
    return attribute(root.find(f".//frbrwork/{tag}"), "value")


def _language(root: etree._Element) -> str:
    return attribute(root.find(".//frbrexpression/frbrlanguage"), "language")


def _date(root: etree._Element) -> str:
    stated = [*root.iterfind(".//frbrwork/frbrdate"), *root.iterfind(".//meta/publication")]
    return next(filter(None, map(known_day, stated)), "")


def _last_amended(root: etree._Element) -> str:
    events = root.iterfind(".//lifecycle/eventref")
    amendments = (each for each in events if each.get("type") == "amendment")
    return max((each.get("date", "") for each in amendments), default="")


_SPEECHES = names("speech question answer other speechgroup")
_PARTS = names(
    "debatesection communication petitions rollcall prayers oralstatements writtenstatements "
    "personalstatements ministerialstatements resolutions nationalinterest declarationofvote "
    "noticesofmotion questions address proceduralmotions pointoforder adjournment papers debate"
)
_LAYOUT = Layout(
    blocks=names(
        "p heading subheading narrative summary scene block from blocklist table container"
    )
    | _SPEECHES
    | _PARTS,
    lines=names("item tr"),
    cells=names("td th"),
    breaks=names("br"),
    left_out=names("meta"),
)


def is_akoma_debate(root: etree._Element) -> bool:
    """Say if it is Akoma Ntoso with a debate or speeches in it, as a report may have."""
    if root.tag != "akomantoso":
        return False
    return root.find("debate") is not None or root.find(".//speech") is not None


def akoma_drafts(root: etree._Element) -> Iterator[Read]:
    """One draft: a sitting."""
    sitting = _Sitting(
        {
            person.get("eid") or person.get("id") or "": (person.get("showas") or text_of(person))[
                :LONGEST
            ]
            for person in root.iter("tlcperson", "tlcrole")
        }
    )
    walk(root, sitting)
    metadata = {"date": _day(root), "language": _language(root)}
    title = text_of(root.find(".//preface//doctitle"))
    yield draft(sitting.writer.finish(), metadata, title=title)


def _day(root: etree._Element) -> str:
    """The day of sitting that is printed before the first speech, else that of the work.

    Of a work some state the day on which the file was made. Where several days are printed, as of
    the sitting before, that of the work counts among them, else the first.
    """
    stated = [*filter(None, map(known_day, root.iterfind(".//frbrwork/frbrdate")))]
    printed = []
    for element in root.iter("docdate", *_SPEECHES):
        if element.tag != "docdate":
            break
        printed.append(known_day(element))
    printed = [day for day in printed if day]
    return next((day for day in stated if day in printed or not printed), "") or next(
        iter(printed), ""
    )


class _Sitting(Debate):
    """Writes a sitting; the name in `from` runs in before the words of its speech."""

    layout = _LAYOUT
    sections = _PARTS
    speeches = _SPEECHES
    labels = names("from")

    def __init__(self, people: dict[str, str]) -> None:
        super().__init__()
        self._people = people

    def _title(self, section: etree._Element) -> str:
        return text_of(section.find("heading"))

    def _speaker(self, speech: etree._Element) -> str:
        """By the list of persons, else as printed: an id that is not listed is no name."""
        by, printed = speech.get("by", ""), text_of(speech.find("from"))
        known = are_known(by, self._people)
        return resolve_pointers(by, self._people) if known or not printed else printed.rstrip(": ")


_LAWS = names("act bill doc documentcollection portion amendment statement")
_JUDGMENTS = names("judgment judgement")  # the second in version 2
_IN_PARAGRAPHS = _JUDGMENTS | names("debatereport")
_UNNUMBERED = "sch"
_HEAD = 20  # elements at the beginning of a provision, its number among them
_KINDS = {"section": "s", "article": "art", "rule": "r", "clause": "cl", "paragraph": "para"}
_LAW_PARTS = {
    "section": "subsection",
    "article": "paragraph",
    "rule": "subrule",
    "clause": "subclause",
    "paragraph": "subparagraph",
    "hcontainer": "paragraph",
}
_DIVISIONS = names(
    "book chapter division part subchapter subdivision subpart subtitle title tome hcontainer "
    "tblock attachment crossheading component transitional level"
)
_QUOTATIONS = names("quotedstructure embeddedstructure")
_SCHEDULES = ("schedule", "annex", "appendix", "anexo")
_LAW_LAYOUT = Layout(
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
_PROSE = replace(
    _LAW_LAYOUT,
    blocks=_LAW_LAYOUT.blocks
    | names(
        "header judgmentbody judgementbody introduction background arguments remedies motivation "
        "decision p paragraph subparagraph item listintroduction listwrapup wrapup intro subheading"
    ),
)
"""Of judgments and reports, whose paragraphs are longer than those of laws."""


class AkomaLaw(Law):
    """Writes a law with its schedules, a judgment, or a report."""

    headed = _DIVISIONS | _KINDS.keys()
    quotations = _QUOTATIONS
    provisions = names("subsection subrule subclause")

    def __init__(self, root: etree._Element) -> None:
        super().__init__(root)
        self.layout = _PROSE if root[0].tag in _IN_PARAGRAPHS else _LAW_LAYOUT
        self._is_judgment = root[0].tag in _JUDGMENTS
        self._notes = {
            f"#{note.get('eid') or note.get('id')}": note for note in root.iterfind(".//notes/note")
        }

    @staticmethod
    def fits(root: etree._Element) -> bool:
        """The element inside the root says what it is."""
        known = _LAWS | _IN_PARAGRAPHS
        return root.tag == "akomantoso" and any(child.tag in known for child in root)

    def _title(self) -> str:
        """The short title, or the name by which the law is known, or the title in its preface."""
        root = self.root
        if self._is_judgment:
            return _value(root, "frbrname") or text_of(root.find(".//header//doctitle"))
        stated = [text_of(root.find(".//preface//shorttitle")), _value(root, "frbralias")]
        printed = (_lines(root.find(f".//preface//{tag}")) for tag in ("doctitle", "longtitle"))
        return next(filter(None, [*stated, *printed]), "")

    def _facts(self) -> dict[str, object]:
        root = self.root
        stated = _value(root, "frbrsubtype") or _TYPES.get(root[0].tag, root[0].tag)
        return {
            **(_judgment_facts(root) if self._is_judgment else _law_facts(root)),
            "jurisdiction": _value(root, "frbrcountry"),
            "document_type": "judgment" if self._is_judgment else stated,
            "language": _language(root),
            "url": first_address(_value(root, tag) for tag in ("frbrthis", "frbruri")),
        }

    def _begin(self, element: etree._Element) -> bool | None:
        if element.tag == "authorialnote":
            self.writer.note(note_text(element))
            return False
        if element.tag == "noteref":
            self._refer(element.get("href", ""))
            return True
        return None

    def _end(self, element: etree._Element) -> bool:
        """A heading is a line with its number; without one the text stands beside the number."""
        if element.tag not in self.labels:
            return False
        holder = element.getparent()
        is_alone = holder.tag in _DIVISIONS and holder.find("heading") is None
        if element.tag == "heading" or is_alone:
            self.writer.block() if holder.tag in _DIVISIONS else self.writer.line()
        elif text_of(element):
            self.writer.run_in()
        return True

    def _finish(self) -> None:
        for name in list(self._notes):
            self._refer(name)

    def _refer(self, name: str) -> None:
        note = self._notes.pop(name, None)
        if note is not None:
            self.writer.note(note_text(note))

    def _heading(self, element: etree._Element) -> str:
        """The line of its number and heading; the number of a provision alone is no heading."""
        heading = element.find("heading")
        if not text_of(heading) and element.tag in _KINDS:
            return ""
        return line_of(element.find("num"), heading)

    def _is_part(self, element: etree._Element) -> bool:
        """Say if it is a subsection, or what the schema calls so in other provisions."""
        holder = element.getparent()
        return (
            holder is not None
            and element.tag == _LAW_PARTS.get(str(holder.tag), "")
            and bool(_kind(holder))
        )

    def _place(self, element: etree._Element) -> Place | None:
        if _is_schedule(element):
            own_number = _schedule_number(element)
            cited = f"sch {own_number}" if own_number else self.schedule or _UNNUMBERED
            return Place("" if cited == _UNNUMBERED else cited, schedule=cited)
        kind = _kind(element)
        if not kind:
            return None
        own_number = number(self._label(element))
        if not own_number or (self._is_judgment and not _is_own(element, own_number)):
            return Place(self.outline.locator)
        cited = " ".join(filter(None, [self.schedule, kind, own_number]))
        return Place(cited, self._first_level(element))


def _is_schedule(element: etree._Element) -> bool:
    is_named = element.get("name", "").lower().startswith(_SCHEDULES)
    return element.tag == "attachment" or (element.tag in ("hcontainer", "doc") and is_named)


def _schedule_number(element: etree._Element) -> str:
    """From its number, its heading (`Schedule 2`), or its name (`schedule2`)."""
    name = "".join(filter(str.isdecimal, element.get("name", "")))
    labels = (text_of(element.find(tag)) for tag in ("num", "heading"))
    return next(filter(None, map(schedule_number, labels)), name)


def _kind(element: etree._Element) -> str:
    """Return how a provision is cited, empty if it is a part of a numbered one, or none."""
    if any(map(_is_numbered, element.iterancestors(*_KINDS))):
        return ""
    if element.tag == "hcontainer":
        return "reg" if element.get("name") == "regulation" else ""
    return _KINDS.get(str(element.tag), "")


def _is_numbered(provision: etree._Element) -> bool:
    """Say if it begins with a number; all elements in it ask that."""
    return any(child.tag == "num" for child in islice(provision, _HEAD))


def _is_own(paragraph: etree._Element, own_number: str) -> bool:
    """Say if a judgment counts the paragraph as its own: what it quotes has numbers, too."""
    own: str = paragraph.get("eid", "")
    return own.rpartition("__")[2] == f"para_{own_number}"
