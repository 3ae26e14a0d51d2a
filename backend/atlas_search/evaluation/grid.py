"""A grid: several configurations run over one label set, and their table."""

import csv
import io
import logging
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import starmap
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from rich.table import Column, Table
from rich.text import Text

from atlas_search.atlas import Atlas
from atlas_search.core.errors import AtlasError, RequestError, SourceError
from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.evaluation.asking import Progress, Told
from atlas_search.evaluation.carry_out import (
    Ends,
    Operations,
    ProcessSubject,
    RunOutcome,
    RunQuestions,
    RunRequest,
    Subject,
    begin_run,
    carry_out,
    check_same,
    operations,
    so_far,
)
from atlas_search.evaluation.folder import AtWork, RunFolder, new_folder
from atlas_search.evaluation.run import EvalRun, run_id
from atlas_search.evaluation.scored import summarise, with_ends
from atlas_search.evaluation.statistics import Figure
from atlas_search.providers.open import EXTRACTIVE
from atlas_search.services import load_targets


def write_targets(folder: Path, targets: Mapping[str, Target], prompts: Path) -> None:
    """Write target files by name, all values in each, with those of `prompts` that they use."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, target in targets.items():
        (folder / f"{name}.txt").write_text(target_file(target), encoding="utf-8")
        prompt = prompts / f"{target.system_prompt}.prompt"
        if prompt.is_file():
            shutil.copyfile(prompt, folder / prompt.name)


def target_file(target: Target) -> str:
    """A target as the text of its file. What has no value is left out."""
    values = target.model_dump().items()
    return "".join(
        f"{key.upper()}={_written(value)}\n" for key, value in values if value is not None
    )


def _written(value: object) -> str:
    if not isinstance(value, str):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'" if value else ""


_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9._-]+")  # of a model's name: `org/model:7b`


class Configuration(BaseModel):
    """A target, and what is changed in it; None: it is as the target says."""

    model_config = ConfigDict(frozen=True)

    target: str
    k: int | None = None
    model: str | None = None
    reranker: str | None = None
    balance: str | None = None

    @property
    def name(self) -> str:
        """Name of its own target: fit for a file."""
        k = f"k{self.k}" if self.k else None
        parts = (self.target, k, self.model, self.reranker, self.balance)
        return _NOT_IN_FILE_NAMES.sub("-", "_".join(part for part in parts if part))

    def of(self, target: Target) -> Target:
        """The target with its changes. Raises RequestError for one it cannot have."""
        if self.model and target.llm_provider == EXTRACTIVE:
            raise RequestError(
                f"The target {self.target} answers in the sources' own sentences: {self.model} "
                "would not be asked. Name a target with a language model."
            )
        try:
            return Target.model_validate(target.model_dump() | self._changes())
        except ValidationError as error:
            first = error.errors()[0]
            raise RequestError(f"{first['loc'][0]}={first['input']!r}: {first['msg']}.") from error

    def _changes(self) -> dict[str, Any]:
        values = {
            "search_k": self.k,
            "llm_model": self.model,
            "reranker": self.reranker,
            "balance": self.balance,
        }
        return {key: value for key, value in values.items() if value is not None}


@dataclass(frozen=True)
class Axes:
    """Axes of a grid; of an empty one only the target's own value."""

    targets: Sequence[str]
    k: Sequence[int] = ()
    models: Sequence[str] = ()
    rerankers: Sequence[str] = ()
    balances: Sequence[str] = ()


def configurations(axes: Axes, targets: Mapping[str, Target]) -> dict[Configuration, Target]:
    """All combinations, in the order of the axes, with the target that each comes to.

    Raises RequestError for what cannot be combined.
    """
    found: dict[Configuration, Target] = {}
    names: dict[str, Configuration] = {}
    for made in _products(axes):
        if made.target not in targets:
            known = ", ".join(targets)
            raise RequestError(f"There is no target {made.target}. Known targets: {known}.")
        other = names.setdefault(made.name, made)
        if other != made:
            raise RequestError(f"{made} and {other} would have the same name: {made.name}.")
        found[made] = made.of(targets[made.target])
    return found


def _products(axes: Axes) -> Iterator[Configuration]:
    return (
        Configuration(target=target, k=k, model=model, reranker=reranker, balance=balance)
        for target in axes.targets
        for k in axes.k or (None,)
        for model in axes.models or (None,)
        for reranker in axes.rerankers or (None,)
        for balance in axes.balances or (None,)
    )


_log = logging.getLogger(__name__)

GRID, TARGETS = "grid.json", "targets"


class GridRun(BaseModel):
    """A configuration over a split; `folder` is the name of its run's below the grid's."""

    model_config = ConfigDict(frozen=True)

    folder: str
    split: str
    configuration: Configuration


class GridSpec(BaseModel):
    """Runs of a grid, in the order of its table."""

    model_config = ConfigDict(frozen=True)

    started: datetime
    collection: str
    runs: tuple[GridRun, ...]
    command: str = ""


@dataclass(frozen=True)
class GridCell:
    """A run of a grid, and what came of it."""

    run: GridRun
    outcome: RunOutcome


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
        """Return the folder of one of its runs."""
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

    def open(self, collection: str, first: Configuration) -> Atlas:
        """Open a collection with the targets of the grid, the `first` by default."""
        targets = (self.path / TARGETS).absolute()
        return Atlas.open(collection, targets_directory=targets, test_target=first.name)


def begin_grid(
    grid: Grid,
    atlas: Atlas,
    chosen: Sequence[Configuration],
    questions: Mapping[str, RunQuestions],
    wanted: RunRequest,
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
    grid: Grid, atlas: Atlas, progress: Progress, *, parallel: int | None = None
) -> Iterator[GridCell]:
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
                yield GridCell(run, before)
            continue
        outcome = _finished(folder)
        if not outcome:
            subject = ProcessSubject(atlas, run.configuration.name)
            check_same(folder, subject)
            with progress(run.folder) as told:
                outcome = _carried_out(folder, subject, parallel, told)
        yield GridCell(run, outcome)
        stopped = outcome.stopped


def _carried_out(
    folder: RunFolder, subject: Subject, parallel: int | None, told: Told
) -> RunOutcome:
    """Carry out a run; one that fails is given as far as it came, and costs no other."""
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


def _finished(folder: RunFolder) -> RunOutcome | None:
    """Return what came of a run that lacks nothing; None for any other."""
    outcome = so_far(folder)
    return outcome if outcome.complete and not outcome.troubles else None


FIGURES = {
    "F1": "f1",
    "Sem": "similarity",
    "SentG": "sentence_groundedness",
    "Gnd": "grounded",
    "Recall@k": "recall",
    "MRR": "mrr",
}
"""Figures by the heads of their columns. Those of retrieval are at the depth of the row's k."""

_NOTHING = (None, None)

_OPTIONS = ("target", "reranker", "balance")
"""Columns that are shown where they differ."""

_TOLD = ("questions", "failed", "fallbacks", "tokens_per_second", "cost_per_100")
"""What a run took, in CSV and JSON."""


@dataclass(frozen=True)
class GridRow:
    """A configuration over a split: its values, and what came of its run."""

    folder: str
    split: str
    values: Mapping[str, str]
    figures: Mapping[str, Figure]
    took: Operations
    missing: int


def grid_tables(rows: Sequence[GridRow]) -> list[Table]:
    """One for each split."""
    return [_table(split, found, _named(rows)) for split, found in _by_split(rows).items()]


def grid_markdown(rows: Sequence[GridRow]) -> str:
    """Write the tables as Markdown."""
    return "\n".join(_markdown(s, found, _named(rows)) for s, found in _by_split(rows).items())


def grid_csv(rows: Sequence[GridRow]) -> str:
    """A line for each run: every value, figures with their 95% intervals, and what it took."""
    written = io.StringIO()
    documents = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for document in documents for name in document))
    writer = csv.DictWriter(written, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(documents)
    return written.getvalue()


def grid_document(rows: Sequence[GridRow]) -> list[dict[str, object]]:
    """Return the rows as JSON has them."""
    return [_flat(row) for row in rows]


def grid_row(cell: GridCell) -> GridRow:
    """The row of a run."""
    run, options = cell.outcome.run, cell.outcome.run.spec.options
    k = options["search_k"]
    summary = summarise(run.scored)
    figures = {
        head: found
        for head, name in FIGURES.items()
        if (found := summary.get(f"{name}@{k}") or summary.get(name))
    }
    values = {
        "k": str(k),
        "model": _writers(run),
        "target": cell.run.configuration.target,
        "reranker": options["reranker"],
        "balance": options["balance"],
    }
    took = operations(run)
    return GridRow(cell.run.folder, cell.run.split, values, figures, took, cell.outcome.missing)


def _writers(run: EvalRun) -> str:
    """Name the models that wrote, with the number of answers of each if they are several.

    One that was chosen and wrote nothing stands behind them, so that rows stay apart.
    """
    chosen, provider = run.spec.options["llm_model"], run.spec.options["llm_provider"]
    counts: Counter[str] = Counter()
    for answer in filter(None, (one.reply.answer for one in run.scored)):
        by, model = answer.written_by
        if answer.fallback or by == EXTRACTIVE:
            counts[EXTRACTIVE] += 1
        elif by:
            counts[chosen or model] += 1
    if not counts:
        return str(chosen or provider)
    many = len(counts) > 1
    names = ", ".join(f"{name} ({count})" if many else name for name, count in counts.most_common())
    return f"{names}, not {chosen}" if chosen and chosen not in counts else names


def _named(rows: Sequence[GridRow]) -> list[str]:
    """The values that name a row: k and model, and others where they differ."""
    differ = [name for name in _OPTIONS if len({row.values[name] for row in rows}) > 1]
    return ["k", "model", *differ]


def _by_split(rows: Sequence[GridRow]) -> dict[str, list[GridRow]]:
    found: dict[str, list[GridRow]] = {}
    for row in rows:
        found.setdefault(row.split, []).append(row)
    return found


def _named_cells(row: GridRow, named: Sequence[str]) -> list[str]:
    asked = row.took.questions + row.missing
    count = str(asked) if not row.missing else f"{row.took.questions} of {asked}"
    return [*(row.values[name] for name in named), count]


def _values(row: GridRow) -> list[tuple[float | None, Ends | None]]:
    """Each figure and what its run took, with their intervals."""
    figures = (row.figures.get(head) for head in FIGURES)
    took, seconds = row.took, row.took.seconds
    return [
        *((one.mean, (one.low, one.high)) if one else _NOTHING for one in figures),
        (seconds.p50, seconds.p50_interval) if seconds else _NOTHING,
        (seconds.p95, seconds.p95_interval) if seconds else _NOTHING,
        (took.tokens_per_second, took.tokens_per_second_interval),
        (took.cost_per_100, took.cost_per_100_interval),
    ]


def _heads(named: Sequence[str]) -> list[str]:
    return [*named, "n", *FIGURES, "p50 s", "p95 s", "tok/s", "cost/100"]


def _table(split: str, rows: Sequence[GridRow], named: Sequence[str]) -> Table:
    heads = [
        Column(head, justify="left" if head in named else "right", no_wrap=head not in named)
        for head in _heads(named)
    ]
    table = Table(*heads, title=Text(split), box=None, padding=(0, 1, 0, 0))
    for row in rows:
        # no markup: a model may be called [x]
        table.add_row(*map(Text, _named_cells(row, named)), *starmap(_two_lines, _values(row)))
    return table


def _markdown(split: str, rows: Sequence[GridRow], named: Sequence[str]) -> str:
    lines = [_heads(named), ["---"] * len(_heads(named))]
    lines += [[*_named_cells(row, named), *starmap(with_ends, _values(row))] for row in rows]
    return "\n".join([f"### {split}", "", *(f"| {' | '.join(line)} |" for line in lines), ""])


def _flat(row: GridRow) -> dict[str, object]:
    figures = {
        f"{head}{end}": value
        for head, figure in row.figures.items()
        for end, value in (("", figure.mean), (" low", figure.low), (" high", figure.high))
    }
    took = {name: value for name, value in vars(row.took).items() if name in _TOLD}
    for name in ("tokens_per_second", "cost_per_100"):
        took |= _with_ends(name, took[name], getattr(row.took, f"{name}_interval"))
    seconds = row.took.seconds
    return {
        "split": row.split,
        **row.values,
        **figures,
        **_with_ends("p50 s", *((seconds.p50, seconds.p50_interval) if seconds else _NOTHING)),
        **_with_ends("p95 s", *((seconds.p95, seconds.p95_interval) if seconds else _NOTHING)),
        **took,
        "missing": row.missing,
        "run": row.folder,
    }


def _with_ends(name: str, value: float | None, ends: Ends | None) -> dict[str, float | None]:
    low, high = ends or (None, None)
    return {name: value, f"{name} low": low, f"{name} high": high}


def _two_lines(value: float | None, ends: Ends | None) -> Text:
    """A value, and below it its interval."""
    if value is None or ends is None:
        return Text("-")
    return Text(f"{value:.2f}\n{ends[0]:.2f}-{ends[1]:.2f}")
