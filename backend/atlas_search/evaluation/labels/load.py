"""Reading a label set, in whatever form it is kept."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.labels.beir import benchmark_rows, is_benchmark
from atlas_search.evaluation.labels.json_rows import json_rows
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.labels.label_set import LabelSet, Understood, count
from atlas_search.evaluation.labels.names import (
    INSIDE,
    Columns,
    are_exported_answers,
    columns_of,
    understood_names,
)
from atlas_search.evaluation.labels.read import ReadLabel, distinct_ids, read_label
from atlas_search.evaluation.labels.rows import (
    Row,
    Rows,
    not_a_label,
    nothing_understood,
    opened,
)
from atlas_search.evaluation.labels.table_rows import table_rows
from atlas_search.evaluation.labels.values import filters_of, is_blank
from atlas_search.evaluation.labels.verdicts import REMARK, read_verdicts
from atlas_search.readers.text import Undecodable, open_text

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
    found_rows = _rows(path)
    rows, verdicts = read_verdicts([opened(row) for row in found_rows.rows])
    columns = columns_of(name for row in rows for name in row.fields)
    _check(path, columns)
    read = [(row, _filtered(read_label(row, columns), row, filter_by)) for row in rows]
    found = distinct_ids(label for _, label in read if label)
    if not found:
        raise nothing_understood(path, "no row has a question", understood_names())
    if not columns.says_what_is_right:
        found = [_answerable(one) for one in found]
    skipped = [row.place for row, label in read if not label]
    remarks = (*found_rows.remarks, *([REMARK] if verdicts else []))
    warnings = (*remarks, *_warnings(path, found, columns, skipped))
    told = columns.used_as_filter(filter_by)
    return LabelSet(path, tuple(found), Understood(found_rows.form, told, count(found), warnings))


def _rows(path: Path) -> Rows:
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


def _filtered(one: ReadLabel | None, row: Row, field: str) -> ReadLabel | None:
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


def _check(path: Path, columns: Columns) -> None:
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
    path: Path, read: Sequence[ReadLabel], columns: Columns, skipped: Sequence[str]
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
    """How many places, and the first of them without the file."""
    first = ", ".join(_short(path, place) for place in places[:_LISTED])
    more = ", ..." if places[_LISTED:] else ""
    return f"{len(places)} ({first}{more})"


def _short(path: Path, place: str) -> str:
    rest = place.removeprefix(str(path))
    return f"line {rest[1:]}" if rest.startswith(":") else rest.removeprefix(", ")
