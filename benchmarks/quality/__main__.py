"""The command; the package says what it does."""

import json
import os
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from atlas_search.core.settings import load_settings
from atlas_search.providers.open import open_embedder
from benchmarks.quality.asking import ask
from benchmarks.quality.collection import build_collection, open_collection
from benchmarks.quality.figures import figures
from benchmarks.quality.records import GroupReader
from benchmarks.quality.sets import Split, read_sets, sampled
from benchmarks.quality.tables import as_json, tables

WIDTH = 150
"""Columns of the tables where the output is no terminal."""


def main(
    data: Annotated[Path, typer.Option(help="Folder with a sub-folder for each test set")],
    queries: Annotated[
        int, typer.Option(min=0, help="Questions of each set, always the same; 0 for all")
    ] = 500,
    split: Annotated[Split, typer.Option(help="Half of the questions; tune on `dev` only")] = "all",
    store: Annotated[Path, typer.Option(help="Folder of the collection")] = Path("data/bench"),
    shown: Annotated[
        bool, typer.Option(help="Also measure what a search returns in the end")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Where to write the figures as JSON")
    ] = None,
) -> None:
    """Build what has changed, ask, print."""
    console = Console() if Console().is_terminal else Console(width=WIDTH)
    sets = read_sets(data)
    embedder = open_embedder(load_settings())
    reader = GroupReader()
    with console.status("Building") as status:
        built = build_collection(
            store,
            sets,
            embedder,
            reader,
            lambda stage, done, total: status.update(f"{stage}: {done} of {total}"),
        )
    console.print(
        f"{built.manifest.passages} passages of {built.manifest.documents} documents; "
        f"{built.embedded} embedded in {built.seconds:.1f} s"
    )
    started = time.perf_counter()
    rankings = []
    with open_collection(store, sets, embedder) as collection:
        for test_set in sets:
            asked = track(
                sampled(test_set.queries, queries, split),
                test_set.name,
                console=console,
                transient=True,
                disable=not console.is_terminal,
            )
            rankings += ask(collection, test_set, asked, shown=shown)
    console.print(f"Asked in {time.perf_counter() - started:.1f} s; nothing leaked.")
    found = figures(rankings)
    for table in tables(*found):
        console.print(table)
    if json_file:
        asked_for = {"queries": queries, "split": split}
        written = json.dumps(asked_for | as_json(*found), indent=1)
        json_file.write_text(f"{written}\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    typer.run(main)
