"""What a TEI header says of its document."""

from collections.abc import Iterator

from lxml import etree

from atlas_search.readers.xml.draft import distinct, text_of
from atlas_search.readers.xml.tei_dates import attributed_date, date_of, iso_day
from atlas_search.readers.xml.tei_names import name_of

_FILE = "filedesc"
_PROFILE = "profiledesc"
_SOURCE = f"{_FILE}/sourcedesc"
_PUBLICATION = f"{_FILE}/publicationstmt"
# the day of the event, then of the writing; the printed source comes last
_DATES = (
    f"{_PROFILE}/settingdesc//setting/date",
    f"{_PROFILE}/settingdesc//date",
    f"{_PROFILE}/correspdesc/correspaction[@type='sent']/date",
    f"{_PROFILE}/creation//date",
)
_LISTED = "standoff/listevent/event"
_EVENTS = ("written", "print", "premiere")
_SOURCE_DATES = (f"{_SOURCE}//origdate", f"{_SOURCE}//bibl/date", f"{_SOURCE}//date")
_DESCRIBED = ("bibl", "biblstruct", "biblfull", "msdesc", "recordingstmt")


def title_of(header: etree._Element) -> str:
    """The main title, the first where there are several, as in several languages."""
    titles = header.findall(f"{_FILE}/titlestmt/title")
    main = [title for title in titles if title.get("type") == "main"]
    return next(filter(None, map(text_of, [*main, *titles])), "")


def metadata_of(document: etree._Element, header: etree._Element) -> dict[str, object]:
    """The fields of a header; one that it lacks may be empty.

    `date` is that of the sitting, or else of the writing or of the printed source. `published` is
    that of the electronic edition, which counts as `date` only if there is no earlier source.
    """
    published = _first_date(header, f"{_PUBLICATION}//date")
    return {
        "author": _names_at(header, f"{_FILE}/titlestmt/author"),
        "editor": _names_at(header, f"{_FILE}/titlestmt/editor"),
        "date": _date(document, header) or ("" if _has_source(header) else published),
        "published": published,
        "publisher": "; ".join(_names_at(header, f"{_PUBLICATION}/publisher")),
        "publication_place": _first(header, f"{_SOURCE}//pubplace"),
        "source": _citation(header),
        "url": _url(header),
        "language": _language(document, header),
        "tags": distinct(_tags(header)),
        "abstract": _first(header, f"{_PROFILE}/abstract"),
    }


def _names_at(header: etree._Element, path: str) -> list[str]:
    found: list[str] = []
    for element in header.iterfind(path):
        names = list(element.iterchildren("persname", "orgname", "name"))
        found += map(name_of, names or [element])
    return distinct(found)


def _date(document: etree._Element, header: etree._Element) -> str:
    events = (
        event for kind in _EVENTS for event in document.iterfind(f"{_LISTED}[@type='{kind}']")
    )
    dates = (
        *(_first_date(header, path) for path in _DATES),
        *map(attributed_date, events),
        *(_first_date(header, path) for path in _SOURCE_DATES),
    )
    return next(filter(None, dates), "") or _meeting(header)


def _meeting(header: etree._Element) -> str:
    """The day of a `meeting`, which ParlaMint states as its number."""
    days = (
        iso_day(meeting.get("when") or meeting.get("n", "")) for meeting in header.iter("meeting")
    )
    return next(filter(None, days), "")


def _first_date(header: etree._Element, path: str) -> str:
    return next(filter(None, map(date_of, header.iterfind(path))), "")


def _has_source(header: etree._Element) -> bool:
    source = header.find(_SOURCE)
    return source is not None and next(source.iter(*_DESCRIBED), None) is not None


def _first(header: etree._Element, path: str) -> str:
    return next(filter(None, map(text_of, header.iterfind(path))), "")


def _citation(header: etree._Element) -> str:
    """The first source as it is cited, or its title if it only lists its parts."""
    source = header.find(f"{_SOURCE}//bibl")
    if source is None:
        return _first(header, f"{_SOURCE}//title")
    is_prose = any(piece and piece.strip() for piece in (source.text, *(e.tail for e in source)))
    return text_of(source) if is_prose else text_of(source.find("title")) or text_of(source)


def _url(header: etree._Element) -> str:
    """Where the source can be seen, or else the edition itself."""
    for path in (_SOURCE, _PUBLICATION):
        for part in header.iterfind(path):
            for element in part.iter("idno", "ref", "ptr"):
                address = element.get("target") or text_of(element)
                if address.startswith(("http://", "https://")) and not _is_licence(element):
                    return str(address)
    return ""


def _is_licence(element: etree._Element) -> bool:
    return next(element.iterancestors("availability", "publisher"), None) is not None


def _language(document: etree._Element, header: etree._Element) -> str:
    text = document.find("text")
    stated = ("" if text is None else text.get("lang", "")) or document.get("lang", "")
    used = header.find(f"{_PROFILE}/langusage/language")
    return stated or ("" if used is None else used.get("ident", ""))


def _tags(header: etree._Element) -> Iterator[str]:
    for keywords in header.iterfind(f"{_PROFILE}/textclass/keywords"):
        for element in keywords.iter("term", "item"):
            if element.find(".//term") is None:
                yield text_of(element)
