"""`atlas eval export`: a run as a data set for other tools."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from atlas_search.cli.evaluation.options import RunName
from atlas_search.cli.evaluation.run_folders import load_run
from atlas_search.evaluation.exports import left_out, write_export


class DataSet(StrEnum):
    """Who reads it."""

    RAGAS = "ragas"
    DEEPEVAL = "deepeval"
    TREC = "trec"


def export_command(
    run: RunName,
    file: Annotated[Path, typer.Argument(help="File to write; trec adds FILE.qrels")],
    format_: Annotated[DataSet, typer.Option("--format", help="For whom")],
) -> None:
    """Write a run as a data set that another tool of evaluation reads."""
    loaded = load_run(run)
    paths = write_export(loaded, format_, file)
    failed = left_out(loaded)
    remark = f" {failed} questions failed and are left out." if failed else ""
    print(f"Written: {', '.join(map(str, paths))}.{remark}", file=sys.stderr)
