"""Work of an unfinished build, read and embedded, so that the next one goes on from there.

Everything is committed file by file and batch by batch; the area is removed when a version made
from it is live.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.domain import Document, Located, Segment
from atlas_search.language.text import TextSpan
from atlas_search.stores.record_writer import (
    INSERT_SOURCE,
    PassageRow,
    Provenance,
    SourceRow,
    source_values,
)
from atlas_search.stores.staged import KeptDocument, StagedDocument, StagedPassage

_DAMAGED = frozenset({"SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR"})

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sources (
    origin TEXT NOT NULL, name TEXT NOT NULL, fingerprint BLOB NOT NULL, remarks TEXT NOT NULL,
    bytes INTEGER NOT NULL, seconds REAL NOT NULL, content BLOB NOT NULL,
    PRIMARY KEY (origin, name)
);
CREATE TABLE IF NOT EXISTS documents (
    number INTEGER PRIMARY KEY, origin TEXT NOT NULL, source TEXT NOT NULL, key TEXT NOT NULL,
    stem TEXT NOT NULL, digest BLOB NOT NULL, corpus TEXT NOT NULL, title TEXT NOT NULL,
    text TEXT NOT NULL, metadata TEXT NOT NULL, pages TEXT NOT NULL, segments TEXT NOT NULL,
    printed_pages TEXT NOT NULL, is_titled INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS documents_of_source ON documents (origin, source);
CREATE TABLE IF NOT EXISTS passages (
    passage INTEGER PRIMARY KEY, document INTEGER NOT NULL, id TEXT NOT NULL,
    embedded TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
    page INTEGER NOT NULL, line INTEGER NOT NULL,
    section TEXT NOT NULL, speaker TEXT NOT NULL, digest BLOB NOT NULL, words TEXT NOT NULL,
    parts TEXT NOT NULL, locators TEXT NOT NULL, printed_page TEXT NOT NULL, ocr_confidence REAL
);
CREATE INDEX IF NOT EXISTS passages_of_document ON passages (document);
CREATE TABLE IF NOT EXISTS kept (
    origin TEXT NOT NULL, source TEXT NOT NULL, key TEXT NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (origin, source, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (
    model TEXT NOT NULL, digest BLOB NOT NULL, tokens INTEGER NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (model, digest)
) WITHOUT ROWID;
"""


class Embedded(NamedTuple):
    """Unit vector, and the number of tokens that the model's tokenizer makes of the text."""

    tokens: int
    vector: NDArray[np.float32]


class Staging:
    """Staging area of one collection."""

    def __init__(self, path: Path):
        self._path = path
        try:
            self._connection = _open_database(path)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorname not in _DAMAGED:  # a full disk, say: what is staged is whole
                raise
            # it only saves work: set aside what cannot be read, and begin again
            path.replace(path.with_name(f"{path.name}.damaged"))
            for leftover in ("-wal", "-shm"):
                path.with_name(path.name + leftover).unlink(missing_ok=True)
            self._connection = _open_database(path)

    def fingerprints(self, origin: str) -> dict[str, bytes]:
        """Return the fingerprint of every staged source, by name."""
        query = "SELECT name, fingerprint FROM sources WHERE origin = ?"
        return dict(self._connection.execute(query, (origin,)).fetchall())

    def kept(self, origin: str) -> dict[str, dict[str, bytes]]:
        """Return the digests of documents that the live version had when their source was staged.

        By source, then by key.
        """
        result: dict[str, dict[str, bytes]] = {}
        query = "SELECT source, key, digest FROM kept WHERE origin = ?"
        for source, key, digest in self._connection.execute(query, (origin,)):
            result.setdefault(source, {})[key] = digest
        return result

    def add(
        self, origin: str, name: str, given: Iterable[StagedDocument | KeptDocument | SourceRow]
    ) -> None:
        """Stage a source, replacing what it gave before: its documents, and last its own row.

        If `given` raises, what the source gave before stays.
        """
        with self._connection:
            self._remove(origin, name)
            for each in given:
                match each:
                    case SourceRow():
                        self._connection.execute(INSERT_SOURCE, source_values(each))
                    case KeptDocument(key, digest):
                        row = (origin, name, key, digest)
                        self._connection.execute("INSERT INTO kept VALUES (?, ?, ?, ?)", row)
                    case StagedDocument():
                        self._add_document(each)

    def _remove(self, origin: str, *name: str) -> None:
        """Remove what a source gave; all of an origin without a name."""
        of_source, of_name = (" AND source = ?", " AND name = ?") if name else ("", "")
        owned = f"SELECT number FROM documents WHERE origin = ?{of_source}"
        for statement in (
            f"DELETE FROM passages WHERE document IN ({owned})",
            f"DELETE FROM documents WHERE origin = ?{of_source}",
            f"DELETE FROM kept WHERE origin = ?{of_source}",
            f"DELETE FROM sources WHERE origin = ?{of_name}",
        ):
            self._connection.execute(statement, (origin, *name))

    def add_document(self, document: StagedDocument) -> int:
        """Stage a document without its source, and return its number."""
        with self._connection:
            return self._add_document(document)

    def _add_document(self, staged: StagedDocument) -> int:
        document, provenance = staged.document, staged.provenance
        number = self._connection.execute(
            f"INSERT INTO documents VALUES (NULL, {', '.join('?' * 13)})",
            (
                provenance.origin,
                document.source,
                provenance.key,
                provenance.stem,
                provenance.digest,
                document.corpus,
                document.title,
                document.text,
                json.dumps(document.metadata, ensure_ascii=False),
                json.dumps(document.pages),
                json.dumps([astuple(segment) for segment in document.segments], ensure_ascii=False),
                json.dumps(document.printed_pages, ensure_ascii=False),
                document.is_titled,
            ),
        ).lastrowid
        self._connection.executemany(
            f"INSERT INTO passages VALUES (NULL, {', '.join('?' * 15)})",
            (
                (
                    number,
                    p.row.id,
                    p.embedded,
                    *p.row.span,
                    p.row.page,
                    p.row.line,
                    p.row.section,
                    p.row.speaker,
                    p.digest,
                    " ".join(p.words),
                    " ".join(p.parts),
                    json.dumps(p.row.locators, ensure_ascii=False),
                    p.row.printed_page,
                    p.row.ocr_confidence,
                )
                for p in staged.passages
            ),
        )
        assert number is not None  # a row was inserted
        return number

    def sources(self, origin: str, names: Sequence[str]) -> Iterator[SourceRow]:
        """Return the staged sources with these names."""
        for name in names:
            row = self._connection.execute(
                "SELECT name, origin, fingerprint, content, remarks, bytes, seconds FROM sources "
                "WHERE origin = ? AND name = ?",
                (origin, name),
            ).fetchone()
            remarks = tuple((key, remark) for key, remark in json.loads(row[4]))
            yield SourceRow._make((*row[:4], remarks, *row[5:]))

    def provenances(
        self, origin: str, names: Sequence[str]
    ) -> Iterator[tuple[int, str, str, Provenance]]:
        """Return number, corpus, source and provenance of the documents of these sources."""
        query = (
            "SELECT number, corpus, key, stem, digest FROM documents "
            "WHERE origin = ? AND source = ? ORDER BY number"
        )
        for name in names:
            for number, corpus, key, stem, digest in self._connection.execute(
                query, (origin, name)
            ):
                yield number, corpus, name, Provenance(origin, key, stem, digest)

    def document(self, number: int) -> StagedDocument:
        """Return a staged document with its passages in order."""
        row = self._connection.execute(
            "SELECT origin, source, key, stem, digest, corpus, title, text, metadata, pages, "
            "segments, printed_pages, is_titled FROM documents WHERE number = ?",
            (number,),
        ).fetchone()
        origin, source, key, stem, digest, corpus, title, text, metadata, *structure, titled = row
        pages, segments, printed_pages = map(json.loads, structure)
        document = Document(
            id="",
            corpus=corpus,
            title=title,
            text=text,
            metadata={
                field: tuple(value) if isinstance(value, list) else value
                for field, value in json.loads(metadata).items()
            },
            source=source,
            pages=tuple(pages),
            segments=tuple(Segment(*segment) for segment in segments),
            printed_pages=tuple(printed_pages),
            is_titled=bool(titled),
        )
        return StagedDocument(
            document, Provenance(origin, key, stem, digest), tuple(self._passages(number))
        )

    def _passages(self, number: int) -> Iterator[StagedPassage]:
        for row in self._connection.execute(
            "SELECT id, start, end, page, line, section, speaker, locators, printed_page, "
            "ocr_confidence, embedded, digest, words, parts FROM passages "
            "WHERE document = ? ORDER BY passage",
            (number,),
        ):
            yield StagedPassage(
                PassageRow(
                    id=row[0],
                    span=TextSpan(row[1], row[2]),
                    page=row[3],
                    line=row[4],
                    section=row[5],
                    speaker=row[6],
                    locators=tuple(Located(*each) for each in json.loads(row[7])),
                    printed_page=row[8],
                    ocr_confidence=row[9],
                ),
                embedded=row[10],
                digest=row[11],
                words=tuple(row[12].split()),
                parts=tuple(row[13].split()),
            )

    def passages(self, number: int) -> list[tuple[int, bytes, int]]:
        """Return number, text digest and length of a document's passages, in order."""
        query = (
            "SELECT passage, digest, length(embedded) FROM passages WHERE document = ? "
            "ORDER BY passage"
        )
        return self._connection.execute(query, (number,)).fetchall()

    def texts(self, passages: Sequence[int]) -> list[str]:
        """Return what is embedded for passages, by number."""
        query = "SELECT embedded FROM passages WHERE passage = ?"
        return [str(self._connection.execute(query, (n,)).fetchone()[0]) for n in passages]

    def add_vectors(
        self,
        model: str,
        digests: Sequence[bytes],
        tokens: Sequence[int],
        vectors: NDArray[np.float32],
    ) -> None:
        """Keep one vector per text digest, made by the model with this fingerprint."""
        with self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)",
                (
                    (model, digest, count, vector.astype("<f4").tobytes())
                    for digest, count, vector in zip(digests, tokens, vectors, strict=True)
                ),
            )

    def has_vector(self, model: str, digest: bytes) -> bool:
        """Return whether this text has been embedded with this model."""
        query = "SELECT 1 FROM vectors WHERE model = ? AND digest = ?"
        return self._connection.execute(query, (model, digest)).fetchone() is not None

    def vector(self, model: str, digest: bytes) -> Embedded:
        """Return what `add_vectors` got for this text."""
        query = "SELECT tokens, vector FROM vectors WHERE model = ? AND digest = ?"
        tokens, blob = self._connection.execute(query, (model, digest)).fetchone()
        return Embedded(tokens, np.frombuffer(blob, dtype="<f4"))

    def close(self) -> None:
        """Close the file and leave it for the next build."""
        self._connection.close()

    def finish(self, origin: str) -> None:
        """Forget what the sources of an origin gave: it is live. Nothing left, the file goes too.

        The work of an unfinished build of other sources stays.
        """
        with self._connection:
            self._remove(origin)
        if not self._connection.execute("SELECT 1 FROM sources LIMIT 1").fetchone():
            self.remove()

    def remove(self) -> None:
        self._connection.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)


def _open_database(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(_SCHEMA)
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection
