"""`atlas eval label`: a page where somebody writes labels."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from atlas_search.atlas import Atlas
from atlas_search.cli.evaluation.local_page import Browser, Port, new_key, show_page
from atlas_search.cli.main import stop_on_signal
from atlas_search.core.logs import set_up_logs
from atlas_search.evaluation.people.label_file import LabelFile
from atlas_search.server.labelling import LABEL_ROUTES, SEARCH_ROUTES, label_blueprint, page_app
from atlas_search.server.search import search_blueprint

LABELS = Path("data/labels.jsonl")


def label_command(
    labels: Annotated[Path, typer.Option(help="Label set to write (JSONL)")] = LABELS,
    collection: Annotated[
        str, typer.Option(help="Collection to search; the configured one if absent")
    ] = "",
    port: Port = None,
    browser: Browser = True,
) -> None:
    """Open a page to ask, mark passages and words that answer, and save labels. Ctrl-C ends it."""
    stop_on_signal()
    file = LabelFile(labels)
    with Atlas.open(collection) as atlas:
        settings = atlas.services.settings
        set_up_logs(settings)
        print(f"{labels}: {len(file.saved())} labels.", file=sys.stderr)
        key = new_key()
        blueprints = {
            label_blueprint(atlas, file): LABEL_ROUTES,
            search_blueprint(lambda: atlas): SEARCH_ROUTES,
        }
        app = page_app("label.html", settings, key, blueprints)
        show_page(app, key, labels, port, browser=browser)
