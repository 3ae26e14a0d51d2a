"""Tables of metadata and lists of literature that say something of files among the sources."""

import os
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import unquote

from atlas_search.building.source_file import SourceFile
from atlas_search.building.sources import DATES, FILE_COLUMNS, OUTSIDE, Sources, is_sheet
from atlas_search.language.dates import bounds
from atlas_search.readers import Skipped
from atlas_search.readers.encoding import Undecodable, open_text
from atlas_search.readers.metadata import name_of, text_of
from atlas_search.readers.records import bib
from atlas_search.readers.tables import Columns, CsvReader, Record

_MOST_WRONG = 10_000  # rows of a table that are told
_UNNAMED = "no list of literature names it"
_SHEETS = CsvReader(Columns(text=("file",), rename=dict.fromkeys(FILE_COLUMNS, "file")))


def with_sheets(sources: Sources) -> Sources:
    """Give the files what tables and lists of literature beside or above them say.

    No documents are made of those tables, nor of a list's records whose files are read, unless
    they have notes. What cannot be followed is told in `Sources.sheets`, and the rest counts.
    """
    sheets = {file.name for file in sources.files if is_sheet(file.location)}
    lists = {file.name for file in sources.files if bib.names_files(file.location)}
    if not (sheets or lists or sources.only_named):
        return sources
    files = {file.name: file for file in sources.files if file.name not in sheets}
    # a corpus is called by its id in names, and as its folder in a table above it
    names = {_plain(place): file.name for file in files.values() for place in file[:2]}
    told = {}
    left_out = list(sources.left_out)
    saying = [file for file in sources.files if file.name in sheets | lists]
    # the nearest counts, and tables go before lists
    for each in sorted(saying, key=lambda file: (file.name in sheets, file.name.count("/"))):
        is_table = each.name in sheets
        wrong, said, replaced = (_read_sheet if is_table else _read_list)(each, names)
        for name, metadata in said.items():
            rule = files[name].rule
            if is_table and (encoding := metadata.pop("encoding", "")):
                rule = replace(rule, encoding=str(encoding))
            metadata = {**files[name].metadata, **metadata}
            files[name] = files[name]._replace(metadata=metadata, rule=rule)
        if is_table or wrong or said:
            told[each.name] = wrong
        is_in_corpus = each.rule.corpus or each.rule.corpus_field
        if not (is_table or is_in_corpus or said):
            left_out.append((files.pop(each.name).name, OUTSIDE))
        elif not is_table:  # outside the corpora its records belong where their files are
            rule = each.rule if is_in_corpus else files[next(iter(said))].rule
            files[each.name] = files[each.name]._replace(rule=rule, replaced=replaced)
    if sources.only_named:
        named = {n for n, f in files.items() if f.metadata or n.lower().endswith((".bib", ".ris"))}
        left_out += ((n, _UNNAMED) for n in files.keys() - named - told.keys())
        files = {n: file for n, file in files.items() if n in named or n in told}
    return replace(
        sources, files=tuple(files.values()), left_out=tuple(sorted(left_out)), sheets=told
    )


_Said = dict[str, dict[str, object]]
"""Metadata of files, by their names."""
_Reading = tuple[tuple[str, ...], _Said, tuple[str, ...]]
"""Faults of a table or list, what it says, and the keys of records that files replace."""


def _plain(path: str) -> str:
    """Return a path in one form: systems write letters with accents in two ways."""
    return unicodedata.normalize("NFC", os.path.normpath(path.replace("\\", "/")))


def _read_list(sheet: SourceFile, names: Mapping[str, str]) -> _Reading:
    wrong: list[str] = []
    said: _Said = {}
    lines: dict[str, str] = {}
    replaced: dict[str, bool] = {}
    try:
        records = bib.references_of(sheet.path, sheet.rule.encoding)
    except Exception:  # its reader tells of it, in a process with limits
        return (), {}, ()
    for record in records:
        is_read = False
        if paths := bib.files_of(record):
            metadata = bib.reference_metadata(record)
            has_notes = bool(bib.text_in(record, bib.NOTES))
            if not has_notes and (abstract := bib.text_in(record, bib.ABSTRACT)):
                metadata["abstract"] = abstract
        for given in paths:
            name = _named(sheet, given, names)
            if fault := _fault(record, given, name, lines, _NOT_AMONG):
                wrong.append(fault)
            else:
                lines[name], said[name], is_read = record.place, metadata, not has_notes
        replaced[record.key] = replaced.get(record.key, True) and is_read
    return tuple(wrong), said, tuple(key for key, is_read in replaced.items() if is_read)


def _named(sheet: SourceFile, given: str, names: Mapping[str, str]) -> str:
    """Return the name of the file that a table or list calls so; empty if there is none."""
    folders = [os.path.dirname(own) for own in sheet[:2]]
    paths = (os.path.join(folder, path) for path in (given, unquote(given)) for folder in folders)
    return next((names[path] for path in map(_plain, paths) if path in names), "")


def _fault(record: Record, given: str, name: str, lines: Mapping[str, str], advice: str) -> str:
    if not name:
        return f"{record.place}: no source is called {given!r}: {advice}"
    if name not in lines:
        return ""
    return (
        f"{record.place}: {given!r} stands on {lines[name]} already, which counts: take one of "
        "them out"
    )


def _read_sheet(sheet: SourceFile, names: Mapping[str, str]) -> _Reading:
    wrong: list[str] = []
    said: _Said = {}
    lines: dict[str, str] = {}
    faults = 0
    try:
        with open_text(sheet.path, sheet.rule.encoding) as text:
            for record in _SHEETS.records(text):
                if fault := _follow(record, sheet, names, lines, said):
                    faults += 1
                    wrong += [fault] * (faults <= _MOST_WRONG)
    except Undecodable as error:
        return (f"{error.what}: save it as UTF-8, which Excel calls “CSV UTF-8”",), {}, ()
    except OSError as error:
        return (f"cannot be read: {error.strerror}",), {}, ()
    if faults > _MOST_WRONG:
        wrong.append(f"{faults - _MOST_WRONG:,} more of its rows cannot be followed")
    return tuple(wrong), said, ()


def _follow(
    record: Record | Skipped,
    sheet: SourceFile,
    names: Mapping[str, str],
    lines: dict[str, str],
    said: _Said,
) -> str:
    """Add what a row says of its file, and where it does; return what is wrong with it, or ""."""
    if isinstance(record, Skipped):
        return record.reason
    row = {name_of(column): text_of(value) for column, value in record.fields.items()}
    given = next(row.pop(column) for column in FILE_COLUMNS if column in row)
    name = _named(sheet, given, names)
    if fault := _fault(record, given, name, lines, _AS_IN_THE_FOLDER):
        return fault
    date = row.get("date")
    if is_wrong := bool(date and not bounds(date)):
        del row["date"]
    lines[name] = record.place
    said[name] = {column: value for column, value in row.items() if value}
    return f"{record.place}: {date!r} is not a date: {DATES}" if is_wrong else ""


_AS_IN_THE_FOLDER = "write its name as in the folder of this table, with the ending"
_NOT_AMONG = "it is missing, outside the folder or of a kind that is not read"
