"""`atlas collocates` and `keywords`: lists of words of whole corpora, from a running server."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from atlas_search.cli.choices import (
    AsJson,
    CollectionChoice,
    CorpusChoice,
    Excluded,
    Required,
    WhereChoice,
)
from atlas_search.cli.client import Document, of_collection
from atlas_search.cli.tables import print_whole
from atlas_search.cli.words import (
    AsCsv,
    CaseChoice,
    FormChoice,
    Query,
    ask_and_print,
    body_of,
    figure,
)
from atlas_search.counting import COLLOCATES_FROM, KEYWORDS_FROM
from atlas_search.documents.words import CollocateOut, KeywordOut
from atlas_search.words.request import Direction, Keyness, Strength

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
    columns = list(CollocateOut.model_fields)
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
    columns = list(KeywordOut.model_fields)
    _list("keywords", columns, of_collection(collection, body), as_csv=as_csv, as_json=as_json)


def _list(
    name: str,
    columns: Sequence[str],
    asked: Mapping[str, object],
    *,
    as_csv: bool,
    as_json: bool,
) -> None:
    def show(console: Console, found: Document) -> None:
        _print_table(console, found, name, columns)

    ask_and_print(f"/api/{name}", asked, name, columns, show, as_csv=as_csv, as_json=as_json)


def _print_table(console: Console, found: Document, name: str, columns: Sequence[str]) -> None:
    shown = [column for column in columns if column not in ("word", "query")]
    table = Table("word", *(column.replace("_", " ") for column in shown))
    for row in found[name]:
        table.add_row(Text(row["word"]), *(figure(row[column]) for column in shown))
    print_whole(console, table)
    if found["left_out"]:
        console.print(f"{found['left_out']:,} more are not shown.")
    hits = f"{found['hits']:,} hits; " if "hits" in found else ""
    console.print(f"{hits}{found['words']:,} words looked through", soft_wrap=True)
