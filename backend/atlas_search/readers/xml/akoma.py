"""Debates in Akoma Ntoso, https://docs.oasis-open.org/legaldocml: Ireland, South Africa, SayIt."""

from collections.abc import Iterator

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.xml.draft import draft, text_of
from atlas_search.readers.xml.tei_names import resolve_pointers
from atlas_search.readers.xml.walk import Layout, names, walk
from atlas_search.readers.xml.writer import Writer

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
    """Whether it is Akoma Ntoso with speeches in it."""
    return root.tag == "akomantoso" and root.find(".//speech") is not None


def akoma_drafts(root: etree._Element) -> Iterator[Read]:
    """One draft: a sitting."""
    writer = Writer()
    people = {
        person.get("eid") or person.get("id") or "": person.get("showas") or text_of(person)
        for person in root.iter("tlcperson", "tlcrole")
    }
    walk(root, _Sitting(writer, people))
    date, language = root.find(".//frbrwork/frbrdate"), root.find(".//frbrexpression/frbrlanguage")
    metadata = {
        "date": "" if date is None else date.get("date", ""),
        "language": "" if language is None else language.get("language", ""),
    }
    yield draft(writer.finish(), metadata, title=text_of(root.find(".//preface//doctitle")))


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
            by = element.get("by", "")
            self.writer.speech(resolve_pointers(by, self._people) or text_of(element.find("from")))
        return True

    def leave(self, element: etree._Element) -> None:
        if element.tag in _PARTS:
            self.writer.close_section()
        elif element.tag in _SPEECHES:
            self.writer.block()
            self.writer.voice(self._voices.pop())
        elif element.tag == "from" and text_of(element):
            self.writer.run_in()
