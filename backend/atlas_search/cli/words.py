"""`atlas kwic`, `trends` and `counts`: words in whole corpora, from a running server."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from atlas_search.cli.ask import (
    Document,
    collection_body,
    post,
    print_whole,
    printable,
    printable_json,
)
from atlas_search.cli.options import AsJson, CollectionChoice, command_of, command_settings
from atlas_search.core.errors import RequestError
from atlas_search.documents.export import csv_text
from atlas_search.words.request import (
    CORPUS,
    CollocatesRequest,
    ConcordanceRequest,
    CountsRequest,
    FrequenciesRequest,
    KeywordsRequest,
    TrendsRequest,
)
from atlas_search.words.results import Cell, Collocate, Frequency, Keyword, Line

AsCsv = Annotated[bool, typer.Option("--csv", help="A table for other programs")]

Row = Mapping[str, Any]


def _kwic(
    request: ConcordanceRequest,
    collection: CollectionChoice = None,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Show every hit of some words in its context (keyword in context), and count them."""
    ask_and_print(
        "/api/concordance",
        collection_body(request, collection),
        "lines",
        list(Line.model_fields),
        _print_lines,
        as_csv=as_csv,
        as_json=as_json,
    )


def _trends(
    request: TrendsRequest,
    collection: CollectionChoice = None,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Count the hits of some words by year, decade, corpus or metadata field."""
    _count("/api/trends", collection_body(request, collection), as_csv=as_csv, as_json=as_json)


def _counts(
    request: CountsRequest,
    collection: CollectionChoice = None,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Count the documents and passages that say something, at once or by a field."""
    _count("/api/counts", collection_body(request, collection), as_csv=as_csv, as_json=as_json)


def ask_and_print(
    path: str,
    asked: Mapping[str, object],
    rows: str,
    columns: Sequence[str],
    show: Callable[[Console, Document], None],
    *,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Ask the server, and print what it says: whole, its `rows` as CSV, or as `show` has it.

    Raises RequestError for two forms at once.
    """
    if as_csv and as_json:
        raise RequestError("Give only one of --csv and --json.")
    result = post(command_settings(), path, asked)
    if as_json:
        print(printable_json(result))
    elif as_csv:
        listed = ({name: _cell(row[name]) for name in columns} for row in result[rows])
        print(csv_text(columns, listed), end="")
    else:
        console, shown = Console(highlight=False), printable(result)
        show(console, shown)
        for typed, read in shown.get("read_as", {}).items():
            console.print(f"“{typed}” was read as “{read}”.", markup=False, soft_wrap=True)


def _cell(value: Any) -> Any:
    """A value as CSV has it: figures to six places, the rest of them is noise of the machine."""
    return round(value, 6) if isinstance(value, float) else value


def _count(path: str, request: Mapping[str, object], *, as_csv: bool, as_json: bool) -> None:
    columns = [name for name in Cell.model_fields if name != "filters"]
    ask_and_print(path, request, "cells", columns, _print_cells, as_csv=as_csv, as_json=as_json)


def _print_lines(console: Console, result: Document) -> None:
    lines: Sequence[Row] = result["lines"]
    left = [" ".join(line["left"].split()) for line in lines]
    width = max(map(len, left), default=0)
    for line, before in zip(lines, left, strict=True):
        text = Text(before.rjust(width))
        text.append(f" {' '.join(line['hit'].split())} ", style="bold")
        text.append(" ".join(line["right"].split()))
        text.append(f"  [{line['document_id']}:{line['start']}-{line['end']}]", style="dim")
        console.print(text, soft_wrap=True)
    console.print(_summary(result), markup=False, soft_wrap=True)


def _summary(counts: Row) -> str:
    rate = f", {counts['per_million']:,.1f} per million words" if counts["per_million"] else ""
    return (
        f"{counts['hits'] or 0:,} hits in {counts['documents']:,} documents and "
        f"{counts['passages']:,} passages{rate}; {counts['words']:,} words looked through"
    )


_COLUMNS = ("hits", "per_million", "words", "documents", "of_documents", "passages", "of_passages")


def _print_cells(console: Console, result: Document) -> None:
    cells: Sequence[Row] = result["cells"]
    by_corpus = result["by"] != CORPUS and any(cell["corpus"] for cell in cells)
    names = [result["by"], *(["corpus"] if by_corpus else [])]
    table = Table(*names, *(name.replace("_", " ") for name in _COLUMNS))
    for cell in cells:
        unknown = "(unknown)" if cell["value"] is None else cell["value"]
        texts = [unknown, *([cell["corpus"]] if by_corpus else [])]
        table.add_row(*map(Text, texts), *(figure(cell[name]) for name in _COLUMNS))
    print_whole(console, table)
    if result["cells_left_out"]:
        console.print(f"{result['cells_left_out']:,} more values are not shown.")
    console.print(_summary(result["total"]), markup=False, soft_wrap=True)


def figure(value: float | None) -> str:
    """A number as tables show it."""
    if value is None:
        return "–"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def _collocates(
    request: CollocatesRequest,
    collection: CollectionChoice = None,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """List the words that stand near some words more often than elsewhere."""
    columns = list(Collocate.model_fields)
    _list(
        "collocates", columns, collection_body(request, collection), as_csv=as_csv, as_json=as_json
    )


def _keywords(
    request: KeywordsRequest,
    collection: CollectionChoice = None,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """List the words that set some texts apart: those of a corpus, or with `--where`."""
    columns = list(Keyword.model_fields)
    _list("keywords", columns, collection_body(request, collection), as_csv=as_csv, as_json=as_json)


def _frequencies(
    request: FrequenciesRequest,
    collection: CollectionChoice = None,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """List the most frequent words, all of them or those like `--pattern 'strike*'`."""
    columns = list(Frequency.model_fields)
    _list(
        "frequencies", columns, collection_body(request, collection), as_csv=as_csv, as_json=as_json
    )


def _list(
    name: str,
    columns: Sequence[str],
    request: Mapping[str, object],
    *,
    as_csv: bool,
    as_json: bool,
) -> None:
    def show(console: Console, result: Document) -> None:
        _print_table(console, result, name, columns)

    ask_and_print(f"/api/{name}", request, name, columns, show, as_csv=as_csv, as_json=as_json)


def _print_table(console: Console, result: Document, name: str, columns: Sequence[str]) -> None:
    shown = [column for column in columns if column not in ("word", "query")]
    table = Table("word", *(column.replace("_", " ") for column in shown))
    for row in result[name]:
        table.add_row(Text(row["word"]), *(figure(row[column]) for column in shown))
    print_whole(console, table)
    if result["left_out"]:
        console.print(f"{result['left_out']:,} more are not shown.")
    hits = f"{result['hits']:,} hits; " if "hits" in result else ""
    console.print(f"{hits}{result['words']:,} words looked through", soft_wrap=True)


kwic_command = command_of(ConcordanceRequest, _kwic, {"point"}, limit=20, context=8)
trends_command = command_of(TrendsRequest, _trends)
counts_command = command_of(CountsRequest, _counts)
collocates_command = command_of(CollocatesRequest, _collocates, limit=20)
keywords_command = command_of(KeywordsRequest, _keywords, limit=20)
frequencies_command = command_of(FrequenciesRequest, _frequencies, limit=20)
