"""The SQLite files with the documents of a version, asked as one.

A version that changed little shares the file of its base, and has in another what is recent: new
documents with all that belongs to them, new sources, and which of the base are gone.
"""

import queue
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from atlas_search.core.errors import ClosedStore, DamagedStore
from atlas_search.core.metadata import Metadata
from atlas_search.stores.filters import FUNCTIONS
from atlas_search.stores.record_writer import Provenance, read_only

CONNECTIONS = 8  # lent for a millisecond at a time
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_NO_TEXT = "Could not decode"  # Python's own error, for text that is not UTF-8

_GONE = "(SELECT * FROM main.{} WHERE document NOT IN (SELECT document FROM recent.gone))"
# SQLite would look for a pair `NOT IN` a list by walking all of it
_GONE_SOURCES = (
    "(SELECT * FROM main.sources o WHERE NOT EXISTS (SELECT 1 FROM recent.gone_sources g "
    "WHERE g.origin = o.origin AND g.name = o.name))"
)
_WHOLE = {
    "of": "main.",
    "gone": "(SELECT 0 WHERE FALSE)",
    "documents": "main.documents",
    "passages": "main.passages",
    "sources": "main.sources",
}
_BASE = {
    "of": "main.",
    "gone": "(SELECT document FROM recent.gone)",
    "documents": _GONE.format("documents"),
    "passages": _GONE.format("passages"),
    "sources": _GONE_SOURCES,
}
_RECENT = {name: value.replace("main.", "recent.") for name, value in _WHOLE.items()}

BY_ROW = "SELECT * FROM {} ORDER BY row"
"""An outer query for passages."""

Values = Sequence[object] | Mapping[str, object]


class RecordFiles:
    """Read access to one finished file, or to two.

    The connections are opened at once and lent to one thread at a time: requests come on new
    threads, and files that were opened can still be read after a later build removed them.
    """

    def __init__(self, path: Path, recent: Path | None):
        """Open both files. Raises DamagedStore if one is missing, or is none of SQLite."""
        for each in filter(None, (path, recent)):
            if not each.exists():
                raise DamagedStore(f"{each} is missing. Run `atlas store repair`.")
        self._path = path
        self._names = " or ".join(str(each) for each in (path, recent) if each)
        self._tables = (_BASE, _RECENT) if recent else (_WHOLE,)
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._closing, self._is_closed = threading.Lock(), False
        self._joined = lru_cache(64)(self._join)
        try:
            for _ in range(CONNECTIONS):
                self._idle.put(_connect(path, recent))
        except sqlite3.DatabaseError as error:
            raise self.unreadable(error) from error

    def rows(
        self, query: str, values: Values = (), *, outer: str = "SELECT * FROM {}", last: Values = ()
    ) -> list[sqlite3.Row]:
        """Return the rows that a query gives of each file, put together by the `outer` one.

        The query names its tables `{documents}`, `{passages}` and `{sources}`, which are without
        what is gone; with it they are `{of}passages`, `{of}texts` and `{of}metadata`, for which
        `{gone}` is the list of documents. It binds `values`, the outer one `last`. Raises
        ClosedStore, and DamagedStore for what cannot be read.
        """
        if isinstance(values, Mapping):
            bound: Values = values
        else:
            bound = [*values] * len(self._tables) + [*last]
        with self._connection() as connection:
            return connection.execute(self._joined(query, outer), bound).fetchall()

    def rows_in_turn(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows that a query gives of each file, one after the other: the base is first.

        They come in the order in which the query gives those of a file. To read tens of thousands
        so takes a third of the time of `rows`, which puts all in order anew. Raises as that does.
        """
        with self._connection() as connection:
            cursor = connection.cursor()
            cursor.row_factory = None
            rows = [cursor.execute(query.format_map(tables)).fetchall() for tables in self._tables]
        return [row for of_file in rows for row in of_file]

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for a moment; damage that the block meets is DamagedStore."""
        connection = self._idle.get()
        try:
            if self._is_closed:
                raise ClosedStore(f"{self._path} was closed. Open the collection again.")
            yield connection
        except sqlite3.DatabaseError as error:
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(_DAMAGED) or str(error).startswith(_NO_TEXT):
                raise self.unreadable(error) from error
            raise
        finally:
            self._idle.put(connection)

    def _join(self, query: str, outer: str) -> str:
        every = " UNION ALL ".join(query.format_map(tables) for tables in self._tables)
        return outer.format(f"({every})")

    def each(self, expression: str, between: str) -> str:
        """Return an expression over the tables of each file, joined: for a query inside a query."""
        return between.join(expression.format_map(tables) for tables in self._tables)

    def check(self) -> str:
        """Return the first finding of SQLite's own integrity check; `ok` if nothing."""
        schemas = ("main", "recent")[: len(self._tables)]
        connection = self._idle.get()
        try:
            result = [connection.execute(f"PRAGMA {s}.integrity_check").fetchone() for s in schemas]
        finally:
            self._idle.put(connection)
        return next((str(message) for (message,) in result if message != "ok"), "ok")

    def unreadable(self, error: Exception) -> DamagedStore:
        """Return the error of files that cannot be read."""
        return DamagedStore(
            f"{self._names} cannot be read ({error}). `atlas store verify` says what brings them "
            "back."
        )

    def close(self) -> None:
        """Close all connections, once nobody has one; later queries raise ClosedStore."""
        with self._closing:  # two that close at once would wait for each other's connections
            connections = [self._idle.get() for _ in range(CONNECTIONS)]
            self._is_closed = True
            for connection in connections:
                connection.close()
                self._idle.put(connection)


def _connect(path: Path, recent: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(read_only(path), uri=True, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    if recent:
        connection.execute("ATTACH DATABASE ? AS recent", (read_only(recent),))
    for name, function in FUNCTIONS.items():
        connection.create_function(name, -1, function, deterministic=True)
    return connection


class ValueCount(NamedTuple):
    """Number of documents with a value of a field."""

    field: str
    value: str
    documents: int


class DocumentColumns(NamedTuple):
    """Identity and counts of each document of a version, by index.

    `origins` to `digests` are as in `Provenance`; `characters` are numbers of them, `metadata` the
    JSON of it.
    """

    ids: Sequence[str]
    corpora: Sequence[str]
    sources: Sequence[str]
    origins: Sequence[str]
    keys: Sequence[str]
    stems: Sequence[str]
    digests: Sequence[bytes]
    characters: Sequence[int]
    metadata: Sequence[str]

    def identity(self, index: int) -> tuple[str, str, str]:
        """Return what makes a document the same in another version: origin, source and key."""
        return self.origins[index], self.sources[index], self.keys[index]

    def provenance(self, index: int) -> Provenance:
        return Provenance(
            self.origins[index], self.keys[index], self.stems[index], self.digests[index]
        )


class DocumentOrigin(NamedTuple):
    """Corpus of a document, its source file and kind, and the number of others of that file.

    `content` is the SHA-256 of that file as it was read; empty if it is not known. `key` names the
    record in the file.
    """

    corpus: str
    source: str
    origin: str
    others: int
    content: bytes
    key: str


class ListedDocument(NamedTuple):
    """Document without its text; `days` are the first and last of its date, empty if undated."""

    id: str
    corpus: str
    title: str
    source: str
    origin: str
    characters: int
    passages: int
    metadata: Metadata
    days: tuple[str, str]


ListedBy = Literal["id", "title", "date", "-date"]
"""Order of listed documents; `-date` is the newest first. Undated ones come last, ties go by id."""


class ReadSource(NamedTuple):
    """Source file as the build read it: the documents it gave, and what was left out of it.

    `remarks` are pairs of the key of a record, empty for the whole file, and what is told of it.
    """

    name: str
    origin: str
    bytes: int
    documents: int
    remarks: tuple[tuple[str, str], ...]


def remark_of(key: str, remark: str) -> str:
    """A remark behind its record's key, unless it names the place: `line 4: ...` of `line-4`."""
    place = key.replace("line-", "line ").replace("row-", "record ")
    return f"{key}: {remark}" if key and not remark.startswith(f"{place}:") else remark


class ReadSources(NamedTuple):
    """Number of source files read, and some of those that gave no document or have remarks.

    `refused` gave none; `listed` is how many are refused or have remarks.
    """

    files: int
    refused: int
    listed: int
    sources: tuple[ReadSource, ...]


class OriginCounts(NamedTuple):
    """Counts of what came from one kind of source."""

    documents: int
    passages: int
