"""Who speaks on a day of the Australian Hansard, and what it says of its members."""

from collections.abc import Iterator

from lxml import etree

from atlas_search.readers.persons import Persons
from atlas_search.readers.xml.draft import distinct, text_of
from atlas_search.readers.xml.walk import names

SPEECHES = names("speech question answer interjection interject continue")

_SHARED = frozenset({"1000", "10000", "10001", "110000", "unknown"})
"""Ids of whoever is in the chair or at the table, in lower case."""


def persons_of(root: etree._Element) -> Persons:
    """The persons of a day by their ids in lower case."""
    return Persons(_forms(root), nobody=_SHARED)


def speaker_of(speech: etree._Element, persons: Persons) -> str:
    """Who makes a speech; empty if it does not say."""
    talker = speech.find("talk.start/talker")
    filed = speech.get("speaker", "").strip()
    if talker is None:
        return persons.name(speech.get("nameid", "").lower(), filed) if filed else ""
    return talker_of(talker, persons, filed, speech.get("nameid", ""))


def talker_of(talker: etree._Element, persons: Persons, filed: str = "", filed_id: str = "") -> str:
    """Who a talker is: of two in one, as in `The CHAIRMAN (Mr Example)`, the one with a name."""
    shown = list(talker.iterchildren("name"))
    own = [name for name in shown if _id_of(name).lower() not in {"", *_SHARED}]
    if own and len(shown) > 1 and not filed_id.strip("10"):
        return persons.name(_id_of(own[-1]).lower(), text_of(own[-1]).strip("() "))
    id_ = filed_id or text_of(talker.find("name.id")) or "".join(map(_id_of, shown[:1]))
    forms = [filed, *map(text_of, sorted(shown, key=_is_shown))]
    found = [persons.name(id_.lower(), form) for form in forms if form]
    # a bare `COOK` says less than `Senator Cook`, which is printed
    return next((name for name in found if " " in name), "".join(found[:1]))


def label_of(talker: etree._Element) -> str:
    """What is printed before a speech. Up to 1997 that takes in electorate, office and time."""
    shown = [name for name in talker.iterchildren("name") if not _is_metadata(name)]
    if not shown or shown[0].get("role"):
        return text_of(shown[0]) if shown else ""
    office = "".join(text_of(part) for part in talker.iterchildren("electorate", "state", "role"))
    time = text_of(talker.find("time.stamp"))
    return " ".join(filter(None, [*map(text_of, shown), office, time]))


def members_of(root: etree._Element, persons: Persons) -> dict[str, list[str]]:
    """Members with their party, electorate and office, and all parties and electorates."""
    facts: dict[str, dict[str, str]] = {}
    for speech in root.iter(*SPEECHES):
        if name := speaker_of(speech, persons):
            known = facts.setdefault(name, {})
            for fact, value in _facts(speech).items():
                known.setdefault(fact, value)
    return {
        "members": [f"{name} ({', '.join(f.values())})" for name, f in facts.items() if f],
        "parties": distinct(f.get("party", "") for f in facts.values()),
        "electorates": distinct(f.get("electorate", "") for f in facts.values()),
    }


def _facts(speech: etree._Element) -> dict[str, str]:
    talker = speech.find("talk.start/talker")
    found = {}
    for fact, attribute in (
        ("party", "party"),
        ("electorate", "electorate"),
        ("role", "ministerial"),
    ):
        value = speech.get(attribute, "")
        if not value and talker is not None and not speech.get("nameid"):
            value = text_of(talker.find(fact))
        if " ".join(value.split()).strip(" -"):
            found[fact] = " ".join(value.split())
    return found


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


def _is_shown(name: etree._Element) -> bool:
    return not _is_metadata(name)
