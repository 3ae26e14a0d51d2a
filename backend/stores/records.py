"""Documents, passages, metadata and token ids in SQLite."""

import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backend.domain import Document, Metadata, Passage
from backend.errors import DamagedStore, NotFound
from backend.stores.tokens import IntArray, Ragged, TokenTable

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
    """Values from `low` to `high`, both included; None leaves a side open."""

    low: str | float | None
    high: str | float | None


Condition = Range | tuple[str | float, ...]
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
    """Read access to a finished SQLite file, from any thread."""

    def __init__(self, path: Path, cache: Path):
        if not path.exists() or not cache.exists():
            missing = path if not path.exists() else cache
            raise DamagedStore(f"{missing} is missing. Build the collection again with `--force`.")
        self._path = path
        self._cache = cache
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        try:
            self._connection.execute("SELECT COUNT(*) FROM documents, cache.embeddings LIMIT 1")
        except sqlite3.DatabaseError as error:
            raise DamagedStore(
                f"{path} or {cache} cannot be read ({error}). "
                "Build the collection again with `--force`."
            ) from error

    @property
    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            uri = f"{self._path.resolve().as_uri()}?mode=ro&immutable=1"
            connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            connection.execute(
                "ATTACH DATABASE ? AS cache", (f"{self._cache.resolve().as_uri()}?mode=ro",)
            )
            connection.row_factory = sqlite3.Row
            self._local.connection = connection
            self._open.append(connection)
        return connection

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._open:
            connection.close()

    def passage_ids(self) -> list[str]:
        """The id of every passage, by row."""
        return [id_ for (id_,) in self._connection.execute("SELECT id FROM passages ORDER BY row")]

    def passage_corpora(self) -> list[str]:
        """The corpus of every passage, by row."""
        query = "SELECT corpus FROM passages JOIN documents USING (document) ORDER BY row"
        return [corpus for (corpus,) in self._connection.execute(query)]

    def passages(self, rows: Sequence[int]) -> list[Passage]:
        """The passages in `rows`, in that order."""
        found = self._connection.execute(
            _PASSAGES + "WHERE p.row IN (SELECT value FROM json_each(?))",
            (json.dumps([int(row) for row in rows]),),
        )
        by_row = {record["row"]: _passage(record) for record in found}
        return [by_row[int(row)] for row in rows]

    def passage(self, id_: str) -> Passage:
        """The passage with this id. Raises NotFound."""
        record = self._connection.execute(_PASSAGES + "WHERE p.id = ?", (id_,)).fetchone()
        if record is None:
            raise NotFound(f"There is no passage {id_!r} in this collection.")
        return _passage(record)

    def document(self, id_: str) -> Document:
        """The document with this id. Raises NotFound."""
        record = self._connection.execute(
            "SELECT id, corpus, title, text, metadata, source, pages FROM documents WHERE id = ?",
            (id_,),
        ).fetchone()
        if record is None:
            raise NotFound(f"There is no document {id_!r} in this collection.")
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
        return [_passage(record) for record in self._connection.execute(query, (id_,))]

    def vectors(self, rows: IntArray, dimension: int) -> NDArray[np.float32]:
        """The unit vectors of passages, shape (n, dimension), in the order of `rows`."""
        found = self._connection.execute(
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
        return [index for (index,) in self._connection.execute(query, values)]

    def tokens(self) -> TokenTable:
        """Everything the ranking signals read, in memory."""
        rows = self._connection.execute(
            "SELECT words, parts, document FROM passages ORDER BY row"
        ).fetchall()
        words = [_array(words) for words, _, _ in rows]
        parts = [_array(parts) for _, parts, _ in rows]
        titles = self._connection.execute("SELECT title_terms FROM documents ORDER BY document")
        metadata = self._connection.execute(
            "SELECT document, field, terms FROM metadata ORDER BY document, rowid"
        ).fetchall()
        terms = self._connection.execute("SELECT term, id FROM terms")
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
        return f"m.value IN ({','.join('?' * len(condition))})", list(condition)
    clauses, bound = [], []
    # a date meets a range if any day it can mean lies in it
    for value, column, operator in (
        (condition.low, "m.last_day", ">="),
        (condition.high, "m.first_day", "<="),
    ):
        if value is not None:
            clauses.append(f"{column if isinstance(value, str) else 'm.value'} {operator} ?")
            bound.append(value)
    return " AND ".join(clauses) or "1", bound


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
