"""What a law in USLM says about itself, outside its text."""

import re
from collections.abc import Iterable

from lxml import etree

from atlas_search.readers.xml.draft import text_of

_TYPES = {
    "uscdoc": "code",
    "plaw": "act",
    "statutecompilation": "act",
    "lawdoc": "act",
    "bill": "bill",
    "resolution": "resolution",
    "engrossedamendment": "amendment",
    "amendment": "amendment",
}
_DAY = re.compile(r"[A-Z][a-z]{2,8}\.? \d{1,2}, \d{4}")
_CODE = re.compile(r"Title (\w+)")


def title_of(root: etree._Element) -> str:
    """The first short title of the whole law, or the title of the Code, or else the stated one."""
    about = _about(root)
    if root.tag == "uscdoc":
        heading = root.find("main/title/heading")
        return " ".join(filter(None, ["U.S. Code", _stated(about, "title"), text_of(heading)]))
    short = (text_of(each) for each in root.iter("shorttitle") if each.get("role") == "act")
    stated = [_stated(about, "citableasshorttitle"), *short, _stated(about, "title")]
    return next(filter(None, [*stated, text_of(root.find(".//officialtitle"))]), "")


def facts(root: etree._Element) -> dict[str, object]:
    """Metadata. `date` is that of approval, of the last action, of the edition, or the session."""
    about = _about(root)
    return {
        "date": _date(root, about),
        "last_amended": _stated(about, "currentthroughdate"),
        "long_title": text_of(root.find(".//officialtitle")),
        "citation": _citation(root, about),
        "chapter": _stated(about, "docnumber"),
        "congress": _stated(about, "congress"),
        "current_through": _stated(about, "currentthroughpubliclaw"),
        "jurisdiction": "United States",
        "document_type": _TYPES.get(str(root.tag), str(root.tag)),
        "language": (_stated(about, "language") or root.get("lang", "")).lower(),
        "url": _url(about),
    }


def _about(root: etree._Element) -> etree._Element:
    for tag in ("meta", "amendmeta"):
        found = root.find(tag)
        if found is not None:
            return found
    return etree.Element("meta")


def _stated(about: etree._Element, tag: str) -> str:
    return text_of(about.find(tag))


def _citation(root: etree._Element, about: etree._Element) -> str:
    code = _CODE.match(_stated(about, "title"))
    if root.tag == "uscdoc" and code:
        return f"{code[1]} U.S.C."
    return _stated(about, "citableas")


def _date(root: etree._Element, about: etree._Element) -> str:
    stated = [_stated(about, "approveddate"), _approval(root.iter("sidenote"))]
    actions = [each.get("date") or text_of(each) for each in root.iterfind(".//action/date")]
    others = [_stated(about, "created")[:10], _session_year(about)]
    return next(filter(None, [*stated, *reversed(actions), *others]), "")


def _session_year(about: etree._Element) -> str:
    """The year of a session: the first Congress met in 1789, each has a session a year."""
    congress, session = _stated(about, "congress"), _stated(about, "session") or "1"
    if not (congress.isdecimal() and session.isdecimal()):
        return ""
    return str(1787 + 2 * int(congress) + int(session) - 1)


def _approval(sidenotes: Iterable[etree._Element]) -> str:
    """The day in the margin beside the title of a public law."""
    first = next(iter(sidenotes), None)
    found = None if first is None else _DAY.search(" ".join(first.itertext()))
    return found[0] if found else ""


def _url(about: etree._Element) -> str:
    stated = (text_of(each) for each in about.iter("identifier", "source"))
    return next((url for url in stated if url.startswith(("http://", "https://"))), "")
