"""The runs that a report tells of, as far as they came."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.folder import RUN, Part, RunFolder
from atlas_search.evaluation.grid.grid import GRID, Grid
from atlas_search.evaluation.metrics.catalogue import FAILED
from atlas_search.evaluation.run import EvalRun, RunSpec
from atlas_search.evaluation.scored import Scored

_PARTS: dict[Part, str] = {
    "run": "The run ended early",
    "judge": "Not judged",
    "audit": "The index was not audited",
}


@dataclass(frozen=True)
class ReportedRun:
    """A run with every question that has a reply.

    `unasked` questions have none. `unjudged` ones have a reply and no figures: the process was
    ended before it judged them. `troubles` say what else failed, `damage` what of it
    cannot be read.
    """

    name: str
    run: EvalRun
    unasked: int
    unjudged: int
    troubles: tuple[str, ...] = ()
    damage: tuple[str, ...] = ()

    @property
    def spec(self) -> RunSpec:
        """What was asked of whom."""
        return self.run.spec

    @property
    def scored(self) -> tuple[Scored, ...]:
        """How each question went."""
        return self.run.scored

    @property
    def k(self) -> int | None:
        """How many passages were wanted; None if the run does not say it."""
        said = self.spec.k or self.spec.options.get("search_k")
        return int(said) if said else None


def read_runs(paths: Sequence[Path]) -> list[ReportedRun]:
    """The runs of these folders, and of the grids among them. Raises SourceError."""
    if len(paths) == 1 and _is_grid(paths[0]):
        folders = _folders(paths[0])
        names = _without_common_start([folder.name for folder in folders])
    else:
        folders = [found for path in paths for found in _folders(path)]
        names = _names(folders)
    return [_read(RunFolder(folder), name) for folder, name in zip(folders, names, strict=True)]


def _is_grid(path: Path) -> bool:
    return (path / GRID).is_file() and not (path / RUN).is_file()


def _folders(path: Path) -> list[Path]:
    if not _is_grid(path):
        return [path]
    runs = (path / run.folder for run in Grid(path).spec().runs)
    return [run for run in runs if (run / RUN).is_file()]


def _without_common_start(names: Sequence[str]) -> list[str]:
    """What tells them apart: `target_k3-dev`, `target_k5-dev` without `target_`."""
    same = ""
    for part in names[0].split("_")[:-1] if len(names) > 1 else ():
        if not all(name.startswith(f"{same}{part}_") for name in names):
            break
        same += f"{part}_"
    return [name.removeprefix(same) for name in names]


def _names(folders: Sequence[Path]) -> list[str]:
    """Those of the folders, with their parents' where two have the same."""
    names = [folder.absolute().name for folder in folders]
    return [
        name if names.count(name) == 1 else f"{folder.absolute().parent.name}/{name}"
        for folder, name in zip(folders, names, strict=True)
    ]


def _read(folder: RunFolder, name: str) -> ReportedRun:
    damaged: list[str] = []
    spec, labels, replies = folder.spec(), folder.labels(_unheard), folder.replies(_unheard)
    loaded = folder.load(lambda error: damaged.append(str(error)))
    judged = {one.label.id: _with_numbers(one) for one in loaded.scored}
    scored = tuple(
        judged.get(label.id) or Scored(label, reply, {FAILED.name: float(bool(reply.error))})
        for label in labels
        if (reply := replies.get(label.id))
    )
    return ReportedRun(
        name=name,
        run=EvalRun(spec, scored),
        unasked=len(labels) - len(scored),
        unjudged=sum(one.label.id not in judged and not one.reply.error for one in scored),
        troubles=tuple(_failed(folder)),
        damage=tuple(dict.fromkeys(damaged)),
    )


def _failed(folder: RunFolder) -> list[str]:
    return [f"{_PARTS[part]}: {why}" for part, why in folder.troubles().items()]


def _unheard(_: SourceError) -> None:
    """The run that is loaded tells it."""


def _with_numbers(one: Scored) -> Scored:
    """Without figures that are none: what is no number says nothing of a question."""
    return replace(one, figures={n: value for n, value in one.figures.items() if isfinite(value)})
