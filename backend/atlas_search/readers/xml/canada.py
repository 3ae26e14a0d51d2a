"""The debates and committee evidence of the Canadian House of Commons, from 2006 on.

The shape is that of https://www.ourcommons.ca/Content/House/441/Debates/001/HAN001-E.XML.
"""

from collections.abc import Iterator

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.persons import printed, without_title
from atlas_search.readers.xml.draft import draft, text_of
from atlas_search.readers.xml.walk import Layout, names, walk
from atlas_search.readers.xml.writer import Writer

_TITLES = (
    "orderofbusinesstitle",
    "subjectofbusinesstitle",
    "catchline",
    "subjectofbusinessqualifier",
)
_SECTIONS = names("orderofbusiness subjectofbusiness")
_INTERVENTIONS = names("intervention writtenquestionresponse writtenquestion writtenresponse")
_LABELS = names("personspeaking questioner responder")
_PARAGRAPHS = names("paratext proceduraltext thronespeechpara quotepara")
_LAYOUT = Layout(
    blocks=names(
        "intro content timestamp floorlanguage division divisiontype affiliationgroup poetry verse "
        "list table quote documenttitle petition appendix item"
    )
    | names(" ".join(_TITLES))
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
    """Whether the file has interventions and the table of facts before them."""
    return root.find(".//intervention") is not None and root.find(".//extracteditem") is not None


def canadian_drafts(root: etree._Element) -> Iterator[Read]:
    """One draft: a sitting in one of the two languages."""
    writer = Writer()
    walk(root, _Sitting(writer))
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
    yield draft(writer.finish(), metadata, title=", ".join(filter(None, [institution, day])))


def _date(facts: dict[str, str]) -> str:
    parts = [facts.get(f"MetaDateNum{part}", "") for part in ("Year", "Month", "Day")]
    if all(part.isdecimal() for part in parts):
        return f"{parts[0]}-{parts[1]:0>2}-{parts[2]:0>2}"
    return facts.get("Date", "")


class _Sitting:
    """Writes a sitting. The label of a speaker stands at the head of the speech, as printed."""

    layout = _LAYOUT

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self._names: dict[str, str] = {}
        self._main = ""

    def enter(self, element: etree._Element) -> bool:
        tag = element.tag
        if tag in _SECTIONS:
            titles = (text_of(element.find(title)) for title in _TITLES)
            self.writer.open_section(next(filter(None, titles), ""))
        elif tag in _LABELS:
            self._main = self._name(element.find("affiliation"), element)
            self.writer.speech(self._main)
        elif tag in _PARAGRAPHS:
            self._interjection(element)
        return True

    def leave(self, element: etree._Element) -> None:
        if element.tag in _SECTIONS:
            self.writer.close_section()
        elif element.tag in _LABELS and text_of(element):
            self.writer.run_in()
        elif element.tag in _INTERVENTIONS:
            self._main = ""
            self.writer.voice("")

    def _name(self, affiliation: etree._Element | None, label: etree._Element) -> str:
        """A person's name without title, riding and party, the first for speeches with one id."""
        shown = text_of(label if affiliation is None else affiliation)
        name = without_title(printed(shown))
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
