"""Tables are whole: in a pipe as wide as they are, in a terminal folded."""

import io

import pytest
from rich.console import Console
from rich.table import Table

from atlas_search.cli.ask import print_whole

ID = "a_collection_" + "with_a_name_that_is_far_longer_than_most_" * 3 + "end"


@pytest.fixture
def table() -> Table:
    made = Table("Collection", "Version")
    made.add_row(ID, "20260501-120000")
    return made


def test_in_a_pipe_nothing_is_cut_or_folded(table: Table) -> None:
    console = Console(file=io.StringIO(), width=60)
    print_whole(console, table)
    assert f"│ {ID} │ 20260501-120000 │" in console.file.getvalue()  # type: ignore[attr-defined]
    assert console.width == 60


def test_in_a_terminal_it_is_folded_to_its_width(table: Table) -> None:
    console = Console(file=io.StringIO(), width=60, force_terminal=True, color_system=None)
    print_whole(console, table)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= 60
    cells = [line.split("│")[1].strip() for line in lines if line.startswith("│")]
    assert "".join(cells) == ID
