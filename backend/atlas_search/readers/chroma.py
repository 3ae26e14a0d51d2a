"""Somebody's Chroma collection as drafts: ids and vectors are kept, pages and titles recognised.

LangChain, LlamaIndex and Unstructured cut a file into records. Those of one file become one
document again if their metadata says where in it they stand. Sources for the names and for where
they count from: `PyPDFParser` and `RecursiveCharacterTextSplitter(add_start_index=True)` of
LangChain, `PDFReader` and `node_to_metadata_dict` of LlamaIndex, `ElementMetadata` of Unstructured.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path, PurePath
from typing import Annotated, Any, ClassVar

import typer

from atlas_search.core.domain import Segment
from atlas_search.readers import EmbeddedDraft, EmbeddedPassage, Read, Skipped
from atlas_search.readers.print import labels_of_pages
from atlas_search.readers.tables import HEADINGS, LAST_PAGE, place_of
from atlas_search.readers.titles import clean_title
from atlas_search.stores.vectors import ChromaRecord, read_collection

Fields = Mapping[str, Any]

FILES = ("source", "file_path", "filename", "file_name")
"""Fields that name the file a record was cut from."""

PLACES = ("page_number", "page", "page_label", "start_index")
"""Fields that say where in it: the page, the number printed on it, the character."""

_OF_RECORDS = frozenset(
    {
        *(*PLACES, *HEADINGS, "section", "speaker", "locator", "chunk", "chunk_id", "chunk_index"),
        # LlamaIndex
        *("_node_content", "_node_type"),
        # Unstructured
        *("category", "category_depth", "coordinates", "detection_class_prob", "element_id"),
        *("emphasized_text_contents", "emphasized_text_tags", "is_continuation", "link_texts"),
        *("link_start_indexes", "link_urls", "orig_elements", "parent_id", "text_as_html"),
    }
)
"""Fields that differ between records of one document."""

_OF_NODES = frozenset({"document_id", "doc_id", "ref_doc_id"})
"""Of LlamaIndex, which calls each page of a PDF a document."""

_APART = "\n\n"


@dataclass(frozen=True)
class ChromaReader:
    """Reads one collection of a Chroma folder; ids and vectors are kept as they are.

    `collection` may be empty where the folder has only one.
    """

    collection: str = ""
    suffixes: ClassVar[frozenset[str]] = frozenset({"chroma.sqlite3"})

    @property
    def options(self) -> Mapping[str, object]:
        return {"version": 2, "collection": self.collection}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """Each document, by its file or its only id. Raises SourceError for a folder that cannot be
        opened."""
        records = read_collection(path, self.collection, _order)
        for _, group in groupby(records, lambda record: _document(record.id, record.metadata)):
            whole = []
            for record in group:
                if fault := _fault(record):
                    yield Skipped(fault, record.id)
                else:
                    whole.append(record)
            if whole:
                yield _draft(whole)


def chroma_reader(
    from_collection: Annotated[
        str, typer.Option(help="The Chroma collection (default: the only one of the folder)")
    ] = "",
) -> ChromaReader:
    """Build a collection from a Chroma folder: ids and vectors are kept, nothing is embedded.

    The corpus of a record is its metadata field `corpus`, unless --corpus-field or --corpus says
    otherwise. EMBEDDING_MODEL must be the model that made the vectors: a sample is checked.
    """
    return ChromaReader(from_collection)


def _fault(record: ChromaRecord) -> str:
    if not record.text.strip():
        return "it holds no text"
    return "" if record.vector.any() else "its vector is zero"


def _document(id_: str, fields: Fields) -> tuple[str, str]:
    """Tell documents apart: by the file and all that its records share, else by the only id."""
    source = _source(fields)
    if not source or all(fields.get(name) in (None, "") for name in PLACES):
        return "", id_
    return source, json.dumps(_shared(fields), sort_keys=True, default=str)


def _order(id_: str, fields: Fields) -> tuple[Any, ...]:
    """Order records by document, then by page and character; as they were added where it says no
    more."""
    numbers = (_number(fields.get(name)) for name in PLACES[:3])
    page = next((number for number in numbers if number is not None), 0)
    return (*_document(id_, fields), page, _number(fields.get("start_index")) or 0)


def _shared(fields: Fields) -> dict[str, Any]:
    own = _OF_RECORDS | (_OF_NODES if "_node_content" in fields else frozenset())
    return {name: value for name, value in fields.items() if name not in own}


def _source(fields: Fields) -> str:
    return next((str(fields[name]) for name in FILES if fields.get(name)), "")


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:10])
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value) if value >= 0 else None


def _draft(records: Sequence[ChromaRecord]) -> EmbeddedDraft:
    """Return one document of the records of a file, in order, or of a single record."""
    first = records[0]
    fields = [record.metadata for record in records]
    is_of_file = bool(_document(first.id, first.metadata)[0])
    numbers = _pages(fields)
    text, starts = _join(records, numbers)
    passages = [
        EmbeddedPassage(each.id, start, start + len(each.text), tuple(each.vector.tolist()))
        for each, start in zip(records, starts, strict=True)
    ]
    offsets: list[int] = []
    for number, start in zip(numbers, starts, strict=True):
        offsets += [start] * (number - len(offsets))
    labels = {n: str(each.get("page_label") or "") for n, each in zip(numbers, fields, strict=True)}
    return EmbeddedDraft(
        text=text,
        title=_title(first.metadata),
        key=first.id,
        metadata=_shared(first.metadata) if is_of_file else dict(first.metadata),
        pages=tuple(offsets),
        segments=_segments(fields, starts) if is_of_file else (),
        printed_pages=labels_of_pages([labels.get(n + 1, "") for n in range(len(offsets))]),
        passages=tuple(passages),
        name=_file_stem(_source(first.metadata)) if is_of_file else "",
    )


def _pages(fields: Sequence[Fields]) -> list[int]:
    """Return the page of each record of a document, from 1 and ascending.

    `page` counts from 0 as loaders of PDFs in LangChain write it: if there is a page 0, or
    `page_label` or `total_pages` stands beside it and no page has the number of the last. Labels
    alone are page numbers if all are numbers; else each new one is the next page.
    """
    for name in ("page_number", "page"):
        numbers = [_number(each.get(name)) for each in fields]
        given = [number for number in numbers if number is not None]
        if len(given) == len(fields) and max(given) < LAST_PAGE:
            from_0 = 0 in given or (name == "page" and _is_of_loader(fields, max(given)))
            return [number + from_0 for number in given]
    labels = [str(each.get("page_label") or "") for each in fields]
    numbers = [_number(label) for label in labels]
    given = [number for number in numbers if number]
    if len(given) == len(fields) and max(given) <= LAST_PAGE:
        return given
    turns = [before != after for before, after in pairwise(labels)]
    return [1 + sum(turns[:at]) for at in range(len(labels))]


def _is_of_loader(fields: Sequence[Fields], last: int) -> bool:
    totals = [number for each in fields if (number := _number(each.get("total_pages")))]
    is_stated = bool(totals) or any(each.get("page_label") for each in fields)
    return is_stated and not (totals and last >= max(totals))


def _join(records: Sequence[ChromaRecord], pages: Sequence[int]) -> tuple[str, list[int]]:
    """Return the text of a document and where each record begins in it.

    What two records of a page share, by their `start_index`, stands in it once.
    """
    pieces = [records[0].text]
    starts, length = [0], len(records[0].text)
    for at, (before, after) in enumerate(pairwise(records)):
        gap = _gap(before, after) if pages[at] == pages[at + 1] else None
        if gap is not None and gap < 0:
            new = after.text[-gap:]
        else:
            new = (_APART if gap is None else _APART[:gap]) + after.text
        pieces.append(new)
        length += len(new)
        starts.append(length - len(after.text))
    return "".join(pieces), starts


def _gap(before: ChromaRecord, after: ChromaRecord) -> int | None:
    """Count the characters between two records, negative where they overlap; None if unknown."""
    begun, begins = (_number(each.metadata.get("start_index")) for each in (before, after))
    if begun is None or begins is None:
        return None
    gap = begins - begun - len(before.text)
    is_equal = gap >= 0 or (-gap <= len(after.text) and before.text[gap:] == after.text[:-gap])
    return gap if is_equal else None


def _segments(fields: Sequence[Fields], starts: Sequence[int]) -> tuple[Segment, ...]:
    """Return the sections and speakers of records, as far as they say them."""
    segments = [Segment(0)]
    for each, start in zip(fields, starts, strict=True):
        (place,) = place_of(each) or (Segment(0),)
        if replace(place, start=0) != replace(segments[-1], start=0):
            segments.append(replace(place, start=start))
    return tuple(segments[1:])


def _title(fields: Fields) -> str:
    """Return the title, else the name of the file; a `source` without an ending names none."""
    stated = clean_title(str(fields.get("title") or ""))
    source = _source(fields)
    is_file = "://" not in source and PurePath(source).suffix
    return stated or (_file_stem(source) if is_file else "")


def _file_stem(source: str) -> str:
    """Return the name of a file, of any system, without its ending."""
    return PurePath(re.split(r"[\\/]", source.rstrip("\\/"))[-1]).stem or source
