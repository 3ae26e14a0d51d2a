"""Citation styles: a cited work taken apart as all of them need it, and each style.

APA: Publication Manual, 7th ed., chapters 8 to 10; legal works 11.1-11.8. The place stands in the
text, in brackets behind the quotation.

Bluebook, in the form of court documents: The Bluebook, 21st ed., rules B10-B18, 10, 12-15, 18.
Titles are italic, as the Bluepages have them, and not in small capitals.

MLA: MLA Handbook, 9th ed., chapter 5; the place stands in the text (6.1-6.30). Government bodies
are authors of what courts and parliaments issue (5.17-5.20).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from html import escape
from typing import Literal, NamedTuple

from atlas_search.core.locator import page_unit
from atlas_search.core.wire import CitationOut
from atlas_search.documents.references import (
    Dating,
    Kind,
    Parts,
    dating,
    kind_of,
    one_line,
    stated_by,
)
from atlas_search.language.english import MONTHS

_MONTHS = [month.capitalize() for month in MONTHS]
_SHORT = "Jan. Feb. Mar. Apr. May June July Aug. Sept. Oct. Nov. Dec.".split()


def day_first(dating: Dating) -> str:
    """`18 February 1993`."""
    return _written(dating, lambda parts: _reversed(parts, _MONTHS))


def day_first_short(dating: Dating) -> str:
    """`18 Feb. 1993`."""
    return _written(dating, lambda parts: _reversed(parts, _SHORT))


def month_first(dating: Dating) -> str:
    """`February 18, 1993`."""
    return _written(dating, lambda parts: _american(parts, _MONTHS))


def month_first_short(dating: Dating) -> str:
    """`Feb. 18, 1993`."""
    return _written(dating, lambda parts: _american(parts, _SHORT))


def year_first(dating: Dating) -> str:
    """`1993, February 18`."""
    return _written(dating, _year_first)


def _written(dating: Dating, write: Callable[[Parts], str]) -> str:
    """The first and last of a span; what cannot be read stays as the source writes it."""
    text = "–".join(map(write, dating.parts)) or dating.written
    return f"c. {text}" if dating.circa else text


def _reversed(parts: Parts, months: list[str]) -> str:
    year, *rest = parts
    return " ".join([*map(str, rest[1:]), *(months[month - 1] for month in rest[:1]), str(year)])


def _american(parts: Parts, months: list[str]) -> str:
    year, *rest = parts
    if len(rest) == 2:
        return f"{months[rest[0] - 1]} {rest[1]}, {year}"
    return " ".join([*(months[month - 1] for month in rest), str(year)])


def _year_first(parts: Parts) -> str:
    year, *rest = parts
    day = " ".join([*(_MONTHS[month - 1] for month in rest[:1]), *map(str, rest[1:])])
    return f"{year}, {day}" if day else str(year)


def in_order(authors: Sequence[str], last: str = "and") -> str:
    """`Virginia Woolf and Leonard Woolf`."""
    return _listed([_turned(name) for name in authors], last)


def family_first(authors: Sequence[str]) -> str:
    """`Woolf, Virginia, and Leonard Woolf`, as lists of works are sorted (MLA)."""
    if len(authors) > 2:
        return f"{authors[0]}, et al."
    return ", and ".join([*authors[:1], *map(_turned, authors[1:])])


def with_initials(authors: Sequence[str]) -> str:
    """`Woolf, V., & Woolf, L.` (APA)."""
    return _listed([_initials(name) for name in authors], "&", comma=True)


def families(authors: Sequence[str], last: str = "&") -> str:
    """`Woolf & Woolf`; of more than two the first `et al.`"""
    names = [name.partition(",")[0] for name in authors]
    return f"{names[0]} et al." if len(names) > 2 else _listed(names, last)


def _listed(names: Sequence[str], last: str, *, comma: bool = False) -> str:
    if len(names) < 2:
        return "".join(names)
    before = "," if comma or len(names) > 2 else ""
    return f"{', '.join(names[:-1])}{before} {last} {names[-1]}"


def _turned(name: str) -> str:
    family, comma, given = name.partition(", ")
    return f"{given} {family}" if comma and "," not in given else name


def _initials(name: str) -> str:
    family, comma, given = name.partition(", ")
    if not comma or "," in given:
        return name
    return f"{family}, {' '.join(f'{part[0]}.' for part in given.split())}"


_CITE = re.compile(r"(?:\[\d{4}\]|\(\d{4}\) |\d{1,4} (?=[A-Z]|\w+ \d))")
"""The beginning of a report's citation: `[1992] 1 AC`, `(1868) LR`, `560 U.S.`, `2020 No 31`."""

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
    """The work that `cited` cites; `today` is the day on which its address was looked at."""
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
    """The place and country of publication: the source's own words behind its name."""
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


@dataclass(frozen=True)
class Style:
    """A way to cite. `reference` is a footnote with its place or, where `in_text` puts the place
    into the text, an entry of the list of works. Both mark what is italic."""

    label: str
    reference: Callable[[Work], str]
    in_text: Callable[[Work], str] | None = None


def place(pin: Pin | None, labels: Mapping[str, str]) -> str:
    """A place as the style calls it: `labels` has `page`, `column` and the kinds of locators."""
    if pin is None:
        return ""
    label = labels.get(pin.kind, pin.kind)
    between = "" if not label or label.endswith("[") else " "
    return f"{label}{between}{pin.number}{']' if label.endswith('[') else ''}"


def named(title: str, report: str) -> str:
    """A case with its report: a comma between, unless the report begins with a bracket."""
    if not report:
        return title
    return f"{title}{' ' if report[0] in '[(' else ', '}{report}"


_ON, _OFF = "\x0e", "\x0f"  # control characters, which no text of a source keeps (`one_line`)


@dataclass(frozen=True)
class WrittenCitation:
    """A citation: `text` for a plain field, `html` for a word processor."""

    text: str
    html: str


def italic(text: str) -> str:
    """`text` marked as italic; nothing of nothing."""
    return f"{_ON}{text}{_OFF}" if text else ""


def written(marked: str) -> WrittenCitation:
    """Text that `italic` has marked, in both forms."""
    plain = marked.replace(_ON, "").replace(_OFF, "")
    return WrittenCitation(plain, escape(marked).replace(_ON, "<i>").replace(_OFF, "</i>"))


def joined(between: str, *parts: str) -> str:
    """The parts that are not empty."""
    return between.join(filter(None, parts))


def ended(text: str) -> str:
    """`text` with a full stop, unless it ends as a sentence."""
    return text if text.rstrip(_OFF + "”’").endswith((".", "?", "!")) else f"{text}."


def bracketed(text: str) -> str:
    """`(text)`, or nothing."""
    return f"({text})" if text else ""


LABELS_APA = {
    "page": "p.",
    "column": "col.",
    "s": "s.",
    "para": "para.",
    "art": "art.",
    "reg": "reg.",
}


def _reference_apa(work: Work) -> str:
    # no full stop behind an address (9.36)
    return joined(" ", _entry(work), work.url)


def _entry(work: Work) -> str:
    match work.kind:
        case "case" if work.report:
            # 11.4: Obergefell v. Hodges, 576 U.S. 644 (2015); not italic in the list
            return ended(named(work.title, work.report))
        case "case":
            return ended(
                joined(" ", work.title, bracketed(joined(" ", work.body, work.year or "n.d.")))
            )
        case "statute":
            return ended(joined(" ", work.title, bracketed(work.jurisdiction)))
    who = [work.speaker] if work.kind == "debate" and work.speaker else work.authors
    author, date = with_initials(who), bracketed(_date(work))
    if not author:
        # 9.12: without an author the title takes its place
        return joined(" ", f"{ended(italic(work.title))} {date}.", _publisher(work))
    return joined(" ", f"{ended(author)} {date}.", ended(italic(work.title)), _publisher(work))


def _in_text_apa(work: Work) -> str:
    who = work.speaker if work.kind == "debate" else families(work.authors)
    # the title of an act holds its year
    year = "" if work.kind == "statute" and work.year in work.title else work.year or "n.d."
    title = work.title if work.kind == "statute" else italic(work.title)
    return bracketed(joined(", ", who or title, year, place(work.pin, LABELS_APA)))


def _date(work: Work) -> str:
    return (work.year if work.kind == "book" else year_first(work.dating)) or "n.d."


def _publisher(work: Work) -> str:
    return ended(work.body) if work.body else ""


APA = Style("APA", _reference_apa, _in_text_apa)


LABELS_BLUEBOOK = {
    "page": "",
    "column": "col.",
    "s": "§",
    "para": "¶",
    "art": "art.",
    "reg": "reg.",
    "r": "r.",
    "cl": "cl.",
    "sch": "sched.",
}


def _reference_bluebook(work: Work) -> str:
    pin = place(work.pin, LABELS_BLUEBOOK)
    match work.kind:
        case "case" if work.report:
            # B10.1: Brown v. Board of Education, 347 U.S. 483, 495 (1954)
            return ended(named(_name(work), work.reported(f", {pin}" if pin else "")))
        case "case":
            decided = bracketed(joined(" ", work.body, month_first_short(work.dating)))
            return ended(joined(", ", joined(" ", _name(work), decided), pin))
        case "statute":
            # T2: Privacy Act 2020, § 10(1) (N.Z.)
            country = bracketed(_COUNTRIES_BLUEBOOK.get(work.jurisdiction, work.jurisdiction))
            return ended(joined(" ", joined(", ", work.title, pin), country))
        case "book":
            # B15.1: Richard Kluger, Simple Justice 12 (Knopf 1976)
            issued = bracketed(joined(" ", work.body, work.year))
            book = joined(" ", italic(work.title), pin, issued)
            return ended(joined(", ", in_order(work.authors), book))
    # B18.1: Author, Title, Site (Jan. 1, 2020), https://…
    who = work.speaker or in_order(work.authors)
    at = f"at {pin}" if pin and work.kind == "document" else pin
    title = joined(", ", who, italic(work.title), work.body)
    issued = bracketed(month_first_short(work.dating))
    return ended(joined(", ", joined(" ", title, issued), at, work.url))


def _name(work: Work) -> str:
    return italic(re.sub(r" v (?=\S)", " v. ", work.title))


_COUNTRIES_BLUEBOOK = {
    "New Zealand": "N.Z.",
    "United Kingdom": "UK",
    "Canada": "Can.",
    "Ireland": "Ir.",
}

BLUEBOOK = Style("Bluebook", _reference_bluebook)


LABELS_CHICAGO = LABELS_APA | {"page": ""}


def _reference_chicago(work: Work) -> str:
    pin = place(work.pin, LABELS_CHICAGO)
    match work.kind:
        case "case" if work.report:
            # 14.276, 14.298: Miranda v. Arizona, 384 U.S. 436, 444 (1966)
            return ended(named(italic(work.title), work.reported(f", {pin}" if pin else "")))
        case "case":
            decided = bracketed(joined(", ", work.body, month_first(work.dating)))
            return ended(joined(", ", joined(" ", italic(work.title), decided), pin, work.url))
        case "statute":
            return ended(joined(", ", work.title, work.report, pin))
        case "book":
            # 14.23: Zadie Smith, Swing Time (Penguin Press, 2016), 315
            issued = bracketed(joined(", ", work.body, work.year))
            book = joined(" ", italic(work.title), issued)
            return ended(joined(", ", in_order(work.authors), book, pin, work.url))
    who = work.speaker or in_order(work.authors)
    # the comma stands before the closing quotation mark (6.9)
    behind = joined(", ", work.body, month_first(work.dating), pin, work.url)
    title = f"“{work.title},” {behind}" if behind else f"“{ended(work.title)}”"
    return ended(joined(", ", who, title))


CHICAGO = Style("Chicago (notes)", _reference_chicago)


LABELS_FOOTNOTE = {"page": "p.", "column": "col."}


def _reference_footnote(work: Work) -> str:
    where = place(work.pin, LABELS_FOOTNOTE) or (f"“{work.heading}”" if work.heading else "")
    citation = joined(
        ", ",
        in_order(work.authors),
        named(italic(work.title), work.report),
        work.speaker,
        work.body,
        day_first(work.dating),
        where,
    )
    # a full stop behind an address would be read as part of it
    return f"{citation}, {work.url}" if work.url else ended(citation)


PLAIN = Style("Plain footnote", _reference_footnote)


LABELS_OSCOLA = {"page": "", "column": "col"}
HOUSES = {"house of commons": "HC", "house of lords": "HL"}
_NEUTRAL = re.compile(r"\[\d{4}\] (?:UK|EW)[A-Za-z ]+ \d+(?: \(\w+\))?\Z")


def _reference_oscola(work: Work) -> str:
    pin = place(work.pin, LABELS_OSCOLA)
    match work.kind:
        case "case":
            return ended(_case(work))
        case "statute":
            # 2.4.2: Human Rights Act 1998, s 15(1)(b)
            return ended(joined(", ", work.title, pin))
        case "debate":
            # 3.4.1: HC Deb 3 February 1977, vol 389, col 973
            house = HOUSES.get(work.body.lower(), work.body)
            held = joined(" ", house, "Deb", day_first(work.dating))
            return ended(joined(" ", joined(", ", held, pin), bracketed(work.speaker)))
        case "book":
            # 3.2.1: Timothy Endicott, Administrative Law (OUP 2009) 12
            issued = bracketed(joined(" ", work.body, work.year))
            book = joined(" ", italic(work.title), issued, pin)
            return ended(joined(", ", in_order(work.authors), book))
    # 3.4.8: Sarah Cole, ‘Virtual Friend’ (Naked Law, 1 May 2009) <http://…> accessed 19 May 2009
    issued = bracketed(joined(", ", work.body, day_first(work.dating)))
    seen = f"<{work.url}> accessed {work.today.day} {work.today:%B %Y}" if work.url else ""
    text = joined(" ", f"‘{work.title}’", issued, pin, seen)
    return ended(joined(", ", in_order(work.authors), text))


def _case(work: Work) -> str:
    """2.1.1: Corr v IBC Vehicles Ltd [2008] UKHL 13, [2008] 1 AC 884 [42]."""
    title = italic(without_stops(work.title))
    labels = LABELS_OSCOLA | {"para": "["}
    pin = place(work.pin, labels)
    if not work.report:
        # 2.1.6: Stubbs v Sayer (CA, 8 November 1990)
        decided = bracketed(joined(", ", work.body, day_first(work.dating)))
        return joined(" ", title, decided, pin)
    behind = "" if not pin else f" {pin}" if pin.startswith("[") else f", {pin}"
    ordered = replace(work, report=_neutral_first(work.report))
    return f"{title} {without_stops(ordered.reported(behind))}"


def _neutral_first(report: str) -> str:
    """The neutral citation comes before that of a report (2.1.1)."""
    parts = report.split(", ")
    return ", ".join(sorted(parts, key=lambda part: _NEUTRAL.match(part) is None))


def without_stops(text: str) -> str:
    """Abbreviations have no full stops (1.3.1): `Roe v Wade`, `410 US 113`."""
    return re.sub(r"(?<=[^\W\d_])\.(?=\s|,|\)|\Z|[A-Z])", "", text)


OSCOLA = Style("OSCOLA", _reference_oscola)


LABELS_MCGILL = {"page": "", "column": "col"}
BY_AT = ("page", "column", "para")


def _reference_mcgill(work: Work) -> str:
    dated = bracketed(day_first(work.dating))
    match work.kind:
        case "case" if work.report:
            # 3.2: R v Latimer, 2001 SCC 1 at para 27; 7.3: 347 US 483 at 495 (1954)
            report = without_stops(work.reported(_behind(work)))
            return ended(f"{italic(without_stops(work.title))}, {report}")
        case "case":
            # 3.13: Title (date), court
            name = joined(" ", italic(without_stops(work.title)), dated)
            return ended(joined(", ", name, work.body) + _behind(work))
        case "statute":
            # 2.1: title in italics; 5.2 (NZ)
            country = bracketed(_COUNTRIES_MCGILL.get(work.jurisdiction, work.jurisdiction))
            return ended(joined(" ", italic(work.title), country) + _behind(work))
        case "debate":
            # 4.1.1: House of Commons Debates, 32-1 (4 May 1981) at 9281 (Hon Mark MacGuigan)
            held = joined(" ", italic(joined(" ", work.body, "Debates")), dated)
            return ended(joined(" ", held + _behind(work), bracketed(work.speaker)))
        case "book":
            # 6.2: Author, Title (Publisher, year) at 12
            issued = bracketed(joined(", ", work.body, work.year))
            book = joined(" ", italic(work.title), issued) + _behind(work)
            return ended(joined(", ", in_order(work.authors), book))
    # 6.19: Author, “Title” (1 May 2009) at 3, online: <https://…>
    text = joined(" ", f"“{work.title}”", dated) + _behind(work)
    online = f"online: <{work.url}>" if work.url else ""
    return ended(joined(", ", in_order(work.authors), text, work.body, online))


def _behind(work: Work) -> str:
    """` at 12`, ` at para 27`; a section behind a comma."""
    pin = place(work.pin, LABELS_MCGILL)
    if work.pin is None:
        return ""
    return f" at {pin}" if work.pin.kind in BY_AT else f", {pin}"


_COUNTRIES_MCGILL = {"New Zealand": "NZ", "United Kingdom": "UK", "Australia": "Austl"}

MCGILL = Style("McGill", _reference_mcgill)


LABELS_MLA = {
    "page": "",
    "column": "col.",
    "§": "sec.",
    "s": "sec.",
    "para": "par.",
    "art": "art.",
    "reg": "reg.",
    "sch": "sched.",
}


def _reference_mla(work: Work) -> str:
    official = work.kind in ("case", "statute", "debate")
    author = work.body if official and work.kind != "debate" else ""
    who = author or work.speaker or family_first(work.authors)
    date = work.year if work.kind == "book" else day_first_short(work.dating)
    address = work.url.partition("://")[2]  # without `https://` (5.95)
    issued = joined(", ", "" if author else work.body, date, work.report, address)
    return joined(
        " ", ended(who) if who else "", ended(_title(work)), ended(issued) if issued else ""
    )


def _title(work: Work) -> str:
    """A work that stands alone is italic, a text of a collection in quotation marks."""
    alone = work.kind in ("case", "statute", "book")
    return italic(work.title) if alone else f"“{ended(work.title)}”"


def _in_text_mla(work: Work) -> str:
    who = work.speaker or families(work.authors, "and")
    alone = work.kind in ("case", "statute", "book")
    name = who or (italic(work.title) if alone else f"“{work.title}”")
    pin = place(work.pin, LABELS_MLA)
    # a page follows without a comma (6.16), any other place behind one (6.20)
    numbered = work.pin is not None and work.pin.kind == "page"
    return bracketed(joined(" " if numbered else ", ", name, pin))


MLA = Style("MLA", _reference_mla, _in_text_mla)


StyleName = Literal["plain", "chicago", "apa", "mla", "oscola", "bluebook", "mcgill"]

STYLES: Mapping[StyleName, Style] = {
    "plain": PLAIN,
    "chicago": CHICAGO,
    "apa": APA,
    "mla": MLA,
    "oscola": OSCOLA,
    "bluebook": BLUEBOOK,
    "mcgill": MCGILL,
}


class Styled(NamedTuple):
    """A citation in a style: a footnote, or an entry of the list of works and what stands in the
    text; `in_text` is None in styles of footnotes."""

    reference: WrittenCitation
    in_text: WrittenCitation | None


def cite(cited: CitationOut, style: StyleName, today: date) -> Styled:
    """`cited` as the style has it; `today` is when its address was looked at."""
    work, form = work_of(cited, today), STYLES[style]
    in_text = written(form.in_text(work)) if form.in_text else None
    return Styled(written(form.reference(work)), in_text)
