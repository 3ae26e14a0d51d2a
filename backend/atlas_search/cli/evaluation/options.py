"""Options that several commands below `atlas eval` have."""

import shlex
from datetime import date, datetime
from pathlib import Path
from typing import Annotated

import typer

from atlas_search.cli.evaluation.labels import choose_labels
from atlas_search.core.errors import RequestError
from atlas_search.core.files import bundled_folder
from atlas_search.evaluation.labels.documents import Collection
from atlas_search.evaluation.runs.begin import Questions, Wanted, choose_questions

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
    documents: Collection,
    wanted: Wanted,
    *,
    allow_unknown_gold: bool = False,
    filter_by: str = "",
) -> Questions:
    """The questions to ask, as `choose_labels` gives them. Raises AtlasError."""
    chosen, labels = choose_labels(
        path, split, documents, allow_unknown_gold=allow_unknown_gold, filter_by=filter_by
    )
    return choose_questions(path, chosen, labels, wanted.limit, wanted.seed)


def check_model_is_asked(*, require_llm: bool, search_only: bool) -> None:
    """Raise RequestError where a language model is required, and none will be asked."""
    if require_llm and search_only:
        raise RequestError("With --search-only no language model is asked. Leave out one.")


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
        raise RequestError(f"Without {needed} nothing heeds {', '.join(names)}. Add {needed}.")


def _command(context: typer.Context) -> list[str]:
    program = context.find_root().command_path
    return ["atlas", *context.command_path.removeprefix(program).split()]


def _typed(context: typer.Context) -> list[str]:
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]


def _option(context: typer.Context, parameter: str) -> str:
    return next(each.opts[0] for each in context.command.params if each.name == parameter)


def _word(value: object) -> str:
    return value.date().isoformat() if isinstance(value, datetime) else str(value)
