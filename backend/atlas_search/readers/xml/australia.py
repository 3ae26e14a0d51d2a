"""The Hansard of the Parliament of Australia, from ParlInfo, https://parlinfo.aph.gov.au.

Its schema is 2.0 or 2.1 for 1901 to 1980 and 1998 to 2011, and 2.2 since. For 1981 to 1997 names
are in upper case and the facts in attributes. A harvest is at
https://github.com/wragge/hansard-xml.
"""

import re
from collections.abc import Iterator, Mapping

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.xml.draft import PAGES, draft, starts_of, text_of
from atlas_search.readers.xml.walk import Layout, names, walk
from atlas_search.readers.xml.writer import Writer

_TRANSCRIPTS = names("chamber.xscript fedchamb.xscript maincomm.xscript answers.to.questions")
_SECTIONS = names(
    "debate subdebate.1 subdebate.2 subdebate.3 subdebate.4 debate.sub1 debate.sub2 qwn "
    "question.block petition.group adjournment"
)
_SPEECHES = names("speech question answer interjection interject continue")
_LAYOUT = Layout(
    blocks=names(
        "title para p body list quote motion amendment amendments division names num.votes table "
        "business.start day.start talker proctext petition interrupt "
        "motionnospeech subtitle presenter"
    )
    | _TRANSCRIPTS
    | _SECTIONS
    | _SPEECHES,
    lines=names("item li row tr"),
    cells=names("entry td th"),
    breaks=names("br"),
    left_out=names("session.header type id.no time.stamp graphic"),
)
_VOICE = re.compile(r"HPS-(?:Member|Office)(?!II)\w+")
_ASIDE = re.compile(r"HPS-\w+IInterjecting")
_NOBODY = "10000"
"""The id of whoever is in the chair."""

_TITLE_CLASSES = names("HPS-Debate HPS-SubDebate HPS-SubSubDebate")
_HOUSES = {
    "reps": "House of Representatives",
    "house of reps": "House of Representatives",
    "house of representatives": "House of Representatives",
    "senate": "Senate",
}


def is_australian(root: etree._Element) -> bool:
    """Whether the file has transcripts of a chamber."""
    return root.tag == "hansard" and any(element.tag in _TRANSCRIPTS for element in root)


def australian_drafts(root: etree._Element) -> Iterator[Read]:
    """One draft: a sitting day of one chamber. Pages are known only where a speech begins."""
    gaps = _space_out(root)
    writer = Writer()
    walk(root, _Day(writer, _members(root)))
    house, date = _fact(root, "chamber"), _iso(_fact(root, "date"))
    house = _HOUSES.get(house.lower(), house)
    metadata = {
        "date": date,
        "house": house,
        "parliament": _fact(root, "parliament.no"),
        "session": _fact(root, "session.no"),
        "edition": "proof" if _fact(root, "proof").lower() in ("1", "yes") else "",
    }
    yield draft(
        writer.finish(),
        metadata,
        title=", ".join(filter(None, [house, date])),
        breaks=starts_of(PAGES),
        remarks=[f"{gaps} missing blanks after marked words were put in"] * bool(gaps),
    )


class _Day:
    """Writes a day. The printed name of a speaker stands at the head of the speech."""

    layout = _LAYOUT

    def __init__(self, writer: Writer, members: Mapping[str, str]) -> None:
        self.writer = writer
        self._members = members
        self._title = ""
        self._voices: list[str] = []

    def enter(self, element: etree._Element) -> bool:
        tag = element.tag
        if page := element.get("page") or (text_of(element) if tag == "page.no" else ""):
            self.writer.page(page)
        if tag in _SECTIONS:
            self._title = _title(element)
            self.writer.open_section(self._title)
        elif tag in _SPEECHES:
            self._voices.append(self.writer.speaker)
            self.writer.speech(_speaker(element))
        elif tag == "talker":
            self._talker(element)
        elif tag == "name" and element.getparent().tag == "names":
            self.writer.line()
        elif tag == "p":
            return self._paragraph(element)
        return tag not in ("page.no", "talker") and not (tag == "day.start" and _is_data(element))

    def leave(self, element: etree._Element) -> None:
        if element.tag in _SECTIONS:
            self.writer.close_section()
        elif element.tag in _SPEECHES:
            self.writer.block()
            self.writer.voice(self._voices.pop())

    def _talker(self, talker: etree._Element) -> None:
        if page := text_of(talker.find("page.no")):
            self.writer.page(page)
        if label := _label(talker):
            self.writer.add(label)
            self.writer.run_in()

    def _paragraph(self, paragraph: etree._Element) -> bool:
        """Whether to read a paragraph of schema 2.2, which may name who speaks in it."""
        if paragraph.get("class") in _TITLE_CLASSES:
            return text_of(paragraph).casefold() != self._title.casefold()
        for span in paragraph.iter("span"):
            kind = span.get("class", "")
            if _VOICE.fullmatch(kind):
                self.writer.speech(self._name_of(span))
                break
            if _ASIDE.fullmatch(kind):
                self.writer.voice("")
                break
        return True

    def _name_of(self, span: etree._Element) -> str:
        link = next(span.iterancestors("a"), None)
        id_ = "" if link is None else link.get("href", "").lower()
        return self._members.get(id_) or text_of(span).rstrip(" :")


def _fact(root: etree._Element, name: str) -> str:
    header = root.find("session.header")
    return root.get(name, "").strip() if header is None else text_of(header.find(name))


def _iso(date: str) -> str:
    """`08/05/1990` as `1990-05-08`."""
    match = re.fullmatch(r"([0-9]{2})/([0-9]{2})/([0-9]{4})", date)
    return "-".join(match.group(3, 2, 1)) if match else date


def _members(root: etree._Element) -> dict[str, str]:
    """The names of members by their ids in lower case, without whoever was in the chair."""
    talkers = ((text_of(t.find("name.id")).lower(), _full_name(t)) for t in root.iter("talker"))
    return {id_: name for id_, name in talkers if id_ not in ("", _NOBODY) and name}


def _title(section: etree._Element) -> str:
    infos = (child.find("title") for child in section if child.tag.endswith("info"))
    return next(filter(None, map(text_of, infos)), "") or text_of(section.find("title"))


def _speaker(speech: etree._Element) -> str:
    """The name by which a member is filed, or else as it is printed."""
    talker = speech.find("talk.start/talker")
    filed = speech.get("speaker", "").strip() or ("" if talker is None else _full_name(talker))
    return filed or ("" if talker is None else text_of(_shown_talker(talker)))


def _full_name(talker: etree._Element) -> str:
    return text_of(talker.find("name[@role='metadata']"))


def _shown_talker(talker: etree._Element) -> etree._Element | None:
    shown = (name for name in talker.iterchildren("name") if name.get("role") != "metadata")
    return next(shown, None)


def _label(talker: etree._Element) -> str:
    """What is printed before a speech. Up to 1997 that takes in electorate and office."""
    name = _shown_talker(talker)
    if name is None or name.get("role"):
        return text_of(name)
    office = "".join(text_of(part) for part in talker.iterchildren("electorate", "role"))
    return f"{text_of(name)} {office}".strip()


def _is_data(element: etree._Element) -> bool:
    return re.fullmatch(r"[0-9-]+", text_of(element)) is not None


def _space_out(root: etree._Element) -> int:
    """Puts in the blank that the harvest lost in `<inline>Sir John</inline>Quick`; how often."""
    count = 0
    for element in root.iter("inline"):
        before, after = text_of(element)[-1:], (element.tail or "")[:1]
        if before.islower() and after.isupper():
            element.tail = f" {element.tail}"
            count += 1
    return count
