"""`atlas kwic`, `trends` and `counts`: words in whole corpora, from a running server."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from atlas_search.cli.ask import (
    Document,
    filters_of,
    of_collection,
    post,
    print_whole,
    printable,
    printable_json,
)
from atlas_search.cli.options import (
    AsJson,
    CollectionChoice,
    CorpusChoice,
    Excluded,
    Required,
    WhereChoice,
    command_settings,
)
from atlas_search.core.errors import RequestError
from atlas_search.counting import COLLOCATES_FROM, KEYWORDS_FROM
from atlas_search.documents.export import csv_text
from atlas_search.words.query import Form
from atlas_search.words.request import ALL, CORPUS, YEAR, Direction, Keyness, Sort, Strength
from atlas_search.words.results import Cell, Collocate, Keyword, Line

Query = Annotated[
    str, typer.Argument(help='strike*, "a phrase", strike* NEAR/5 wage*, a OR b, wom?n')
]
FormChoice = Annotated[
    Form, typer.Option(help="Words as they are written, or in all forms of their stem")
]
CaseChoice = Annotated[bool, typer.Option(help="Whether capitals and accents count")]
ByChoice = Annotated[str, typer.Option(help="year, decade, corpus, all, or a metadata field")]
ByCorpus = Annotated[bool, typer.Option(help="Count every corpus for itself, too")]
AsCsv = Annotated[bool, typer.Option("--csv", help="A table for other programs")]

Row = Mapping[str, Any]


def kwic_command(
    query: Query,
    corpus: CorpusChoice = None,
    collection: CollectionChoice = None,
    where: WhereChoice = None,
    require: Required = None,
    exclude: Excluded = None,
    form: FormChoice = "surface",
    case_sensitive: CaseChoice = False,
    limit: Annotated[int, typer.Option("-n", "--limit", help="Lines, at most 1000")] = 20,
    offset: Annotated[int, typer.Option(help="Lines before them")] = 0,
    context: Annotated[int, typer.Option(help="Words on either side")] = 8,
    sort: Annotated[Sort, typer.Option(help="Order of the lines")] = "document",
    sample: Annotated[int | None, typer.Option(help="So many hits, drawn by lot")] = None,
    seed: Annotated[int, typer.Option(help="The same draws the same hits")] = 0,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Show every hit of some words in its context (keyword in context), and count them."""
    body = body_of(query, corpus, where, require, exclude, form, case_sensitive) | {
        "limit": limit,
        "offset": offset,
        "context": context,
        "sort": sort,
        "sample": sample,
        "seed": seed,
    }
    ask_and_print(
        "/api/concordance",
        of_collection(collection, body),
        "lines",
        list(Line.model_fields),
        _print_lines,
        as_csv=as_csv,
        as_json=as_json,
    )


def trends_command(
    query: Query,
    by: ByChoice = YEAR,
    by_corpus: ByCorpus = False,
    corpus: CorpusChoice = None,
    collection: CollectionChoice = None,
    where: WhereChoice = None,
    require: Required = None,
    exclude: Excluded = None,
    form: FormChoice = "surface",
    case_sensitive: CaseChoice = False,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Count the hits of some words by year, decade, corpus or metadata field."""
    body = body_of(query, corpus, where, require, exclude, form, case_sensitive)
    request = of_collection(collection, body | {"by": by, "by_corpus": by_corpus})
    _count("/api/trends", request, as_csv=as_csv, as_json=as_json)


def counts_command(
    query: Query,
    by: ByChoice = ALL,
    by_corpus: ByCorpus = False,
    corpus: CorpusChoice = None,
    collection: CollectionChoice = None,
    where: WhereChoice = None,
    require: Required = None,
    exclude: Excluded = None,
    form: FormChoice = "surface",
    case_sensitive: CaseChoice = False,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Count the documents and passages that say something, at once or by a field."""
    body = body_of(query, corpus, where, require, exclude, form, case_sensitive)
    request = of_collection(collection, body | {"by": by, "by_corpus": by_corpus})
    _count("/api/counts", request, as_csv=as_csv, as_json=as_json)


def body_of(
    query: str,
    corpus: list[str] | None,
    where: list[str] | None,
    require: list[str] | None,
    exclude: list[str] | None,
    form: Form,
    case_sensitive: bool,
) -> dict[str, object]:
    """The body of a request, but for what one command alone has."""
    return {
        "query": query,
        "corpus_filter": corpus or "all",
        "filters": filters_of(where or ()),
        "require": require or [],
        "exclude": exclude or [],
        "form": form,
        "case_sensitive": case_sensitive,
    }


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
        raise RequestError("--csv and --json exclude each other. Give one.")
    result = post(command_settings(), path, asked)
    if as_json:
        print(printable_json(result))
    elif as_csv:
        listed = ({name: row[name] for name in columns} for row in result[rows])
        print(csv_text(columns, listed), end="")
    else:
        show(Console(highlight=False), printable(result))


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


FunctionWords = Annotated[bool, typer.Option(help="Whether `the`, `of` and the like are listed")]
Limit = Annotated[int, typer.Option("-n", "--limit", help="Words, at most 1000")]


def collocates_command(
    query: Query,
    left: Annotated[int, typer.Option(help="Words before a hit that are near, at most 10")] = 5,
    right: Annotated[int, typer.Option(help="Words after it")] = 5,
    sort: Annotated[Strength, typer.Option(help="The strongest first")] = "log_likelihood",
    min_count: Annotated[int, typer.Option(help="Places near a hit")] = COLLOCATES_FROM,
    function_words: FunctionWords = True,
    corpus: CorpusChoice = None,
    collection: CollectionChoice = None,
    where: WhereChoice = None,
    require: Required = None,
    exclude: Excluded = None,
    form: FormChoice = "surface",
    case_sensitive: CaseChoice = False,
    limit: Limit = 20,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """List the words that stand near some words more often than elsewhere."""
    body = body_of(query, corpus, where, require, exclude, form, case_sensitive) | {
        "left": left,
        "right": right,
        "sort": sort,
        "min_count": min_count,
        "limit": limit,
        "function_words": function_words,
    }
    columns = list(Collocate.model_fields)
    _list("collocates", columns, of_collection(collection, body), as_csv=as_csv, as_json=as_json)


def keywords_command(
    against: Annotated[
        list[str] | None,
        typer.Option(help="Compare with this corpus, not with everything else; repeatable"),
    ] = None,
    direction: Annotated[
        Direction, typer.Option(help="Words that are more frequent than there, less, or both")
    ] = "more",
    sort: Annotated[Keyness, typer.Option(help="What differs most first")] = "log_likelihood",
    min_count: Annotated[int, typer.Option(help="Places of a word")] = KEYWORDS_FROM,
    min_documents: Annotated[int, typer.Option(help="Documents with it")] = 1,
    function_words: FunctionWords = True,
    corpus: CorpusChoice = None,
    collection: CollectionChoice = None,
    where: WhereChoice = None,
    require: Required = None,
    exclude: Excluded = None,
    form: FormChoice = "surface",
    case_sensitive: CaseChoice = False,
    limit: Limit = 20,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """List the words that set some texts apart: those of a corpus, or with `--where`."""
    body = body_of("", corpus, where, require, exclude, form, case_sensitive) | {
        "against": against or "all",
        "direction": direction,
        "sort": sort,
        "min_count": min_count,
        "min_documents": min_documents,
        "limit": limit,
        "function_words": function_words,
    }
    del body["query"]
    columns = list(Keyword.model_fields)
    _list("keywords", columns, of_collection(collection, body), as_csv=as_csv, as_json=as_json)


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
