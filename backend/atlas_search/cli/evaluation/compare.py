"""`atlas eval compare`: what changed from one run to another."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from atlas_search.cli.ask import print_whole, printable, printable_json
from atlas_search.cli.evaluation.options import RUN_NAME
from atlas_search.cli.evaluation.run_folders import load_run
from atlas_search.cli.options import AsJson
from atlas_search.evaluation.comparison.compare import Comparison, compare
from atlas_search.evaluation.comparison.differences import ALPHA
from atlas_search.evaluation.comparison.texts import (
    HEADS,
    MEANING,
    conclusion,
    heading,
    markdown,
    question_lines,
    row,
)


def compare_command(
    a: Annotated[str, typer.Argument(metavar="A", help=RUN_NAME)],
    b: Annotated[str, typer.Argument(metavar="B", help=RUN_NAME)],
    every: Annotated[bool, typer.Option("--all", help="Figures that do not differ too")] = False,
    alpha: Annotated[
        float, typer.Option(min=0, max=1, help="Corrected p value below which figures differ")
    ] = ALPHA,
    as_json: AsJson = False,
    file: Annotated[
        Path | None, typer.Option("--markdown", help="Write all of it to this file, too")
    ] = None,
) -> None:
    """Compare run B with run A: figures that differ by more than chance, and changed questions."""
    found = compare(load_run(a), load_run(b), alpha=alpha)
    if file:
        file.write_text(markdown(found), encoding="utf-8")
    if as_json:
        print(printable_json(plain_comparison(found)))
    else:
        _print(found, every=every)


def plain_comparison(found: Comparison) -> dict[str, Any]:
    """A comparison as values of JSON: the runs by what was asked of them."""
    specs = {"a": found.a.model_dump(mode="json"), "b": found.b.model_dump(mode="json")}
    return {
        **specs,
        "alpha": found.alpha,
        "questions_in_common": len(found.pairs.common),
        "left_out": {
            "only_a": found.pairs.only_a,
            "only_b": found.pairs.only_b,
            "reworded": found.pairs.reworded,
        },
        "gaps": list(found.gaps),
        "basis": [asdict(change) for change in found.basis],
        "options": [asdict(change) for change in found.options],
        "differences": [asdict(difference) for difference in found.differences],
        "questions": [asdict(question) for question in found.questions],
    }


def _print(found: Comparison, *, every: bool) -> None:
    console = Console()
    for line in heading(found):
        console.print(_text(line), highlight=False)
    console.print(f"\n{conclusion(found)}", highlight=False)
    significant = found.significant
    others = [one for one in found.differences if one not in significant] if every else []
    if significant or others:
        print_whole(console, _table([row(one) for one in (*significant, *others)]))
        console.print(MEANING, highlight=False)
    for question in found.questions:
        first, *rest = question_lines(question)
        console.print(f"\n{_text(first)}", highlight=False)
        for line in rest:
            console.print(f"  {_text(line)}", highlight=False)


def _table(rows: list[tuple[str, ...]]) -> Table:
    sides = ("left", "left", *["right"] * (len(HEADS) - 3), "left")
    heads = [Column(head, justify=side) for head, side in zip(HEADS, sides, strict=True)]  # type: ignore[arg-type]
    table = Table(*heads, box=None, padding=(0, 1, 0, 0))
    for cells in rows:
        table.add_row(*map(_text, cells))
    return table


def _text(text: str) -> str:
    return escape(str(printable(text)))
