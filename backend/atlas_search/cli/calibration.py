"""`atlas calibrate`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from atlas_search.atlas import Atlas
from atlas_search.cli.asking_bar import asking_bar
from atlas_search.cli.options import AsJson, TargetChoice
from atlas_search.evaluation.calibration import LOSE, calibrate, keep
from atlas_search.evaluation.labels.documents import OpenCollection
from atlas_search.evaluation.labels.fit import fit_labels
from atlas_search.evaluation.labels.label import Split
from atlas_search.evaluation.labels.load import read_labels
from atlas_search.evaluation.questions import Questions, labelled_questions, make_questions
from atlas_search.evaluation.report import calibration_text

MADE = 300
"""Questions made from a collection that has no labels."""


def calibrate_command(
    collection: Annotated[
        str, typer.Argument(help="Name of a collection (default: the configured one)")
    ] = "",
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Label set, of which the dev split is asked; default: questions "
            "made from the collection, and everyday ones"
        ),
    ] = None,
    questions: Annotated[
        int, typer.Option(min=1, help="Questions to make from the collection")
    ] = MADE,
    lose: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Share of good questions that may be lost")
    ] = LOSE,
    target: TargetChoice = None,
    as_json: AsJson = False,
    dry_run: Annotated[bool, typer.Option(help="Write nothing")] = False,
) -> None:
    """Choose how much evidence an answer needs, and keep it in the collection's manifest."""
    with Atlas.open(collection) as atlas:
        services = atlas.services
        asked = (
            _read_labelled(atlas, labels) if labels else make_questions(services.store, questions)
        )
        name, by = services.target(target)
        with asking_bar() as told:
            found = calibrate(atlas, asked, name, lose, datetime.now(UTC), told)
    manifest = services.store.manifest
    if not dry_run:
        keep(services.settings.collection_folder, manifest.version, found)
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        before = services.answerer.threshold(by.model_copy(update={"answer_threshold": None}))
        print(calibration_text(manifest.collection, found, before, kept=not dry_run))


def _read_labelled(atlas: Atlas, path: Path) -> Questions:
    found = read_labels(path).of_split(Split.DEV)
    return labelled_questions(fit_labels(found, OpenCollection(atlas)).labels)
