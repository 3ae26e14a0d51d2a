"""The queries and judgements of a benchmark, and a label set made of them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from atlas_search.core.errors import SourceError
from atlas_search.readers import Draft
from atlas_search.readers.columns import Columns
from atlas_search.readers.jsonl import JsonlReader
from atlas_search.readers.text_files import Undecodable, open_text

QUERIES = "queries.jsonl"
QRELS = ("qrels.tsv", "qrels.txt", "qrels/test.tsv")

Qrels = Mapping[str, Mapping[str, int]]
"""Per query id, per record id: how relevant the record is; 0 or less is not."""


@dataclass(frozen=True)
class BenchmarkQuery:
    """A question of a benchmark; `metadata` is all that is said of it besides."""

    id: str
    text: str
    answers: tuple[str, ...]
    metadata: Mapping[str, object]


def read_queries(folder: Path) -> list[BenchmarkQuery]:
    """The queries of a benchmark folder, by id. Raises SourceError if one cannot be read."""
    path = folder / QUERIES
    if not path.is_file():
        raise SourceError(f"There are no queries at {path}.")
    queries = []
    for read in JsonlReader(Columns(text=("text",))).read(path, ""):
        if not isinstance(read, Draft):
            raise SourceError(f"{path}: {read.reason}")
        queries.append(_query(read))
    return sorted(queries, key=lambda query: query.id)


def read_qrels(folder: Path) -> dict[str, dict[str, int]]:
    """The judgements of a benchmark folder, by query id and record id.

    The first of QRELS that exists: columns query, record, relevance with or without a header, or
    the four of TREC (query, iteration, record, relevance). Raises SourceError with the line.
    """
    path = next((folder / name for name in QRELS if (folder / name).is_file()), None)
    if path is None:
        raise SourceError(f"There are no judgements in {folder}: none of {', '.join(QRELS)}.")
    judged: dict[str, dict[str, int]] = {}
    for number, (query, record, relevance) in _rows(path):
        if judged.setdefault(query, {}).setdefault(record, relevance) != relevance:
            raise SourceError(
                f"{path}:{number}: {query} and {record} are judged differently above."
            )
    return {query: dict(sorted(judged[query].items())) for query in sorted(judged)}


def labels(
    queries: Iterable[BenchmarkQuery],
    qrels: Qrels,
    document_ids: Mapping[str, str],
    unanswerable: Collection[str] = (),
) -> Iterator[dict[str, object]]:
    """A label for each query that has a relevant record in `document_ids`, in their order.

    `document_ids` are the documents made of the records, by record id. `unanswerable` are the ids
    of queries known to have no answer: only the benchmark can tell them from queries that nobody
    judged, which give no label.
    """
    for query in queries:
        gold = {document_ids[record] for record in _relevant(qrels, query) & document_ids.keys()}
        if query.id in unanswerable:
            yield _label(query, "unanswerable", (), ())
        elif gold:
            yield _label(query, "answerable", query.answers, sorted(gold))


def _query(draft: Draft) -> BenchmarkQuery:
    answers = draft.metadata.get("answers", [])
    return BenchmarkQuery(
        id=draft.key,
        text=draft.text,
        answers=tuple(answers) if isinstance(answers, list) else (str(answers),),
        metadata={name: value for name, value in draft.metadata.items() if name != "answers"},
    )


def _rows(path: Path) -> Iterator[tuple[int, tuple[str, str, int]]]:
    try:
        with open_text(path, "") as text:
            for number, line in enumerate(text, start=1):
                columns = line.strip("\r\n").split("\t") if "\t" in line else line.split()
                if columns and not (number == 1 and _is_header(columns)):
                    yield number, _judgement(columns, f"{path}:{number}")
    except Undecodable as error:
        raise SourceError(f"{path}: {error}") from None


def _is_header(columns: list[str]) -> bool:
    return not columns[-1].strip().lstrip("-").isdigit()


def _judgement(columns: list[str], place: str) -> tuple[str, str, int]:
    """BenchmarkQuery, record and relevance; the second of four columns is TREC's iteration."""
    match [column.strip() for column in columns]:
        case [query, record, relevance] | [query, _, record, relevance]:
            try:
                return query, record, int(relevance)
            except ValueError:
                raise SourceError(f"{place}: the relevance {relevance} is no number.") from None
    raise SourceError(f"{place}: {len(columns)} columns; a judgement has three or four.")


def _relevant(qrels: Qrels, query: BenchmarkQuery) -> set[str]:
    return {record for record, relevance in qrels.get(query.id, {}).items() if relevance > 0}


def _label(
    query: BenchmarkQuery, category: str, answers: Collection[str], gold: Collection[str]
) -> dict[str, object]:
    return {
        "id": query.id,
        "split": "test",
        "category": category,
        "question": query.text,
        "answers": list(answers),
        "gold_document_ids": list(gold),
    }
