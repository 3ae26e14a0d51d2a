"""Writing documents, passages and metadata into a new SQLite file."""

import json
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import NamedTuple

from atlas_search.core.domain import Document, Located
from atlas_search.core.metadata import Metadata
from atlas_search.language.dates import bounds
from atlas_search.language.text import TextSpan


def read_only(path: Path) -> str:
    """Return the address under which SQLite reads a file without a lock, and writes nothing beside
    it."""
    return f"{path.resolve().as_uri()}?mode=ro&immutable=1"


BLOCK = 16_384
"""Characters of a document's text that are compressed together: a passage is cut from one or two
of them. English prose costs 0.37 bytes a character so, and a passage 0.2 milliseconds to read."""

_SCHEMA = """
CREATE TABLE sources (
    name TEXT NOT NULL,
    origin TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    remarks TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    seconds REAL NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (origin, name)
);
CREATE TABLE documents (
    document INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    corpus TEXT NOT NULL,
    title TEXT NOT NULL,
    metadata TEXT NOT NULL,
    source TEXT NOT NULL,
    origin TEXT NOT NULL,
    key TEXT NOT NULL,
    stem TEXT NOT NULL,
    digest BLOB NOT NULL,
    characters INTEGER NOT NULL,
    pages TEXT NOT NULL,
    segments TEXT NOT NULL,
    printed_pages TEXT NOT NULL,
    is_titled INTEGER NOT NULL
);
CREATE INDEX documents_of_source ON documents (origin, source);
CREATE TABLE texts (
    document INTEGER NOT NULL REFERENCES documents,
    block INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (document, block)
) WITHOUT ROWID;
CREATE TABLE passages (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL REFERENCES documents,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    page INTEGER NOT NULL,
    line INTEGER NOT NULL,
    section TEXT NOT NULL,
    speaker TEXT NOT NULL,
    locators TEXT NOT NULL,
    printed_page TEXT NOT NULL,
    ocr_confidence REAL
);
CREATE INDEX passages_of_document ON passages (document);
CREATE TABLE metadata (
    document INTEGER NOT NULL REFERENCES documents,
    field TEXT NOT NULL,
    value,
    first_day TEXT,
    last_day TEXT
);
CREATE INDEX metadata_by_value ON metadata (field, value);
CREATE INDEX metadata_of_document ON metadata (document);
"""

_SCHEMA_OF_RECENT = """
CREATE TABLE gone (document INTEGER PRIMARY KEY);
CREATE TABLE gone_sources (
    origin TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (origin, name)
) WITHOUT ROWID;
"""
"""Schema of what the version does not have of the base, or has anew."""

INSERT_SOURCE = (
    "INSERT OR REPLACE INTO sources (name, origin, fingerprint, content, remarks, bytes, seconds) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)


class SourceRow(NamedTuple):
    """Source file as it was read: its fingerprint and what was left out of it.

    `remarks` are (record key, remark) pairs, `seconds` what reading and cutting it took; `content`
    is the SHA-256 of its bytes, empty of a folder and of what a backup wrote.
    """

    name: str
    origin: str
    fingerprint: bytes
    content: bytes
    remarks: tuple[tuple[str, str], ...]
    bytes: int
    seconds: float


def source_values(source: SourceRow) -> tuple[object, ...]:
    """Return the values of INSERT_SOURCE."""
    return (*source[:4], json.dumps(source.remarks, ensure_ascii=False), *source[5:])


@dataclass(frozen=True, slots=True)
class Provenance:
    """Origin of a document.

    `origin` is the kind of source (`pdf`), `key` the record in its file, `stem` what its id is
    made of, `digest` that of all it says.
    """

    origin: str
    key: str
    stem: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class PassageRow:
    """Passage as it is stored; its text is cut from the document's."""

    id: str
    span: TextSpan
    page: int
    line: int
    section: str
    speaker: str
    locators: tuple[Located, ...] = ()
    printed_page: str = ""
    ocr_confidence: float | None = None


class RecordWriter:
    """Writer of a new SQLite file in order of documents and passages; `close` commits it.

    What it keeps comes from other such files, `kept`: a base, and what is recent.
    """

    def __init__(self, path: Path, kept: Sequence[Path] = ()):
        self._connection = _connect(path)
        self._connection.executescript(_SCHEMA)
        self._kept = [f"kept{number}" for number, _ in enumerate(kept)]
        for name, other in zip(self._kept, kept, strict=True):
            self._connection.execute(f"ATTACH DATABASE ? AS {name}", (read_only(other),))
        self._connection.execute("BEGIN")
        self._documents = 0
        self._passages = 0

    def close(self) -> None:
        self._connection.commit()
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.close()

    def source(self, source: SourceRow) -> None:
        """Add a source file, or put it in the place of the one that was there."""
        self._connection.execute(INSERT_SOURCE, source_values(source))

    def document(
        self, document: Document, provenance: Provenance, passages: Iterable[PassageRow]
    ) -> None:
        """Add one document with everything that belongs to it."""
        number = self._documents
        self._documents += 1
        self._connection.execute(
            f"INSERT INTO documents VALUES ({', '.join('?' * 15)})",
            (
                number,
                document.id,
                document.corpus,
                document.title,
                json.dumps(document.metadata, ensure_ascii=False),
                document.source,
                provenance.origin,
                provenance.key,
                provenance.stem,
                provenance.digest,
                len(document.text),
                json.dumps(document.pages),
                json.dumps([astuple(segment) for segment in document.segments], ensure_ascii=False),
                json.dumps(document.printed_pages, ensure_ascii=False),
                document.is_titled,
            ),
        )
        self._connection.executemany(
            "INSERT INTO texts VALUES (?, ?, ?)",
            ((number, block, content) for block, content in enumerate(_blocks(document.text))),
        )
        self._connection.executemany(
            "INSERT INTO metadata VALUES (?, ?, ?, ?, ?)",
            (
                (number, field, value, *(bounds(str(value)) or (None, None)))
                for field, value in metadata_values(document.metadata)
            ),
        )
        rows = [
            (
                *(row, p.id, number, *p.span, p.page, p.line, p.section, p.speaker),
                *(json.dumps(p.locators, ensure_ascii=False), p.printed_page, p.ocr_confidence),
            )
            for row, p in enumerate(passages, start=self._passages)
        ]
        self._connection.executemany(f"INSERT INTO passages VALUES ({', '.join('?' * 12)})", rows)
        self._passages += len(rows)

    def keep(self, documents: range, rows: range) -> None:
        """Add consecutive documents of the other file, and their passages, the `rows`.

        They get the numbers that follow here; all else stays as it is.
        """
        moved = {"document": self._documents - documents.start, "row": self._passages - rows.start}
        of_documents, of_rows = (
            f"{name} >= {run.start} AND {name} < {run.stop}"
            for name, run in (("document", documents), ("row", rows))
        )
        for table, condition, order in (
            ("documents", of_documents, "document"),
            ("texts", of_documents, "document, block"),
            ("metadata", of_documents, "rowid"),
            ("passages", of_rows, "row"),
        ):
            columns = [row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")]
            values = [f"{c} + {moved[c]}" if c in moved else c for c in columns]
            for source in self._kept:  # a run may begin in the base and end in what is recent
                self._connection.execute(
                    f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {', '.join(values)} "
                    f"FROM {source}.{table} WHERE {condition} ORDER BY {order}"
                )
        self._documents += len(documents)
        self._passages += len(rows)


class RecentWriter(RecordWriter):
    """Writer of the file of what is recent beside a base, in place of the one `before`.

    What is added gets the numbers that follow `next_document` and `next_row`.
    """

    def __init__(self, path: Path, before: Path | None, next_document: int, next_row: int):
        if before:
            shutil.copyfile(before, path)
        self._connection = _connect(path)
        if not before:
            self._connection.executescript(_SCHEMA + _SCHEMA_OF_RECENT)
        self._connection.execute("BEGIN")
        self._documents, self._passages = next_document, next_row

    def remove(self, documents: Iterable[int]) -> None:
        """Take out documents by their numbers, with all that belongs to them."""
        numbers = [(number,) for number in documents]
        self._connection.executemany(
            "INSERT INTO gone SELECT ?1 WHERE NOT EXISTS "
            "(SELECT 1 FROM documents WHERE document = ?1)",
            numbers,
        )
        for table in ("documents", "texts", "metadata", "passages"):
            self._connection.executemany(f"DELETE FROM {table} WHERE document = ?", numbers)

    def remove_source(self, origin: str, name: str) -> None:
        self._connection.execute(
            "DELETE FROM sources WHERE origin = ? AND name = ?", (origin, name)
        )
        self._connection.execute("INSERT OR IGNORE INTO gone_sources VALUES (?, ?)", (origin, name))

    def source(self, source: SourceRow) -> None:
        self.remove_source(source.origin, source.name)
        super().source(source)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path.absolute().as_uri(), uri=True)
    connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
    return connection


def metadata_values(metadata: Metadata) -> list[tuple[str, str | float]]:
    """List every value of every field: a list gives one pair for each of its items."""
    return [
        (field, item)
        for field, value in metadata.items()
        for item in (value if isinstance(value, tuple) else (value,))
    ]


def _blocks(text: str) -> Sequence[bytes]:
    starts = range(0, len(text), BLOCK)
    return [zlib.compress(text[start : start + BLOCK].encode(), 6) for start in starts]
