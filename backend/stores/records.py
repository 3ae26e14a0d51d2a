"""Documents, passages, metadata and token ids in SQLite."""

import json
import queue
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.dates import bounds
from backend.domain import Document, Metadata, Passage
from backend.errors import DamagedStore, NotFound
from backend.stores.tokens import IntArray, Ragged, TokenTable

CONNECTIONS = 8  # lent for a millisecond at a time

_SCHEMA = """
CREATE TABLE documents (
    document INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    corpus TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    metadata TEXT NOT NULL,
    source TEXT NOT NULL,
    pages TEXT NOT NULL,
    title_terms BLOB NOT NULL
);
CREATE TABLE passages (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL REFERENCES documents,
    text TEXT NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    page INTEGER NOT NULL,
    line INTEGER NOT NULL,
    embedding INTEGER NOT NULL,
    words BLOB NOT NULL,
    parts BLOB NOT NULL
);
CREATE INDEX passages_of_document ON passages (document);
CREATE TABLE metadata (
    document INTEGER NOT NULL REFERENCES documents,
    field TEXT NOT NULL,
    value,
    first_day TEXT,
    last_day TEXT,
    terms BLOB NOT NULL
);
CREATE INDEX metadata_by_value ON metadata (field, value);
CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE);
"""

_PASSAGES = """
SELECT p.row, p.id, d.id AS document_id, d.corpus, d.title, p.text, p.start, p.end, p.page, p.line,
    d.metadata
FROM passages p JOIN documents d USING (document)
"""


@dataclass(frozen=True)
class MetadataRow:
    """One metadata value of a document; days only for dates, `terms` its term ids."""

    field: str
    value: str | float
    days: tuple[str, str] | None
    terms: IntArray


@dataclass(frozen=True)
class PassageRow:
    """One passage as it is stored."""

    row: int
    id: str
    text: str
    start: int
    end: int
    page: int
    line: int
    embedding: int
    words: IntArray
    parts: IntArray


@dataclass(frozen=True)
class Range:
    """Values from a low to a high end, both included; None leaves a side open.

    Dates are compared with the days (ISO), numbers with the numbers.
    """

    first_day: str | None = None
    last_day: str | None = None
    low: float | None = None
    high: float | None = None


Condition = Range | tuple[str, ...]
Filter = Mapping[str, Condition]
"""For each field either a range, or the values of which one must match."""


class RecordWriter:
    """Fills a new SQLite file; `close` commits it."""

    def __init__(self, path: Path):
        self._connection = sqlite3.connect(path)
        self._connection.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _SCHEMA
        )
        self._connection.execute("BEGIN")

    def document(
        self,
        index: int,
        document: Document,
        title_terms: IntArray,
        metadata: Iterable[MetadataRow],
        passages: Iterable[PassageRow],
    ) -> None:
        """Add one document with everything that belongs to it."""
        self._connection.execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                index,
                document.id,
                document.corpus,
                document.title,
                document.text,
                json.dumps(document.metadata, ensure_ascii=False),
                document.source,
                json.dumps(document.pages),
                _blob(title_terms),
            ),
        )
        self._connection.executemany(
            "INSERT INTO metadata VALUES (?, ?, ?, ?, ?, ?)",
            (
                (index, m.field, m.value, *(m.days or (None, None)), _blob(m.terms))
                for m in metadata
            ),
        )
        self._connection.executemany(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    p.row,
                    p.id,
                    index,
                    p.text,
                    p.start,
                    p.end,
                    p.page,
                    p.line,
                    p.embedding,
                    _blob(p.words),
                    _blob(p.parts),
                )
                for p in passages
            ),
        )

    def close(self, vocabulary: Mapping[str, int]) -> None:
        """Write the vocabulary, commit and close."""
        self._connection.executemany(
            "INSERT INTO terms VALUES (?, ?)", ((id_, term) for term, id_ in vocabulary.items())
        )
        self._connection.commit()
        self._connection.close()


class Records:
    """Read access to a finished SQLite file, from any thread.

    The connections are opened at once and lent to one thread at a time: requests come on new
    threads, and files that were opened can still be read after a later build removed them.
    """

    def __init__(self, path: Path, cache: Path):
        for part in (path, cache):
            if not part.exists():
                raise DamagedStore(f"{part} is missing. Build the collection again with `--force`.")
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        try:
            for _ in range(CONNECTIONS):
                self._idle.put(_connect(path, cache))
            self.embedded = int(
                self._rows(
                    "SELECT COUNT(*) FROM passages p JOIN cache.embeddings e ON e.id = p.embedding"
                )[0][0]
            )
        except sqlite3.DatabaseError as error:
            raise DamagedStore(
                f"{path} or {cache} cannot be read ({error}). "
                "Build the collection again with `--force`."
            ) from error

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        connection = self._idle.get()
        try:
            return connection.execute(query, values).fetchall()
        finally:
            self._idle.put(connection)

    def close(self) -> None:
        """Close all connections."""
        for _ in range(CONNECTIONS):
            self._idle.get().close()

    def passage_ids(self) -> list[str]:
        """The id of every passage, by row."""
        return [id_ for (id_,) in self._rows("SELECT id FROM passages ORDER BY row")]

    def passage_corpora(self) -> list[str]:
        """The corpus of every passage, by row."""
        query = "SELECT corpus FROM passages JOIN documents USING (document) ORDER BY row"
        return [corpus for (corpus,) in self._rows(query)]

    def passages(self, rows: Sequence[int]) -> list[Passage]:
        """The passages in `rows`, in that order."""
        found = self._rows(
            _PASSAGES + "WHERE p.row IN (SELECT value FROM json_each(?))",
            (json.dumps([int(row) for row in rows]),),
        )
        by_row = {record["row"]: _passage(record) for record in found}
        return [by_row[int(row)] for row in rows]

    def passage(self, id_: str) -> Passage:
        """The passage with this id. Raises NotFound."""
        found = self._rows(_PASSAGES + "WHERE p.id = ?", (id_,))
        if not found:
            raise NotFound(f"There is no passage {id_!r} in this collection.")
        return _passage(found[0])

    def document(self, id_: str) -> Document:
        """The document with this id. Raises NotFound."""
        found = self._rows("SELECT * FROM documents WHERE id = ?", (id_,))
        if not found:
            raise NotFound(f"There is no document {id_!r} in this collection.")
        record = found[0]
        return Document(
            id=record["id"],
            corpus=record["corpus"],
            title=record["title"],
            text=record["text"],
            metadata=_metadata(record["metadata"]),
            source=record["source"],
            pages=tuple(json.loads(record["pages"])),
        )

    def document_passages(self, id_: str) -> list[Passage]:
        """The passages of a document, in order of position."""
        query = _PASSAGES + "WHERE d.id = ? ORDER BY p.row"
        return [_passage(record) for record in self._rows(query, (id_,))]

    def vectors(self, rows: IntArray, dimension: int) -> NDArray[np.float32]:
        """The unit vectors of passages, shape (n, dimension), in the order of `rows`."""
        found = self._rows(
            "SELECT p.row, e.vector FROM passages p JOIN cache.embeddings e ON e.id = p.embedding "
            "WHERE p.row IN (SELECT value FROM json_each(?)) ORDER BY p.row",
            (json.dumps(np.sort(rows).tolist()),),
        )
        matrix = np.frombuffer(b"".join(blob for _, blob in found), dtype="<f4")
        return matrix.reshape(len(rows), dimension)[np.argsort(np.argsort(rows))]

    def matching_documents(self, filters: Filter) -> list[int]:
        """Indices of the documents that meet every condition, ascending."""
        clauses, values = ["1"], []
        for field, condition in filters.items():
            clause, bound = _condition(condition)
            clauses.append(
                "EXISTS (SELECT 1 FROM metadata m WHERE m.document = documents.document "
                f"AND m.field = ? AND {clause})"
            )
            values += [field, *bound]
        query = f"SELECT document FROM documents WHERE {' AND '.join(clauses)} ORDER BY document"
        return [index for (index,) in self._rows(query, values)]

    def tokens(self) -> TokenTable:
        """Everything the ranking signals read, in memory."""
        rows = self._rows("SELECT words, parts, document FROM passages ORDER BY row")
        words = [_array(words) for words, _, _ in rows]
        parts = [_array(parts) for _, parts, _ in rows]
        titles = self._rows("SELECT title_terms FROM documents ORDER BY document")
        metadata = self._rows(
            "SELECT document, field, terms FROM metadata ORDER BY document, rowid"
        )
        terms = self._rows("SELECT term, id FROM terms")
        vocabulary = {term: id_ for term, id_ in terms}  # noqa: C416 rows are not pairs to mypy
        fields = {field: index for index, field in enumerate(sorted({f for _, f, _ in metadata}))}
        document_of = np.array([document for *_, document in rows], dtype=np.int32)
        documents = int(document_of.max()) + 1 if len(document_of) else 0
        value_counts = np.bincount([d for d, _, _ in metadata], minlength=documents)
        frequency = np.zeros(len(vocabulary), dtype=np.int32)
        for word_ids, part_ids in zip(words, parts, strict=True):
            frequency[np.unique(np.concatenate((word_ids, part_ids)))] += 1
        return TokenTable(
            vocabulary=vocabulary,
            words=Ragged.of(words),
            parts=Ragged.of(parts),
            titles=Ragged.of([_array(title) for (title,) in titles]),
            values=Ragged.of([_array(terms) for *_, terms in metadata]),
            values_of=Ragged(
                np.arange(len(metadata), dtype=np.int32),
                np.concatenate(([0], np.cumsum(value_counts))).astype(np.int64),
            ),
            value_field=np.array([fields[field] for _, field, _ in metadata], dtype=np.int16),
            document_of=document_of,
            passage_frequency=frequency,
        )


def _condition(condition: Condition) -> tuple[str, list[str | float]]:
    if not isinstance(condition, Range):
        # `1954` means every day of 1954
        spans = [span for value in condition if (span := bounds(value))]
        clauses = ["CAST(m.value AS TEXT) = ? COLLATE NOCASE"] * len(condition)
        clauses += ["(m.first_day >= ? AND m.last_day <= ?)"] * len(spans)
        limits = [day for span in spans for day in span]
        return f"({' OR '.join(clauses)})", [*condition, *limits]
    # a date meets a range if any day it can mean lies in it
    days = _within(
        ("m.last_day >= ?", condition.first_day), ("m.first_day <= ?", condition.last_day)
    )
    numbers = _within(("m.value >= ?", condition.low), ("m.value <= ?", condition.high))
    return (
        f"(m.first_day IS NOT NULL AND {days[0]} "
        f"OR m.first_day IS NULL AND typeof(m.value) IN ('integer', 'real') AND {numbers[0]})",
        [*days[1], *numbers[1]],
    )


def _within(*ends: tuple[str, str | float | None]) -> tuple[str, list[str | float]]:
    """The conditions of the ends that are given; none of them given holds for nothing."""
    given = [(clause, value) for clause, value in ends if value is not None]
    return " AND ".join(clause for clause, _ in given) or "0", [value for _, value in given]


def _connect(path: Path, cache: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
    )
    connection.execute("ATTACH DATABASE ? AS cache", (f"{cache.resolve().as_uri()}?mode=ro",))
    connection.row_factory = sqlite3.Row
    return connection


def _passage(record: sqlite3.Row) -> Passage:
    metadata = _metadata(record["metadata"])
    return Passage(
        row=record["row"],
        id=record["id"],
        document_id=record["document_id"],
        corpus=record["corpus"],
        title=record["title"],
        text=record["text"],
        start=record["start"],
        end=record["end"],
        page=record["page"],
        line=record["line"],
        date=str(metadata.get("date", "")),
        url=str(metadata.get("url", "")),
        metadata=metadata,
    )


def _metadata(text: str) -> Metadata:
    loaded: dict[str, str | float | list[str]] = json.loads(text)
    return {
        field: tuple(value) if isinstance(value, list) else value for field, value in loaded.items()
    }


def _blob(ids: IntArray) -> bytes:
    return ids.astype("<i4").tobytes()


def _array(blob: bytes) -> IntArray:
    return np.frombuffer(blob, dtype="<i4")
