"""The figures of a run in one small file, for a repository to keep: what a later run is held to.

A line is a question: the digest of its text and its figures, in the order of `figures`. `seconds`
are left out: they are the machine's.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.comparison.figures import (
    SECONDS,
    QuestionFigures,
    RunFigures,
    run_figures,
)
from atlas_search.evaluation.run import EvalRun, RunSpec

DIGITS = 6
"""Of a figure: what is lost is less than what is taken for a difference."""


@dataclass(frozen=True)
class Baseline:
    """What a run is held to: the figures of another, and what was asked of whom."""

    spec: RunSpec
    figures: RunFigures


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    form: Literal[1]
    spec: RunSpec
    figures: list[str]
    questions: dict[str, tuple[str, list[float | None]]]


def baseline_of(run: EvalRun) -> Baseline:
    """The run itself as what another is held to."""
    return Baseline(run.spec, run_figures(run))


def write_baseline(run: EvalRun, path: Path, only: Collection[str] = ()) -> None:
    """Write the figures of a run, all or `only` some. The same run gives the same bytes."""
    figures = run_figures(run)
    known = {name for one in figures.values() for name in one.figures} - {SECONDS}
    names = sorted(known & set(only) if only else known)
    spec = json.dumps(run.spec.model_dump(mode="json"), indent=1, sort_keys=True)
    lines = (f"{json.dumps(id_)}: {_line(one, names)}" for id_, one in figures.items())
    path.write_text(
        f'{{"form": 1,\n"spec": {spec},\n"figures": {json.dumps(names)},\n"questions": {{\n'
        + ",\n".join(lines)
        + "\n}}\n",
        encoding="utf-8",
    )


def read_baseline(path: Path) -> Baseline:
    """What `write_baseline` wrote. Raises SourceError."""
    try:
        read = _File.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} is no baseline of an evaluation: {error}") from error
    return Baseline(
        read.spec,
        {
            id_: QuestionFigures(digest, _figures(path, id_, read.figures, values))
            for id_, (digest, values) in read.questions.items()
        },
    )


def _line(one: QuestionFigures, names: Sequence[str]) -> str:
    values = [one.figures.get(name) for name in names]
    return json.dumps([one.digest, [v if v is None else round(v, DIGITS) for v in values]])


def _figures(
    path: Path, id_: str, names: Sequence[str], values: Sequence[float | None]
) -> dict[str, float]:
    if len(names) != len(values):
        raise SourceError(f"{path}: {id_} has {len(values)} of {len(names)} figures.")
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}
