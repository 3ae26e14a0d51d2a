"""`atlas eval export`: a run as a data set for other tools."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from atlas_search.cli.evaluation.options import RunName
from atlas_search.cli.evaluation.run_folders import run_folder
from atlas_search.evaluation.exports import left_out, replied, write_export
from atlas_search.evaluation.folder import RunFolder


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
    folder = RunFolder(run_folder(run))
    came = replied(folder)
    paths = write_export(came, format_, file)
    unasked = len(folder.labels()) - len(came.scored)
    lines = [f"Written: {', '.join(map(str, paths))}."]
    if failed := left_out(came):
        lines.append(f"Left out: {failed} that failed.")
    if unasked:
        lines.append(f"Left out: {unasked} that were not asked.")
    print(*lines, file=sys.stderr)
