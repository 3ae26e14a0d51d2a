"""Debates in Akoma Ntoso, https://docs.oasis-open.org/legaldocml: Ireland, South Africa, SayIt."""

from collections.abc import Iterator

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.xml.draft import draft, text_of
from atlas_search.readers.xml.statutes.akoma_facts import known_day
from atlas_search.readers.xml.tei_names import are_known, resolve_pointers
from atlas_search.readers.xml.walk import Layout, names, walk
from atlas_search.readers.xml.writer import LONGEST, Writer

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
    """Whether it is Akoma Ntoso with a debate or speeches in it, as a report may have."""
    if root.tag != "akomantoso":
        return False
    return root.find("debate") is not None or root.find(".//speech") is not None


def akoma_drafts(root: etree._Element) -> Iterator[Read]:
    """One draft: a sitting."""
    writer = Writer()
    people = {
        person.get("eid") or person.get("id") or "": (person.get("showas") or text_of(person))[
            :LONGEST
        ]
        for person in root.iter("tlcperson", "tlcrole")
    }
    walk(root, _Sitting(writer, people))
    language = root.find(".//frbrexpression/frbrlanguage")
    metadata = {
        "date": _day(root),
        "language": "" if language is None else language.get("language", ""),
    }
    yield draft(writer.finish(), metadata, title=text_of(root.find(".//preface//doctitle")))


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


class _Sitting:
    """Writes a sitting; the name in `from` runs in before the words of its speech."""

    layout = _LAYOUT

    def __init__(self, writer: Writer, people: dict[str, str]) -> None:
        self.writer = writer
        self._people = people
        self._voices: list[str] = []

    def enter(self, element: etree._Element) -> bool:
        if element.tag in _PARTS:
            self.writer.open_section(text_of(element.find("heading")))
        elif element.tag in _SPEECHES:
            self._voices.append(self.writer.speaker)
            self.writer.speech(self._speaker(element))
        return True

    def _speaker(self, element: etree._Element) -> str:
        """By the list of persons, else as printed: an id that is not listed is no name."""
        by, printed = element.get("by", ""), text_of(element.find("from"))
        known = are_known(by, self._people)
        return resolve_pointers(by, self._people) if known or not printed else printed.rstrip(": ")

    def leave(self, element: etree._Element) -> None:
        if element.tag in _PARTS:
            self.writer.close_section()
        elif element.tag in _SPEECHES:
            self.writer.block()
            self.writer.voice(self._voices.pop())
        elif element.tag == "from" and text_of(element):
            self.writer.run_in()
