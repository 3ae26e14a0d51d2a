"""What a law in CLML says about itself, outside its text."""

from lxml import etree

from atlas_search.readers.xml.draft import text_of

_PLACES = {
    "UnitedKingdom": "United Kingdom",
    "GreatBritain": "United Kingdom",
    "Scottish": "Scotland",
    "Welsh": "Wales",
    "NorthernIreland": "Northern Ireland",
    "EuropeanUnion": "European Union",
}
_DATES = ("enactmentdate", "made", "comingintoforce/datetime")
_PRELIMS = ("primary/primaryprelims", "secondary/secondaryprelims", "euretained/euprelims")


def title_of(root: etree._Element) -> str:
    """The title, or else that in the text."""
    return text_of(root.find("metadata/title")) or text_of(_prelims(root, "title"))


def facts(root: etree._Element) -> dict[str, object]:
    """Metadata. `date` is that of enactment or making, else of coming into force, else the year."""
    about = root.find("metadata")
    kind = _value(about, "documentmaintype")
    is_primary = _value(about, "documentcategory") == "primary"
    year, serial = _value(about, "year"), _value(about, "number")
    return {
        "date": next(filter(None, (_day(about, tag) for tag in _DATES)), year),
        "in_force_from": _day(about, "comingintoforce/datetime"),
        "last_amended": _last_amended(about),
        "long_title": text_of(_prelims(root, "longtitle")),
        "citation": text_of(_prelims(root, "number")),
        "chapter": serial if is_primary else "",
        "instrument_number": f"{year}/{serial}" if year and serial and not is_primary else "",
        "jurisdiction": next((_PLACES[name] for name in _PLACES if kind.startswith(name)), ""),
        "document_type": "act" if is_primary else _type(about, kind),
        "language": text_of(about.find("language")) or root.get("lang", ""),
        "url": _url(root, about),
    }


def _last_amended(about: etree._Element) -> str:
    """The day from which a revised version holds."""
    return text_of(about.find("valid")) if _value(about, "documentstatus") == "revised" else ""


def _type(about: etree._Element, kind: str) -> str:
    minor = _value(about, "documentminortype").removesuffix("s")
    return minor or kind.removeprefix("EuropeanUnion").lower()


def _url(root: etree._Element, about: etree._Element) -> str:
    stated = [root.get("documenturi", ""), *(text_of(each) for each in about.iter("identifier"))]
    return next((url for url in stated if url.startswith(("http://", "https://"))), "")


def _prelims(root: etree._Element, tag: str) -> etree._Element | None:
    found = (root.find(f"{prelims}/{tag}") for prelims in _PRELIMS)
    return next((each for each in found if each is not None), None)


def _value(about: etree._Element, tag: str) -> str:
    return _attribute(about, tag, "value")


def _day(about: etree._Element, tag: str) -> str:
    return _attribute(about, tag, "date")


def _attribute(about: etree._Element, tag: str, name: str) -> str:
    """Of the first such element of the law itself, not of one that changes it."""
    found = about.find(f"*/{tag}")
    if found is None:
        found = about.find(f"*/documentclassification/{tag}")
    return "" if found is None else found.get(name, "")
