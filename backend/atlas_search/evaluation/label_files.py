"""Label files in every form that is read, and the one that is written."""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import cast

from atlas_search.core.errors import SourceError
from atlas_search.documents.export import original
from atlas_search.evaluation.label_set import (
    REMARK,
    LabelSet,
    ReadLabel,
    are_verdicts,
    distinct_ids,
    is_unmentioned,
    read_label,
    read_verdicts,
)
from atlas_search.evaluation.labels import (
    INSIDE,
    CellText,
    Label,
    LabelColumns,
    LabelRow,
    Rows,
    are_exported_answers,
    columns_of,
    filters_of,
    is_blank,
    not_a_label,
    nothing_understood,
    opened,
    understood_names,
    whole_number,
)
from atlas_search.readers import Draft
from atlas_search.readers.encoding import Undecodable, open_text
from atlas_search.readers.tables import Columns, JsonlReader, delimiter_of, rows_of

ALWAYS = ("id", "split", "category", "question", "answers", "gold_document_ids", "kind")
"""Fields that every line has; others are left out where nothing is known.

The columns of a table that Atlas wrote, in which no spreadsheet computes, begin with them too."""


def labels_text(labels: Iterable[Label]) -> str:
    """The lines of a file that `load_labels` reads back the same."""
    lines = (json.dumps(label_fields(label), ensure_ascii=False) for label in labels)
    return "".join(f"{line}\n" for line in lines)


def label_fields(label: Label) -> dict[str, object]:
    """A label as JSON has it, always the same for equal ones."""
    found = {field.name: _plain(getattr(label, field.name)) for field in fields(label)}
    return {
        name: value
        for name, value in found.items()
        if name in ALWAYS or value not in (None, [], {})
    }


def _plain(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [item if isinstance(item, str) else asdict(item) for item in value]
    return value


_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "`|`"}


def table_rows(text: str, path: Path) -> Rows:
    """The rows of a table; its delimiter is what splits the first line most. Raises SourceError."""
    lines = StringIO(text, newline="")
    first = next(lines)
    delimiter = delimiter_of(first)
    format_ = {"delimiter": delimiter, "strict": True}
    _, header = next(found := rows_of(chain([first], lines), format_))
    if isinstance(header, csv.Error):
        raise SourceError(f"{path}:1: the first line does not name the columns: {header}")
    _check(header, path)
    rows = tuple(_rows(found, [name.strip() for name in header], path))
    return Rows(f"a table separated by {_NAMES[delimiter]}", rows)


def _check(header: list[str], path: Path) -> None:
    """Raise SourceError unless a table has a column of questions: prose has a first line too."""
    twice = [name for name, count in Counter(header).items() if count > 1 and name.strip()]
    if twice:
        raise SourceError(f"{path}:1: several columns are named `{twice[0]}`: rename all but one.")
    if "question" not in columns_of(header).meanings.values():
        columns = ", ".join(header[:9])[:200]
        raise nothing_understood(
            path, f"as a table its columns would be: {columns}", understood_names()
        )


def _rows(
    found: Iterator[tuple[int, list[str] | csv.Error]], header: list[str], path: Path
) -> Iterator[LabelRow]:
    read = original if tuple(header[: len(ALWAYS)]) == ALWAYS else str
    for line, cells in found:
        place = f"{path}:{line}"
        if isinstance(cells, csv.Error):
            raise not_a_label(place, f"not a row of a table: {cells}")
        if len(cells) not in (0, len(header)):
            reason = f"{len(cells)} values, but the first line names {len(header)} columns"
            raise not_a_label(place, reason)
        if any(cell.strip() for cell in cells):
            values = (CellText(read(cell)) for cell in cells)
            yield LabelRow(place, dict(zip(header, values, strict=True)))


_LISTS = ("labels", "questions", "examples", "data", "dataset", "items", "samples", "rows")
"""What a list of labels is called where an object holds several lists."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_MISSING = {"NaN": None, "Infinity": "Infinity", "-Infinity": "-Infinity"}  # of pandas


def json_rows(text: str, path: Path) -> Rows:
    """The rows of a text that begins as JSON does. Raises SourceError with the line or record."""
    try:
        whole = _parse(text)
    except ValueError as error:
        if not _is_object(text.lstrip().split("\n", 1)[0]):
            raise not_a_label(f"{path}:{getattr(error, 'lineno', 1)}", error) from error
        return Rows("lines of JSON", tuple(_lines(text, path)))
    if isinstance(whole, list):
        return Rows("a list in JSON", _records(whole, path))
    if isinstance(whole, dict):
        return _object(whole, path)
    raise nothing_understood(path, f"it holds {str(whole)[:80]!r}", understood_names())


def _lines(text: str, path: Path) -> Iterator[LabelRow]:
    # a line of JSON may hold every other character that ends lines elsewhere
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            place = f"{path}:{number}"
            try:
                yield _row(_parse(line), place)
            except ValueError as error:
                raise not_a_label(place, error) from error


def _object(whole: Mapping[str, object], path: Path) -> Rows:
    if _is_squad(whole):
        return Rows("SQuAD", tuple(_squad(whole, path)))
    if _is_by_column(whole):
        return Rows("lists by column in JSON", _records(_by_row(whole, path), path))
    if "question" in columns_of(whole).meanings.values():
        return Rows("lines of JSON", (LabelRow(f"{path}:1", whole),))
    lists = {n: cast(list[object], value) for n, value in whole.items() if _is_of_objects(value)}
    known = [name for name in _LISTS if name in lists]
    if len(lists) == 1 or known:
        name = known[0] if known else next(iter(lists))
        return Rows(f"the list `{name}` in JSON", _records(lists[name], path))
    found = f"an object with {', '.join(f'`{name}`' for name in list(whole)[:9]) or 'nothing'}"
    raise nothing_understood(path, found, f"a list of objects; {understood_names()}")


def _records(values: Sequence[object], path: Path) -> tuple[LabelRow, ...]:
    rows = []
    for number, value in enumerate(values, start=1):
        place = f"{path}, record {number}"
        try:
            rows.append(_row(value, place))
        except ValueError as error:
            raise not_a_label(place, error) from error
    return tuple(rows)


def _row(value: object, place: str) -> LabelRow:
    if not isinstance(value, dict):
        raise ValueError(f"a Label is an object with named fields, not {str(value)[:80]!r}")
    return LabelRow(place, value)


def _is_object(line: str) -> bool:
    try:
        return isinstance(_parse(line), dict)
    except ValueError:
        return False


def _is_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _is_by_column(whole: Mapping[str, object]) -> bool:
    meanings = columns_of(whole).meanings
    return any(isinstance(whole[n], list) for n, what in meanings.items() if what == "question")


def _by_row(whole: Mapping[str, object], path: Path) -> list[dict[str, object]]:
    lists = {name: value for name, value in whole.items() if isinstance(value, list)}
    sizes = {name: len(value) for name, value in lists.items()}
    if len(set(sizes.values())) > 1:
        said = ", ".join(f"`{name}` has {size}" for name, size in sizes.items())
        raise SourceError(f"{path}: its lists are of different lengths: {said}.")
    return [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]


def _is_squad(whole: Mapping[str, object]) -> bool:
    data = whole.get("data")
    return isinstance(data, list) and any(isinstance(d, dict) and "paragraphs" in d for d in data)


def _squad(whole: Mapping[str, object], path: Path) -> Iterator[LabelRow]:
    """Each question with its paragraph as a quote from the article, if it has an answer there."""
    for number, article in enumerate(cast(list[dict[str, object]], whole["data"]), start=1):
        place = f"{path}, article {number}"
        try:
            for paragraph in cast(list[dict[str, object]], article["paragraphs"]):
                for asked in cast(list[dict[str, object]], paragraph["qas"]):
                    yield LabelRow(
                        f"{place}, question {asked.get('id', '')}".rstrip(),
                        _squad_fields(asked, paragraph["context"], article.get("title", "")),
                    )
        except (KeyError, TypeError, AttributeError) as error:
            raise not_a_label(place, f"not in the form of SQuAD: {error!r}") from error


def _squad_fields(asked: Mapping[str, object], context: object, title: object) -> dict[str, object]:
    known = ("id", "question", "answers", "is_impossible")
    fields = {name: asked[name] for name in known if name in asked}
    if asked.get("is_impossible"):
        return fields | {"answers": []}
    # spaces of a title are underscores in the published files
    return fields | {"gold_documents": [str(title).replace("_", " ")], "quotes": [context]}


def _parse(text: str) -> object:
    try:
        value = cast(object, json.loads(text, parse_constant=_MISSING.__getitem__))
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError(r"it holds half a character (`\ud800` to `\udfff`)") from None
    return value


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
    """Return whether a folder, or the file of queries in it, is a benchmark."""
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
) -> Iterator[LabelRow]:
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
        yield LabelRow(
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
    for number, (query, record, relevance) in _beir_rows(path):
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


def _beir_rows(path: Path) -> Iterator[tuple[int, tuple[str, str, int]]]:
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


_LISTED = 5  # places that a warning names


def load_labels(path: Path, split: str | None = None) -> list[Label]:
    """The labels of a file or folder, of one split or all.

    Raises SourceError as `read_labels` does, and for a split that there is not.
    """
    return read_labels(path).of_split(split or "").labels


def read_labels(path: Path, *, filter_by: str = "") -> LabelSet:
    """The labels of a file or folder, and what was understood of it.

    Each question is asked of the documents whose field `filter_by` is that of the question, in its
    metadata or beside it.

    Gold documents are called as they are there: see `fit_labels`. Raises SourceError with the file
    and the line if nothing can be understood, and for any row that cannot be read.
    """
    found_rows = _rows_of_file(path)
    rows, verdicts = read_verdicts([opened(row) for row in found_rows.rows])
    columns = columns_of(name for row in rows for name in row.fields)
    _check_labels(path, columns)
    read = [(row, _filtered(read_label(row, columns), row, filter_by)) for row in rows]
    found = distinct_ids(label for _, label in read if label)
    if not found:
        raise nothing_understood(path, "no row has a question", understood_names())
    if not columns.says_what_is_right:
        found = [_answerable(one) for one in found]
    skipped = [row.place for row, label in read if not label]
    remarks = (*found_rows.remarks, *([REMARK] if verdicts else []))
    warnings = (*remarks, *_warnings(path, found, columns, skipped))
    used = columns.used_as_filter(filter_by)
    return LabelSet(path, tuple(found), found_rows.form, used, warnings)


def _rows_of_file(path: Path) -> Rows:
    if is_benchmark(path):
        return benchmark_rows(path)
    if path.is_dir():
        raise nothing_understood(path, "a folder without queries.jsonl", "a folder in BEIR's form")
    if not path.is_file():
        raise SourceError(f"There is no label set at {path}.")
    try:
        with open_text(path, "") as file:
            text = file.read()
    except Undecodable as error:
        raise SourceError(f"{path}: {error.what}. Convert it to UTF-8.") from error
    if not text.strip():
        raise SourceError(f"{path} is empty: it holds no label.")
    is_json = text.lstrip()[0] in "[{"
    return json_rows(text, path) if is_json else table_rows(text, path)


def _filtered(one: ReadLabel | None, row: LabelRow, field: str) -> ReadLabel | None:
    """The label, asked of the documents that have the row's own value in a field, if one is named.

    Raises SourceError for a row without a value.
    """
    if one is None or not field:
        return one
    value = row.fields.get(f"{INSIDE}{field}", row.fields.get(field))
    if is_blank(value):
        raise not_a_label(row.place, f"--filter-by {field}, but it has no value of `{field}`")
    try:
        filters = filters_of({field: value})
    except ValueError as error:
        raise not_a_label(row.place, f"`{field}` cannot be a filter: {error}") from error
    return replace(one, label=replace(one.label, filters={**one.label.filters, **filters}))


def _check_labels(path: Path, columns: LabelColumns) -> None:
    names = (*columns.meanings, *columns.unused)
    if are_exported_answers(names):
        raise SourceError(
            f"{path} holds answers or ratings as Atlas exports them, and not what is right: "
            "`atlas feedback export` makes labels of ratings."
        )
    if "question" not in columns.meanings.values():
        found = f"its fields are {', '.join(names[: _LISTED * 2]) or 'none'}"
        raise nothing_understood(path, found, understood_names())


def _answerable(one: ReadLabel) -> ReadLabel:
    return replace(one, label=replace(one.label, should_answer=True, category="answerable"))


def _warnings(
    path: Path, read: Sequence[ReadLabel], columns: LabelColumns, skipped: Sequence[str]
) -> Iterator[str]:
    if not columns.says_what_is_right:
        yield "no column says what the answers are: every question counts as one to be answered"
    if skipped:
        yield f"skipped, without a question: {_some(path, skipped)}"
    asked: dict[object, list[str]] = defaultdict(list)
    for one in read:
        label = one.label
        where = (label.corpus_filter, repr(label.filters))
        asked[" ".join(label.question.casefold().split()), *where].append(one.place)
    twice = [places[-1] for places in asked.values() if len(places) > 1]
    if twice:
        yield f"asked more than once: {_some(path, twice)}"
    declined = [one for one in read if not one.label.answerable]
    if answered := [one.place for one in declined if one.label.answers]:
        yield f"a reference answer, though it should be declined: {_some(path, answered)}"
    if located := [one.place for one in declined if one.label.located]:
        yield f"gold documents, though it should be declined: {_some(path, located)}"


def _some(path: Path, places: Sequence[str]) -> str:
    """Return how many places, and the first of them without the file."""
    first = ", ".join(_short(path, place) for place in places[:_LISTED])
    more = ", ..." if places[_LISTED:] else ""
    return f"{len(places)} ({first}{more})"


def _short(path: Path, place: str) -> str:
    rest = place.removeprefix(str(path))
    return f"line {rest[1:]}" if rest.startswith(":") else rest.removeprefix(", ")
