"""`atlas eval rate`: a page where people rate the answers of a run."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from atlas_search.cli.evaluation.local_page import Browser, Port, new_key, show_page
from atlas_search.cli.evaluation.options import RunName
from atlas_search.cli.evaluation.run_folders import run_folder
from atlas_search.cli.main import stop_on_signal
from atlas_search.core.errors import SourceError
from atlas_search.core.logs import set_up_logs
from atlas_search.core.settings import load_settings
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.people.ratings import Ratings
from atlas_search.evaluation.people.scales import read_scales
from atlas_search.server.labelling import RATING_ROUTES, Rated, page_app, rating_blueprint


def rate_command(
    run: RunName,
    scales: Annotated[
        str | None,
        typer.Option(help="`relevance,accuracy:1-3`, or a TOML file; those used before if absent"),
    ] = None,
    raters: Annotated[
        str, typer.Option(help="Names, divided by commas; whoever gives a name if absent")
    ] = "",
    seed: Annotated[int, typer.Option(help="Of each rater's order of the answers")] = 0,
    port: Port = None,
    browser: Browser = True,
) -> None:
    """Open a page to rate the answers of a run, without their target's name. Ctrl-C ends it."""
    stop_on_signal()
    settings = load_settings()
    set_up_logs(settings)
    folder = run_folder(run)
    rated = rated_answers(folder)
    ratings = Ratings(folder)
    chosen = read_scales(scales) if scales else ratings.scales()
    ratings.begin(chosen)
    print(f"{folder}: {len(rated)} answers, {len(ratings.all())} ratings.", file=sys.stderr)
    names = [name for part in raters.split(",") if (name := " ".join(part.split()))]
    blueprint = rating_blueprint(ratings, rated, [scale.name for scale in chosen], names, seed)
    key = new_key()
    app = page_app("rate.html", settings, key, {blueprint: RATING_ROUTES})
    show_page(app, key, folder, port, browser=browser)


def rated_answers(folder: Path) -> list[Rated]:
    """The answers of a run, finished or not. Raises SourceError if it has none."""
    run = RunFolder(folder)
    run.spec()
    replies = run.replies()
    found = [
        Rated(label, reply.answer)
        for label in run.labels()
        if (reply := replies.get(label.id)) and reply.answer
    ]
    if not found:
        raise SourceError(f"{folder} has no answers to rate: nothing was asked, or only searched.")
    return found
