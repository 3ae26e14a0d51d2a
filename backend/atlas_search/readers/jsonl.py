"""Reading JSON: one document a line, or one an object of a whole file."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TextIO

from atlas_search.readers import Read, Skipped
from atlas_search.readers.columns import (
    Columns,
    IdColumn,
    MetadataColumns,
    Record,
    Rename,
    TextColumn,
    TitleColumn,
    columns_of,
    drafts,
)
from atlas_search.readers.text_files import Undecodable, open_text

_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
# none of them is JSON, but pandas writes NaN for a missing value
_CONSTANTS = {"NaN": None, "Infinity": "Infinity", "-Infinity": "-Infinity"}
_TOO_DEEP = "it is nested too deeply"
_DECODER = json.JSONDecoder(parse_constant=_CONSTANTS.__getitem__)


@dataclass(frozen=True)
class JsonlReader:
    """Reads JSON: a record a line, or in a `.json` file one array of records or one record."""

    columns: Columns = field(default_factory=Columns)
    suffixes: ClassVar[frozenset[str]] = frozenset({".jsonl", ".ndjson", ".json"})

    @property
    def options(self) -> Mapping[str, object]:
        """All settings change what is read."""
        return {"version": 2} | self.columns.options

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """One draft or Skipped for every record, in order. A blank line is no record."""
        try:
            with open_text(path, encoding) as text:
                whole = path.suffix.lower() == ".json"
                yield from drafts(_whole(text.read()) if whole else _lines(text), self.columns)
        except Undecodable as error:
            yield Skipped(str(error))


def jsonl_reader(
    text_column: TextColumn = "",
    id_column: IdColumn = "",
    title_column: TitleColumn = "title",
    metadata_columns: MetadataColumns = "",
    rename: Rename = "",
) -> JsonlReader:
    """Build a collection from JSON files: one document a line, or one an item of an array."""
    return JsonlReader(columns_of(text_column, id_column, title_column, metadata_columns, rename))


def _lines(text: TextIO) -> Iterator[Record | Skipped]:
    for number, line in enumerate(text, start=1):
        if number == 1 and line.lstrip().startswith("["):
            yield Skipped("it begins with `[`: name it `.json` if it is one array of records")
            return
        if line.strip():
            yield _line(line.rstrip("\r\n"), f"line-{number}", f"line {number}")


def _line(line: str, key: str, place: str) -> Record | Skipped:
    try:
        value = _parse(line)
    except ValueError as error:
        return Skipped(f"{place}: {_explain(error)}", key)
    return _record(value, key, place, mend=_needs_mending(line))


def _whole(content: str) -> Iterator[Record | Skipped]:
    try:
        value = _parse(content)
    except ValueError as error:
        yield Skipped(_explain(error))
        return
    mend = _needs_mending(content)
    if isinstance(value, list):
        for number, item in enumerate(value, start=1):
            yield _record(item, f"row-{number}", f"record {number}", mend=mend)
    else:
        yield _record(value, "", "the file", mend=mend)


def _parse(content: str) -> object:
    try:
        return _DECODER.decode(content)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def _needs_mending(content: str) -> bool:
    return _SURROGATE_ESCAPE.search(content) is not None


def _record(value: object, key: str, place: str, *, mend: bool) -> Record | Skipped:
    if not isinstance(value, dict):
        return Skipped(f"{place}: not a JSON object with named fields, but {_kind(value)}", key)
    try:
        fields, replaced = _mend(value) if mend else (value, 0)
    except RecursionError:
        return Skipped(f"{place}: {_TOO_DEEP}", key)
    remark = f"lone surrogates replaced by U+FFFD: {replaced}" if replaced else ""
    return Record(key, place, fields, remark)


def _mend(fields: dict[str, object]) -> tuple[dict[str, object], int]:
    """The fields without lone surrogates, which no encoding can write, and how many there were."""
    # writing and reading it again reaches every text in it
    mended, count = _SURROGATE.subn("\ufffd", json.dumps(fields, ensure_ascii=False))
    return _DECODER.decode(mended), count


def _explain(error: ValueError) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return f"not read as JSON: {error}"
    if error.lineno == 1:
        return f"not JSON: {error.msg} at character {error.colno}"
    more = "; name it `.jsonl` if each line is a record" if error.msg == "Extra data" else ""
    return f"not JSON: {error.msg} at line {error.lineno}, character {error.colno}{more}"


def _kind(value: object) -> str:
    kinds = {list: "an array", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
