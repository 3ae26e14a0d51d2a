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
from atlas_search.core.places import bundled_folder
from atlas_search.core.registry import require
from atlas_search.evaluation.labels.fit import check_labels_fit
from atlas_search.evaluation.labels.label import Split
from atlas_search.evaluation.labels.load import load_labels
from atlas_search.evaluation.report import WIDTH, evaluation_table
from atlas_search.evaluation.run import evaluate
from atlas_search.evaluation.scored import Scored, by_category

LABELS = bundled_folder("samples") / "labels.jsonl"

LabelFile = Annotated[Path, typer.Option(help="Label set (JSONL)")]
TargetChoice = Annotated[str | None, typer.Option("--target", help="Name of a target")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document")]


def run_command(
    context: typer.Context,
    labels: LabelFile = LABELS,
    split: Annotated[str, typer.Option(help="Which part of it")] = Split.TEST,
    target: TargetChoice = None,
    as_json: AsJson = False,
) -> None:
    """Ask every question of a label set and print how good the answers are."""
    require("eval", "An evaluation")
    if context.invoked_subcommand:
        return
    with Atlas.open() as atlas:
        name, _ = atlas.services.target(target)
        questions = load_labels(labels, split)
        check_labels_fit(atlas, questions, labels)
        scored = evaluate(atlas, questions, name, date.today())
    if as_json:
        print(json.dumps(_plain(scored), indent=2))
    else:
        Console(width=WIDTH).print(evaluation_table(f"{name}, {split} split", scored))


def _plain(scored: Sequence[Scored]) -> dict[str, dict[str, dict[str, float]]]:
    return {
        group: {name: asdict(figure) for name, figure in summary.items()}
        for group, summary in by_category(scored).items()
    }
