"""A report as one page that needs nothing else: no script, font or picture from elsewhere."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from atlas_search.evaluation.reports.blocks import (
    Block,
    Listing,
    Plot,
    Report,
    Section,
    Table,
    Words,
)
from atlas_search.evaluation.reports.faults import Fault, Faults
from atlas_search.evaluation.reports.wording import visible

_STYLE = Path(__file__).with_name("report.css")
_NOTHING_ELSE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def as_html(report: Report, faults: Faults) -> str:
    """The page. A plot that cannot be drawn is told as a fault; its figures are there."""
    sections = "".join(_top_section(section, faults) for section in report.sections)
    links = "".join(
        f'<li><a href="#{_id(s.title)}">{_text(s.title)}</a></li>' for s in report.sections
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_NOTHING_ELSE}">\n'
        f'<link rel="icon" href="data:,">\n<title>{_text(report.title)}</title>\n'
        f"<style>\n{_STYLE.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n"
        f"<header><h1{_AUTO}>{_text(report.title)}</h1>"
        f'<nav aria-label="Parts of the report"><ul>{links}</ul></nav></header>\n'
        f"<main>\n{sections}</main>\n</body>\n</html>\n"
    )


_AUTO = ' dir="auto"'  # a text from right to left stays within its own element


def _top_section(section: Section, faults: Faults) -> str:
    id_ = _id(section.title)
    inner = "".join(_blocks(section, 2, faults))
    return f'<section id="{id_}" aria-labelledby="{id_}-title">\n{inner}</section>\n'


def _blocks(section: Section, level: int, faults: Faults) -> Iterator[str]:
    id_ = f' id="{_id(section.title)}-title"' if level == 2 else ""
    yield f"<h{level}{id_}{_AUTO}>{_text(section.title)}</h{level}>\n"
    for block in section.blocks:
        if isinstance(block, Section):
            inner = "".join(_blocks(block, level + 1, faults))
            yield f'<article class="question">\n{inner}</article>\n'
        else:
            yield _block(block, faults)


def _block(block: Block, faults: Faults) -> str:
    match block:
        case Words(text, warning):
            kind = ' class="warning"' if warning else ""
            return f"<p{kind}{_AUTO}>{_text(text)}</p>\n"
        case Listing(items):
            return f"<ul>{''.join(f'<li{_AUTO}>{_text(item)}</li>' for item in items)}</ul>\n"
        case Table():
            return _table(block)
        case Plot():
            return _plot(block, faults)
        case Section():
            raise ValueError("a section is not within a line")


def _plot(plot: Plot, faults: Faults) -> str:
    drawn = faults.attempt("report.html", plot.title, plot.draw)
    if isinstance(drawn, Fault):
        picture = f'<p class="warning">This plot could not be drawn: {_text(drawn.error)}</p>'
    else:
        picture = drawn.replace("<svg", f'<svg role="img" aria-label="{_text(plot.alt)}"', 1)
    return (
        f'<figure class="plot"><figcaption>{_text(plot.title)}</figcaption>\n'
        f'<div class="picture">{picture}</div>\n{_table(plot.table)}</figure>\n'
    )


def _table(table: Table) -> str:
    """In a frame that scrolls by itself, by keys too."""
    caption = _text(table.caption)
    rows = "\n".join(f"<tr>{''.join(_cells(row, table))}</tr>" for row in table.rows)
    whole = (
        f'<div class="frame" tabindex="0" role="region" aria-label="{caption}"><table>'
        f"<caption>{caption}</caption>{_head(table)}\n"
        f"<tbody>\n{rows}\n</tbody></table></div>\n"
    )
    if table.folded:
        return f"<details><summary>{caption}</summary>{whole}</details>\n"
    return whole


def _head(table: Table) -> str:
    if not any(table.heads):
        return ""
    heads = "".join(
        f'<th scope="col"{_kind(place, table)}{_AUTO}>{_text(head)}</th>'
        for place, head in enumerate(table.heads)
    )
    return f"<thead><tr>{heads}</tr></thead>"


def _cells(row: tuple[str, ...], table: Table) -> Iterator[str]:
    for place, cell in enumerate(row):
        kind = _kind(place, table)
        if place == 0 and table.texts:
            yield f'<th scope="row"{kind}{_AUTO}>{_breakable(cell)}</th>'
        elif table.is_number(place):
            yield f"<td{kind}>{_number(cell)}</td>"
        else:
            yield f"<td{_AUTO}>{_breakable(cell)}</td>"


def _breakable(cell: str) -> str:
    """A text whose names may go on in the next line at a `_`."""
    return _text(cell).replace("_", "_<wbr>")


def _number(cell: str) -> str:
    """A figure, and below it its interval."""
    value, bracket, interval = _text(cell).partition(" [")
    return f"{value}<small>[{interval}</small>" if bracket else value


def _kind(place: int, table: Table) -> str:
    return ' class="number"' if table.is_number(place) else ""


def _id(title: str) -> str:
    return re.sub(r"[^a-z]+", "-", title.lower()).strip("-")


def _text(text: str) -> str:
    return escape(visible(text))
