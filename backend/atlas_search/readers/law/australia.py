"""The Hansard of the Parliament of Australia, from ParlInfo, https://parlinfo.aph.gov.au.

Its schema is 2.0 or 2.1 for 1901 to 1980 and 1998 to 2011, and 2.2 since. For 1981 to 1997 names
are in upper case and the facts in attributes. A harvest is at
https://github.com/wragge/hansard-xml.
"""

import re
from collections.abc import Iterator

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.law.debates import Debate
from atlas_search.readers.law.persons import Persons, is_name
from atlas_search.readers.xml.tree import (
    PAGES,
    Layout,
    distinct,
    draft,
    names,
    starts_of,
    text_of,
    walk,
)

SPEECHES = names("speech question answer interjection interject continue")

_SHARED = frozenset({"1000", "10000", "10001", "110000", "unknown"})
"""Ids of whoever is in the chair or at the table, in lower case."""


def speaker_of(speech: etree._Element, persons: Persons) -> str:
    """Name the speaker of a speech; empty if it does not say."""
    talker = speech.find("talk.start/talker")
    filed = speech.get("speaker", "").strip()
    if talker is None:
        return persons.name(speech.get("nameid", "").lower(), filed) if filed else ""
    return talker_of(talker, persons, filed, speech.get("nameid", ""))


def talker_of(talker: etree._Element, persons: Persons, filed: str = "", filed_id: str = "") -> str:
    """Name a talker; of two in one, as in `The CHAIRMAN (Mr Example)`, the one with a name."""
    elements = list(talker.iterchildren("name"))
    own = [name for name in elements if _id_of(name).lower() not in {"", *_SHARED}]
    if own and len(elements) > 1 and not filed_id.strip("10"):
        return persons.name(_id_of(own[-1]).lower(), text_of(own[-1]).strip("() "))
    id_ = filed_id or text_of(talker.find("name.id")) or "".join(map(_id_of, elements[:1]))
    forms = [filed, *map(text_of, sorted(elements, key=lambda name: not _is_metadata(name)))]
    full_names = [persons.name(id_.lower(), form) for form in forms if form]
    # a bare `COOK` says less than `Senator Cook`, which is printed
    return next((name for name in full_names if " " in name), "".join(full_names[:1]))


def label_of(talker: etree._Element) -> str:
    """Return the printed label of a speech; up to 1997 with electorate, office and time."""
    elements = [name for name in talker.iterchildren("name") if not _is_metadata(name)]
    if not elements or elements[0].get("role"):
        return text_of(elements[0]) if elements else ""
    office = "".join(text_of(part) for part in talker.iterchildren("electorate", "state", "role"))
    time = text_of(talker.find("time.stamp"))
    return " ".join(filter(None, [*map(text_of, elements), office, time]))


def members_of(root: etree._Element, persons: Persons) -> dict[str, list[str]]:
    """Members with their party, electorate and office, and all parties and electorates."""
    facts: dict[str, dict[str, str]] = {}
    for speech in root.iter(*SPEECHES):
        if name := speaker_of(speech, persons):
            own = facts.setdefault(name, {})
            for fact, value in _facts(speech).items():
                own.setdefault(fact, value)
    return {
        "members": [f"{name} ({', '.join(f.values())})" for name, f in facts.items() if f],
        "parties": distinct(f.get("party", "") for f in facts.values()),
        "electorates": distinct(f.get("electorate", "") for f in facts.values()),
    }


def _facts(speech: etree._Element) -> dict[str, str]:
    talker = speech.find("talk.start/talker")
    facts = {}
    for fact, attribute in (
        ("party", "party"),
        ("electorate", "electorate"),
        ("role", "ministerial"),
    ):
        value = speech.get(attribute, "")
        if not value and talker is not None and not speech.get("nameid"):
            value = text_of(talker.find(fact))
        if " ".join(value.split()).strip(" -"):
            facts[fact] = " ".join(value.split())
    return facts


def _forms(root: etree._Element) -> Iterator[tuple[str, str]]:
    for speech in root.iter(*SPEECHES):
        if filed := speech.get("speaker", ""):
            yield speech.get("nameid", "").lower(), filed
    for talker in root.iter("talker"):
        for name in talker.iterchildren("name"):
            yield (text_of(talker.find("name.id")) or _id_of(name)).lower(), text_of(name)


def _id_of(name: etree._Element) -> str:
    return str(name.get("nameid", ""))


def _is_metadata(name: etree._Element) -> bool:
    return str(name.get("role")) == "metadata"


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
    """Say if the file has transcripts of a chamber."""
    return root.tag == "hansard" and any(element.tag in _TRANSCRIPTS for element in root)


def australian_drafts(root: etree._Element) -> Iterator[Read]:
    """One draft: a sitting day of one chamber. Pages are known only where a speech begins."""
    gaps = _space_out(root)
    persons = Persons(_forms(root), nobody=_SHARED)  # by their ids in lower case
    day = _Day(persons)
    walk(root, day)
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
        day.writer.finish(),
        metadata,
        title=", ".join(filter(None, [house, date])),
        breaks=starts_of(PAGES),
        remarks=[f"{gaps} missing blanks after marked words were put in"] * bool(gaps),
    )


class _Day(Debate):
    """Writes a day. The printed name of a speaker stands at the head of the speech."""

    layout = _LAYOUT
    sections = _SECTIONS
    speeches = SPEECHES

    def __init__(self, persons: Persons) -> None:
        super().__init__()
        self._persons = persons
        self._section = ""
        self._labels: list[etree._Element | None] = []

    def _title(self, section: etree._Element) -> str:
        self._section = _title(section)[:_LONGEST_TITLE]
        return self._section

    def _speaker(self, speech: etree._Element) -> str:
        self._labels.append(speech.find("talk.start/talker"))
        return speaker_of(speech, self._persons)

    def _begin(self, element: etree._Element) -> bool:
        tag = element.tag
        if page := element.get("page") or (text_of(element) if tag == "page.no" else ""):
            self.writer.page(page)
        if tag == "talker":
            self._talker(element)
        elif tag == "name" and element.getparent().tag == "names":
            self.writer.line()
        elif tag == "p":
            return self._paragraph(element)
        elif tag in ("day.start", "time.stamp"):
            return re.fullmatch(r"[0-9:-]*", text_of(element)) is None
        return tag not in ("page.no", "talker") and not _is_of_petition(element)

    def _end(self, element: etree._Element) -> None:
        if element.tag in SPEECHES:
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
        """Say if to read a paragraph of schema 2.2, which may name who speaks in it."""
        if paragraph.get("class") in _TITLE_CLASSES:
            # the title of a cognate debate joins those of its bills, which follow one by one
            return text_of(paragraph).casefold() not in self._section.casefold()
        for span in paragraph.iter("span"):
            kind = span.get("class", "")
            if _VOICE.fullmatch(kind):
                self.writer.speech(self._name_of(span, text_of(paragraph)))
                break
            if _ASIDE.fullmatch(kind):
                self.writer.voice("")
                break
        return True

    def _name_of(self, span: etree._Element, text: str) -> str:
        """Name the speaker of a paragraph by its link, else by the name before its colon.

        Empty for none. Some labels are torn (`Mr TE` before `HAN`), some marked where nothing is.
        """
        link = next(span.iterancestors("a"), None)
        id_ = "" if link is None else link.get("href", "").lower()
        label = _LABEL.match(text)
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


def _is_of_petition(element: etree._Element) -> bool:
    """Say if it lists presenters, whose names are printed below the petition."""
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
