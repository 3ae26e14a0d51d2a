"""`atlas eval phoenix`: runs of the same labels side by side in Phoenix."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from atlas_search.cli.asking_bar import asking_bar
from atlas_search.cli.evaluation.options import RUN_NAME
from atlas_search.cli.evaluation.run_folders import run_folder
from atlas_search.core.registry import require
from atlas_search.core.settings import load_settings
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.phoenix.api import PhoenixApi, configured_phoenix
from atlas_search.evaluation.phoenix.evaluations import MOST
from atlas_search.evaluation.phoenix.shown import shown_by
from atlas_search.evaluation.phoenix.upload import upload_runs

TRIES = 6


def phoenix_command(
    runs: Annotated[list[str], typer.Argument(help=f"{RUN_NAME}; several of the same labels")],
    name: Annotated[
        str, typer.Option(help="Of the dataset (default: that of the labels' file)")
    ] = "",
) -> None:
    """Upload labels as a dataset and each run as an experiment, and print where to compare them."""
    require("eval", "An evaluation")
    print(show_in_phoenix([RunFolder(run_folder(run)) for run in runs], name))


def show_in_phoenix(folders: Sequence[RunFolder], name: str = "") -> str:
    """Upload runs; the address of the page that compares them. Raises AtlasError.

    What is not uploaded is said on stderr.
    """
    settings = load_settings()
    at, shown = configured_phoenix(settings), shown_by(settings)
    with PhoenixApi(at.base, at.headers, tries=TRIES) as api:
        uploaded = upload_runs(folders, api, shown, asking_bar, name)
    if uploaded.left_out:
        names = ", ".join(sorted(uploaded.left_out))
        print(f"Phoenix shows {MOST} figures of a question. Left out: {names}.", file=sys.stderr)
    if not shown.content:
        print("TRACE_CONTENT=0: ids and figures were uploaded, no texts.", file=sys.stderr)
    return uploaded.page(settings.phoenix_url or at.base)
