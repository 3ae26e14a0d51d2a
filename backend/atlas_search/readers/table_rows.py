"""Rows of tables as text: each value with the heading of its column."""

from collections.abc import Sequence

LONGEST = 60
"""Characters of a heading that is repeated in each row."""


def write_row(cells: Sequence[str], header: Sequence[str] = ()) -> str:
    """A row as one line, `Port: Northport | Depth: 9 m`.

    Without a `header`, or with one of another number of columns (as above merged cells), only the
    cells, joined by ` | `. With one the empty cells are left out.
    """
    if len(cells) != len(header):
        return " | ".join(cells).strip()
    pairs = zip(header, cells, strict=True)
    return " | ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


def header_of(cells: Sequence[str]) -> tuple[str, ...]:
    """The headings of columns that a row holds; none if they are too few or too long to repeat."""
    if sum(map(bool, cells)) < 2 or max(map(len, cells)) > LONGEST:
        return ()
    return tuple(cell.rstrip(": ") for cell in cells)
