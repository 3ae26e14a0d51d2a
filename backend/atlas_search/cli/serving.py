"""`atlas serve`, `atlas run`, `atlas demo` and `atlas phoenix`."""

import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from atlas_search.cli.choices import command_settings
from atlas_search.cli.demo import DEMO, build_demo
from atlas_search.cli.run import phoenix, phoenix_beside, serve
from atlas_search.cli.stopping import end_process, stop_on_signal

PHOENIX_EXECUTABLE = Path(".venv-phoenix/bin/phoenix")


def serve_command() -> None:
    """Serve the page and the API."""
    settings = command_settings()
    stop_on_signal()
    serve(settings)
    end_process(0)


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
    print(f"It is not served yet: `atlas demo`, or `CHROMA_COLLECTION_NAME={DEMO} atlas serve`.")


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
    if settings.phoenix and not start:
        print("No Phoenix is started here: traces go to PHOENIX_COLLECTOR_ENDPOINT.", flush=True)
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
