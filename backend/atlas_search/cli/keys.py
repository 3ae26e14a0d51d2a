"""`atlas keys`: who may ask a server that others reach."""

import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from atlas_search.cli.ask import print_whole, printable, printable_json
from atlas_search.core.errors import AtlasError, ConfigurationError, RequestError
from atlas_search.core.settings import Settings, load_settings
from atlas_search.server.access.keys import (
    ApiKey,
    KeyLimits,
    KeyPlace,
    add_key,
    key_place,
    revoke_key,
)
from atlas_search.server.feedback.delivery import open_store
from atlas_search.server.feedback.routes import FEEDBACK_FORMATS, export_feedback
from atlas_search.server.feedback.store import AnswerRating, RatingFilter
from atlas_search.stores.manifest import Manifest

feedback_app = typer.Typer(help="What readers said of answers.", no_args_is_help=True)

Collection = Annotated[
    str, typer.Option("--collection", help="Of answers from it; default: the configured one")
]


@feedback_app.command("list")
def list_command_feedback(
    limit: Annotated[int, typer.Option(min=1, help="The last changed ones, so many")] = 20,
    target: Annotated[str, typer.Option("--target", help="Only of answers of this target")] = "",
    collection: Annotated[str, typer.Option("--collection", help="Only of answers from it")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document")] = False,
) -> None:
    """List the last ratings."""
    wanted = RatingFilter(target=target, collection=collection)
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
        str, typer.Option("--format", help="Labels as jsonl or csv, or every rating: ratings")
    ] = "jsonl",
    collection: Collection = "",
) -> None:
    """Write labels that `atlas eval --labels` reads, or all ratings as a table."""
    if format not in FEEDBACK_FORMATS:
        raise RequestError(f"--format {format}: give one of {', '.join(FEEDBACK_FORMATS)}.")
    settings = load_settings()
    wanted = RatingFilter(collection=collection or settings.chroma_collection_name)
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


def _cells(one: AnswerRating) -> tuple[str, ...]:
    vote = one.vote
    marks = ", ".join(f"{scale} {mark}" for scale, mark in vote.scores.items())
    remarks = "; ".join(part for part in (", ".join(vote.tags), vote.comment) if part)
    about = one.answer
    named = (one.updated, about.qa_id, one.voter, about.target, about.decision)
    return (*named, vote.thumb or "", marks, remarks)


def _plain(one: AnswerRating) -> dict[str, object]:
    about = one.answer.model_dump(mode="json", exclude={"owner", "passages", "citations"})
    origin = {"user_id": one.voter, "updated": one.updated, "sent": one.sent}
    return about | origin | one.vote.model_dump(mode="json")


keys_app = typer.Typer(help="API keys: who may ask, and which corpora.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="What the key is called: whom or what it is for")]


@keys_app.command("add")
def add_command(
    name: Name,
    corpora: Annotated[
        str, typer.Option(help="Corpora of the configured collection it sees, by commas; * is all")
    ] = "*",
    admin: Annotated[bool, typer.Option(help="Whether it may change the running server")] = False,
    expires: Annotated[str, typer.Option(help="Day from which it opens nothing: 2027-01-01")] = "",
    requests_per_minute: Annotated[
        int | None, typer.Option(min=1, help="Requests within any minute")
    ] = None,
    streams: Annotated[int | None, typer.Option(min=1, help="Answers at once")] = None,
    cost_per_day: Annotated[
        float | None, typer.Option(min=0, help="What language models may cost, as LLM_PRICE_*")
    ] = None,
) -> None:
    """Make a key and print it, once: only its hash is kept. A running server takes it at once."""
    settings = load_settings()
    ids = None if corpora.strip() == "*" else _ids(corpora)
    made = add_key(
        _place(settings),
        name,
        corpora="*" if ids is None else {settings.chroma_collection_name: ids},
        administrator=admin,
        expires=_day(expires) if expires else None,
        limits=KeyLimits(
            requests_per_minute=requests_per_minute, streams=streams, cost_per_day=cost_per_day
        ),
    )
    print(made.text)
    Console(stderr=True, highlight=False).print(
        f"This is the key of {name}; it is not shown again. It sees {_corpora(made.key)}.",
        markup=False,
        soft_wrap=True,
    )
    if ids and (missing := _missing(settings, ids)):
        print(missing, file=sys.stderr)


@keys_app.command("list")
def list_command() -> None:
    """List the keys, what each sees and may take, and when it ends."""
    table = Table("Name", "Id", "Corpora", "Rights", "Created", "Expires", "Limits")
    today = datetime.now(UTC).date()
    for key in _place(load_settings()).read():
        table.add_row(
            escape(key.name),
            key.id,
            escape(_corpora(key)),
            "administrator" if key.administrator else "reader",
            str(key.created.date()),
            f"{key.expires or 'never'}{' (over)' if key.is_expired(today) else ''}",
            _limits(key.limits),
        )
    print_whole(Console(), table)


@keys_app.command("revoke")
def revoke_command(name: Name) -> None:
    """Remove a key; a running server refuses it, and the links made with it, from now on."""
    revoke_key(_place(load_settings()), name)
    print(f"The key {name} is revoked.")


def _place(settings: Settings) -> KeyPlace:
    place = key_place(settings)
    if place is None:
        raise ConfigurationError(
            "API_KEYS_FILE is not set: say in the environment or .env where the keys are kept, "
            "for example API_KEYS_FILE=data/keys.json."
        )
    return place


def _ids(corpora: str) -> list[str]:
    ids = [id_.strip() for id_ in corpora.split(",") if id_.strip()]
    if not ids:
        raise RequestError("--corpora names none. Give ids separated by commas, or *.")
    return ids


def _missing(settings: Settings, ids: Sequence[str]) -> str:
    """Name the corpora that the collection lacks; empty if none, or if it cannot be read."""
    try:
        known = {corpus.id for corpus in Manifest.read(settings.collection_folder).corpora}
    except AtlasError:
        return ""
    missing = [id_ for id_ in ids if id_ not in known]
    if not missing:
        return ""
    return (
        f"Note: {settings.chroma_collection_name} has no corpus {', '.join(missing)} as of now; "
        f"it has {', '.join(sorted(known))}. If that was misspelt, `atlas keys revoke` removes the "
        "key."
    )


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise RequestError(f"--expires {text}: give a day such as 2027-01-01.") from error
    if day <= datetime.now(UTC).date():
        raise RequestError(
            f"--expires {text}: a key opens nothing from that day on, so give one after today."
        )
    return day


def _corpora(key: ApiKey) -> str:
    if key.corpora == "*":
        return "every corpus"
    of = (f"{', '.join(ids)} of {collection}" for collection, ids in key.corpora.items())
    return "; ".join(of) or "no corpus"


def _limits(limits: KeyLimits) -> str:
    values = {
        "a minute": limits.requests_per_minute,
        "at once": limits.streams,
        "a day (cost)": limits.cost_per_day,
    }
    return ", ".join(f"{value} {what}" for what, value in values.items() if value is not None)
