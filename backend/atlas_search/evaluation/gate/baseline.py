"""The figures of a run in one small file, for a repository to keep: what a later run is held to.

A line is a question: the digest of its text, its figures in the order of `figures`, and who gave
those that a judge or a heuristic can give; where figures of all questions together are wanted, its
outcome too. `seconds` are left out: they are the machine's. Figures stand there in full: rounded,
differences that were the same would no longer be.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.comparison.figures import (
    SECONDS,
    QuestionFigures,
    RunFigures,
    is_of_sets,
    run_figures,
)
from atlas_search.evaluation.metrics.of_sets import Outcome
from atlas_search.evaluation.run import EvalRun, JudgeUsed, RunSpec
from atlas_search.evaluation.scored import MetricsSource, Source

FORM = 2
"""Of the file: what another form holds is not enough, or more than is understood."""


@dataclass(frozen=True)
class Baseline:
    """What a run is held to: the figures of another, what was asked of whom, and who judged."""

    spec: RunSpec
    figures: RunFigures
    metrics_source: MetricsSource
    judge: JudgeUsed | None


_Question = tuple[str, list[float | None], dict[str, Source]]
_WithOutcome = tuple[str, list[float | None], dict[str, Source], Outcome]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    form: int
    spec: RunSpec
    metrics_source: MetricsSource
    judge: JudgeUsed | None
    figures: list[str]
    questions: dict[str, _Question | _WithOutcome]

    @model_validator(mode="before")
    @classmethod
    def _of_this_form(cls, read: Any) -> Any:
        if isinstance(read, dict) and read.get("form", FORM) != FORM:
            raise ValueError(
                f"form {read['form']} is another version's: write it anew with `atlas eval "
                "baseline`"
            )
        return read


def baseline_of(run: EvalRun) -> Baseline:
    """The run itself as what another is held to."""
    return Baseline(run.spec, run_figures(run), run.metrics_source, run.judge)


def write_baseline(run: EvalRun, path: Path, only: Collection[str] = ()) -> None:
    """Write the figures of a run, all or `only` some. The same run gives the same bytes.

    In place of an earlier baseline, but of no other file: then SourceError is raised.
    """
    if path.is_file() and not path.read_bytes().lstrip().startswith(b'{"form":'):
        raise SourceError(f"{path} is there and no baseline, so it stays. Name another file.")
    figures = run_figures(run)
    known = {name for one in figures.values() for name in one.figures} - {SECONDS}
    names = sorted(known & set(only) if only else known)
    spec = json.dumps(run.spec.model_dump(mode="json"), indent=1, sort_keys=True)
    judge = json.dumps(run.judge.model_dump(mode="json") if run.judge else None, sort_keys=True)
    outcomes = not only or any(map(is_of_sets, only))
    lines = (
        f"{json.dumps(id_)}: {_line(one if outcomes else replace(one, outcome=None), names)}"
        for id_, one in figures.items()
    )
    path.write_text(
        f'{{"form": {FORM},\n"spec": {spec},\n"metrics_source": "{run.metrics_source}",\n'
        f'"judge": {judge},\n"figures": {json.dumps(names)},\n"questions": {{\n'
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
            id_: QuestionFigures(
                digest,
                _figures(path, id_, read.figures, values),
                sources,
                *outcome,
            )
            for id_, (digest, values, sources, *outcome) in read.questions.items()
        },
        read.metrics_source,
        read.judge,
    )


def _line(one: QuestionFigures, names: Sequence[str]) -> str:
    values = [one.figures.get(name) for name in names]
    sources = {name: one.sources[name] for name in names if name in one.sources}
    return json.dumps([one.digest, values, sources, *([one.outcome] if one.outcome else [])])


def _figures(
    path: Path, id_: str, names: Sequence[str], values: Sequence[float | None]
) -> dict[str, float]:
    if len(names) != len(values):
        raise SourceError(f"{path}: {id_} has {len(values)} of {len(names)} figures.")
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}
