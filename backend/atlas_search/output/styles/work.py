"""What a citation cites, taken apart as all styles need it."""

import re
from dataclasses import dataclass
from datetime import date

from atlas_search.core.locator import page_unit
from atlas_search.output.answer_document import CitationOut
from atlas_search.output.dating import Dating, dating
from atlas_search.output.references import Kind, kind_of, one_line, stated_by

_CITE = re.compile(r"(?:\[\d{4}\]|\(\d{4}\) |\d{1,4} (?=[A-Z]|\w+ \d))")
"""Where the citation of a report begins: `[1992] 1 AC`, `(1868) LR`, `560 U.S.`, `2020 No 31`."""

_PLACE = re.compile(r"(§|sch ?(?:s|r|reg|art|cl|para)|sch|s|reg|r|art|cl|para|o) ?(.+)", re.DOTALL)
_JURISDICTION = re.compile(r"\(([A-Z][^()\d]*)\)")
_YEAR_BEHIND = re.compile(r"(?P<report>.*?)(?P<year> ?\([^()]*\b\d{4}\))\Z", re.DOTALL)


@dataclass(frozen=True)
class Pin:
    """A place: `kind` is `page`, `column`, `§` or how a locator begins (`s`, `para`, …)."""

    kind: str
    number: str


@dataclass(frozen=True)
class Work:
    """A cited document and the place in it.

    `report` is where a case or an act is published (`560 U.S. 370 (2010)`), taken from what the
    source states of itself. `authors` are empty for cases and acts: their judges and sponsors
    are not their authors. `pin` is None where the source numbers nothing.
    """

    kind: Kind
    title: str
    authors: tuple[str, ...]
    dating: Dating
    body: str
    report: str
    jurisdiction: str
    url: str
    speaker: str
    heading: str
    pin: Pin | None
    today: date

    @property
    def year(self) -> str:
        """The year, `1901–1903` of a span; empty without one."""
        years = dict.fromkeys(str(parts[0]) for parts in self.dating.parts)
        return "–".join(years)

    def reported(self, pin: str) -> str:
        """The report with a pinpoint before the year behind it: `384 U.S. 436, 444 (1966)`."""
        behind = _YEAR_BEHIND.match(self.report)
        if behind is None or not behind["report"]:
            return self.report + pin
        return behind["report"] + pin + behind["year"]


def work_of(cited: CitationOut, today: date) -> Work:
    """What `cited` cites; `today` is the day on which its address was looked at."""
    kind, stated = kind_of(cited), stated_by(cited)
    title = one_line(cited.title)
    report, jurisdiction = _report(stated.source, title)
    return Work(
        kind=kind,
        title=title,
        authors=() if kind in ("case", "statute") else stated.authors,
        dating=dating(one_line(cited.date or "")),
        body=stated.body,
        report=report if kind in ("case", "statute") else "",
        jurisdiction=jurisdiction,
        url=one_line(cited.url or ""),
        speaker=one_line(cited.speaker or ""),
        heading=one_line((cited.section or "").split(" > ")[-1]),
        pin=_pin(cited, kind),
        today=today,
    )


def _report(source: str, title: str) -> tuple[str, str]:
    """Where it is published, and in which country: the source's own words behind its name."""
    rest = source.removeprefix(title).lstrip(", ")
    jurisdiction = _JURISDICTION.search(rest) if rest != source else None
    begins = _CITE.search(rest)
    return rest[begins.start() :] if begins else "", jurisdiction[1] if jurisdiction else ""


def _pin(cited: CitationOut, kind: Kind) -> Pin | None:
    """The place, unless it would say what nobody printed.

    A page that is only counted in the file is none of the report of a case or of a debate, and the
    first of a text without pages is none at all.
    """
    place = _PLACE.match(one_line(cited.locator or ""))
    if place is not None:
        return Pin(place[1], place[2])
    unit = "column" if page_unit(cited.metadata.get("pages_are")) == "col." else "page"
    if cited.printed_page:
        return Pin(unit, one_line(cited.printed_page))
    if kind in ("case", "statute", "debate") or cited.page <= 1:
        return None
    return Pin(unit, str(cited.page))
