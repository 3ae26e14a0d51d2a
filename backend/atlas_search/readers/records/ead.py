"""Reading finding aids of archives: EAD 2002 and EAD 3, https://www.loc.gov/ead.

A unit with a description of its own is a document. Units that have a title only are lines in the
document of the unit that they are part of.
"""

import re
from collections.abc import Iterator, Sequence

from lxml import etree

from atlas_search.readers import Read
from atlas_search.readers.xml.tree import (
    Layout,
    TextWriter,
    distinct,
    draft,
    names,
    text_of,
    unique_keys,
    walk,
)

ROOT = "ead"
_UNIT = re.compile(r"archdesc|c(?:0[1-9]|1[0-2])?")
_SLIGHT = names(
    "head did dsc controlaccess accessrestrict userestrict prefercite acqinfo processinfo phystech "
    "altformavail originalsloc daogrp dao daoset separatedmaterial index"
)
"""Elements that do not describe a unit: who may see it, where it came from."""

_LAYOUT = Layout(
    names("p head list chronlist chronitem bibref table blockquote controlaccess note abstract "
          "physdesc physdescset physdescstructured materialspec langmaterial origination physloc "
          "dao daodesc legalstatus address"),
    names("item defitem row persname corpname famname geogname subject genreform function "
          "occupation title addressline eventgrp event chronitemset"),
    names("entry"),
    names("lb part extent quantity unittype physfacet dimensions"),
    names("unittitle unitid unitdate unitdatestructured repository container"),
)  # fmt: skip


class _Description:
    """Writes what is said of a unit; each part with a head is a section."""

    layout = _LAYOUT

    def __init__(self, writer: TextWriter) -> None:
        self.writer = writer

    def enter(self, element: etree._Element) -> bool:
        head = element.find("head")
        if head is not None:
            self.writer.open_section(text_of(head))
        return not _UNIT.fullmatch(element.tag)

    def leave(self, element: etree._Element) -> None:
        if element.find("head") is not None:
            self.writer.close_section()


def ead_drafts(root: etree._Element) -> Iterator[Read]:
    """The finding aid itself, then each unit in it that is described, in order."""
    for each in root.iter("unitdate"):  # it stands beside words of a title without a blank
        each.text = f" {each.text or ''}"
    for ead in root.iter(ROOT):
        units = [each for each in ead.iter("*") if _is_described(each)]
        aid = text_of(next(ead.iter("eadid", "recordid"), None))
        ids = [unit.get("id") or _stated(unit, "unitid") or str(n) for n, unit in enumerate(units)]
        keys = unique_keys([aid, *(f"{aid}.{id_}" for id_ in ids[1:])])
        for unit, key in zip(units, keys, strict=False):
            writer = TextWriter()
            above = list(filter(None, (_stated(each, "unittitle") for each in _around(unit))))
            _write(writer, unit, above[::-1])
            yield draft(
                writer.finish(), _facts(unit, above), title=_stated(unit, "unittitle"), key=key
            )


def _is_described(element: etree._Element) -> bool:
    if not _UNIT.fullmatch(element.tag) or element.find("did") is None:
        return False
    own = (child.tag for child in (*element, *element.iterfind("did/abstract")))
    is_told = (tag not in _SLIGHT and not _UNIT.fullmatch(tag) for tag in own)
    return element.tag == "archdesc" or any(is_told)


def _around(unit: etree._Element) -> Iterator[etree._Element]:
    """The units that a unit is part of, the next one first."""
    return (each for each in unit.iterancestors() if _UNIT.fullmatch(each.tag))


def _write(writer: TextWriter, unit: etree._Element, path: Sequence[str]) -> None:
    """Write a unit and those in it that are no documents. Recursive: the parser refuses depth."""
    writer.section(*path)
    writer.block()
    title, ids = (
        ", ".join(distinct(map(text_of, unit.iterfind(f"did/{tag}"))))
        for tag in ("unittitle", "unitid")
    )
    dates = _dates(unit)
    writer.add(", ".join(filter(None, (title, dates * (dates not in title), ids, _boxes(unit)))))
    writer.block()
    for child in _contents(unit):
        if not _UNIT.fullmatch(child.tag):
            walk(child, _Description(writer))
            writer.block()
        elif not _is_described(child):
            _write(writer, child, [*path, _stated(unit, "unittitle")])


def _contents(element: etree._Element) -> Iterator[etree._Element]:
    """The content of a unit, its list of units opened."""
    for child in element:
        if child.tag == "dsc":
            yield from _contents(child)
        else:
            yield child


def _stated(unit: etree._Element, name: str) -> str:
    return next(filter(None, map(text_of, unit.iterfind(f"did/{name}"))), "")


def _dates(unit: etree._Element) -> str:
    """The dates of a unit as written, without those that hold for most of it."""
    dates = [each for each in unit.iterfind("did//*") if each.tag.startswith("unitdate")]
    whole = [each for each in dates if "bulk" not in each.values()] or dates
    ends = ([*each.iter("fromdate", "todate", "datesingle")] or [each] for each in whole)
    return "; ".join(distinct("–".join(filter(None, map(text_of, each))) for each in ends))


def _boxes(unit: etree._Element) -> str:
    """The boxes and folders in which it lies: `Box 1, Folder 2`."""
    boxes = [each for each in unit.iterfind("did/container") if text_of(each)]
    kinds = ((each.get("localtype") or each.get("type") or "").capitalize() for each in boxes)
    return ", ".join(
        f"{kind} {text_of(box)}".strip() for kind, box in zip(kinds, boxes, strict=True)
    )


def _facts(unit: etree._Element, above: Sequence[str]) -> dict[str, object]:
    units = [unit, *_around(unit)]
    inherited = {
        name: next(filter(None, (_stated(each, tag) for each in units)), "")
        for name, tag in (("archive", "repository"), ("shelf_mark", "unitid"))
    }
    return {
        "author": distinct(map(text_of, unit.iterfind("did/origination/*"))),
        "date": _dates(unit),
        **inherited,
        "container": _boxes(unit),
        "source": above[-1] if above else "",
        "tags": distinct(map(text_of, unit.iterfind("controlaccess//*[@source]"))),
        "document_type": unit.get("level", ""),
    }
