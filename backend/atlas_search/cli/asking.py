"""`atlas ask` and `atlas search`: questions to the running server."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

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
from atlas_search.cli.printable import printable_json

Question = Annotated[list[str], typer.Argument(help="In quotation marks, or word by word")]


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
        "question": " ".join(question),
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
        "question": " ".join(question),
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
