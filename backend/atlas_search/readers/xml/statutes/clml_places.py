"""How provisions in CLML are cited, and what their labels look like in print."""

import re

from lxml import etree

from atlas_search.readers.xml.draft import text_of
from atlas_search.readers.xml.statutes.labels import level, number, schedule_number

_KINDS = {"section": "s", "regulation": "reg", "article": "art", "rule": "r", "paragraph": "para"}
_MINOR = {"order": "art", "regulation": "reg", "rule": "r", "scheme": "para"}
_ID = re.compile(r"(section|regulation|article|rule|paragraph)-[^-]+\Z")
_ARTICLES = ("EuropeanUnion", "NorthernIrelandOrderInCouncil")
_NOT_CITED = ("attachment", "appendix")


class Places:
    """Names the provisions of one law: `s 10(1)`, `reg 4`, `sch 1 para 3`."""

    def __init__(self, root: etree._Element) -> None:
        self._kind = _kind(root)

    def of(self, element: etree._Element, around: str) -> str:
        """The locator of a schedule, a provision, or a group of them, inside `around`."""
        if element.tag == "schedule":
            return _schedule(element)
        if element.tag in _NOT_CITED:
            return ""
        if element.tag == "p1group":
            first = element.find("p1")
            return around if first is None else self._provision(first, around)
        if element.tag == "p1":
            return self._provision(element, around)
        return _subsection(element, around)

    def first_level(self, element: etree._Element, place: str) -> str:
        """The level with which the text of a provision begins, or empty."""
        if element.tag == "p1group":
            element = element.find("p1")
        if element is None or element.tag != "p1":
            return ""
        body = element.find("p1para")
        if body is None or not len(body) or body[0].tag != "p2":
            return ""
        inner = _subsection(body[0], place)
        return inner.removeprefix(place) if inner.startswith(place) else ""

    def _provision(self, p1: etree._Element, around: str) -> str:
        found = number(label_of(p1))
        inside = next(p1.iterancestors("schedule", *_NOT_CITED), None)
        if not found or (inside is not None and inside.tag in _NOT_CITED):
            return "" if inside is None or inside.tag in _NOT_CITED else _schedule(inside)
        stated = _ID.search(p1.get("id", ""))
        if inside is None:
            kind = _KINDS[stated[1]] if stated else self._kind
            return f"{kind} {found}"
        kind = _KINDS[stated[1]] if stated else "para"
        return f"{_schedule(inside) or 'sch'} {kind} {found}"


def label_of(provision: etree._Element) -> str:
    """The number of a provision as it stands in the file."""
    return text_of(provision.find("pnumber"))


def printed(pnumber: etree._Element) -> str:
    """A label with the brackets that the schema leaves to the printer: `1`, `(1)`, `(a)`."""
    text = text_of(pnumber)
    before, after = pnumber.get("puncbefore"), pnumber.get("puncafter")
    if before is not None or after is not None:
        return f"{before or ''}{text}{after or ''}"
    if pnumber.getparent().tag == "p1" or not text[:1].isalnum():
        return text
    return f"({text})"


def _subsection(p2: etree._Element, around: str) -> str:
    """Numbers such as 5.1 name the provision 5 already."""
    if not around or next(p2.iterancestors("p1"), None) is None:
        return around
    label = label_of(p2)
    head, _, last = around.rpartition(" ")
    if number(label).startswith(f"{last}."):
        return f"{head} {number(label)}"
    return around + level(label)


def _schedule(element: etree._Element) -> str:
    found = schedule_number(text_of(element.find("number")))
    return f"sch {found}" if found else ""


def _kind(root: etree._Element) -> str:
    """What the provisions of a law are called, where their ids do not say."""
    main = root.find("metadata//documentmaintype")
    if main is not None and main.get("value", "").startswith(_ARTICLES):
        return "art"
    minor = root.find("metadata//documentminortype")
    if minor is not None:
        return _MINOR.get(minor.get("value", "").removesuffix("s"), "reg")
    return "s" if root.find("primary") is not None else "reg"
