"""The Hansard of the Parliament of Australia, from ParlInfo, https://parlinfo.aph.gov.au.

Its schema is 2.0 or 2.1 for 1901 to 1980 and 1998 to 2011, and 2.2 since. For 1981 to 1997 names
are in upper case and the facts in attributes. A harvest is at
https://github.com/wragge/hansard-xml.
"""

import re
from collections.abc import Iterator

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.persons import Persons, is_name
from atlas_search.readers.xml.australia_people import (
    SPEECHES,
    label_of,
    members_of,
    persons_of,
    speaker_of,
    talker_of,
)
from atlas_search.readers.xml.draft import PAGES, draft, starts_of, text_of
from atlas_search.readers.xml.walk import Layout, names, walk
from atlas_search.readers.xml.writer import Writer

_TRANSCRIPTS = names("chamber.xscript fedchamb.xscript maincomm.xscript answers.to.questions")
_SECTIONS = names(
    "debate subdebate.1 subdebate.2 subdebate.3 subdebate.4 debate.sub1 debate.sub2 qwn "
    "question.block petition.group petition.grp petition adjournment sso rdi rdi.item "
    "answer.to.qon answer.to.qwn"
)
_LAYOUT = Layout(
    blocks=names(
        "title para p body list quote motion amendment amendments division names num.votes table "
        "business.start day.start talker proctext interrupt presenter.block question.number "
        "division.header division.data division.result ayes noes pairs "
        "motionnospeech subtitle"
    )
    | _TRANSCRIPTS
    | _SECTIONS
    | SPEECHES,
    lines=names("item li row tr"),
    cells=names("entry td th"),
    breaks=names("br break tab"),
    left_out=names("session.header type id.no name.id name.ids no.signed graphic"),
)
_VOICE = re.compile(r"HPS-(?:Member|Office)(?!II)\w+")
_ASIDE = re.compile(r"HPS-\w+IInterjecting")
_LABEL = re.compile(r"[^:(]{2,80}(?:\([^():]*\))?")
_LONGEST_TITLE = 10_000  # characters; each paragraph of its class is looked for in it
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
    persons = persons_of(root)
    walk(root, _Day(writer, persons))
    house, date = _fact(root, "chamber"), _iso(_fact(root, "date"))
    house = _HOUSES.get(house.lower(), house)
    metadata = {
        "date": date,
        "house": house,
        "parliament": _fact(root, "parliament.no"),
        "session": _fact(root, "session.no"),
        "edition": "proof" if _fact(root, "proof").lower() in ("1", "yes") else "",
        **members_of(root, persons),
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

    def __init__(self, writer: Writer, persons: Persons) -> None:
        self.writer = writer
        self._persons = persons
        self._title = ""
        self._voices: list[str] = []
        self._labels: list[etree._Element | None] = []

    def enter(self, element: etree._Element) -> bool:
        tag = element.tag
        if page := element.get("page") or (text_of(element) if tag == "page.no" else ""):
            self.writer.page(page)
        if tag in _SECTIONS:
            self._title = _title(element)[:_LONGEST_TITLE]
            self.writer.open_section(self._title)
        elif tag in SPEECHES:
            self._voices.append(self.writer.speaker)
            self._labels.append(element.find("talk.start/talker"))
            self.writer.speech(speaker_of(element, self._persons))
        elif tag == "talker":
            self._talker(element)
        elif tag == "name" and element.getparent().tag == "names":
            self.writer.line()
        elif tag == "p":
            return self._paragraph(element)
        elif tag in ("day.start", "time.stamp"):
            return not _is_data(element)
        return tag not in ("page.no", "talker") and not _is_of_petition(element)

    def leave(self, element: etree._Element) -> None:
        if element.tag in _SECTIONS:
            self.writer.close_section()
        elif element.tag in SPEECHES:
            self.writer.block()
            self.writer.voice(self._voices.pop())
            self._labels.pop()

    def _talker(self, talker: etree._Element) -> None:
        """The label of a speech; one without an element of its own has begun."""
        if page := text_of(talker.find("page.no")):
            self.writer.page(page)
        if next(talker.iterancestors("presenter"), None) is not None:
            return
        if self._labels and self._labels[-1] is not talker:
            self._go_on(talker)
        if label := label_of(talker):
            self.writer.add(label)
            self.writer.run_in()

    def _go_on(self, talker: etree._Element) -> None:
        speaker = talker_of(talker, self._persons)
        if speaker and speaker != self.writer.speaker:
            self.writer.speech(speaker)

    def _paragraph(self, paragraph: etree._Element) -> bool:
        """Whether to read a paragraph of schema 2.2, which may name who speaks in it."""
        if paragraph.get("class") in _TITLE_CLASSES:
            # the title of a cognate debate joins those of its bills, which follow one by one
            return text_of(paragraph).casefold() not in self._title.casefold()
        for span in paragraph.iter("span"):
            kind = span.get("class", "")
            if _VOICE.fullmatch(kind):
                self.writer.speech(self._name_of(span, text_of(paragraph)))
                break
            if _ASIDE.fullmatch(kind):
                self.writer.voice("")
                break
        return True

    def _name_of(self, span: etree._Element, said: str) -> str:
        """Who speaks a paragraph: whom the link means, else the name before its colon, or nobody.

        Some labels are torn (`Mr TE` before `HAN`), some marked where nothing is.
        """
        link = next(span.iterancestors("a"), None)
        id_ = "" if link is None else link.get("href", "").lower()
        label = _LABEL.match(said)
        name = self._persons.name(id_, label[0]) if label else ""
        return self._persons.of_id(id_) or (name if is_name(name) else "")


def _fact(root: etree._Element, name: str) -> str:
    header = root.find("session.header")
    return root.get(name, "").strip() if header is None else text_of(header.find(name))


def _iso(date: str) -> str:
    """`08/05/1990` as `1990-05-08`, and `12/09/96`, as 1996 and 1997 have it, as `1996-09-12`."""
    match = re.fullmatch(r"([0-9]{2})/([0-9]{2})/([0-9]{4}|[0-9]{2})", date)
    if not match:
        return date
    year = match[3] if len(match[3]) == 4 else f"19{match[3]}"
    return f"{year}-{match[2]}-{match[1]}"


def _title(section: etree._Element) -> str:
    infos = (child.find("title") for child in section if child.tag.endswith("info"))
    return next(filter(None, map(text_of, infos)), "") or text_of(section.find("title"))


def _is_data(element: etree._Element) -> bool:
    return re.fullmatch(r"[0-9:-]*", text_of(element)) is not None


def _is_of_petition(element: etree._Element) -> bool:
    """Whether it lists presenters, whose names are printed below the petition."""
    above = element.getparent()
    return element.tag == "names" and above is not None and above.tag == "petitioninfo"


def _space_out(root: etree._Element) -> int:
    """Puts in the blank that the source lost in `<inline>Sir John</inline>Quick`; how often."""
    count = 0
    for element in root.iter("inline", "span"):
        if _is_torn(text_of(element), _following(element)):
            element.tail = f" {element.tail or ''}"
            count += 1
    return count


def _following(element: etree._Element) -> str:
    """The text right behind `element`, for a span that of the next one; else empty."""
    after = element.getnext()
    if element.tag == "inline":
        return element.tail or ""
    if element.tail or after is None or after.tag != "span" or not after.text:
        return ""
    return str(after.text)


def _is_torn(before: str, after: str) -> bool:
    is_part_of_name = before.endswith(("Mc", "Mac", "O\u2019", "De"))
    return before[-1:].islower() and after[:1].isupper() and not is_part_of_name
