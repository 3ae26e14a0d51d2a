"""A report as Markdown; of a plot its figures."""

from collections.abc import Iterator

from atlas_search.documents.export import escape_line
from atlas_search.evaluation.reports.blocks import (
    Block,
    Listing,
    Plot,
    Report,
    Section,
    Table,
    Words,
)
from atlas_search.evaluation.reports.wording import visible


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
            yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Words(text, warning):
            yield f"> **Note:** {_line(text)}" if warning else _line(text)
        case Listing(items):
            yield "\n".join(f"- {_line(item)}" for item in items)
        case Table():
            yield from _table(block)
        case Plot():
            yield from _table(block.table)


def _table(table: Table) -> Iterator[str]:
    yield f"**{_line(table.caption)}**"
    marks = ["---:" if table.is_number(place) else "---" for place in range(len(table.heads))]
    lines = [[_line(cell) for cell in row] for row in (table.heads, *table.rows)]
    head, *rows = [f"| {' | '.join(line)} |" for line in lines]
    yield "\n".join([head, f"| {' | '.join(marks)} |", *rows])


def _line(text: str) -> str:
    return escape_line(visible(text))
