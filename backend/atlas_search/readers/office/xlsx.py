"""Reading workbooks (.xlsx): sheets with a column of texts as tables, all others as one text."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, ClassVar

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.archive import BadArchive, is_damage, open_archive, xml_part
from atlas_search.readers.docx import Paragraph, Text, properties, usual_kind
from atlas_search.readers.markup import LONGEST_SPAN, Heading, plain, sections
from atlas_search.readers.tables import (
    Columns,
    IdColumn,
    MetadataColumns,
    Record,
    Rename,
    TextColumn,
    TitleColumn,
    columns_of,
    drafts,
    records_of,
    row_lines,
)
from atlas_search.readers.titles import title_of_file

Row = list[str]
Merged = tuple[int, int, int]
"""The first and the last row, and the first column, of cells that are one."""

_CORE = "docProps/core.xml"
_MERGED = re.compile(rb'mergeCell [^>]*?ref="([A-Z]+[0-9]+:[A-Z]+[0-9]+)"')
_BLOCK = 1_000_000  # bytes


@dataclass(frozen=True)
class XlsxReader:
    """Reads workbooks.

    A sheet whose first row names a column of texts, as in CSV, gives one document a row. The others
    are one document: a section a sheet, a line a row, each value behind the head of its column.
    Numbers and dates are written as they are shown, dates as `1887-05-03`.
    """

    columns: Columns = field(default_factory=Columns)
    suffixes: ClassVar[frozenset[str]] = frozenset({".xlsx"})

    @property
    def options(self) -> Mapping[str, object]:
        """All settings change what is read."""
        return {"version": 1} | self.columns.options

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The rows with texts in their order, then the sheets without."""
        from openpyxl import load_workbook

        warnings.filterwarnings("ignore", module="openpyxl")  # of what it would not write again
        try:
            with open_archive(path, "an Excel") as archive:
                usual = usual_kind(archive)
                core = properties(xml_part(archive, _CORE)) if _CORE in archive.namelist() else {}
            with path.open("rb") as file:
                book = load_workbook(
                    usual or file, read_only=True, data_only=True, keep_links=False
                )
                yield from self._read(book.worksheets, core)
        except BadArchive as error:
            yield Skipped(str(error))
        except Exception as error:  # openpyxl raises whatever it trips over
            if isinstance(error, OSError) and not is_damage(error):
                raise
            cause = error.__cause__ or error  # its own words name the whole path
            what = " ".join(str(cause).split()) or type(cause).__name__
            yield Skipped(
                f"openpyxl cannot open it ({what}); open it in Excel and save it as .xlsx anew"
            )

    def _read(self, sheets: Sequence[Any], metadata: Mapping[str, str]) -> Iterator[Read]:
        text, tables = Text(), False
        for read in drafts(self._records(sheets, text), self.columns):
            tables = True
            yield read
        if text.length:
            yield Draft(
                "".join(text.pieces),
                title_of_file(metadata.get("title", "")),
                metadata=metadata,
                segments=sections(text.headings),
                speeches_known=True,
            )
        elif not tables:
            yield Skipped("it holds no text")

    def _records(self, sheets: Sequence[Any], text: Text) -> Iterator[Record | Skipped]:
        """The rows of tables; the other sheets are written to `text`."""
        count = 0
        for sheet in sheets:
            filled = ((number, row) for number, row in _rows(sheet) if any(row))
            first = next(filled, (0, []))
            rows = chain([first], filled)
            if self.columns.are_plain(first[1]):
                begins = text.length + 2 * bool(text.length)
                # two columns are as often the lines of a form
                text.write(map(Paragraph, row_lines((row for _, row in rows), fewest=3)))
                if text.length > begins and len(sheets) > 1:
                    text.headings.append(Heading(begins, 1, sheet.title))
                continue
            width = len(first[1])
            padded = ((number, row + [""] * (width - len(row))) for number, row in rows)
            for record in records_of(padded, self.columns):
                count += 1
                place = f"{sheet.title}, " if len(sheets) > 1 else ""
                if isinstance(record, Skipped):
                    yield Skipped(f"{place}{record.reason}", record.key and f"row-{count}")
                else:
                    yield replace(record, key=f"row-{count}", place=f"{place}{record.place}")


def xlsx_reader(
    text_column: TextColumn = "",
    id_column: IdColumn = "",
    title_column: TitleColumn = "title",
    metadata_columns: MetadataColumns = "",
    rename: Rename = "",
) -> XlsxReader:
    """Build a collection from Excel files: one document a row of texts, or one a workbook."""
    return XlsxReader(columns_of(text_column, id_column, title_column, metadata_columns, rename))


def _rows(sheet: Any) -> Iterator[tuple[int, Row]]:
    """Each row of a sheet with its number, as it is shown. What goes on from above stands there."""
    sheet.reset_dimensions()  # a file may state millions of cells
    merged = sorted(set(_merged(sheet)), reverse=True)
    above: dict[int, tuple[int, str]] = {}
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        row = [_shown(cell) for cell in cells]
        above = {column: each for column, each in above.items() if number <= each[0]}
        if any(row):
            for column, (_, value) in above.items():
                row += [""] * (column - len(row))
                row[column - 1] = row[column - 1] or value
        while merged and merged[-1][0] <= number:
            top, bottom, column = merged.pop()
            value = row[column - 1] if len(row) >= column else ""
            if top == number and len(value) <= LONGEST_SPAN:
                above[column] = bottom, value
        yield number, row


def _merged(sheet: Any) -> Iterator[Merged]:
    """The merged cells, which openpyxl leaves out where it reads row by row."""
    from openpyxl.utils import range_boundaries

    with sheet._get_source() as source:
        blocks = chain([b""], iter(lambda: source.read(_BLOCK), b""))
        for before, block in pairwise(blocks):
            for match in _MERGED.finditer(before[-100:] + block):
                column, top, _, bottom = range_boundaries(match[1].decode())
                yield top, bottom, column


_LITERAL = re.compile(r'"([^"]*)"|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|\\(.)')
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.([#0?]*))?")


def _shown(cell: Any) -> str:
    """The value of a cell as it is shown, as far as its format is one of a number or a date."""
    value = cell.value
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime | date | time):
        return _date(value, _LITERAL.sub("", cell.number_format).lower())
    if isinstance(value, int | float):
        return _number(value, cell.number_format.split(";")[0])
    return "" if value is None else plain(str(value)).strip()


def _date(value: datetime | date | time, shown: str) -> str:
    """A day as ISO text, cut to the month or the year where no more is shown."""
    if isinstance(value, datetime) and "h" in shown:
        return value.isoformat(" ", "minutes")
    day = value.date() if isinstance(value, datetime) else value
    if isinstance(day, time) or "d" in shown:
        return day.isoformat()
    return day.isoformat()[: 7 if "m" in shown else 4]


def _number(value: float, shown: str) -> str:
    shown = _LITERAL.sub(lambda match: match[1] or match[2] or match[3] or "", shown)
    digits = _DIGITS.search(shown)
    if digits is None or re.search("[E/]", shown):  # `General`, powers of ten and fractions
        return f"{value:.15g}" if isinstance(value, float) else str(value)
    value = value * 100 if "%" in shown else value
    wide = digits[0].partition(".")[0].count("0")
    comma = "," if "," in digits[0] else ""
    places = len(digits[1] or "")
    number = f"{abs(value):0{wide + bool(places) + places}{comma}.{places}f}"
    sign = "-" if value < 0 else ""
    return f"{sign}{shown[: digits.start()]}{number}{shown[digits.end() :]}".strip()
