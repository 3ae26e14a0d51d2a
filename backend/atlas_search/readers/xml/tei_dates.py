"""Dates of TEI as EDTF, the extended ISO form: `1901-03-04`, `1901~`, `1901-03/1901-07`."""

import re

from lxml import etree

_DAY = re.compile(r"-?[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?(?=$|T)")
_BOUNDS = (("from", "to"), ("notbefore", "notafter"), ("from-iso", "to-iso"))
_ROUGH = ("low", "medium")
_AT = ("when", "when-iso", "value")


def date_of(element: etree._Element) -> str:
    """What a `date` or the like says: its attributes, or else its text if that has a number."""
    text = " ".join("".join(element.itertext()).split())
    return attributed_date(element) or (text if re.search(r"[0-9]", text) else "")


def attributed_date(element: etree._Element) -> str:
    """The date in the attributes of an element, empty if there is none.

    `from` and `to`, or `notBefore` and `notAfter`, become an interval, open where one is missing.
    A `~` follows what is of low certainty or precision, or printed with c. or ca. before it.
    `value` is the attribute of TEI P4.
    """
    mark = "~" if _is_rough(element) else ""
    for name in _AT:
        if day := iso_day(element.get(name, "")):
            return f"{day}{mark}"
    for first, last in _BOUNDS:
        begin, end = iso_day(element.get(first, "")), iso_day(element.get(last, ""))
        if begin and end:
            return f"{begin}{mark}/{end}{mark}"
        if begin or end:
            return f"{begin}{mark}/.." if begin else f"../{end}{mark}"
    return ""


def iso_day(text: str) -> str:
    """The ISO date at the start of `text`, without a time of day; empty if there is none."""
    match = _DAY.match(text.strip())
    return match[0] if match else ""


def _is_rough(element: etree._Element) -> bool:
    if element.get("cert") in _ROUGH or element.get("precision") in _ROUGH:
        return True
    text = "".join(element.itertext()).strip().casefold()
    return re.match(r"(?:c|ca|circa)\b\.?\s*[0-9\[]", text) is not None
