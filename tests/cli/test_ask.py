"""Filters as they are typed; passages and tables as they are printed."""

from io import StringIO

import pytest
from rich.console import Console
from rich.table import Table

from atlas_search.cli.ask import print_closest, print_passages, print_whole
from atlas_search.cli.options import filters_of
from atlas_search.core.errors import RequestError

WORDING = {
    "unknown_words": [
        {"word": "captial", "suggestions": ["capital"], "searched_as": "capital"},
        {"word": "Mabbo", "suggestions": ["Mabo", "Mambo"], "searched_as": None},
        {"word": "zzzz", "suggestions": [], "searched_as": None},
    ],
    "required_unmet": {"phrases": ["gains tax", "sheep"], "passages": 3, "kept": ["a.b:1-2"]},
}


def test_conditions_become_filters() -> None:
    conditions = ["court=High Court", "date=1960..1969", "tag=a", "tag=b=c", "seats=..5"]
    assert filters_of(conditions) == {
        "court": ["High Court"],
        "date": {"from": "1960", "to": "1969"},
        "tag": ["a", "b=c"],
        "seats": {"to": "5"},
    }


@pytest.mark.parametrize("condition", ["court", "=x", "court="])
def test_a_condition_without_a_field_or_value_is_refused(condition: str) -> None:
    with pytest.raises(RequestError, match="neither FIELD=VALUE"):
        filters_of([condition])


def test_highlights_are_bold_and_what_looks_like_markup_is_text() -> None:
    passage = {
        "passage_id": "a.b:0-9",
        "marker": "[a.b p1]",
        "title": "A [bold]title[/bold]",
        "date": None,
        "url": None,
        "score": 0.5,
        "locator": None,
        "page": 12,
        "printed_page": "xii",
        "section": None,
        "speaker": "Mr X",
        "metadata": {},
        "text": "One. Two [red]words. Three.",
        "highlights": [{"start": 5, "end": 20}],
        "duplicates": ["a.c:0-9"],
        "signals": {"semantic": 0.25},
    }
    counts = {"a": {"kept": 1, "candidates": 2}}
    searched = (
        "Searched 1 of 2 corpora (A [x]): 1 document, 2 passages; no source of this corpus holds "
        "“captial” or “Mabbo” or “zzzz”."
    )
    found = {
        "passages": [passage],
        "scope": {"sentence": searched},
        "retrieval": {"per_corpus": counts, **WORDING},
    }
    console = Console(
        file=StringIO(), record=True, width=80, force_terminal=True, color_system="standard"
    )
    print_passages(console, found, with_signals=True)
    styled = console.export_text(styles=True, clear=False)
    assert "\x1b[1;7mTwo [red]words.\x1b[0m" in styled
    plain = console.export_text()
    for line in (
        "Note: Searched for capital instead of captial.",
        "Note: Did you mean Mabo or Mambo instead of Mabbo?",
        'Note: Passages that hold "gains tax" and "sheep": 3. The others are without.',
        "1. 0.500  [a.b p1]  A [bold]title[/bold]  (without what is required)",
        "p. xii (page 12 of the file)   Mr X",
        "One. Two [red]words. Three.",
        "semantic 0.250",
        "Same text: a.c:0-9",
        searched,
        "a: 1 of 2",
    ):
        assert line in plain.splitlines()
    assert plain.count("zzzz") == 1


@pytest.mark.parametrize(
    ("section", "line"),
    [
        ("Harbour Act > Part 1", "  Harbour Act  Part 1"),
        ("Harbour Act", "  Harbour Act"),
        ("Harbour Act 1990 > Part 1", "  Harbour Act  Harbour Act 1990 > Part 1"),
        (None, "  Harbour Act"),
    ],
)
def test_a_title_is_printed_once(section: str | None, line: str) -> None:
    cited = {"marker": "[a.b p1]", "title": "Harbour Act", "section": section}
    cited |= {"speaker": None, "date": None, "url": None, "quote": "It is so."}
    console = Console(file=StringIO(), record=True, width=80)
    print_closest(console, [cited])
    assert console.export_text().splitlines()[1] == f"  [a.b p1]{line}"


ID = "a_collection_" + "with_a_name_that_is_far_longer_than_most_" * 3 + "end"


def printed(console: Console) -> list[str]:
    """The lines of a table, printed whole."""
    table = Table("Collection", "Version")
    table.add_row(ID, "20260501-120000")
    print_whole(console, table)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_in_a_pipe_no_cell_is_cut_or_folded() -> None:
    console = Console(file=StringIO(), width=60)
    assert any(f"│ {ID} │ 20260501-120000 │" in line for line in printed(console))
    assert console.width == 60


def test_in_a_terminal_a_table_is_folded_to_its_width() -> None:
    lines = printed(Console(file=StringIO(), width=60, force_terminal=True, color_system=None))
    assert max(map(len, lines)) <= 60
    cells = [line.split("│")[1].strip() for line in lines if line.startswith("│")]
    assert "".join(cells) == ID
