"""Tables of which nothing is cut: an id or name that is copied from one must work."""

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

WIDEST = 1000  # characters of a line; a remark that is longer goes on in the next


def print_whole(console: Console, table: Table) -> None:
    """Print a table, folded to the width of a terminal, and as wide as it is elsewhere."""
    for column in table.columns:
        column.overflow = "fold"
    narrow = console.width
    if not console.is_terminal:
        options = console.options.update(max_width=WIDEST)
        console.width = max(narrow, Measurement.get(console, options, table).maximum)
    try:
        console.print(table)
    finally:
        console.width = narrow
