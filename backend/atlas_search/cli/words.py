"""`atlas kwic`, `trends` and `counts`: words in whole corpora, from a running server."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import typer
from pydantic import BaseModel
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


def _command(
    kind: type[BaseModel],
    path: str,
    rows: str,
    row: type[BaseModel],
    show: Callable[[Console, Document], None],
    without: Collection[str] = (),
    **defaults: object,
) -> Callable[..., None]:
    """A command that asks a path and prints the reply: whole, its `rows` as CSV, or by `show`.

    The columns of the CSV are the fields of `row`.
    """
    columns = [name for name in row.model_fields if name != "filters"]  # a search, not a figure

    def work(
        request: BaseModel,
        collection: CollectionChoice = None,
        as_csv: AsCsv = False,
        as_json: AsJson = False,
    ) -> None:
        if as_csv and as_json:
            raise RequestError("Give only one of --csv and --json.")
        result = post(command_settings(), path, collection_body(request, collection))
        if as_json:
            print(printable_json(result))
        elif as_csv:
            listed = ({name: _cell(each[name]) for name in columns} for each in result[rows])
            print(csv_text(columns, listed), end="")
        else:
            console, shown = Console(highlight=False), printable(result)
            show(console, shown)
            for typed, read in shown.get("read_as", {}).items():
                console.print(f"“{typed}” was read as “{read}”.", markup=False, soft_wrap=True)

    return command_of(kind, work, without, **defaults)


def _cell(value: Any) -> Any:
    """A value as CSV has it: figures to six places, the rest of them is noise of the machine."""
    return round(value, 6) if isinstance(value, float) else value


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


def _listing(kind: type[BaseModel], name: str, row: type[BaseModel]) -> Callable[..., None]:
    show = partial(_print_table, name=name, columns=list(row.model_fields))
    return _command(kind, f"/api/{name}", name, row, show, limit=20)


kwic_command = _command(
    ConcordanceRequest,
    "/api/concordance",
    "lines",
    Line,
    _print_lines,
    {"point"},
    limit=20,
    context=8,
)
trends_command = _command(TrendsRequest, "/api/trends", "cells", Cell, _print_cells)
counts_command = _command(CountsRequest, "/api/counts", "cells", Cell, _print_cells)
collocates_command = _listing(CollocatesRequest, "collocates", Collocate)
keywords_command = _listing(KeywordsRequest, "keywords", Keyword)
frequencies_command = _listing(FrequenciesRequest, "frequencies", Frequency)
