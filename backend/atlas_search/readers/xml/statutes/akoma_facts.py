"""What a law in Akoma Ntoso says about itself, outside its text."""

from lxml import etree

from atlas_search.readers.xml.draft import text_of

_UNKNOWN = "0001-01-01"


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
        "document_type": _value(root, "frbrsubtype") or str(root[0].tag),
        "language": "" if language is None else language.get("language", ""),
        "url": _url(root),
    }


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
    days = (each.get("date", "")[:10] for each in stated)
    return next((day for day in days if day and day != _UNKNOWN), "")


def _last_amended(root: etree._Element) -> str:
    events = root.iterfind(".//lifecycle/eventref")
    return max(
        (each.get("date", "") for each in events if each.get("type") == "amendment"), default=""
    )


def _url(root: etree._Element) -> str:
    stated = (_value(root, tag) for tag in ("frbrthis", "frbruri"))
    return next((url for url in stated if url.startswith(("http://", "https://"))), "")
