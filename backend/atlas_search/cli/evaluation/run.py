"""`atlas eval`: how good a target is."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from atlas_search.atlas import Atlas
from atlas_search.cli.evaluation.labels import choose_labels
from atlas_search.core.places import bundled_folder
from atlas_search.evaluation.labels.documents import OpenCollection
from atlas_search.evaluation.report import WIDTH, evaluation_table
from atlas_search.evaluation.run import evaluate
from atlas_search.evaluation.scored import Scored, by_category

LABELS = bundled_folder("samples") / "labels.jsonl"

LabelFile = Annotated[Path, typer.Option(help="Label set: JSON, JSONL, CSV, TSV, or a BEIR folder")]
TargetChoice = Annotated[str | None, typer.Option("--target", help="Name of a target")]
UnknownGold = Annotated[bool, typer.Option(help="Go on though the collection lacks gold documents")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document")]


def run_command(
    context: typer.Context,
    labels: LabelFile = LABELS,
    split: Annotated[
        str | None,
        typer.Option(help="Which part of it, or `all` (default: `test` if there is one)"),
    ] = None,
    allow_unknown_gold: UnknownGold = False,
    target: TargetChoice = None,
    as_json: AsJson = False,
) -> None:
    """Ask every question of a label set and print how good the answers are."""
    if context.invoked_subcommand:
        return
    with Atlas.open() as atlas:
        name, _ = atlas.services.target(target)
        chosen, questions = choose_labels(
            labels, split, OpenCollection(atlas), allow_unknown_gold=allow_unknown_gold
        )
        scored = evaluate(atlas, questions, name, date.today())
    if as_json:
        print(json.dumps(_plain(scored), indent=2))
    else:
        title = f"{name}, {chosen} split" if chosen else name
        Console(width=WIDTH).print(evaluation_table(title, scored))


def _plain(scored: Sequence[Scored]) -> dict[str, dict[str, dict[str, float]]]:
    return {
        group: {name: asdict(figure) for name, figure in summary.items()}
        for group, summary in by_category(scored).items()
    }
