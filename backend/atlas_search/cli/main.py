"""The `atlas` command."""

import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from atlas_search.cli.calibration import calibrate_command
from atlas_search.cli.choices import (
    AsJson,
    CollectionChoice,
    CorpusChoice,
    Excluded,
    Required,
    TargetChoice,
    WhereChoice,
    command_settings,
)
from atlas_search.cli.client import (
    filters_of,
    get_text,
    of_collection,
    post,
    print_answer,
    print_passages,
)
from atlas_search.cli.commands import doctor_command, export_command, replay_command
from atlas_search.cli.demo import DEMO, build_demo
from atlas_search.cli.evaluation.app import eval_app
from atlas_search.cli.feedback import feedback_app
from atlas_search.cli.keys import keys_app
from atlas_search.cli.printable import printable_json
from atlas_search.cli.private_files import private_files
from atlas_search.cli.run import phoenix, phoenix_beside, serve
from atlas_search.cli.source_types import CreateGroup
from atlas_search.cli.stopping import end_process, stop_on_signal
from atlas_search.cli.store import store_app
from atlas_search.cli.traces import traces_app
from atlas_search.cli.watch import watch_command
from atlas_search.cli.word_lists import collocates_command, keywords_command
from atlas_search.cli.words import counts_command, kwic_command, trends_command
from atlas_search.core.disk import writing_anywhere
from atlas_search.core.errors import AtlasError

app = typer.Typer(
    help="Balanced, explainable research search with verified citations.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
create_app = typer.Typer(
    cls=CreateGroup, help="Build a collection from a folder of sources.", no_args_is_help=True
)
app.add_typer(create_app, name="create")
app.add_typer(store_app, name="store")
app.add_typer(keys_app, name="keys")
app.add_typer(feedback_app, name="feedback")
app.add_typer(eval_app, name="eval")
app.add_typer(traces_app, name="traces")
app.command("calibrate")(calibrate_command)
app.command("collocates")(collocates_command)
app.command("counts")(counts_command)
app.command("doctor")(doctor_command)
app.command("export")(export_command)
app.command("keywords")(keywords_command)
app.command("kwic")(kwic_command)
app.command("replay")(replay_command)
app.command("trends")(trends_command)
app.command("watch")(watch_command)

Question = Annotated[str, typer.Argument()]
PHOENIX_EXECUTABLE = Path(".venv-phoenix/bin/phoenix")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; errors Atlas raises on purpose end it with their message and status 1.

    So do a full disk and a folder that cannot be written, wherever a command meets them.
    """
    try:
        with private_files(), writing_anywhere():
            app(list(arguments) if arguments is not None else None)
    except AtlasError as error:
        print(f"atlas: {error}", file=sys.stderr)
        sys.exit(1)


@app.command("serve")
def serve_command() -> None:
    """Serve the page and the API."""
    settings = command_settings()
    stop_on_signal()
    serve(settings)
    end_process(0)


@app.command("demo")
def demo_command(
    serve_it: Annotated[
        bool, typer.Option("--serve/--no-serve", help="Whether to serve it once it is built")
    ] = True,
) -> None:
    """Build the bundled demo collection if it is missing, and serve it."""
    build_demo()
    if serve_it:
        settings = command_settings().model_copy(update={"chroma_collection_name": DEMO})
        stop_on_signal()
        serve(settings)
        end_process(0)


@app.command("run")
def run_command(
    phoenix_executable: Annotated[
        Path, typer.Option(help="The `phoenix` command of its own virtual environment")
    ] = PHOENIX_EXECUTABLE,
    phoenix_install: Annotated[
        str, typer.Option(help="Command that installs Phoenix, run beside the server")
    ] = "",
) -> None:
    """Serve, with Phoenix beside it unless PHOENIX=0; Ctrl-C stops both."""
    settings = command_settings()
    stop_on_signal()
    start = settings.phoenix and not settings.phoenix_collector_endpoint
    install = shlex.split(phoenix_install)
    if start and not install and not phoenix_executable.exists():
        print(f"No Phoenix at {phoenix_executable}: `make phoenix-venv` installs it. No tracing.")
        start = False
    if start:
        address = f"http://127.0.0.1:{settings.phoenix_port}"
        settings = settings.model_copy(update={"phoenix_collector_endpoint": address})
    beside = phoenix_beside(settings, phoenix_executable.absolute(), install)
    with beside if start else nullcontext():
        serve(settings)
    end_process(0)


@app.command("phoenix")
def phoenix_command(
    phoenix_executable: Annotated[Path, typer.Option()] = PHOENIX_EXECUTABLE,
) -> None:
    """Run Phoenix alone until Ctrl-C."""
    settings = command_settings()
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
    question: Question,
    corpus: CorpusChoice = None,
    collection: CollectionChoice = None,
    target: TargetChoice = None,
    require: Required = None,
    exclude: Excluded = None,
    compare: Annotated[bool, typer.Option(help="Let every corpus answer for itself")] = False,
    as_json: AsJson = False,
    bundle: Annotated[
        Path | None, typer.Option(help="File for all it takes to repeat the run: `atlas replay`")
    ] = None,
) -> None:
    """Ask the running server and print the answer with its sources."""
    body = {
        "question": question,
        "corpus_filter": corpus or "all",
        "target": target,
        "require": require or [],
        "exclude": exclude or [],
        "mode": "compare" if compare else "answer",
    }
    settings = command_settings()
    answer = post(settings, "/api/ask", of_collection(collection, body))
    if bundle:
        path = f"/api/ask/{answer['qa_id']}/export?format=bundle"
        bundle.write_text(get_text(settings, path), encoding="utf-8")
    if as_json:
        print(printable_json(answer))
    else:
        print_answer(Console(highlight=False), answer)


@app.command("search")
def search_command(
    question: Question,
    corpus: CorpusChoice = None,
    collection: CollectionChoice = None,
    target: TargetChoice = None,
    limit: Annotated[int | None, typer.Option("-k", help="Passages wanted")] = None,
    where: WhereChoice = None,
    require: Required = None,
    exclude: Excluded = None,
    max_per_document: Annotated[
        int | None, typer.Option(help="Passages of one document; any number if absent")
    ] = None,
    signals: Annotated[bool, typer.Option(help="Show every signal")] = False,
    as_json: AsJson = False,
) -> None:
    """Search the running server and print the passages, what speaks to the question marked."""
    body = {
        "question": question,
        "corpus_filter": corpus or "all",
        "target": target,
        "k": limit,
        "filters": filters_of(where or ()),
        "require": require or [],
        "exclude": exclude or [],
        "max_per_document": max_per_document,
    }
    found = post(command_settings(), "/api/search", of_collection(collection, body))
    if as_json:
        print(printable_json(found))
    else:
        print_passages(Console(highlight=False), found, with_signals=signals)


if __name__ == "__main__":
    main()
