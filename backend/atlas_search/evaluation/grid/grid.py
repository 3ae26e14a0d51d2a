"""A grid: a run of every configuration over every split, in one folder.

`grid.json` says which runs there are, `targets` holds a target file for each configuration, and
each run has a folder of its own. One collection is open for all, and each model is opened once.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from atlas_search.atlas import Atlas
from atlas_search.core.errors import AtlasError, SourceError
from atlas_search.core.settings import Settings
from atlas_search.evaluation.ask_all import Told
from atlas_search.evaluation.folder import AtWork, RunFolder
from atlas_search.evaluation.grid.configuration import Axes, Configuration, configurations
from atlas_search.evaluation.grid.target_files import write_targets
from atlas_search.evaluation.run import run_id
from atlas_search.evaluation.runs.begin import Questions, Wanted, begin_run, check_same
from atlas_search.evaluation.runs.carry_out import Outcome, carry_out, so_far
from atlas_search.evaluation.runs.here import ProcessSubject
from atlas_search.evaluation.runs.subject import Subject
from atlas_search.evaluation.whole import new_folder
from atlas_search.providers.embedding import Embedder
from atlas_search.services import load_targets

_log = logging.getLogger(__name__)

GRID, TARGETS = "grid.json", "targets"

Bar = Callable[[str], AbstractContextManager[Told]]
"""Shows how far a run is, by the name of its folder."""


class GridRun(BaseModel):
    """A configuration over a split; `folder` is the name of its run's below the grid's."""

    model_config = ConfigDict(frozen=True)

    folder: str
    split: str
    configuration: Configuration


class GridSpec(BaseModel):
    """Which runs a grid has, in the order of its table."""

    model_config = ConfigDict(frozen=True)

    started: datetime
    collection: str
    runs: tuple[GridRun, ...]
    command: str = ""


@dataclass(frozen=True)
class Cell:
    """A run of a grid, and what came of it."""

    run: GridRun
    outcome: Outcome


@dataclass(frozen=True)
class Grid:
    """The folder of a grid."""

    path: Path

    def spec(self) -> GridSpec:
        """Its runs. Raises SourceError if this is no grid."""
        path = self.path / GRID
        try:
            return GridSpec.model_validate_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:  # what is no text, no JSON or no such object
            raise SourceError(f"{self.path} is no grid: {path.name}: {error}") from error

    def run_folder(self, run: GridRun) -> RunFolder:
        """That of one of its runs."""
        return RunFolder(self.path / run.folder)

    @contextmanager
    def beginning(self) -> Iterator["Grid"]:
        """The grid while it is made elsewhere: it is in its folder when the block has ended, and
        nowhere if that fails.

        Raises AtlasError if the folder holds a grid already, or anything else.
        """
        if (self.path / GRID).exists():
            raise AtlasError(
                f"{self.path} holds a grid already. Go on with it with `atlas eval grid --resume "
                f"{self.path}`, or name another folder."
            )
        with new_folder(self.path, last=GRID) as made:
            yield Grid(made)

    def write_targets(self, axes: Axes, settings: Settings) -> list[Configuration]:
        """Make a target of each configuration; all of them, in order.

        Raises RequestError for what cannot be combined.
        """
        found = configurations(axes, load_targets(settings))
        targets = {configuration.name: target for configuration, target in found.items()}
        write_targets(self.path / TARGETS, targets, settings.targets_directory)
        return list(found)

    @contextmanager
    def opened(
        self, collection: str, first: Configuration, embedder: Embedder | None = None
    ) -> Iterator[Atlas]:
        """A collection with the targets of the grid, the `first` by default."""
        targets = (self.path / TARGETS).absolute()
        with Atlas.open(
            collection, embedder=embedder, targets_directory=targets, test_target=first.name
        ) as atlas:
            yield atlas


def begin_grid(
    grid: Grid,
    atlas: Atlas,
    chosen: Sequence[Configuration],
    questions: Mapping[str, Questions],
    wanted: Wanted,
) -> GridSpec:
    """Begin the run of every configuration over the questions of every split, by its name."""
    runs = []
    for split, asked in questions.items():
        for configuration in chosen:
            run = GridRun(
                folder=f"{configuration.name}-{split}", split=split, configuration=configuration
            )
            subject = ProcessSubject(atlas, configuration.name)
            begin_run(grid.run_folder(run), subject, asked, replace(wanted, id=run_id()))
            runs.append(run)
    spec = GridSpec(
        started=datetime.now().astimezone(),
        collection=atlas.services.settings.chroma_collection_name,
        runs=tuple(runs),
        command=wanted.command,
    )
    (grid.path / GRID).write_text(spec.model_dump_json(indent=2), encoding="utf-8")
    return spec


def carry_out_grid(
    grid: Grid, atlas: Atlas, bar: Bar, *, parallel: int | None = None
) -> Iterator[Cell]:
    """Carry out one run after the other, or what they lack.

    After an interrupt nothing more is asked: those that follow are given as far as they came
    before, without those that have no figures. Raises AtlasError if a run may not go on, for its
    target or questions are others now.
    """
    stopped = False
    for run in grid.spec().runs:
        folder = grid.run_folder(run)
        if stopped:
            before = so_far(folder)
            if before.run.scored:
                yield Cell(run, before)
            continue
        outcome = _finished(folder)
        if not outcome:
            subject = ProcessSubject(atlas, run.configuration.name)
            check_same(folder, subject)
            with bar(run.folder) as told:
                outcome = _carried_out(folder, subject, parallel, told)
        yield Cell(run, outcome)
        stopped = outcome.stopped


def _carried_out(folder: RunFolder, subject: Subject, parallel: int | None, told: Told) -> Outcome:
    """What comes of a run; one that fails is given as far as it came, and costs no other."""
    try:
        return carry_out(folder, subject, parallel=parallel, told=told)
    except AtWork:
        raise
    except Exception as error:
        if not isinstance(error, AtlasError):
            _log.exception("%s failed.", folder.path)
        before = so_far(folder)
        failed = f"It ended early: {folder.troubles().get('run', error)}"
        return replace(before, troubles=(*before.troubles, failed))


def _finished(folder: RunFolder) -> Outcome | None:
    """What came of a run that lacks nothing; None for any other."""
    outcome = so_far(folder)
    return outcome if outcome.complete and not outcome.troubles else None
