"""`atlas eval gate` and `atlas eval baseline`: is a run good enough, and no worse than before?"""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from atlas_search.cli.ask import print_whole, printable, printable_json
from atlas_search.cli.evaluation.options import RunName
from atlas_search.cli.evaluation.run_folders import load_run
from atlas_search.cli.options import AsJson
from atlas_search.core.errors import SourceError
from atlas_search.evaluation.comparison.texts import change_text, p_text, pairs_text
from atlas_search.evaluation.gate.baseline import (
    Baseline,
    baseline_of,
    read_baseline,
    write_baseline,
)
from atlas_search.evaluation.gate.gate import Check, Gate, gate
from atlas_search.evaluation.gate.rules import read_rules

FAILED, BROKEN = 1, 2
"""Exit codes: of a run that does not pass, and of rules or runs that cannot be read."""


def gate_command(
    run: RunName,
    rules: Annotated[Path, typer.Option(help="File of rules (TOML)")],
    against: Annotated[
        str | None, typer.Option(help="Another run, or a file that `atlas eval baseline` wrote")
    ] = None,
    allow_fewer: Annotated[
        bool, typer.Option("--allow-fewer", help="Than the baseline has: only those in both count")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Checks that passed too")] = False,
    as_json: AsJson = False,
) -> None:
    """Hold a run to rules. Exit code 1 if it fails one, 2 if rules or runs are broken."""
    try:
        baseline = _baseline(against) if against else None
        found = gate(load_run(run), read_rules(rules), baseline, allow_fewer=allow_fewer)
    except SourceError as error:
        print(f"atlas: {error}", file=sys.stderr)
        raise typer.Exit(BROKEN) from error
    if as_json:
        print(printable_json(_plain(found)))
    else:
        _print(found, compared=baseline is not None, every=every)
    if found.failed:
        raise typer.Exit(FAILED)


def baseline_command(
    run: RunName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="To write (JSON)")],
    rules: Annotated[
        Path | None, typer.Option(help="Only the figures that these rules compare (TOML)")
    ] = None,
) -> None:
    """Write the figures of a run to one small file that later runs can be held to."""
    loaded = load_run(run)
    write_baseline(loaded, file, read_rules(rules).compared if rules else ())
    print(f"{file}: the figures of {len(loaded.scored)} questions.", file=sys.stderr)


def _baseline(name: str) -> Baseline:
    path = Path(name)
    return read_baseline(path) if path.is_file() else baseline_of(load_run(name))


def _plain(found: Gate) -> dict[str, Any]:
    """A gate as values of JSON; pairs and changes as `atlas eval compare` has them."""
    return {
        "passed": not found.failed,
        "checks": [asdict(check) for check in found.checks],
        "questions_in_common": len(found.pairs.common),
        "left_out": {
            "only_a": found.pairs.only_a,
            "only_b": found.pairs.only_b,
            "reworded": found.pairs.reworded,
        },
        "gaps": list(found.gaps),
        "basis": [asdict(change) for change in found.basis],
        "options": [asdict(change) for change in found.options],
    }


def _print(found: Gate, *, compared: bool, every: bool) -> None:
    console = Console()
    if compared:
        lines = [
            pairs_text(found.pairs, "the baseline", "the run"),
            *found.gaps,
            *(f"Not the same: {change_text(change)}" for change in found.basis),
            *(f"Option {change_text(change)}" for change in found.options),
        ]
        for line in lines:
            console.print(escape(str(printable(line))), highlight=False)
    shown = found.checks if every else found.failed
    if shown:
        print_whole(console, _table(shown))
    failed, all_ = len(found.failed), len(found.checks)
    console.print(f"{failed or 'None'} of {all_} checks failed.", highlight=False)


def _table(checks: list[Check] | tuple[Check, ...]) -> Table:
    right = [Column(head, justify="right") for head in ("n", "value", "corrected p")]
    table = Table("slice", "figure", "rule", *right, "needed", "", box=None, padding=(0, 1, 0, 0))
    for check in checks:
        cells = (check.slice, check.figure, check.need, str(check.questions))
        told = (f"{check.value:.3f}", p_text(check.p) if check.need == "significant" else "")
        passed = "passed" if check.passed else "FAILED"
        table.add_row(*(escape(printable(c)) for c in (*cells, *told, check.needed, passed)))
    return table
