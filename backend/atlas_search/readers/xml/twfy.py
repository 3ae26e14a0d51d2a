"""The XML of TheyWorkForYou, https://parser.theyworkforyou.com/hansard.html, and OpenAustralia."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.persons import printed, without_title
from atlas_search.readers.xml.draft import COLUMNS, draft, starts_of, text_of
from atlas_search.readers.xml.walk import Layout, names, walk
from atlas_search.readers.xml.writer import Writer

_HEADINGS = names("oral-heading major-heading minor-heading")
_SPEECHES = names("speech ques reply")
_LAYOUT = Layout(
    blocks=names("p table ul ol dl blockquote division divisioncount mplist memberlist lordlist")
    | _HEADINGS
    | _SPEECHES,
    lines=names("tr li dt dd mpname member lord br"),
    cells=names("td th"),
    breaks=names(""),
    left_out=names("bills gidredirect"),
)
_ID = re.compile(r"[^/]+/([a-z]+)/([0-9]{4}-[0-9]{2}-[0-9]{2})")
_KINDS = {
    ("publicwhip", "debate"): "House of Commons debates",
    ("publicwhip", "westminhall"): "Westminster Hall debates",
    ("publicwhip", "wrans"): "House of Commons written answers",
    ("publicwhip", "wms"): "House of Commons written ministerial statements",
    ("publicwhip", "lords"): "House of Lords debates",
    ("publicwhip", "lordswrans"): "House of Lords written answers",
    ("publicwhip", "lordswms"): "House of Lords written ministerial statements",
    ("debates", "debate"): "House of Representatives debates",
    ("debates", "lords"): "Senate debates",
}
"""What the ids of a file say it holds. OpenAustralia took over the root `debates` and these ids."""


def is_twfy(root: etree._Element) -> bool:
    """Whether headings and speeches stand in a row below the root."""
    return root.tag in ("publicwhip", "debates") and any(
        element.tag in _HEADINGS | _SPEECHES for element in root
    )


def twfy_drafts(root: etree._Element) -> Iterator[Read]:
    """One draft: a day of one chamber. Columns are known only where a speech begins."""
    writer = Writer()
    walk(root, _Day(writer, _names(root)))
    kind, date = _kind_and_date(root)
    url = next((element.get("url") for element in root if element.get("url")), "")
    title = f"{kind}, {date}" if kind else ""
    metadata = {"date": date, "series": kind, "url": url}
    yield draft(writer.finish(), metadata, title=title, breaks=starts_of(COLUMNS))


def _kind_and_date(root: etree._Element) -> tuple[str, str]:
    ids = (_ID.match(element.get("id", "")) for element in root)
    match = next(filter(None, ids), None)
    return (_KINDS.get((root.tag, match[1]), ""), match[2]) if match else ("", "")


class _Day:
    """Writes headings, speeches and divisions; the counts of a division stand in attributes."""

    layout = _LAYOUT

    def __init__(self, writer: Writer, names: Mapping[str, str]) -> None:
        self.writer = writer
        self._names = names
        self._major = ""

    def enter(self, element: etree._Element) -> bool:
        tag = element.tag
        if column := element.get("colnum", ""):
            self.writer.page(re.sub(r"[^0-9]", "", column) or column)
        if tag in _HEADINGS:
            self._heading(element)
        elif tag in _SPEECHES:
            self.writer.speech(self._names.get(_id(element)) or _speaker(element))
        elif tag == "division":
            self.writer.voice("")
            self.writer.add(f"[Division {element.get('divnumber', '')}]".replace(" ]", "]"))
            self.writer.block()
        elif tag == "divisioncount":
            counts = ", ".join(f"{name} {count}" for name, count in element.items())
            self.writer.add(f"[{counts}]" if counts else "")
        elif vote := element.get("vote", "") if tag in ("mplist", "memberlist", "lordlist") else "":
            self.writer.add(f"[{vote}]")
        return True

    def leave(self, element: etree._Element) -> None:
        if element.tag in _SPEECHES:
            self.writer.voice("")

    def _heading(self, heading: etree._Element) -> None:
        title = text_of(heading)
        if heading.tag == "minor-heading":
            self.writer.section(self._major, title)
        else:
            self._major = title
            self.writer.section(title)


def _names(root: etree._Element) -> dict[str, str]:
    """The most frequent name of each person by id."""
    found: dict[str, Counter[str]] = {}
    for speech in root.iter(*_SPEECHES):
        if (id_ := _id(speech)) and (name := _speaker(speech)):
            found.setdefault(id_, Counter())[name] += 1
    return {id_: names.most_common(1)[0][0] for id_, names in found.items()}


def _id(speech: etree._Element) -> str:
    """That of the person; older files have one for each membership. Empty if unknown."""
    id_ = speech.get("person_id") or speech.get("speakerid") or ""
    return "" if id_.lower() in ("unknown", "none") else id_


def _speaker(speech: etree._Element) -> str:
    name = without_title(printed(speech.get("speakername", "")))
    is_nobody = speech.get("nospeaker", "").lower() == "true" and not speech.get("person_id")
    return "" if name.lower() in ("unknown", "no speaker") or (is_nobody and not name) else name
