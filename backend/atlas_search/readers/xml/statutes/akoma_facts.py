"""What a law or a judgment in Akoma Ntoso says about itself, outside its text."""

from lxml import etree

from atlas_search.readers.xml.draft import distinct, text_of

_UNKNOWN = frozenset({"", "0001-01-01", "1000-01-01", "3000-01-01"})
"""What programs write where nobody knows the day."""


_TYPES = {"debatereport": "report"}


def title_of(root: etree._Element) -> str:
    """The short title, or the name by which the law is known, or the title in its preface."""
    stated = [text_of(root.find(".//preface//shorttitle")), _value(root, "frbralias")]
    printed = (_lines(root.find(f".//preface//{tag}")) for tag in ("doctitle", "longtitle"))
    return next(filter(None, [*stated, *printed]), "")


def facts(root: etree._Element) -> dict[str, object]:
    """Metadata. `date` is that of the work, which is the day of enactment or publication."""
    language = root.find(".//frbrexpression/frbrlanguage")
    return {
        "date": _date(root),
        "last_amended": _last_amended(root),
        "long_title": _lines(root.find(".//preface//longtitle")),
        "citation": text_of(root.find(".//preface//docnumber")),
        "instrument_number": _value(root, "frbrnumber"),
        "jurisdiction": _value(root, "frbrcountry"),
        "document_type": _value(root, "frbrsubtype") or _TYPES.get(root[0].tag, root[0].tag),
        "language": "" if language is None else language.get("language", ""),
        "url": _url(root),
    }


def judgment_title(root: etree._Element) -> str:
    """The name of the case, or the title at its head."""
    return _value(root, "frbrname") or text_of(root.find(".//header//doctitle"))


def judgment_facts(root: etree._Element) -> dict[str, object]:
    """Metadata. `date` is that of the work, unless it is that of a hearing, else the only one
    that is printed at its head."""
    dates = root.iterfind(".//frbrwork/frbrdate")
    given = distinct(known_day(each) for each in dates if "hear" not in _name(each))
    printed = distinct(map(known_day, root.iterfind(".//header//docdate")))
    language = root.find(".//frbrexpression/frbrlanguage")
    return {
        "date": next(iter(given), "") or (printed[0] if len(printed) == 1 else ""),
        "citation": text_of(root.find(".//neutralcitation")),
        "court": _author(root),
        "judges": distinct(map(text_of, root.iterfind(".//header//judge"))),
        "case_number": distinct(map(text_of, root.iterfind(".//header//docketnumber"))),
        "jurisdiction": _value(root, "frbrcountry"),
        "document_type": "judgment",
        "language": "" if language is None else language.get("language", ""),
        "url": _url(root),
    }


def _name(element: etree._Element) -> str:
    return str(element.get("name", "")).lower()


def known_day(element: etree._Element) -> str:
    """The day in `date`; empty for one that stands for an unknown day."""
    day: str = element.get("date", "")[:10]
    return "" if day in _UNKNOWN else day


def _author(root: etree._Element) -> str:
    """The court that gave the judgment, by its name among the references."""
    author = root.find(".//frbrwork/frbrauthor")
    id_ = "" if author is None else author.get("href", "").rpartition("#")[2]
    courts = root.iterfind(".//references/tlcorganization")
    named = (court.get("showas", "") for court in courts if court.get("eid") == id_ != "")
    return next(filter(None, named), "")


def _lines(element: etree._Element | None) -> str:
    """A title that may stand in several paragraphs, on one line."""
    if element is None:
        return ""
    return " ".join(filter(None, map(text_of, element.findall("p")))) or text_of(element)


def _value(root: etree._Element, tag: str) -> str:
    found = root.find(f".//frbrwork/{tag}")
    return "" if found is None else found.get("value", "")


def _date(root: etree._Element) -> str:
    stated = [*root.iterfind(".//frbrwork/frbrdate"), *root.iterfind(".//meta/publication")]
    return next(filter(None, map(known_day, stated)), "")


def _last_amended(root: etree._Element) -> str:
    events = root.iterfind(".//lifecycle/eventref")
    return max(
        (each.get("date", "") for each in events if each.get("type") == "amendment"), default=""
    )


def _url(root: etree._Element) -> str:
    stated = (_value(root, tag) for tag in ("frbrthis", "frbruri"))
    return next((url for url in stated if url.startswith(("http://", "https://"))), "")
