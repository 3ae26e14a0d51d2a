"""Documents, passages and metadata read from SQLite, from any thread."""

import json
import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from atlas_search.core.addresses import is_link, with_link
from atlas_search.core.domain import (
    OCR_CONFIDENCE,
    PAGE_URLS,
    SUCCESSOR,
    Document,
    Located,
    Passage,
    Segment,
    Successor,
)
from atlas_search.core.errors import NotFound
from atlas_search.core.metadata import Metadata, values_of
from atlas_search.language.languages import DEFAULT_LANGUAGE, fold
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.filters import DATE, Filter, where
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.order import Numbering, Order
from atlas_search.stores.record_files import (
    BY_ROW,
    DocumentColumns,
    DocumentOrigin,
    ListedBy,
    ListedDocument,
    OriginCounts,
    ReadSource,
    ReadSources,
    RecordFiles,
    ValueCount,
)
from atlas_search.stores.record_writer import BLOCK, SourceRow
from atlas_search.stores.versions import RECENT_RECORDS, RECORDS

CACHED_BLOCKS = 256  # of 16,384 characters: the texts of a few questions
CACHED_TITLES = 65_536  # whoever types into a list of documents asks for all of them again

_ORDERS: Mapping[ListedBy, str] = {
    "id": "id",
    "title": "title COLLATE NOCASE, title, id",
    "date": "first_day IS NULL, first_day, last_day, id",
    "-date": "last_day IS NULL, last_day DESC, first_day DESC, id",
}

_IN_CELL = """
    CASE WHEN first_day > '0' AND substr(first_day, 1, 4) = substr(last_day, 1, 4)
    THEN substr(first_day, 1, 4) ELSE CAST(value AS TEXT) END
"""
"""A value as it is counted: a date within one year of our era as that year."""

_OF_OTHERS = "d.corpus NOT IN (SELECT value FROM json_each(:corpora))"


def no_passage(id_: str) -> NotFound:
    """Return the error of an id that no passage has."""
    return NotFound(f"There is no passage {id_!r} in this collection.")


def no_document(id_: str) -> NotFound:
    """Return the error of an id that no document has."""
    return NotFound(f"There is no document {id_!r} in this collection.")


_PASSAGES = """
SELECT p.row AS row, p.id AS id, p.document AS document, d.id AS document_id, d.corpus AS corpus,
    d.title AS title, p.start AS start, p.end AS end, p.page AS page, p.line AS line,
    p.section AS section, p.speaker AS speaker, p.locators AS locators,
    p.printed_page AS printed_page, p.ocr_confidence AS ocr_confidence,
    d.metadata AS metadata, d.is_titled AS is_titled
FROM {of}passages p JOIN {documents} d USING (document)
"""


class Records:
    """Read access to the documents of a version, whose file is `path`.

    `languages` are those of the corpora; `order` and `recent`, the file beside it, are those of a
    version that was not written whole.
    """

    @classmethod
    def of_version(cls, folder: Path, manifest: Manifest, order: Order | None) -> Self:
        """Open the documents of the version in `folder`. Raises DamagedStore."""
        recent = folder / RECENT_RECORDS if RECENT_RECORDS in manifest.files else None
        return cls(folder / RECORDS, manifest.languages, order, recent)

    def __init__(
        self,
        path: Path,
        languages: Mapping[str, str],
        order: Order | None = None,
        recent: Path | None = None,
    ):
        self._files = RecordFiles(path, recent)
        self._languages = languages
        self._row, self._document_number = Numbering(), Numbering()
        if order:
            self._row = Numbering(order.rows, order.counts.next_row)
            self._document_number = Numbering(order.documents, order.counts.next_document)
        self._block = lru_cache(CACHED_BLOCKS)(self._read_block)
        self._folded = lru_cache(CACHED_TITLES)(fold)
        self._successor = lru_cache(CACHED_TITLES)(self._find_successor)
        self._rows, self.close, self.check = self._files.rows, self._files.close, self._files.check
        try:
            self._rows(_PASSAGES, outer="SELECT 1 FROM {} LIMIT 1")
        except sqlite3.DatabaseError as error:
            raise self._files.unreadable(error) from error

    @property
    def count(self) -> int:
        every = self._rows("SELECT COUNT(*) FROM {of}passages")
        gone = self._rows("SELECT COUNT(*) FROM {of}passages WHERE document IN {gone}")
        return int(sum(count for (count,) in every) - sum(count for (count,) in gone))

    def passage_ids(self) -> list[str]:
        """Return the id of every passage, by row."""
        # as one text: a quarter of a million rows take four times as long
        outer = "SELECT json_group_array(id) FROM (SELECT id FROM {} ORDER BY row)"
        rows = self._rows("SELECT row, id FROM {passages} p", outer=outer)
        ids: list[str] = json.loads(rows[0][0])
        return self._row.in_order(ids)

    def ids_of(self, rows: Sequence[int]) -> list[str]:
        """Return the ids of the passages in ascending `rows`."""
        result = self._rows(
            "SELECT row, id FROM {of}passages WHERE row IN (SELECT value FROM json_each(?))",
            (json.dumps(self._row.keys(rows)),),
        )
        return [id_ for _, id_ in sorted((self._row.number(key), id_) for key, id_ in result)]

    def holders(self, ids: Collection[str]) -> dict[str, str]:
        """Return the ids of the documents that hold these passages, as far as there are any."""
        query = (
            "SELECT p.id, d.id FROM {of}passages p JOIN {documents} d USING (document) "
            "WHERE p.id IN (SELECT value FROM json_each(?))"
        )
        rows = self._rows(query, (json.dumps(sorted(ids)),))
        return {row[0]: row[1] for row in rows}

    def _of_documents(self, value: str) -> list[Any]:
        """Return a value of every document, by its index."""
        query = f"SELECT d.document AS document, {value} AS value FROM {{documents}} d"
        rows = self._rows(query, outer="SELECT value FROM {} ORDER BY document")
        return self._document_number.in_order([value for (value,) in rows])

    def days_of_documents(self) -> list[tuple[int, str, str]]:
        """Return the index, first day and last day of every document with a date."""
        query = """
            SELECT document, MIN(first_day), MAX(last_day) FROM {of}metadata
            WHERE field = ? AND first_day IS NOT NULL AND document NOT IN {gone}
            GROUP BY document
        """
        number = self._document_number.number
        rows = self._rows(query, (DATE,))
        return sorted((number(key), first, last) for key, first, last in rows)

    def content_types(self) -> list[str]:
        """Return the content type of every document, by its index; empty where none is known."""
        value = (
            "(SELECT value FROM {of}metadata m WHERE m.document = d.document "
            "AND field = 'content_type')"
        )
        return [str(value or "") for value in self._of_documents(value)]

    def passage_counts(self) -> IntArray:
        """Return the number of passages of each document, by its index."""
        # a join with the documents, some of which have none, takes twice as long
        query = "SELECT document, COUNT(*) FROM {of}passages GROUP BY document"
        rows = chain.from_iterable(self._files.rows_in_turn(query))
        result = np.fromiter(rows, dtype=np.int64).reshape(-1, 2)
        documents = sum(n for (n,) in self._rows("SELECT COUNT(*) FROM {documents} d"))
        keys = self._document_number.keys(range(documents))
        _, own, has = np.intersect1d(keys, result[:, 0], assume_unique=True, return_indices=True)
        counts = np.zeros(documents, dtype=np.int64)
        counts[own] = result[has, 1]
        return counts

    def passages(self, rows: Sequence[int]) -> list[Passage]:
        result = self._rows(
            _PASSAGES + "WHERE p.row IN (SELECT value FROM json_each(?))",
            (json.dumps(self._row.keys(rows)),),
        )
        passages = map(self._passage, result)
        by_row = {passage.row: passage for passage in passages}
        return [by_row[int(row)] for row in rows]

    def passage(self, id_: str) -> Passage:
        return self._passage(self._one(_PASSAGES + "WHERE p.id = ?", id_, no_passage))

    def document(self, id_: str) -> Document:
        query = "SELECT * FROM {documents} d WHERE d.id = ?"
        return self._document(self._one(query, id_, no_document))

    def _one(self, query: str, id_: str, missing: Callable[[str], NotFound]) -> sqlite3.Row:
        rows = self._rows(query, (id_,))
        if not rows:
            raise missing(id_)
        return rows[0]

    def origin_of(self, id_: str) -> DocumentOrigin:
        query = "SELECT corpus, source, origin, key FROM {documents} d WHERE d.id = ?"
        corpus, source, origin, key = self._one(query, id_, no_document)
        query = "SELECT COUNT(*) FROM {documents} d WHERE d.origin = ? AND d.source = ?"
        documents = sum(count for (count,) in self._rows(query, (origin, source)))
        query = "SELECT content FROM {sources} s WHERE s.origin = ? AND s.name = ?"
        content = self._rows(query, (origin, source))
        return DocumentOrigin(
            corpus, source, origin, documents - 1, content[0][0] if content else b"", key
        )

    def list_documents(
        self, documents: IntArray, order: ListedBy, limit: int, offset: int
    ) -> list[ListedDocument]:
        query = f"""
            SELECT id, corpus, title, source, origin, characters, metadata,
                (SELECT COUNT(*) FROM {{of}}passages p WHERE p.document = d.document) AS passages,
                (SELECT MIN(first_day) FROM {{of}}metadata m
                    WHERE m.document = d.document AND field = '{DATE}') AS first_day,
                (SELECT MAX(last_day) FROM {{of}}metadata m
                    WHERE m.document = d.document AND field = '{DATE}') AS last_day
            FROM {{documents}} d WHERE d.document IN (SELECT value FROM json_each(?))
        """
        keys = json.dumps(self._document_number.keys(documents))
        outer = f"SELECT * FROM {{}} ORDER BY {_ORDERS[order]} LIMIT ? OFFSET ?"
        rows = self._rows(query, (keys,), outer=outer, last=(limit, offset))
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
            for row in rows
        ]

    def titled(self, documents: IntArray, words: str) -> IntArray:
        parts = fold(words).split()
        query = """
            SELECT document, title FROM {documents} d
            WHERE d.document IN (SELECT value FROM json_each(?))
        """
        rows = self._rows(query, (json.dumps(self._document_number.keys(documents)),))
        titles = ((document, self._folded(title)) for document, title in rows)
        return self._document_number.numbers(
            [document for document, title in titles if all(word in title for word in parts)]
        )

    def read_sources(
        self, limit: int, offset: int, corpora: Collection[str] | None = None
    ) -> ReadSources:
        """List first the files without a document, then those with remarks."""
        # a table may be read anew, and most of its documents be those of the base
        own = "FROM {documents} d WHERE d.origin = s.origin AND d.source = s.name"
        documents = self._files.each(f"(SELECT COUNT(*) {own})", " + ")
        others = self._files.each(f"EXISTS (SELECT 1 {own} AND {_OF_OTHERS})", " OR ")
        query = f"SELECT name, origin, bytes, remarks, {documents} AS documents, "
        query += f"{'0' if corpora is None else others} AS is_of_others FROM {{sources}} s"
        is_visible = "1" if corpora is None else "documents > 0 AND NOT is_of_others"
        visible = f"SELECT * FROM {{}} WHERE {is_visible}"
        values = {"corpora": json.dumps(sorted(corpora or ())), "limit": limit, "offset": offset}
        (totals,) = self._rows(
            query,
            values,
            outer="SELECT COUNT(*) AS files, TOTAL(documents = 0) AS refused, "
            f"TOTAL(documents = 0 OR remarks != '[]') AS listed FROM ({visible})",
        )
        page = self._rows(
            query,
            values,
            outer=f"SELECT * FROM ({visible}) WHERE documents = 0 OR remarks != '[]' "
            "ORDER BY documents > 0, origin, name LIMIT :limit OFFSET :offset",
        )
        return ReadSources(
            files=totals["files"],
            refused=int(totals["refused"]),
            listed=int(totals["listed"]),
            sources=tuple(
                ReadSource(name, origin, bytes_, count, _remarks(remarks))
                for name, origin, bytes_, remarks, count, _ in page
            ),
        )

    def document_passages(self, id_: str) -> list[Passage]:
        rows = self._rows(_PASSAGES + "WHERE d.id = ?", (id_,), outer=BY_ROW)
        return [self._passage(record) for record in rows]

    def corpus_holding_document(self, id_: str) -> str:
        rows = self._rows("SELECT corpus FROM {documents} d WHERE d.id = ?", (id_,))
        return str(rows[0]["corpus"]) if rows else ""

    def metadata(self, corpora: Collection[str]) -> Iterator[Metadata]:
        query = (
            "SELECT document, metadata FROM {documents} d "
            "WHERE d.corpus IN (SELECT value FROM json_each(?))"
        )
        rows = self._rows(query, (json.dumps(sorted(corpora)),))
        for record in sorted(rows, key=lambda r: self._document_number.number(r["document"])):
            yield _metadata(record["metadata"])

    def origins(self, corpora: Collection[str]) -> dict[str, OriginCounts]:
        query = """
            SELECT origin,
                (SELECT COUNT(*) FROM {of}passages p WHERE p.document = d.document) AS passages
            FROM {documents} d WHERE d.corpus IN (SELECT value FROM json_each(?))
        """
        outer = """
            SELECT origin, COUNT(*) AS documents, SUM(passages) AS passages FROM {}
            GROUP BY origin ORDER BY origin
        """
        rows = self._rows(query, (json.dumps(sorted(corpora)),), outer=outer)
        return {row["origin"]: OriginCounts(row["documents"], row["passages"]) for row in rows}

    def matching_documents(self, filters: Filter) -> IntArray:
        """Return the indices of the documents that meet every condition, ascending."""
        condition, values = where(filters)
        query = f"SELECT document FROM {{documents}} documents WHERE {condition}"
        return self._document_number.numbers([key for (key,) in self._rows(query, values)])

    def matching_passages(self, filters: Filter) -> IntArray:
        """Return the rows of the passages that meet every condition, ascending."""
        condition, values = where(filters)
        query = (
            "SELECT row FROM {of}passages passages JOIN {documents} documents USING (document) "
            f"WHERE {condition}"
        )
        return self._row.numbers([key for (key,) in self._rows(query, values)])

    def value_counts(self, documents: IntArray, fields: Sequence[str]) -> list[ValueCount]:
        """Order the counts by field, count and value.

        A date within one year counts as that year; small and capital letters are alike, as to a
        filter.
        """
        query = f"""
            SELECT DISTINCT document, field, {_IN_CELL} AS value
            FROM {{of}}metadata WHERE document IN (SELECT value FROM json_each(?))
            AND field IN (SELECT value FROM json_each(?))
        """
        outer = """
            SELECT field, MIN(value) AS value, COUNT(DISTINCT document) AS documents FROM {}
            GROUP BY field, value COLLATE NOCASE ORDER BY field, documents DESC, value
        """
        keys = json.dumps(self._document_number.keys(documents))
        rows = self._rows(query, (keys, json.dumps([*fields])), outer=outer)
        return [ValueCount(row["field"], row["value"], row["documents"]) for row in rows]

    def field_values(self, field: str) -> list[tuple[int, str]]:
        query = f"""
            SELECT document, {_IN_CELL} AS cell FROM {{of}}metadata
            WHERE field = ? AND document NOT IN {{gone}}
        """
        outer = """
            SELECT DISTINCT document, MIN(cell) OVER (PARTITION BY cell COLLATE NOCASE)
            FROM {} ORDER BY 1, 2
        """
        number = self._document_number.number
        rows = [(number(key), value) for key, value in self._rows(query, (field,), outer=outer)]
        return sorted(rows, key=lambda pair: pair[0])  # the values of a document are in order

    def texts(self, spans: Sequence[tuple[int, int, int]]) -> list[str]:
        keys = self._document_number.keys([document for document, _, _ in spans])
        return [
            self._text(key, start, end) for key, (_, start, end) in zip(keys, spans, strict=True)
        ]

    def sources(self) -> list[SourceRow]:
        """Return every source file that was read, by origin and name."""
        rows = sorted(
            self._files.rows_in_turn(
                "SELECT origin, name, fingerprint, content, remarks, bytes, seconds "
                "FROM {sources} s"
            )
        )
        new = tuple.__new__  # a call of the class for each takes twice as long
        return [
            new(SourceRow, (name, origin, fingerprint, content, _remarks(remarks), size, seconds))
            for origin, name, fingerprint, content, remarks, size, seconds in rows
        ]

    def document_columns(self, corpora: Sequence[str]) -> DocumentColumns:
        """Return the columns of all documents at once: there may be tens of thousands.

        `corpora` are those of the documents, by index.
        """
        rows = self._files.rows_in_turn
        documents = rows(
            "SELECT id, source, key, stem, digest, characters, metadata FROM {documents} d "
            "ORDER BY document"
        )
        # to name the only origin of all costs less than to read it of each
        origins = sorted(
            {origin for (origin,) in rows("SELECT DISTINCT origin FROM {documents} d")}
        )
        if len(origins) == 1:
            of_origins = origins * len(documents)
        else:
            each = rows("SELECT origin FROM {documents} d ORDER BY document")
            of_origins = self._document_number.in_order([origin for (origin,) in each])
        if len(documents) != len(corpora):
            raise ValueError(f"{len(documents)} documents of {len(corpora)}")
        ids, sources, *others = zip(*self._document_number.in_order(documents), strict=True)
        return DocumentColumns(ids, corpora, sources, of_origins, *others)

    def stored_document(self, index: int) -> tuple[Document, list[Passage]]:
        """Return a document and its passages by the document's index."""
        keys = self._document_number.keys([index])
        (record,) = self._rows("SELECT * FROM {documents} d WHERE d.document = ?", keys)
        rows = self._rows(_PASSAGES + "WHERE p.document = ?", keys, outer=BY_ROW)
        return self._document(record), [self._passage(passage) for passage in rows]

    def _read_block(self, document: int, block: int) -> str:
        rows = self._rows(
            "SELECT content FROM {of}texts WHERE document = ? AND block = ?", (document, block)
        )
        return zlib.decompress(rows[0][0]).decode()

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
        metadata = dict(_metadata(record["metadata"]))
        if record["ocr_confidence"] is not None:
            metadata[OCR_CONFIDENCE] = record["ocr_confidence"]
        pages = str(metadata.pop(PAGE_URLS, "")).split()
        own = pages[record["page"] - 1] if 0 < (record["page"] or 0) <= len(pages) else ""
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
            url=own if is_link(own) else str(metadata.get("url", "")),
            metadata=metadata,
            language=self._languages.get(record["corpus"], DEFAULT_LANGUAGE),
            locators=tuple(Located(*each) for each in json.loads(record["locators"])),
            printed_page=record["printed_page"],
            is_titled=bool(record["is_titled"]),
            successors=tuple(
                self._successor(record["corpus"], name) for name in values_of(metadata, SUCCESSOR)
            ),
        )

    def _find_successor(self, corpus: str, name: str) -> Successor:
        query = "SELECT title, id FROM {documents} d WHERE d.id = ?"
        rows = self._rows(query, (f"{corpus}.{name}",))
        return Successor(*rows[0]) if rows else Successor(name)


def _remarks(text: str) -> tuple[tuple[str, str], ...]:
    if text == "[]":  # as most are
        return ()
    return tuple((key, remark) for key, remark in json.loads(text))


def _metadata(text: str) -> Metadata:
    """Read metadata, without an address that is no link: an import holds what its file says."""
    return with_link(*metadata_of([text])).metadata


def metadata_of(texts: Iterable[str]) -> list[Metadata]:
    """Return the metadata of documents, each from its JSON."""
    texts = list(texts)
    different = list(dict.fromkeys(texts))  # many have the same
    # as one text: tens of thousands take a third of the time so
    loaded: list[dict[str, str | float | list[str]]] = json.loads(f"[{','.join(different)}]")
    by_text: dict[str, Metadata] = {
        text: {
            field: tuple(value) if isinstance(value, list) else value
            for field, value in own.items()
        }
        for text, own in zip(different, loaded, strict=True)
    }
    return [by_text[text] for text in texts]
