"""The `atlas` command."""

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated

import httpx
import typer
from rich.console import Console
from rich.table import Table

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
    question: Annotated[str, typer.Argument()],
    corpus: Annotated[list[str] | None, typer.Option(help="Only this corpus; repeatable")] = None,
    target: Annotated[str | None, typer.Option(help="Name of a target")] = None,
) -> None:
    """Ask the running server and print the answer with its sources."""
    settings = _settings()
    address = f"http://{settings.atlas_host}:{settings.atlas_port}"
    body = {"question": question, "corpus_filter": corpus or "all", "target": target}
    try:
        response = httpx.post(f"{address}/api/ask", json=body, timeout=120)
    except httpx.TransportError as error:
        raise AtlasError(
            f"No server answers at {address} ({error}). Start it: `make run`."
        ) from error
    try:
        document = response.json()
    except ValueError as error:
        raise AtlasError(f"What answers at {address} is not Atlas. Check ATLAS_PORT.") from error
    if response.is_error:
        raise AtlasError(document["detail"])
    print(document["answer"] or f"No answer: {document['reason']['message']}")
    for line in dict.fromkeys(_source_line(citation) for citation in document["citations"]):
        print(line)
    for warning in document["validation"]["warnings"]:
        print(f"  Note: {warning}")


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


def _source_line(citation: Mapping[str, str | None]) -> str:
    known = (citation[field] for field in ("marker", "title", "date", "url"))
    return "  " + "  ".join(part for part in known if part)


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
