"""Blocks of a report, and the report as HTML and Markdown."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from atlas_search.documents.export import escape_line
from atlas_search.evaluation.plots import MOST, Row, rows
from atlas_search.evaluation.report_analysis import Analysis, Fault, Faults
from atlas_search.evaluation.scored import (
    number,
    present,
    shortened,
    title_of,
    visible,
    with_interval,
)
from atlas_search.evaluation.statistics import Figure


@dataclass(frozen=True)
class Words:
    """A paragraph; `warning` for what takes from the worth of the figures."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class Listing:
    """Sentences, one below the other."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Cells in rows. The first `texts` columns are words, the others numbers, but for a last
    `remark`.

    A `folded` one is opened by who wants it. The heads of one with two columns that are a name and
    its value are empty.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int = 1
    folded: bool = False
    remark: bool = False

    def is_number(self, column: int) -> bool:
        """Whether a column, from 0, holds numbers."""
        return self.texts <= column < len(self.heads) - self.remark


def of_runs(runs: int, table: Table) -> Table:
    """`table`, whose first column names the run; without it where there is only one."""
    if runs > 1:
        return table
    rows = tuple(row[1:] for row in table.rows)
    return replace(table, heads=table.heads[1:], rows=rows, texts=table.texts - 1)


@dataclass(frozen=True)
class Plot:
    """A picture with the figures that it shows. `alt` says what is to be seen, with numbers.

    `draw` gives SVG, and may raise anything.
    """

    title: str
    alt: str
    draw: Callable[[], str]
    table: Table


@dataclass(frozen=True)
class Section:
    """Blocks under a title."""

    title: str
    blocks: tuple["Block", ...]


Block = Words | Listing | Table | Plot | Section


@dataclass(frozen=True)
class Report:
    """A whole report."""

    title: str
    sections: tuple[Section, ...]


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
            yield _html_block(block, faults)


def _html_block(block: Block, faults: Faults) -> str:
    match block:
        case Words(text, warning):
            kind = ' class="warning"' if warning else ""
            return f"<p{kind}{_AUTO}>{_text(text)}</p>\n"
        case Listing(items):
            return f"<ul>{''.join(f'<li{_AUTO}>{_text(item)}</li>' for item in items)}</ul>\n"
        case Table():
            return _html_table(block)
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
        f'<div class="picture">{picture}</div>\n{_html_table(plot.table)}</figure>\n'
    )


def _html_table(table: Table) -> str:
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


def as_markdown(report: Report) -> str:
    """Its text, without markup but its own."""
    blocks = [f"# {_line(report.title)}"]
    for section in report.sections:
        blocks.extend(_section(section, 2))
    return "\n\n".join(blocks) + "\n"


def _section(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * level} {_line(section.title)}"
    for block in section.blocks:
        if isinstance(block, Section):
            yield from _section(block, level + 1)
        else:
            yield from _markdown_block(block)


def _markdown_block(block: Block) -> Iterator[str]:
    match block:
        case Words(text, warning):
            yield f"> **Note:** {_line(text)}" if warning else _line(text)
        case Listing(items):
            yield "\n".join(f"- {_line(item)}" for item in items)
        case Table():
            yield from _markdown_table(block)
        case Plot():
            yield from _markdown_table(block.table)


def _markdown_table(table: Table) -> Iterator[str]:
    yield f"**{_line(table.caption)}**"
    marks = ["---:" if table.is_number(place) else "---" for place in range(len(table.heads))]
    lines = [[_line(cell) for cell in row] for row in (table.heads, *table.rows)]
    head, *rows = [f"| {' | '.join(line)} |" for line in lines]
    yield "\n".join([head, f"| {' | '.join(marks)} |", *rows])


def _line(text: str) -> str:
    return escape_line(visible(text))


_SHOWN = ("decided", "recall", "f1", "cites_gold")
_DRAWN = ("decided", "recall", "f1")
_MAIN = ("f1", "decided", "recall")
_ROWS = 14  # that a plot shows; the table has all


def by_category(runs: Sequence[Analysis]) -> Section:
    """A row for each category."""
    return Section("By category", _of_kind(runs, "category"))


def by_corpus(runs: Sequence[Analysis]) -> Section:
    """A row for the questions whose gold documents are in each corpus; then the balance."""
    return Section("By corpus", (*_of_kind(runs, "corpus"), *_balance(runs)))


def by_split(runs: Sequence[Analysis]) -> Section:
    """A row for each split."""
    return Section("By split", _of_kind(runs, "split", drawn=False))


def _of_kind(runs: Sequence[Analysis], kind: str, *, drawn: bool = True) -> tuple[Block, ...]:
    slices = _slices(runs, kind)
    if not slices:
        return (Words(f"No question has a {kind}."),)
    table, *others = _tables(runs, kind, slices)
    shown = _rows(runs, slices)
    if not drawn or not any(figure for row in shown for figure in row.figures):
        return (table, *others)
    names = _series_names(runs)
    what = "figures" if len(runs) == 1 else title_of(_main(runs))
    x = "mean over the questions" if len(runs) == 1 else title_of(_main(runs))
    more = "" if len(slices) <= _ROWS else f" The plot shows the first {_ROWS} of {len(slices)}."
    told = "; ".join(f"{row.name}: {_told(names, row)}" for row in shown)
    plot = Plot(
        f"Quality by {kind}",
        f"Dots with 95% intervals: {what} by {kind}.{more} {told}.",
        lambda: rows(f"by-{kind}", names, shown, x),
        table,
    )
    return (plot, *others)


def _tables(runs: Sequence[Analysis], kind: str, slices: Sequence[str]) -> list[Table]:
    if len(runs) == 1:
        return [_table_of(runs[0], kind, slices)]
    main = _main(runs)
    names = [name for name in _SHOWN if name != main and any(name in run.all for run in runs)]
    folded = (replace(_side_by_side(runs, kind, slices, name), folded=True) for name in names)
    return [_side_by_side(runs, kind, slices, main), *folded]


def _slices(runs: Sequence[Analysis], kind: str) -> list[str]:
    names = (name for run in runs for name in run.slices)
    return [name for name in dict.fromkeys(names) if name.startswith(f"{kind}.")]


def _table_of(run: Analysis, kind: str, slices: Sequence[str]) -> Table:
    names = present(_SHOWN, run.all)
    cells = tuple(
        (
            _own(name),
            str(len(run.slices[name])),
            *(with_interval(run.figures[name].get(figure)) for figure in names),
        )
        for name in slices
    )
    return Table(f"Figures by {kind}", (kind.title(), "Questions", *map(title_of, names)), cells)


def _side_by_side(runs: Sequence[Analysis], kind: str, slices: Sequence[str], name: str) -> Table:
    """A figure of each run in each slice."""
    cells = tuple(
        (run.name, *(with_interval(run.figures.get(each, {}).get(name)) for each in slices))
        for run in runs
    )
    return Table(f"{title_of(name)} by {kind}", ("Run", *map(_own, slices)), cells)


def _rows(runs: Sequence[Analysis], slices: Sequence[str]) -> tuple[Row, ...]:
    """Of one run a series for each figure; of several, for each run its main figure."""
    if len(runs) == 1:
        figures = runs[0].figures
        return tuple(
            Row(_own(name), tuple(figures[name].get(each) for each in _drawn(runs[0])))
            for name in slices[:_ROWS]
        )
    main = _main(runs)
    return tuple(
        Row(_own(name), tuple(run.figures.get(name, {}).get(main) for run in runs[:MOST]))
        for name in slices[:_ROWS]
    )


def _series_names(runs: Sequence[Analysis]) -> list[str]:
    if len(runs) == 1:
        return [title_of(name) for name in _drawn(runs[0])]
    return [run.name for run in runs[:MOST]]


def _drawn(run: Analysis) -> list[str]:
    return [name for name in _DRAWN if name in run.all]


def _main(runs: Sequence[Analysis]) -> str:
    return next((name for name in _MAIN if any(name in run.all for run in runs)), _MAIN[0])


def _balance(runs: Sequence[Analysis]) -> tuple[Block, ...]:
    told = [(run, corpora) for run in runs if (corpora := _shares(run.all))]
    if not told:
        return (Words("No question was asked of several corpora, so there is no balance to tell."),)
    several = len(runs) > 1
    heads = (
        *(["Run"] if several else []),
        "Corpus",
        "Share of candidates",
        "Share of kept passages",
    )
    cells = tuple(
        (*([run.name] if several else []), corpus, *map(with_interval, pair))
        for run, corpora in told
        for corpus, pair in corpora.items()
    )
    shown = tuple(
        Row(f"{run.name}: {corpus}" if several else corpus, pair)
        for run, corpora in told
        for corpus, pair in corpora.items()
    )[:_ROWS]
    plot = Plot(
        "Balance of the corpora",
        "Dots with 95% intervals: the mean share of each corpus among candidates and among kept "
        f"passages. {'; '.join(f'{row.name}: {_told(_STAGES, row)}' for row in shown)}.",
        lambda: rows("balance", _STAGES, shown, "mean share of the passages of a question"),
        Table("Share of each corpus", heads, cells, texts=len(heads) - 2),
    )
    return (plot,)


_STAGES = ("Candidates", "Kept")


def _shares(figures: Mapping[str, Figure]) -> dict[str, tuple[Figure | None, Figure | None]]:
    begin = "candidates_share.", "kept_share."
    corpora = dict.fromkeys(_own(name) for name in figures if name.startswith(begin))
    return {
        corpus: (figures.get(f"{begin[0]}{corpus}"), figures.get(f"{begin[1]}{corpus}"))
        for corpus in corpora
    }


def _own(name: str) -> str:
    return shortened(name.partition(".")[2], 80)


def _told(names: Sequence[str], row: Row) -> str:
    pairs = zip(names, row.figures, strict=True)
    return ", ".join(f"{name} {number(figure.mean)}" for name, figure in pairs if figure)
