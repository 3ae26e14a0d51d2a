"""Options and endings that commands of `atlas eval` share."""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from atlas_search.core.errors import RequestError, SourceError
from atlas_search.core.files import bundled_folder
from atlas_search.core.settings import load_settings
from atlas_search.evaluation.carry_out import (
    RunOutcome,
    RunQuestions,
    RunRequest,
    choose_questions,
    operations,
)
from atlas_search.evaluation.folder import RUN, RunFolder
from atlas_search.evaluation.label_files import read_labels
from atlas_search.evaluation.label_fit import (
    LabelCollection,
    fit_labels,
    fitted_text,
    split_text,
    understood_text,
)
from atlas_search.evaluation.run import EvalRun

LABELS = bundled_folder("samples") / "labels.jsonl"

LabelFile = Annotated[Path, typer.Option(help="Label set: JSON, JSONL, CSV, TSV, or a BEIR folder")]
UnknownGold = Annotated[bool, typer.Option(help="Go on though the collection lacks gold documents")]
FilterBy = Annotated[
    str,
    typer.Option(help="Field of documents: ask those alone that have the question's own value"),
]
CollectionChoice = Annotated[
    str, typer.Option("--collection", help="Name of a collection (default: the configured one)")
]
SearchOnly = Annotated[bool, typer.Option("--search-only", help="Only search: nothing is answered")]
AuditIndex = Annotated[
    bool,
    typer.Option("--audit-index", help="Compare the vector index with every vector at the end"),
]
Limit = Annotated[
    int | None, typer.Option(min=1, help="Ask so many of the questions, drawn at random")
]
Seed = Annotated[int, typer.Option(help="Which of them are drawn")]
Day = Annotated[
    datetime | None,
    typer.Option(
        "--today",
        formats=["%Y-%m-%d"],
        help="The day that the age of sources is counted from (default: today)",
    ),
]

RequireModel = Annotated[
    bool, typer.Option("--require-llm", help="Fail unless the language model answers all")
]
RunDirectory = Annotated[
    Path | None, typer.Option("--out", help="Folder (default: below ATLAS_EVALUATION_DIRECTORY)")
]
RUN_NAME = "Folder of a run, or its name below ATLAS_EVALUATION_DIRECTORY"
RunName = Annotated[str, typer.Argument(metavar="RUN", help=RUN_NAME)]
Resumed = Annotated[
    Path | None, typer.Option("--resume", help="Folder to go on with: only what lacks is asked")
]


def day_of(chosen: datetime | None) -> date:
    """The day that was chosen, or today."""
    return chosen.date() if chosen else date.today()


def read_questions(
    path: Path,
    split: str | None,
    collection: LabelCollection,
    wanted: RunRequest,
    *,
    allow_unknown_gold: bool,
    filter_by: str,
) -> RunQuestions:
    """The questions to ask, with the gold of their labels as the collection calls it.

    Without a `split` they are those of `test` where there is one, else all. Raises AtlasError, once
    it is told what was understood.
    """
    all_labels = read_labels(path, filter_by=filter_by)
    chosen = all_labels.choose_split(split)
    _tell(understood_text(all_labels))
    of_split = all_labels.of_split(chosen)
    _tell(split_text(of_split, chosen))
    fitted = fit_labels(of_split, collection, allow_unknown_gold=allow_unknown_gold)
    _tell(fitted_text(fitted))
    return choose_questions(path, chosen, fitted.labels, wanted.limit, wanted.seed)


def _tell(text: str) -> None:
    if text:
        print(text, file=sys.stderr)


def command_line(context: typer.Context) -> str:
    """The command as it was typed. No option of an evaluation holds a secret."""
    words = _command(context)
    for parameter in _typed(context):
        value = context.params[parameter]
        values = value if isinstance(value, list | tuple) else [value]
        option = _option(context, parameter)
        if value is True:
            words.append(option)
        else:
            words += [word for each in values for word in (option, _word(each))]
    return shlex.join(words)


def only_options(context: typer.Context, *allowed: str) -> None:
    """Raise RequestError if others than these were typed."""
    for parameter in _typed(context):
        if parameter not in allowed:
            raise RequestError(
                f"{_option(context, parameter)} says what is asked of whom, and a run that goes on "
                "asks what it asked. Leave it out, or begin a new run."
            )


def no_options(context: typer.Context) -> None:
    """Raise RequestError if options stand before a command: they would do nothing."""
    if typed := _typed(context):
        options = ", ".join(_option(context, parameter) for parameter in typed)
        command = " ".join([*_command(context), str(context.invoked_subcommand)])
        raise RequestError(
            f"Before the command {context.invoked_subcommand} options do nothing: {options}. Put "
            f"them after it, if `{command} --help` lists them."
        )


def only_with(context: typer.Context, option: str, *parameters: str) -> None:
    """Raise RequestError if one of the parameters was typed, and the option that it needs not."""
    typed = _typed(context)
    names = [_option(context, parameter) for parameter in parameters if parameter in typed]
    if names and option not in typed:
        needed = _option(context, option)
        raise RequestError(f"Without {needed}, {', '.join(names)} would do nothing. Add {needed}.")


def _command(context: typer.Context) -> list[str]:
    program = context.find_root().command_path
    return ["atlas", *context.command_path.removeprefix(program).split()]


def _typed(context: typer.Context) -> list[str]:
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]


def _option(context: typer.Context, parameter: str) -> str:
    return next(each.opts[-1] for each in context.command.params if each.name == parameter)


def _word(value: object) -> str:
    return value.date().isoformat() if isinstance(value, datetime) else str(value)


INTERRUPTED = 130  # as shells say of a command that Ctrl-C ended


def remarks_on(outcome: RunOutcome) -> list[str]:
    """Say what a run lacks, a sentence for each thing."""
    remarks = []
    if failed := outcome.run.failed:
        remarks.append(f"{len(failed)} questions failed, the first: {failed[0]}")
    if outcome.fallbacks:
        remarks.append(f"{outcome.fallbacks} answers are not the language model's (fallback).")
    if lacking := outcome.run.lacking:
        remarks.append(f"{len(lacking)} questions lack figures, the first: {lacking[0]}")
    remarks += outcome.troubles
    if outcome.missing:
        remarks.append(f"{outcome.missing} questions were not asked.")
    if outcome.changed:
        remarks.append(
            f"Not as before when all were asked: {'; '.join(outcome.changed)}. The answers may be "
            "of both: begin a new run."
        )
    if cached := operations(outcome.run).cache_hits:
        remarks.append(f"{cached:.0%} of the answers were kept ones: their seconds say little.")
    return remarks


def status_of(outcome: RunOutcome, *, require_llm: bool) -> int:
    """0 for a run that has all it was to have."""
    if outcome.stopped:
        return INTERRUPTED
    lacks = not outcome.complete or (require_llm and outcome.fallbacks > 0)
    return int(lacks or bool(outcome.changed or outcome.troubles))


def load_run(name: str) -> EvalRun:
    """The run in the folder `name`, or else kept under this name. Raises SourceError."""
    return RunFolder(run_folder(name)).load()


def run_folder(name: str) -> Path:
    """Find the folder of a run. Raises SourceError with the names that are known."""
    runs = load_settings().atlas_evaluation_directory
    for place in (Path(name), runs / name):
        if place.is_dir():
            return place
    known = ", ".join(sorted(path.parent.name for path in runs.glob(f"*/{RUN}")))
    raise SourceError(f"There is no run {name!r}. In {runs}: {known or 'none'}.")


@contextmanager
def asking_bar(what: str = "Asking") -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal's standard error; hears how many are done, and of how many."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what)
        yield lambda done, total: progress.update(task, completed=done, total=total)
