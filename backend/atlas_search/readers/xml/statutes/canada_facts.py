"""What a law of Canada says about itself, outside its text."""

from lxml import etree

from atlas_search.readers.xml.draft import distinct, text_of

_FIRST_DAYS = ("2002-12-31", "2006-03-22")
"""From when the acts and the regulations are kept: not a day on which something came into force."""

_REVISED = {
    "en": "R.S.C., 1985, c. {chapter}",
    "fr": "L.R.C. (1985), ch. {chapter}",
}
_ANNUAL = {"en": "S.C. {year}, c. {chapter}", "fr": "L.C. {year}, ch. {chapter}"}
_CONSOLIDATED = ("C.R.C.", "1978")


def title_of(root: etree._Element) -> str:
    """The short title, or else the long one."""
    about = root.find("identification")
    return text_of(about.find("shorttitle")) or text_of(about.find("longtitle"))


def facts(root: etree._Element) -> dict[str, object]:
    """Metadata. `date` is that of assent or registration, or else of the revision."""
    about = root.find("identification")
    language = root.get("lang", "").lower()
    instrument = text_of(about.find("instrumentnumber"))
    return {
        "date": _date(about, instrument),
        "in_force_from": _in_force_from(root),
        "last_amended": root.get("lastamendeddate", ""),
        "long_title": text_of(about.find("longtitle")),
        "citation": instrument or _citation(about, language),
        "chapter": text_of(about.find("chapter/consolidatednumber")),
        "instrument_number": instrument,
        "enabling_act": distinct(text_of(each) for each in about.iter("enablingauthority")),
        "amended_by": distinct(text_of(each) for each in root.iter("amendmentcitation")),
        "jurisdiction": "Canada",
        "document_type": "act" if root.tag == "statute" else "regulation",
        "language": language,
    }


def _in_force_from(root: etree._Element) -> str:
    """Known of a law that was never amended: the day is that of the version otherwise."""
    begun: str = root.get("inforce-start-date", "")
    return "" if root.get("haspreviousversion") or begun in _FIRST_DAYS else begun


def _date(about: etree._Element, instrument: str) -> str:
    stated = about.find("registrationdate/date")
    if stated is None:
        stated = about.find("billhistory/stages[@stage='assented-to']/date")
    if stated is not None:
        year, month, day = (text_of(stated.find(part)) for part in ("yyyy", "mm", "dd"))
        return f"{year}-{month:0>2}-{day:0>2}" if month and day else year
    if instrument.startswith(_CONSOLIDATED[0]):
        return _CONSOLIDATED[1]
    if _is_revised(about):
        return "1985"
    return text_of(about.find("chapter/annualstatuteid/yyyy"))[:4]


def _citation(about: etree._Element, language: str) -> str:
    if _is_revised(about):
        chapter = text_of(about.find("chapter/consolidatednumber"))
        return _REVISED.get(language, _REVISED["en"]).format(chapter=chapter)
    annual = about.find("chapter/annualstatuteid")
    if annual is None:
        return ""
    year, chapter = text_of(annual.find("yyyy")), text_of(annual.find("annualstatutenumber"))
    return _ANNUAL.get(language, _ANNUAL["en"]).format(year=year, chapter=chapter)


def _is_revised(about: etree._Element) -> bool:
    """Whether it is a chapter of the Revised Statutes of 1985."""
    return about.find("chapter/consolidatednumber[@official='yes']") is not None
