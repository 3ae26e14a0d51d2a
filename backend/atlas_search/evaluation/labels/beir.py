"""The queries and judgements of a benchmark in the form of BEIR, as the rows of a label set."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.labels.rows import Row, Rows
from atlas_search.evaluation.labels.values import whole_number
from atlas_search.evaluation.labels.verdicts import are_verdicts, is_unmentioned
from atlas_search.readers import Draft
from atlas_search.readers.tables import Columns, JsonlReader
from atlas_search.readers.text import Undecodable, open_text

QUERIES = "queries.jsonl"
QRELS = ("qrels.tsv", "qrels.txt", "qrels/test.tsv")

_TEXTS = ("answers", "quotes")

_DECLINED = ("is_impossible", "unanswerable")  # metadata of a query that has no answer

Qrels = Mapping[str, Mapping[str, int]]
"""Per query id, per record id: how relevant the record is; 0 or less is not."""


@dataclass(frozen=True)
class BenchmarkQuery:
    """A question of a benchmark; `metadata` is all that is said of it besides.

    `quotes` are words of relevant records that answer it.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    metadata: Mapping[str, object]
    quotes: tuple[str, ...] = ()


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
    return _judged(path)


def is_benchmark(path: Path) -> bool:
    """Whether a folder, or the file of queries in it, is a benchmark."""
    folder = path if path.is_dir() else path.parent
    has_queries = path == folder / QUERIES or (path.is_dir() and (folder / QUERIES).is_file())
    return has_queries and bool(_judgements(folder))


def benchmark_rows(path: Path) -> Rows:
    """A row for each query that has a relevant record, or that is said to have no answer.

    Gold documents are called by the ids of records. Each file below `qrels` is a split. Others
    are left out: that nobody judged them does not say that there is no answer.
    """
    folder = path if path.is_dir() else path.parent
    queries = read_queries(folder)
    declined = _declined(queries)
    rows = [
        row
        for split, file in _judgements(folder)
        for row in _benchmark_rows(path, queries, declined, split, _judged(file))
    ]
    told = {row.fields["id"] for row in rows}
    left_out = sum(query.id not in told for query in queries)
    remarks = (f"left out, as nothing is judged relevant for them: {left_out} queries",)
    return Rows("a benchmark in BEIR's form", rows, remarks if left_out else ())


def _judgements(folder: Path) -> list[tuple[str, Path]]:
    """The files of judgements, each with the name of its split: one file, or one of each split."""
    for name in QRELS[:2]:
        if (folder / name).is_file():
            return [("", folder / name)]
    return [(file.stem, file) for file in sorted((folder / "qrels").glob("*.tsv"))]


def _declined(queries: Sequence[BenchmarkQuery]) -> frozenset[str]:
    """The ids of the queries that are said to have no answer."""
    verdicts = are_verdicts(answer for query in queries for answer in query.answers)
    return frozenset(
        query.id
        for query in queries
        if any(query.metadata.get(name) is True for name in _DECLINED)
        or (verdicts and is_unmentioned(query.answers))
    )


def _benchmark_rows(
    path: Path,
    queries: Iterable[BenchmarkQuery],
    declined: Collection[str],
    split: str,
    qrels: Qrels,
) -> Iterator[Row]:
    for query in queries:
        grades = {
            record: relevance
            for record, relevance in qrels.get(query.id, {}).items()
            if relevance > 0
        }
        if query.id in declined and (not split or query.id in qrels):
            grades = {}
        elif not grades:
            continue
        yield Row(
            f"{path}, query {query.id}",
            {
                "id": query.id,
                "question": query.text,
                "answers": list(query.answers),
                "grades": grades,
                **({"quotes": list(query.quotes)} if query.quotes else {}),
                **({"split": split} if split else {}),
                "metadata": query.metadata,
            },
        )


def _judged(path: Path) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for number, (query, record, relevance) in _rows(path):
        if judged.setdefault(query, {}).setdefault(record, relevance) != relevance:
            raise SourceError(
                f"{path}:{number}: {query} and {record} are judged differently above."
            )
    return {query: dict(sorted(judged[query].items())) for query in sorted(judged)}


def _query(draft: Draft) -> BenchmarkQuery:
    return BenchmarkQuery(
        id=draft.key,
        text=draft.text,
        answers=_texts(draft, "answers"),
        metadata={name: value for name, value in draft.metadata.items() if name not in _TEXTS},
        quotes=_texts(draft, "quotes"),
    )


def _texts(draft: Draft, name: str) -> tuple[str, ...]:
    texts = draft.metadata.get(name, [])
    return tuple(texts) if isinstance(texts, list) else (str(texts),)


def _rows(path: Path) -> Iterator[tuple[int, tuple[str, str, int]]]:
    try:
        with open_text(path, "") as text:
            for number, line in enumerate(text, start=1):
                columns = line.strip("\r\n").split("\t") if "\t" in line else line.split()
                if columns and not (number == 1 and _is_header(columns)):
                    yield number, _judgement(columns, f"{path}:{number}")
    except Undecodable as error:
        raise SourceError(f"{path}: {error.what}. Convert it to UTF-8.") from None


def _is_header(columns: list[str]) -> bool:
    try:
        float(columns[-1])
    except ValueError:
        return True
    return False


def _judgement(columns: list[str], place: str) -> tuple[str, str, int]:
    """BenchmarkQuery, record and relevance; the second of four columns is TREC's iteration."""
    match [column.strip() for column in columns]:
        case [query, record, relevance] | [query, _, record, relevance]:
            try:
                return query, record, whole_number(relevance)
            except ValueError:
                raise SourceError(
                    f"{place}: the relevance {relevance} is no whole number."
                ) from None
    raise SourceError(f"{place}: {len(columns)} columns; a judgement has three or four.")
