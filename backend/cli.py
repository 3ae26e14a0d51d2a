"""The `atlas` command."""

import json
import logging
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from backend.client import filters_of, post, print_answer, print_passages
from backend.errors import AtlasError, NotFound
from backend.evaluation.labelset import Label, Split, load_labels
from backend.evaluation.runner import Summary, run, summarise
from backend.run import phoenix, serve, stop_on_signal
from backend.services import Services, open_services
from backend.settings import ROOT, Settings, load_settings
from create.manage import store_app
from create.types import COMMANDS

app = typer.Typer(
    help="Balanced, explainable research search with verified citations.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
create_app = typer.Typer(help="Build a collection from a folder of sources.", no_args_is_help=True)
for _kind, _command in COMMANDS.items():
    create_app.command(_kind)(_command)
app.add_typer(create_app, name="create")
app.add_typer(store_app, name="store")

Question = Annotated[str, typer.Argument()]
CorpusChoice = Annotated[
    list[str] | None, typer.Option("--corpus", help="Only this corpus; repeatable")
]
TargetChoice = Annotated[str | None, typer.Option("--target", help="Name of a target")]
PHOENIX_EXECUTABLE = Path(".venv-phoenix/bin/phoenix")
LABELS = ROOT / "create" / "samples" / "labels.jsonl"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; errors Atlas raises on purpose end it with their message and status 1."""
    try:
        app(list(arguments) if arguments is not None else None)
    except AtlasError as error:
        print(f"atlas: {error}", file=sys.stderr)
        sys.exit(1)


@app.command("serve")
def serve_command() -> None:
    """Serve the page and the API."""
    settings = _settings()
    stop_on_signal()
    serve(settings)


@app.command("run")
def run_command(
    phoenix_executable: Annotated[
        Path, typer.Option(help="The `phoenix` command of its own virtual environment")
    ] = PHOENIX_EXECUTABLE,
) -> None:
    """Serve, with Phoenix beside it unless PHOENIX=0; Ctrl-C stops both."""
    settings = _settings()
    stop_on_signal()
    start = settings.phoenix and not settings.phoenix_collector_endpoint
    if start and not phoenix_executable.exists():
        print(f"No Phoenix at {phoenix_executable}: `make phoenix-venv` installs it. No tracing.")
        start = False
    if start:
        address = f"http://127.0.0.1:{settings.phoenix_port}"
        settings = settings.model_copy(update={"phoenix_collector_endpoint": address})
    with phoenix(settings, phoenix_executable.absolute()) if start else nullcontext():
        serve(settings)


@app.command("phoenix")
def phoenix_command(
    phoenix_executable: Annotated[Path, typer.Option()] = PHOENIX_EXECUTABLE,
) -> None:
    """Run Phoenix alone until Ctrl-C."""
    settings = _settings()
    stop_on_signal()
    if not phoenix_executable.exists():
        print(
            f"atlas: no Phoenix at {phoenix_executable}: run `make phoenix-venv`.", file=sys.stderr
        )
        sys.exit(1)
    try:
        with phoenix(settings, phoenix_executable.absolute()) as process:
            print(f"Phoenix is at http://127.0.0.1:{settings.phoenix_port}", flush=True)
            process.wait()
    except KeyboardInterrupt:
        pass


@app.command("ask")
def ask_command(
    question: Question, corpus: CorpusChoice = None, target: TargetChoice = None
) -> None:
    """Ask the running server and print the answer with its sources."""
    body = {"question": question, "corpus_filter": corpus or "all", "target": target}
    print_answer(Console(highlight=False), post(_settings(), "/api/ask", body))


@app.command("search")
def search_command(
    question: Question,
    corpus: CorpusChoice = None,
    target: TargetChoice = None,
    limit: Annotated[int | None, typer.Option("-k", help="Passages wanted")] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="FIELD=VALUE or FIELD=FROM..TO; repeatable")
    ] = None,
    signals: Annotated[bool, typer.Option(help="Show every signal")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The whole response")] = False,
) -> None:
    """Search the running server and print the passages, what speaks to the question marked."""
    body = {
        "question": question,
        "corpus_filter": corpus or "all",
        "target": target,
        "k": limit,
        "filters": filters_of(where or ()),
    }
    found = post(_settings(), "/api/search", body)
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        print_passages(Console(highlight=False), found, with_signals=signals)


@app.command("eval")
def eval_command(
    labels: Annotated[Path, typer.Option(help="Label set (JSONL)")] = LABELS,
    split: Annotated[Split, typer.Option(help="Which part of it")] = Split.TEST,
    target: Annotated[str | None, typer.Option(help="Name of a target")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document")] = False,
) -> None:
    """Ask every question of a label set and print how good the answers are."""
    services = open_services(_settings())
    try:
        name, _ = services.target(target)
        questions = load_labels(labels, split)
        _check_labels_fit(services, questions, labels)
        outcomes = run(services, questions, name, date.today())
    finally:
        services.close()
    groups = {"all": outcomes}
    for outcome in outcomes:
        groups.setdefault(outcome.label.category, []).append(outcome)
    summaries = {group: summarise(members) for group, members in groups.items()}
    if as_json:
        print(
            json.dumps({group: asdict(summary) for group, summary in summaries.items()}, indent=2)
        )
    else:
        Console(width=110).print(_table(f"{name}, {split.value} split", summaries))


def _check_labels_fit(services: Services, questions: Sequence[Label], labels: Path) -> None:
    """Figures over labels of another collection would be zeros that mean nothing."""
    for gold in {id_ for question in questions for id_ in question.gold_document_ids}:
        try:
            services.store.document(gold)
        except NotFound as error:
            raise AtlasError(f"The labels {labels} are not for this collection: {error}") from error


def _table(title: str, summaries: dict[str, Summary]) -> Table:
    columns = {
        "n": "questions",
        "recall": "recall",
        "MRR": "mrr",
        "F1": "f1",
        "contains": "contains",
        "gold": "cites_gold",
        "answered": "answered",
        "rejected": "rejected",
        "valid": "citation_valid",
        "SentG": "sentence_groundedness",
    }
    table = Table("category", *columns, title=title)
    for group, summary in summaries.items():
        values = asdict(summary)
        table.add_row(group, *(_figure(values[name]) for name in columns.values()))
    return table


def _figure(value: float | None) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.3f}"


def _settings() -> Settings:
    settings = load_settings()
    logging.basicConfig(
        level=settings.atlas_log_level,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    # one line a request and one a file would bury what matters
    for chatty in ("httpx", "urllib3", "filelock"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    return settings


if __name__ == "__main__":
    main()
