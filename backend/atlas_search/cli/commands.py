"""`atlas doctor`, `atlas export` and `atlas replay`."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from atlas_search.atlas import Atlas
from atlas_search.cli.doctor import examine
from atlas_search.core.errors import SourceError
from atlas_search.core.settings import load_settings
from atlas_search.documents.bundle import print_replay, read_bundle, replay
from atlas_search.documents.export import FORMATS, export, known_format

_STYLES = {"ok": "green", "note": "yellow", "fault": "red"}


def doctor_command() -> None:
    """Say what is set up, what is not, and what to do; status 1 if something needed is wrong."""
    console = Console(highlight=False)
    found = list(examine(load_settings()))
    for finding in found:
        line = Text(f"{finding.state:<6}", style=_STYLES[finding.state])
        line.append(f"{finding.what}: {finding.detail}", style="default")
        console.print(line, soft_wrap=True)
    if any(finding.state == "fault" for finding in found):
        sys.exit(1)


def export_command(
    answers: Annotated[list[Path], typer.Argument(help="Answers as the API sent them (JSON)")],
    format: Annotated[
        str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}")
    ] = "markdown",
    out: Annotated[Path | None, typer.Option(help="File to write; default: the terminal")] = None,
    base_url: Annotated[
        str, typer.Option(help="Address of the page, for permalinks; default: ATLAS_PUBLIC_URL")
    ] = "",
) -> None:
    """Write answers, such as `atlas ask --json` prints, for a reader or a reference manager."""
    settings = load_settings()
    local = f"http://{settings.atlas_host}:{settings.atlas_port}"
    base = base_url or settings.atlas_public_url or local
    documents = [document for path in answers for document in _answers(path)]
    exported = export(documents, known_format(format), base, settings.chroma_collection_name)
    if out:
        out.write_text(exported.text, encoding="utf-8", newline="")  # keeps the line ends of CSV
    else:
        print(exported.text, end="")


def replay_command(
    bundle: Annotated[Path, typer.Argument(help="A run bundle, from the page or the API")],
) -> None:
    """Search again as a run did, and say what changed; status 1 if anything did."""
    run = read_bundle(bundle)
    with Atlas.open() as atlas:
        replayed = replay(atlas.services.searcher, run)
        print_replay(Console(highlight=False), replayed)
    if not replayed.identical:
        sys.exit(1)


def _answers(path: Path) -> list[dict[str, Any]]:
    """The answers in a file: one, a list of them, or what the format `json` exports."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} cannot be read as JSON: {error}") from error
    if isinstance(found, dict):
        found = found.get("answers", [found])
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise SourceError(f"{path} holds neither an answer nor a list of answers.")
    return found
