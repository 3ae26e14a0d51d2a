"""`atlas feedback`: what readers said of answers, read from the file of the server."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from atlas_search.cli.printable import printable, printable_json
from atlas_search.cli.tables import print_whole
from atlas_search.core.errors import RequestError
from atlas_search.core.settings import load_settings
from atlas_search.server.feedback.delivery import open_store
from atlas_search.server.feedback.routes import FEEDBACK_FORMATS, export_feedback
from atlas_search.server.feedback.store import Rating, Wanted

feedback_app = typer.Typer(help="What readers said of answers.", no_args_is_help=True)

Collection = Annotated[
    str, typer.Option("--collection", help="Of answers from it; default: the configured one")
]


@feedback_app.command("list")
def list_command(
    limit: Annotated[int, typer.Option(min=1, help="The last changed ones, so many")] = 20,
    target: Annotated[str, typer.Option("--target", help="Only of answers of this target")] = "",
    collection: Annotated[str, typer.Option("--collection", help="Only of answers from it")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document")] = False,
) -> None:
    """List the last ratings."""
    wanted = Wanted(target=target, collection=collection)
    total, ratings = open_store(load_settings()).page(wanted, limit, 0)
    if as_json:
        print(printable_json({"total": total, "feedback": [_plain(one) for one in ratings]}))
        return
    table = Table("Updated", "Answer", "By", "Target", "Decision", "Thumb", "Marks", "Said")
    for one in ratings:
        table.add_row(*(escape(printable(cell)) for cell in _cells(one)))
    console = Console()
    print_whole(console, table)
    console.print(f"{len(ratings)} of {total}", highlight=False)


@feedback_app.command("export")
def export_command(
    file: Annotated[Path, typer.Argument(help="File to write")],
    format: Annotated[
        str,
        typer.Option("--format", help="Labels as jsonl or csv, or every rating: ratings"),
    ] = "jsonl",
    collection: Collection = "",
) -> None:
    """Write labels that `atlas eval --labels` reads, or all ratings as a table."""
    if format not in FEEDBACK_FORMATS:
        raise RequestError(f"--format {format}: give one of {', '.join(FEEDBACK_FORMATS)}.")
    settings = load_settings()
    wanted = Wanted(collection=collection or settings.chroma_collection_name)
    ratings = open_store(settings).every(wanted)
    exported = export_feedback(ratings, format)
    file.write_text(exported.text, encoding="utf-8", newline="")  # keeps the line ends of CSV
    labels = exported.labels
    left_out = "".join(f", {count} {reason}" for reason, count in sorted(labels.left_out.items()))
    print(
        f"{len(ratings)} ratings of {wanted.collection}: {len(labels.labels)} labels; left out: "
        f"{left_out.removeprefix(', ') or 'none'}.",
        file=sys.stderr,
    )


def _cells(one: Rating) -> tuple[str, ...]:
    vote = one.vote
    marks = ", ".join(f"{scale} {mark}" for scale, mark in vote.scores.items())
    said = "; ".join(part for part in (", ".join(vote.tags), vote.comment) if part)
    about = one.answer
    named = (one.updated, about.qa_id, one.voter, about.target, about.decision)
    return (*named, vote.thumb or "", marks, said)


def _plain(one: Rating) -> dict[str, object]:
    about = one.answer.model_dump(mode="json", exclude={"owner", "passages", "citations"})
    said = {"user_id": one.voter, "updated": one.updated, "sent": one.sent}
    return about | said | one.vote.model_dump(mode="json")
