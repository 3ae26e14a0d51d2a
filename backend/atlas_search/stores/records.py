"""Documents, passages and metadata read from SQLite, from any thread."""

import json
import queue
import sqlite3
import threading
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from atlas_search.core.domain import Document, Located, Metadata, Passage, Segment
from atlas_search.core.errors import ClosedStore, DamagedStore, NotFound
from atlas_search.core.web_address import with_link
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.spelling import fold
from atlas_search.stores.document_days import DATE
from atlas_search.stores.filters import FUNCTIONS, Filter, where
from atlas_search.stores.order import Numbering, Order
from atlas_search.stores.record_rows import (
    DocumentColumns,
    DocumentOrigin,
    ListedBy,
    ListedDocument,
    OriginCounts,
    ReadSource,
    ReadSources,
    ValueCount,
)
from atlas_search.stores.record_writer import BLOCK, SourceRow

CONNECTIONS = 8  # lent for a millisecond at a time
CACHED_BLOCKS = 256  # of 16,384 characters: the texts of a few questions


_ORDERS: Mapping[ListedBy, str] = {
    "id": "id",
    "title": "title COLLATE NOCASE, title, id",
    "date": "first_day IS NULL, first_day, last_day, id",
    "-date": "last_day IS NULL, last_day DESC, first_day DESC, id",
}


_IN_CELL = """
    CASE WHEN substr(first_day, 1, 4) = substr(last_day, 1, 4)
    THEN substr(first_day, 1, 4) ELSE CAST(value AS TEXT) END
"""
"""A value as it is counted: a date within one year as that year."""


_OF_SOURCE = "SELECT 1 FROM documents d WHERE d.origin = s.origin AND d.source = s.name"
_ONLY_OF = (
    f"EXISTS ({_OF_SOURCE}) AND NOT EXISTS "
    f"({_OF_SOURCE} AND d.corpus NOT IN (SELECT value FROM json_each(:corpora)))"
)
"""A source that gave documents of some corpora and of no other."""


def no_passage(id_: str) -> NotFound:
    """The error of an id that no passage has."""
    return NotFound(f"There is no passage {id_!r} in this collection.")


def no_document(id_: str) -> NotFound:
    """The error of an id that no document has."""
    return NotFound(f"There is no document {id_!r} in this collection.")


_CONTENT = """
    COALESCE((SELECT content FROM sources WHERE sources.origin = documents.origin
        AND sources.name = documents.source), x'')
"""

_PASSAGES = """
SELECT p.row, p.id, p.document, d.id AS document_id, d.corpus, d.title, p.start, p.end, p.page,
    p.line, p.section, p.speaker, p.locators, p.printed_page, d.metadata,
    d.is_titled
FROM passages p JOIN documents d USING (document)
"""


class Records:
    """Read access to a finished SQLite file.

    The connections are opened at once and lent to one thread at a time: requests come on new
    threads, and files that were opened can still be read after a later build removed them.
    `languages` are those of the corpora; `order` is that of a version that was not written whole.
    """

    def __init__(self, path: Path, languages: Mapping[str, str], order: Order | None = None):
        if not path.exists():
            raise DamagedStore(f"{path} is missing. Run `atlas store repair`.")
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._path, self._languages = path, languages
        self._closing, self._is_closed = threading.Lock(), False
        self._row, self._document_number = Numbering(), Numbering()
        if order:
            self._row = Numbering(order.rows, order.counts.next_row)
            self._document_number = Numbering(order.documents, order.counts.next_document)
        self._block = lru_cache(CACHED_BLOCKS)(self._read_block)
        try:
            for _ in range(CONNECTIONS):
                self._idle.put(_connect(path))
            self._rows("SELECT 1 FROM passages JOIN documents USING (document) LIMIT 1")
            columns = {row["name"] for row in self._rows("PRAGMA table_info(sources)")}
            self._content = _CONTENT if "content" in columns else "x''"  # of an earlier Atlas
        except sqlite3.DatabaseError as error:
            raise DamagedStore(
                f"{path} cannot be read ({error}). Run `atlas store repair`."
            ) from error

    def _rows(
        self, query: str, values: Sequence[object] | Mapping[str, object] = ()
    ) -> list[sqlite3.Row]:
        connection = self._idle.get()
        try:
            if self._is_closed:
                raise ClosedStore(f"{self._path} was closed. Open the collection again.")
            return connection.execute(query, values).fetchall()
        finally:
            self._idle.put(connection)

    def close(self) -> None:
        """Close all connections, once nobody has one; what is asked later raises ClosedStore."""
        with self._closing:  # two that close at once would wait for each other's connections
            connections = [self._idle.get() for _ in range(CONNECTIONS)]
            self._is_closed = True
            for connection in connections:
                connection.close()
                self._idle.put(connection)

    @property
    def count(self) -> int:
        """How many passages there are."""
        (found,) = self._rows("SELECT COUNT(*) FROM passages")
        return int(found[0])

    def passage_ids(self) -> list[str]:
        """The id of every passage, by row."""
        # as one text: a quarter of a million rows take four times as long
        query = "SELECT json_group_array(id) FROM (SELECT id FROM passages ORDER BY row)"
        ids: list[str] = json.loads(self._rows(query)[0][0])
        return self._row.in_order(ids)

    def ids_of(self, rows: Sequence[int]) -> list[str]:
        """The ids of the passages in ascending `rows`."""
        found = self._rows(
            "SELECT row, id FROM passages WHERE row IN (SELECT value FROM json_each(?))",
            (json.dumps(self._row.keys(rows)),),
        )
        return [id_ for _, id_ in sorted((self._row.number(key), id_) for key, id_ in found)]

    def holders(self, ids: Collection[str]) -> dict[str, str]:
        """The passages among these `ids`, with the ids of their documents."""
        query = (
            "SELECT p.id, d.id FROM passages p JOIN documents d USING (document) "
            "WHERE p.id IN (SELECT value FROM json_each(?))"
        )
        found = self._rows(query, (json.dumps(sorted(ids)),))
        return {row[0]: row[1] for row in found}

    @property
    def is_of_earlier_form(self) -> bool:
        """Whether an earlier Atlas wrote the file, with fewer columns."""
        return self._content != _CONTENT

    def document_corpora(self) -> list[str]:
        """The corpus of every document, by its index."""
        return self._of_documents("SELECT corpus FROM documents ORDER BY document")

    def _of_documents(self, query: str) -> list[Any]:
        """What a query says of every document in order of keys, by the document's index."""
        return self._document_number.in_order([value for (value,) in self._rows(query)])

    def days_of_documents(self) -> list[tuple[int, str, str]]:
        """The index of every document with a date, and the first and last day that it can mean."""
        query = (
            "SELECT document, MIN(first_day), MAX(last_day) FROM metadata "
            "WHERE field = ? AND first_day IS NOT NULL GROUP BY document ORDER BY document"
        )
        number = self._document_number.number
        found = self._rows(query, (DATE,))
        return sorted((number(key), first, last) for key, first, last in found)

    def content_types(self) -> list[str]:
        """The content type of every document, by its index; empty where none is known."""
        query = (
            "SELECT (SELECT value FROM metadata m WHERE m.document = d.document "
            "AND field = 'content_type') FROM documents d ORDER BY document"
        )
        return [str(value or "") for value in self._of_documents(query)]

    def passage_corpora(self) -> list[str]:
        """The corpus of every passage, by row."""
        query = "SELECT corpus FROM passages JOIN documents USING (document) ORDER BY row"
        return self._row.in_order([corpus for (corpus,) in self._rows(query)])

    def passage_counts(self) -> list[int]:
        """How many passages each document has, by its index."""
        query = (
            "SELECT COUNT(row) FROM documents LEFT JOIN passages USING (document) "
            "GROUP BY document ORDER BY document"
        )
        return self._of_documents(query)

    def passages(self, rows: Sequence[int]) -> list[Passage]:
        """The passages in `rows`, in that order."""
        found = self._rows(
            _PASSAGES + "WHERE p.row IN (SELECT value FROM json_each(?))",
            (json.dumps(self._row.keys(rows)),),
        )
        passages = map(self._passage, found)
        by_row = {passage.row: passage for passage in passages}
        return [by_row[int(row)] for row in rows]

    def passage(self, id_: str) -> Passage:
        """The passage with this id. Raises NotFound."""
        found = self._rows(_PASSAGES + "WHERE p.id = ?", (id_,))
        if not found:
            raise no_passage(id_)
        return self._passage(found[0])

    def document(self, id_: str) -> Document:
        """The document with this id. Raises NotFound."""
        found = self._rows("SELECT * FROM documents WHERE id = ?", (id_,))
        if not found:
            raise no_document(id_)
        return self._document(found[0])

    def origin_of(self, id_: str) -> DocumentOrigin:
        """Where a document comes from. Raises NotFound."""
        query = f"""
            SELECT corpus, source, origin,
                (SELECT COUNT(*) - 1 FROM documents AS other WHERE
                    other.origin = documents.origin AND other.source = documents.source) AS others,
                {self._content} FROM documents WHERE id = ?
        """
        found = self._rows(query, (id_,))
        if not found:
            raise no_document(id_)
        return DocumentOrigin(*found[0])

    def list_documents(
        self, documents: Sequence[int], order: ListedBy, limit: int, offset: int
    ) -> list[ListedDocument]:
        """Of the documents with these indices at most `limit`, after the first `offset`."""
        query = f"""
            SELECT id, corpus, title, source, origin, characters, metadata,
                (SELECT COUNT(*) FROM passages p WHERE p.document = d.document) AS passages,
                (SELECT MIN(first_day) FROM metadata m
                    WHERE m.document = d.document AND field = '{DATE}') AS first_day,
                (SELECT MAX(last_day) FROM metadata m
                    WHERE m.document = d.document AND field = '{DATE}') AS last_day
            FROM documents d WHERE document IN (SELECT value FROM json_each(?))
            ORDER BY {_ORDERS[order]} LIMIT ? OFFSET ?
        """
        keys = json.dumps(self._document_number.keys(documents))
        found = self._rows(query, (keys, limit, offset))
        return [
            ListedDocument(
                id=row["id"],
                corpus=row["corpus"],
                title=row["title"],
                source=row["source"],
                origin=row["origin"],
                characters=row["characters"],
                passages=row["passages"],
                metadata=_metadata(row["metadata"]),
                days=(row["first_day"] or "", row["last_day"] or ""),
            )
            for row in found
        ]

    def titled(self, documents: Sequence[int], words: str) -> list[int]:
        """Those of `documents` whose title holds all of these, in capitals or not; ascending."""
        wanted = fold(words).split()
        query = """
            SELECT document, title FROM documents
            WHERE document IN (SELECT value FROM json_each(?)) ORDER BY document
        """
        found = self._rows(query, (json.dumps(self._document_number.keys(documents)),))
        titles = ((document, fold(title)) for document, title in found)
        return self._document_number.numbers(
            [document for document, title in titles if all(word in title for word in wanted)]
        )

    def read_sources(
        self, limit: int, offset: int, corpora: Collection[str] | None = None
    ) -> ReadSources:
        """What the files gave; those without a document come first, then those with remarks."""
        seen = "1" if corpora is None else _ONLY_OF
        counted = f"""
            SELECT name, origin, bytes, remarks, (SELECT COUNT(*) FROM documents d
                WHERE d.origin = s.origin AND d.source = s.name) AS documents
            FROM sources s WHERE {seen}
        """
        known = {"corpora": json.dumps(sorted(corpora or ())), "limit": limit, "offset": offset}
        (totals,) = self._rows(
            "SELECT COUNT(*) AS files, TOTAL(documents = 0) AS refused, "
            f"TOTAL(documents = 0 OR remarks != '[]') AS listed FROM ({counted})",
            known,
        )
        page = self._rows(
            f"SELECT * FROM ({counted}) WHERE documents = 0 OR remarks != '[]' "
            "ORDER BY documents > 0, origin, name LIMIT :limit OFFSET :offset",
            known,
        )
        return ReadSources(
            files=totals["files"],
            refused=int(totals["refused"]),
            listed=int(totals["listed"]),
            sources=tuple(
                ReadSource(
                    name=row["name"],
                    origin=row["origin"],
                    bytes=row["bytes"],
                    documents=row["documents"],
                    remarks=_remarks(row["remarks"]),
                )
                for row in page
            ),
        )

    def document_passages(self, id_: str) -> list[Passage]:
        """The passages of a document, in order of position."""
        query = _PASSAGES + "WHERE d.id = ? ORDER BY p.row"
        return [self._passage(record) for record in self._rows(query, (id_,))]

    def corpus_holding_document(self, id_: str) -> str:
        """The corpus of the document with this id; empty without one."""
        found = self._rows("SELECT corpus FROM documents WHERE id = ?", (id_,))
        return str(found[0]["corpus"]) if found else ""

    def metadata(self, corpora: Collection[str]) -> Iterator[Metadata]:
        """The metadata of every document of some corpora."""
        query = (
            "SELECT document, metadata FROM documents "
            "WHERE corpus IN (SELECT value FROM json_each(?))"
        )
        found = self._rows(query, (json.dumps(sorted(corpora)),))
        for record in sorted(found, key=lambda r: self._document_number.number(r["document"])):
            yield _metadata(record["metadata"])

    def origins(self, corpora: Collection[str]) -> dict[str, OriginCounts]:
        """How much of some corpora came from each kind of source."""
        query = """
            SELECT origin, COUNT(*) AS documents, SUM(
                (SELECT COUNT(*) FROM passages p WHERE p.document = d.document)) AS passages
            FROM documents d WHERE corpus IN (SELECT value FROM json_each(?))
            GROUP BY origin ORDER BY origin
        """
        found = self._rows(query, (json.dumps(sorted(corpora)),))
        return {row["origin"]: OriginCounts(row["documents"], row["passages"]) for row in found}

    def matching_documents(self, filters: Filter) -> list[int]:
        """Indices of the documents that meet every condition, ascending."""
        condition, values = where(filters)
        query = f"SELECT document FROM documents WHERE {condition} ORDER BY document"
        return self._document_number.numbers([key for (key,) in self._rows(query, values)])

    def matching_passages(self, filters: Filter) -> list[int]:
        """Rows of the passages that meet every condition, ascending."""
        condition, values = where(filters)
        query = f"SELECT row FROM passages JOIN documents USING (document) WHERE {condition}"
        return self._row.numbers([key for (key,) in self._rows(query, values)])

    def value_counts(self, documents: Sequence[int], fields: Sequence[str]) -> list[ValueCount]:
        """How many of `documents` have each value of `fields`, by field, count and value.

        A date within one year counts as that year.
        """
        query = f"""
            SELECT field, value, COUNT(*) AS documents FROM (
                SELECT DISTINCT document, field, {_IN_CELL} AS value
                FROM metadata WHERE document IN (SELECT value FROM json_each(?))
                AND field IN (SELECT value FROM json_each(?)))
            GROUP BY field, value ORDER BY field, documents DESC, value
        """
        keys = json.dumps(self._document_number.keys(documents))
        found = self._rows(query, (keys, json.dumps([*fields])))
        return [ValueCount(row["field"], row["value"], row["documents"]) for row in found]

    def field_values(self, field: str) -> list[tuple[int, str]]:
        """Document and value of all that documents say in a field, as `Store` has it."""
        query = f"""
            SELECT DISTINCT document, MIN({_IN_CELL}) OVER (PARTITION BY {_IN_CELL} COLLATE NOCASE)
            FROM metadata WHERE field = ? ORDER BY 1, 2
        """
        number = self._document_number.number
        found = [(number(key), value) for key, value in self._rows(query, (field,))]
        return sorted(found, key=lambda pair: pair[0])  # the values of a document are in order

    def text(self, document: int, start: int, end: int) -> str:
        """Characters of the document with this index."""
        (key,) = self._document_number.keys([document])
        return self._text(key, start, end)

    def sources(self) -> list[SourceRow]:
        """Every source file that was read, by origin and name."""
        content = "x''" if self.is_of_earlier_form else "content"
        query = (
            f"SELECT name, origin, fingerprint, {content}, remarks, bytes, seconds "
            "FROM sources ORDER BY origin, name"
        )
        return [
            SourceRow(name, origin, fingerprint, content, _remarks(remarks), size, seconds)
            for name, origin, fingerprint, content, remarks, size, seconds in self._rows(query)
        ]

    def document_columns(self) -> DocumentColumns:
        """What makes each document the one it is, all at once: there may be tens of thousands."""
        query = (
            "SELECT id, corpus, source, origin, key, stem, digest FROM documents ORDER BY document"
        )
        found = self._document_number.in_order(self._rows(query))
        return DocumentColumns(*zip(*found, strict=True))

    def document_ids(self) -> list[str]:
        """The id of every document, by its index."""
        return self._of_documents("SELECT id FROM documents ORDER BY document")

    def described(self) -> list[tuple[int, str]]:
        """How many characters each document has, and the JSON of its metadata, by its index."""
        query = "SELECT characters, metadata FROM documents ORDER BY document"
        return self._document_number.in_order(list(map(tuple, self._rows(query))))

    def stored_document(self, index: int) -> tuple[Document, list[Passage]]:
        """A document and its passages by the document's index."""
        keys = self._document_number.keys([index])
        (record,) = self._rows("SELECT * FROM documents WHERE document = ?", keys)
        found = self._rows(_PASSAGES + "WHERE p.document = ? ORDER BY p.row", keys)
        return self._document(record), [self._passage(passage) for passage in found]

    def check(self) -> str:
        """What SQLite's own integrity check finds; `ok` if nothing."""
        return str(self._rows("PRAGMA integrity_check")[0][0])

    def _read_block(self, document: int, block: int) -> str:
        found = self._rows(
            "SELECT content FROM texts WHERE document = ? AND block = ?", (document, block)
        )
        return zlib.decompress(found[0][0]).decode()

    def _text(self, document: int, start: int, end: int) -> str:
        first = start // BLOCK
        blocks = range(first, max(end - 1, start) // BLOCK + 1) if end > start else ()
        text = "".join(self._block(document, block) for block in blocks)
        return text[start - first * BLOCK : end - first * BLOCK]

    def _document(self, record: sqlite3.Row) -> Document:
        return Document(
            id=record["id"],
            corpus=record["corpus"],
            title=record["title"],
            text=self._text(record["document"], 0, record["characters"]),
            metadata=_metadata(record["metadata"]),
            source=record["source"],
            pages=tuple(json.loads(record["pages"])),
            segments=tuple(Segment(*segment) for segment in json.loads(record["segments"])),
            printed_pages=tuple(json.loads(record["printed_pages"])),
            is_titled=bool(record["is_titled"]),
        )

    def _passage(self, record: sqlite3.Row) -> Passage:
        metadata = _metadata(record["metadata"])
        return Passage(
            row=self._row.number(record["row"]),
            id=record["id"],
            document_id=record["document_id"],
            corpus=record["corpus"],
            title=record["title"],
            text=self._text(record["document"], record["start"], record["end"]),
            start=record["start"],
            end=record["end"],
            page=record["page"],
            line=record["line"],
            section=record["section"],
            speaker=record["speaker"],
            date=str(metadata.get("date", "")),
            url=str(metadata.get("url", "")),
            metadata=metadata,
            language=self._languages.get(record["corpus"], DEFAULT_LANGUAGE),
            locators=tuple(Located(*found) for found in json.loads(record["locators"])),
            printed_page=record["printed_page"],
            is_titled=bool(record["is_titled"]),
        )


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    for name, function in FUNCTIONS.items():
        connection.create_function(name, -1, function, deterministic=True)
    return connection


def _remarks(text: str) -> tuple[tuple[str, str], ...]:
    if text == "[]":  # as most are
        return ()
    return tuple((key, remark) for key, remark in json.loads(text))


def _metadata(text: str) -> Metadata:
    """Without an address that is no link: stores of earlier versions hold what the sources said."""
    return with_link(*metadata_of([text])).metadata


def metadata_of(texts: Iterable[str]) -> list[Metadata]:
    """The metadata of documents as it was written, of each from its JSON."""
    # as one text: tens of thousands take a third of the time so
    loaded: list[dict[str, str | float | list[str]]] = json.loads(f"[{','.join(texts)}]")
    return [
        {field: tuple(value) if isinstance(value, list) else value for field, value in own.items()}
        for own in loaded
    ]
