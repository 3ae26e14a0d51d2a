"""`atlas eval report`: the reports of runs, written again."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from atlas_search.cli.evaluation.options import RUN_NAME
from atlas_search.cli.evaluation.run_folders import run_folder
from atlas_search.core.errors import RequestError
from atlas_search.core.registry import require


def report_command(
    runs: Annotated[
        list[str], typer.Argument(help=f"{RUN_NAME}, or of a grid; several stand side by side")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder (default: that of the one run or grid)")
    ] = None,
) -> None:
    """Write results.json, per_question.csv, report.md and report.html of runs."""
    require("eval", "An evaluation")
    from atlas_search.evaluation.reports.write import write_reports

    if len(runs) > 1 and out is None:
        raise RequestError("Several runs have no folder in common. Name one with --out.")
    written = write_reports(*map(run_folder, runs), out=out)
    print(*written.remarks, sep="\n", file=sys.stderr)
    sys.exit(bool(written.faults))
