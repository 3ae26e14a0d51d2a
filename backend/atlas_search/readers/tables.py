"""Records of CSV, JSONL and other tables as drafts: which field is the text, which the id.

A retrieval benchmark in the form of BEIR is read here too: a folder with `corpus.jsonl` (or
`docs.jsonl`), a JSON object a line with `_id` (or `id`), `title`, `text` and optional `metadata`;
beside it `queries.jsonl` and qrels, see `evaluation.label_files`.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Annotated, Any, ClassVar, TextIO

import typer

from atlas_search.core.domain import CONTEXT_JOINT, Segment
from atlas_search.core.errors import SourceError
from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.encoding import Undecodable, open_text
from atlas_search.readers.markup import header_of
from atlas_search.readers.metadata import Nested, flat, is_empty, name_of, text_of
from atlas_search.readers.text import clean, pages

TEXT = ("text", "body", "content", "speech")
ID = ("id", "_id")
HEADLINE = "headline"
"""The title of a record without one: of an article."""
HEADINGS = ("part", "chapter", "heading")
"""Headings above a record's text, the outermost first; `section` is below them."""

LAST_PAGE = 5000
"""The highest `page` of a record that is taken for a page number."""

_LONGEST_NAME = 1_000  # characters of a heading or a speaker: each passage is read with them
_NAMED = 20  # fields that a message lists
_PROSE = 200  # characters of a value that is more than a name, a number or a short note
_HEAD = 20  # rows among which the heads of columns are looked for: below a title, say
_OUTER = 3  # objects around a list of records
_SECTION_NUMBER = re.compile(r"\d+[A-Za-z]{0,3}(?:\.\d+)*(?:\(\w{1,5}\))*")

TextColumn = Annotated[
    str,
    typer.Option(
        help=f"Fields of the text, joined by commas (default: first of {', '.join(TEXT)})"
    ),
]
IdColumn = Annotated[
    str, typer.Option(help=f"Field of the record's id (default: first of {', '.join(ID)})")
]
TitleColumn = Annotated[
    str, typer.Option(help=f"Field of the title; without it the record's `{HEADLINE}`")
]
MetadataColumns = Annotated[
    str, typer.Option(help="Fields kept as metadata, joined by commas (default: all)")
]
Rename = Annotated[
    str,
    typer.Option(
        help="old=new, joined by commas, for instance speaker_name=speaker,when=date; the other "
        "options use the new names"
    ),
]


@dataclass(frozen=True)
class Record:
    """A record as its file has it.

    `key` names it if it has no id, `place` tells where it stands: `line 5`.
    """

    key: str
    place: str
    fields: Mapping[str, object]
    remark: str = ""


@dataclass(frozen=True)
class Columns:
    """The use of the fields of a record, by their names as `name_of` writes them.

    Several text fields are joined by blank lines. Without any it is the first of TEXT that a
    record has, without an id the first of ID. All other fields are metadata, or those named in
    `metadata`. Fields are renamed first: all else speaks of the new names.
    """

    text: tuple[str, ...] = ()
    id: str = ""
    title: str = "title"
    metadata: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, str]:
        """The settings as `Reader.options` has them."""
        return {
            "text_column": ",".join(self.text),
            "id_column": self.id,
            "title_column": self.title,
            "metadata_columns": ",".join(self.metadata),
            "rename": ",".join(f"{old}={new}" for old, new in self.rename.items()),
        }

    @cached_property
    def opened(self) -> frozenset[str]:
        """The objects inside objects that some option names a part of."""
        paths = (*self.text, self.id, self.title, *self.metadata, *self.rename)
        return frozenset(
            path[: dot.start()] for path in paths for dot in list(re.finditer(r"\.", path))[1:]
        )

    def named(self, header: Iterable[str]) -> list[str]:
        """The fields that the heads of columns name."""
        names = [name for column in header if (name := name_of(column))]
        return [self.rename.get(name, name) for name in names]

    def texts(self, names: Collection[str]) -> tuple[str, ...]:
        """Choose the fields of `names` that hold the text."""
        if self.text:
            return tuple(name for name in self.text if name in names)
        inside = (f"{outer}.{inner}" for outer in TEXT for inner in TEXT)
        return tuple(name for name in (*TEXT, *inside) if name in names)[:1]

    def are_plain(self, header: Iterable[str]) -> bool:
        """Check that no head of a column names texts, and no option does."""
        names = self.named(header)
        return not (names and (self.text or self.texts(names)))

    def lacking(self, names: Iterable[str]) -> str:
        """Explain that none of the fields `names` holds the text."""
        names_of_text = " or ".join(f"`{name}`" for name in self.text or TEXT)
        some = [f"`{name}`" for name in islice(names, _NAMED + 1)]
        had = ", ".join([*some[:_NAMED], "..."] if some[_NAMED:] else some) or "none"
        # `text` may be an object of languages
        inside = [name for name in some if name[1:].partition(".")[0] in (self.text or TEXT)]
        example = f" {inside[0].strip('`')}" if inside else ""
        return (
            f"no field {names_of_text}; the fields are {had}: call the one with the text `text`, "
            f"or name it to `atlas create files` by `--text-column{example}`"
        )


def renames(option: str) -> dict[str, str]:
    """New names of fields by their old ones, from `--rename`. Raises SourceError."""
    pairs = [pair.partition("=") for pair in option.split(",") if pair.strip()]
    if not all(equals and name_of(old) and name_of(new) for old, equals, new in pairs):
        raise SourceError(f"--rename {option}: give `old=new`, or several joined by commas.")
    return {name_of(old): name_of(new) for old, _, new in pairs}


def columns_of(text: str, id_: str, title: str, metadata: str, rename: str) -> Columns:
    """Columns from command-line options, where commas separate names. Raises SourceError."""
    return Columns(
        text=_names(text),
        id=name_of(id_),
        title=name_of(title),
        metadata=_names(metadata),
        rename=renames(rename),
    )


def drafts(records: Iterable[Record | Skipped], columns: Columns) -> Iterator[Read]:
    """Read each record, in order. Of several with the same id the first draft counts."""
    first: dict[str, str] = {}
    for record in records:
        if isinstance(record, Skipped):
            yield record
            continue
        result = _read(record, columns)
        if isinstance(result, Draft):
            place = first.setdefault(result.key, record.place)
            if place != record.place:
                reason = f"{record.place}: duplicate id '{result.key}', first at {place}"
                result = Skipped(reason, result.key)
        yield result


def _names(option: str) -> tuple[str, ...]:
    return tuple(name for part in option.split(",") if (name := name_of(part)))


def _read(record: Record, columns: Columns) -> Read:
    try:
        return _draft(record, columns)
    except RecursionError:
        return Skipped(f"{record.place}: it is nested too deeply", record.key)


def _draft(record: Record, columns: Columns) -> Read:
    fields, remarks = _rename(record.fields, columns)
    id_field, id_ = _id(fields, columns)
    key = id_ or record.key
    text_fields = columns.texts(fields)
    if not text_fields:
        return Skipped(f"{record.place}: {columns.lacking(fields)}", key)
    title = " ".join(text_of(fields.get(columns.title) or fields.get(HEADLINE)).split())
    texts = {name: _text(fields[name]) for name in text_fields}
    for name, each in texts.items():
        if not each and isinstance(fields[name], Nested):
            reason = f"`{name}` holds objects without a `text`: give each one, or one field of text"
            return Skipped(f"{record.place}: {reason}", key)
    text = clean("\n\n".join(filter(None, texts.values())))
    text = text if text.strip() else title
    if not text:
        return Skipped(f"{record.place}: it holds no text", key)
    if columns.id and not id_:
        remarks.append(f"it has no `{columns.id}`")
    return Draft(
        text=text,
        title=title,
        key=key,
        metadata=_metadata(fields, {*text_fields, id_field}, columns.metadata),
        pages=_pages(text, text_of(fields.get("page"))),
        segments=place_of(fields),
        remark="; ".join(filter(None, [record.remark, *remarks])),
    )


def _text(value: object) -> str:
    """The text of a field, also of a list of parts: `[{"type": "text", "text": "…"}]`."""
    return "\n\n".join(_texts(json.loads(value))) if isinstance(value, Nested) else text_of(value)


def _texts(parts: object) -> Iterator[str]:
    if isinstance(parts, dict):
        parts = next((parts[name] for name in TEXT if name in parts), [])
    if isinstance(parts, str):
        yield parts
    elif isinstance(parts, list):
        for part in parts:
            yield from _texts(part)


def _rename(fields: Mapping[str, object], columns: Columns) -> tuple[dict[str, object], list[str]]:
    """The fields by their new names, and a remark on each value whose name was taken."""
    renamed: dict[str, object] = {}
    remarks = []
    for path, value in flat(fields, columns.opened):
        name = columns.rename.get(path, path)
        if is_empty(renamed.get(name)):
            renamed[name] = value
        elif not is_empty(value) and value != renamed[name]:
            remarks.append(f"a second `{name}` is left out")
    return renamed, remarks


def _id(fields: Mapping[str, object], columns: Columns) -> tuple[str, str]:
    """The field of the id and the id, both empty if the record has none."""
    for name in (columns.id,) if columns.id else ID:
        value = fields.get(name)
        if isinstance(value, str | int | float) and not is_empty(value):
            return name, text_of(value)
    return "", ""


def _metadata(
    fields: Mapping[str, object], used: Collection[str], names: Collection[str]
) -> dict[str, object]:
    return {
        name: value
        for name, value in fields.items()
        if not is_empty(value) and (name in names if names else name not in used)
    }


def _pages(text: str, page: str) -> tuple[int, ...]:
    """The pages of a text whose record says, in digits, on which page it stands or begins."""
    number = int(page[:9]) if page.isascii() and page.isdigit() else 1
    return (0,) * (number - 1 if number <= LAST_PAGE else 0) + pages(text)


def place_of(fields: Mapping[str, object]) -> tuple[Segment, ...]:
    """Headings, speaker and the number of a section of law, as far as the record has them."""
    names = [
        " ".join(text_of(fields.get(name)).split())[:_LONGEST_NAME]
        for name in (*HEADINGS, "section")
    ]
    *headings, section = names
    is_number = _SECTION_NUMBER.fullmatch(section) is not None
    path = CONTEXT_JOINT.join(filter(None, [*headings, "" if is_number else section]))
    speaker = text_of(fields.get("speaker"))[:_LONGEST_NAME]
    locator = f"s {section}" if is_number else ""
    return (Segment(0, path, speaker, locator),) if path or speaker or locator else ()


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
        return {"version": 6} | self.columns.options

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """One draft or Skipped for every record, in order. A blank line is no record."""
        try:
            with open_text(path, encoding) as text:
                if path.suffix.lower() == ".json":
                    yield from _whole(text.read(), self.columns)
                else:
                    yield from drafts(_lines(text), self.columns)
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
        return Skipped(f"{place}: {_explain_json(error)}", key)
    return _json_record(value, key, place, mend=bool(_SURROGATE_ESCAPE.search(line)))


def _whole(content: str, columns: Columns) -> Iterator[Read]:
    from atlas_search.readers.records.bib import json_records, reference_draft, references_in

    try:
        value = _parse(content)
    except ValueError as error:
        yield Skipped(_explain_json(error))
        return
    if not columns.text and (references := references_in(value)):
        yield from map(reference_draft, json_records(references))
        return
    records, remark = _unwrap(value, columns)
    if isinstance(records, Skipped):
        yield records
        return
    mend = bool(_SURROGATE_ESCAPE.search(content))
    items = [(records, "", "the file")]
    if isinstance(records, list):
        items = [(each, f"row-{n}", f"record {n}") for n, each in enumerate(records, start=1)]
    for read in drafts((_json_record(*item, mend=mend) for item in items), columns):
        if remark and isinstance(read, Draft):
            read, remark = replace(read, remark="; ".join(filter(None, [remark, read.remark]))), ""
        yield read


def _unwrap(value: object, columns: Columns) -> tuple[object, str]:
    """The only list of records in an object that is no record itself, and a remark on it."""
    names = set(columns.named(value)) if isinstance(value, dict) else set()
    if not isinstance(value, dict) or names & {n.partition(".")[0] for n in columns.text or TEXT}:
        return value, ""
    lists = dict(_lists_of_objects(value, ""))
    reads = {
        path: [_read(Record("", f"record 1 of `{path}`", each), columns) for each in list_[:_NAMED]]
        for path, list_ in lists.items()
    }
    readable = [path for path, own in reads.items() if any(isinstance(r, Draft) for r in own)]
    if len(readable) == 1:
        remark = f"read from the list `{readable[0]}`; what stands beside it is left out"
        return lists[readable[0]], remark
    if readable:
        several = ", ".join(f"`{path}`" for path in readable)
        return Skipped(f"it holds several lists of records: {several}; keep one, or divide it"), ""
    is_record = len(reads) != 1 or columns.title in names
    return value if is_record else next(own[0] for own in reads.values()), ""


def _lists_of_objects(value: dict[str, Any], above: str) -> Iterator[tuple[str, list[Any]]]:
    for name, inner in value.items():
        if isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
            yield f"{above}{name}", inner
        elif isinstance(inner, dict) and above.count(".") < _OUTER:
            yield from _lists_of_objects(inner, f"{above}{name}.")


def _parse(content: str) -> object:
    try:
        return _DECODER.decode(content)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def _json_record(value: object, key: str, place: str, *, mend: bool) -> Record | Skipped:
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


def _explain_json(error: ValueError) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return f"not read as JSON: {error}"
    if error.lineno == 1:
        return f"not JSON: {error.msg} at character {error.colno}"
    more = "; name it `.jsonl` if each line is a record" if error.msg == "Extra data" else ""
    return f"not JSON: {error.msg} at line {error.lineno}, character {error.colno}{more}"


def _kind(value: object) -> str:
    kinds = {list: "an array", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


CORPUS_FILES = ("corpus.jsonl", "docs.jsonl")
_RECORDS = JsonlReader(Columns(text=("text",)))


@dataclass(frozen=True)
class BeirReader:
    """Reads corpora of benchmarks: metadata `record_id` is the id that judgements speak of."""

    suffixes: ClassVar[frozenset[str]] = frozenset(CORPUS_FILES)
    options: ClassVar[Mapping[str, object]] = {"version": 1, "records": _RECORDS.options["version"]}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """One draft or Skipped for every line of a corpus, in order."""
        if path.name not in CORPUS_FILES:
            yield Skipped(f"not a corpus: only {' and '.join(CORPUS_FILES)} are read")
            return
        for read in _RECORDS.read(path, encoding):
            if isinstance(read, Draft):
                read = replace(read, metadata={**read.metadata, "record_id": read.key})
            yield read


def beir_reader() -> BeirReader:
    """Build a collection from benchmark folders (corpus.jsonl or docs.jsonl), each a corpus."""
    return BeirReader()


DELIMITERS = ",;\t|"
LONGEST = 100_000_000
"""Characters of one value; only a quote that nobody closed comes near."""


@dataclass(frozen=True)
class CsvReader:
    """Reads tables: one document a row, or one of all rows where no column holds texts.

    Without a `delimiter` it is the one of DELIMITERS that splits the header most. With `quotes` a
    value may stand in double quotes; otherwise they are characters as any other.
    """

    columns: Columns = field(default_factory=Columns)
    delimiter: str = ""
    quotes: bool = True
    suffixes: ClassVar[frozenset[str]] = frozenset({".csv", ".tsv"})

    @property
    def options(self) -> Mapping[str, object]:
        """All settings change what is read."""
        own = {"version": 4, "delimiter": self.delimiter, "quotes": self.quotes}
        return own | self.columns.options

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """One draft or Skipped for every row, in order, or one of all. A blank line is no row."""
        try:
            with open_text(path, encoding) as text:
                rows = self._rows(text, "\t" if path.suffix.lower() == ".tsv" else "")
                _, header = first = next(rows, (1, []))
                rows = chain([first], rows)
                if isinstance(header, list) and any(header) and self.columns.are_plain(header):
                    yield from _plain(rows, path.stem, self.columns)
                else:
                    yield from drafts(records_of(rows, self.columns), self.columns)
        except Undecodable as error:
            yield Skipped(str(error))

    def records(self, text: TextIO) -> Iterator[Record | Skipped]:
        """Each row as its file has it, in order; a table without a text column is one Skipped."""
        return records_of(self._rows(text), self.columns)

    def _rows(self, text: TextIO, usual: str = "") -> Iterator[tuple[int, list[str] | csv.Error]]:
        first = text.readline()
        delimiter = self.delimiter or usual or delimiter_of(first)
        quoting = csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE
        format_ = {"delimiter": delimiter, "quoting": quoting, "strict": True}
        return rows_of(chain([first], text), format_)


def _plain(
    rows: Iterable[tuple[int, list[str] | csv.Error]], title: str, columns: Columns
) -> Iterator[Read]:
    """A table as one text, and the rows that are broken. Its first line is no title but heads."""
    whole: list[list[str]] = []
    for line, row in rows:
        if isinstance(row, csv.Error):
            yield Skipped(f"line {line}: {_explain_csv(row)}", f"line-{line}")
        else:
            whole.append(row)
    has_prose = any(len(cell) > _PROSE for row in whole for cell in row)
    remark = f"read as one table: {columns.lacking(columns.named(whole[0]))}" if has_prose else ""
    text = "\n\n".join(row_lines(whole, fewest=2))
    yield Draft(text, title, remark=remark, speeches_known=True)


def row_lines(rows: Iterable[Sequence[str]], fewest: int) -> Iterator[str]:
    """The rows of a table as lines, each value behind the head of its column.

    The heads are a row of `fewest` values or more.
    """
    cleaned = ([" ".join(cell.split()) for cell in row] for row in rows)
    lines = (row for row in cleaned if any(row))
    first = list(islice(lines, _HEAD))
    filled = [sum(map(bool, row)) for row in first]
    enough = max(fewest, max(filled, default=0) - 1)  # a column of names may have no head
    head = next((n for n, each in enumerate(filled) if each >= enough), len(first))
    header: tuple[str, ...] = ()
    for number, row in enumerate(chain(first, lines)):
        pairs = zip_longest(header, row, fillvalue="")
        yield " | ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
        if number == head:
            header = header_of(row)


def csv_reader(
    text_column: TextColumn = "",
    id_column: IdColumn = "",
    title_column: TitleColumn = "title",
    metadata_columns: MetadataColumns = "",
    rename: Rename = "",
    delimiter: Annotated[
        str,
        typer.Option(help="What separates values; `tab` for tabs (default: as in the first line)"),
    ] = "",
    quotes: Annotated[bool, typer.Option(help="Values may stand in double quotes")] = True,
) -> CsvReader:
    """Build a collection from CSV and TSV files: one document a row of texts, or one a table."""
    delimiter = "\t" if delimiter in ("tab", "\\t") else delimiter
    if len(delimiter) > 1 or delimiter in ('"', "\n", "\r"):
        raise SourceError(f"--delimiter {delimiter}: give one character, or `tab`.")
    columns = columns_of(text_column, id_column, title_column, metadata_columns, rename)
    return CsvReader(columns, delimiter, quotes)


def delimiter_of(header: str) -> str:
    """The one of DELIMITERS that splits a header most; of equals the first."""
    return max(DELIMITERS, key=lambda each: len(next(csv.reader([header], delimiter=each), ())))


def rows_of(
    lines: Iterator[str], format_: Mapping[str, Any]
) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Each row and the line it begins at. After a broken row the next line is read as a new one."""
    csv.field_size_limit(LONGEST)
    rows = csv.reader(lines, **format_)
    while True:
        line = rows.line_num + 1
        try:
            yield line, next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, error


def records_of(
    rows: Iterator[tuple[int, list[str] | csv.Error]], columns: Columns
) -> Iterator[Record | Skipped]:
    """Each row of a table below the one that names its columns, which is the first."""
    _, header = next(rows, (1, []))
    problem = _problem(header, columns)
    if problem or isinstance(header, csv.Error):
        yield Skipped(problem)
        return
    for number, (line, row) in enumerate(((line, row) for line, row in rows if row), start=1):
        yield _csv_record(f"row-{number}", f"line {line}", header, row)


def _problem(header: list[str] | csv.Error, columns: Columns) -> str:
    """Explain why a table with this header cannot be read; empty if it can."""
    if isinstance(header, csv.Error):
        return f"its first line does not name the columns: {header}"
    names = columns.named(header)
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if not names:
        return "its first line is empty, but must name the columns"
    if twice:
        return f"several columns are named `{twice[0]}`: rename all but one, in the file"
    has_text = len(columns.texts(names)) >= max(1, len(columns.text))
    return "" if has_text else columns.lacking(names)


def _csv_record(
    key: str, place: str, header: list[str], row: list[str] | csv.Error
) -> Record | Skipped:
    if isinstance(row, csv.Error):
        return Skipped(f"{place}: {_explain_csv(row)}", key)
    if len(row) != len(header):
        reason = f"{place}: {len(row)} values, but the header names {len(header)} columns"
        return Skipped(reason, key)
    return Record(key, place, dict(zip(header, row, strict=True)))


def _explain_csv(error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return (
            "a quote opens here and never closes, so the rest of the file is not read; close it, "
            "or pass `--no-quotes` if quotes are part of the text"
        )
    return f"not a row: {error}; double the quotes inside quotes, or pass `--no-quotes`"
