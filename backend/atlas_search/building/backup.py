"""An export into a collection: through the same steps as a build, live as the last of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError

from atlas_search.building import backup_form as form
from atlas_search.building.backup_form import (
    Export,
    ExportedDocument,
    NewExport,
    Progress,
    Sink,
    check_export,
    describe,
    found_document,
    new_export,
    open_export,
    read_entries,
    read_sources,
    read_vectors,
)
from atlas_search.building.chunking import Position, chunking, positions
from atlas_search.building.document_ids import FoundDocument, place
from atlas_search.building.go_live import Contents, Indexing, Site, write_version
from atlas_search.building.materials import Live
from atlas_search.building.prepare import document_digest, staged_passage
from atlas_search.building.reading import Plan
from atlas_search.building.sources import note_of
from atlas_search.building.workers import ReadingLimits
from atlas_search.core.domain import Document, Located, Passage, Segment, passage_id
from atlas_search.core.errors import DamagedStore, SourceError
from atlas_search.core.ids import __version__, moment
from atlas_search.core.metadata import plain_metadata
from atlas_search.language.text import TextSpan
from atlas_search.providers.embedding import Embedder
from atlas_search.readers.titles import closed, title_from
from atlas_search.stores.manifest import FILE_NAME, Calibration, Manifest, Origin, readable_manifest
from atlas_search.stores.record_writer import PassageRow, Provenance, SourceRow
from atlas_search.stores.staged import StagedDocument
from atlas_search.stores.staging import Staging
from atlas_search.stores.vectors import BATCH, AnyEmbeddings, ChromaRecord, write_collection
from atlas_search.stores.versions import (
    STAGING,
    go_live,
    in_use,
    lock,
    new_name,
    remove_old,
    remove_unless_live,
    versions,
)


@dataclass(frozen=True)
class Imported:
    """Result of an import: `embedded` texts had no vector of the model in use.

    `model` made the vectors of the export; `is_same_model` if they were taken over.
    """

    manifest: Manifest
    embedded: int
    model: str
    is_same_model: bool


def collection_of(path: Path) -> str:
    """Return the name of the collection that an export holds. Raises SourceError."""
    with open_export(path, ReadingLimits.characters) as export:
        return describe(export).collection


def import_collection(
    path: Path,
    folder: Path,
    embedder: Embedder,
    progress: Progress,
    *,
    replace: bool = False,
    characters: int = ReadingLimits.characters,
    indexing: Indexing | None = None,
) -> Imported:
    """Make the export at `path` the live version of the collection in `folder`.

    Vectors of the same model are taken over; else all passages are embedded. With `replace` the
    version that was live stays to go back to. Raises SourceError, before anything is written, for
    an export that is not whole or has a document of more `characters`, or if there is a
    collection and it is not to be replaced.
    """
    _require_free(folder, replace=replace)
    with open_export(path, characters) as export:
        description = describe(export)
        check_export(export, description, progress)
        with lock(folder):
            _require_free(folder, replace=replace)
            return _load(export, description, folder, embedder, progress, indexing or Indexing())


def _load(
    export: Export,
    description: form.Description,
    folder: Path,
    embedder: Embedder,
    progress: Progress,
    indexing: Indexing,
) -> Imported:
    model = description.embedding
    is_same = model is not None and model.fingerprint == embedder.fingerprint
    with _staging(folder) as staging:
        documents = _stage(export, description, staging, embedder, progress, with_vectors=is_same)
        contents = Contents(
            folder.name,
            Plan(place(documents), _source_rows(export, description), 0),
            {c.id: note_of(c) for c in description.corpora},
            _origins(description, documents),
            _calibration(description) if is_same else None,
        )
        site = Site(folder, None, staging, embedder, progress, fresh=True, indexing=indexing)
        manifest, embedded = write_version(site, contents)
    before = _to_go_back_to(folder)
    with remove_unless_live(folder, manifest.version):
        go_live(folder, manifest)
    remove_old(folder, {manifest.version, *before})
    return Imported(manifest, embedded, model.name if model else "", is_same)


def _require_free(folder: Path, *, replace: bool) -> None:
    if not replace and (folder / FILE_NAME).exists():
        raise SourceError(
            f"There is a collection {folder.name} already. Nothing was imported; give another "
            "name with --collection, or --replace it."
        )


def _to_go_back_to(folder: Path) -> set[str]:
    """Return the version that is live; all there are, if the manifest does not say which."""
    live = readable_manifest(folder)
    return {live.version} if live else {each.version for each in versions(folder)}


@contextmanager
def _staging(folder: Path) -> Iterator[Staging]:
    """Open a staging area of its own, since that of the folder may hold the work of a build.

    It lies where the next build or import removes what a killed one left.
    """
    partial = folder / f".{new_name('0' * 8)}.partial"
    partial.mkdir()
    staging = Staging(partial / STAGING)
    try:
        yield staging
    finally:
        staging.remove()
        partial.rmdir()


def _stage(
    export: Export,
    description: form.Description,
    staging: Staging,
    embedder: Embedder,
    progress: Progress,
    *,
    with_vectors: bool,
) -> list[FoundDocument]:
    languages = {corpus.id: corpus.language for corpus in description.corpora}
    batches = read_vectors(export, description) if with_vectors else ()
    vectors = (vector for batch in batches for vector in batch)
    result = []
    for done, entry in enumerate(read_entries(export), start=1):
        language = languages[entry.document.corpus]
        staged = _read_document(entry, language)
        number = staging.add_document(staged)
        digest = staged.provenance.digest
        result.append(found_document(entry.document, digest, number, language))
        if with_vectors and staged.passages:
            staging.add_vectors(
                embedder.fingerprint,
                [passage.digest for passage in staged.passages],
                _token_counts(entry, staged, embedder),
                np.stack(list(islice(vectors, len(staged.passages)))),
            )
        progress("Reading documents", done, description.counts.documents)
    return result


def _token_counts(
    entry: ExportedDocument, staged: StagedDocument, embedder: Embedder
) -> Sequence[int]:
    stated = [line.tokens for line in entry.passages if line.tokens is not None]
    if len(stated) == len(staged.passages):
        return stated
    return embedder.count_tokens([passage.embedded for passage in staged.passages])


def _read_document(entry: ExportedDocument, language: str) -> StagedDocument:
    line = entry.document
    document = Document(
        id="",
        corpus=line.corpus,
        title=closed(line.title or title_from(line.text)),
        text=line.text,
        metadata=_metadata(line),
        source=line.source or line.id,
        pages=line.pages,
        segments=tuple(
            Segment(s.start, closed(s.section), closed(s.speaker), s.locator) for s in line.segments
        ),
        printed_pages=line.printed_pages,
        is_titled=line.is_titled and bool(line.title),
    )
    result = found_document(line, document_digest(document), 0, language)
    passages = (staged_passage(row, document, language) for row in _rows(entry, document))
    return StagedDocument(document, result.provenance, tuple(passages))


def _metadata(line: form.DocumentLine) -> form.Metadata:
    beside = {"url": line.url, "date": line.date}
    missing = {name: value for name, value in beside.items() if value and name not in line.metadata}
    return dict(line.metadata) | missing


def _rows(entry: ExportedDocument, document: Document) -> Iterator[PassageRow]:
    """Return passages as they are stored; what a line does not say of its place is found here."""
    spans = [TextSpan(line.start, line.end) for line in entry.passages]
    order = sorted(range(len(spans)), key=lambda at: spans[at].start)
    places = dict(zip(order, positions(document, [spans[at] for at in order]), strict=True))
    for at, line in enumerate(entry.passages):
        made = passage_id(entry.document.id, line.start, line.end)
        stated = {n: said for n in Position._fields if (said := getattr(line, n)) is not None}
        place_ = Position(**places[at]._asdict() | stated)
        yield PassageRow(
            "" if line.id in ("", made) else line.id,
            spans[at],
            place_.page,
            place_.line,
            closed(place_.section),
            closed(place_.speaker),
            tuple(Located(each.start, each.locator, each.section) for each in place_.locators),
            place_.printed_page,
            line.ocr_confidence,
        )


def _source_rows(export: Export, description: form.Description) -> list[SourceRow]:
    rows = [
        SourceRow(**dict(line) | {"fingerprint": bytes.fromhex(line.fingerprint), "content": b""})
        for line in read_sources(export, description)
    ]
    return sorted(rows, key=lambda row: (row.origin, row.name))


def _origins(
    description: form.Description, documents: Sequence[FoundDocument]
) -> dict[str, Origin]:
    """Return how each origin was cut; one that the export does not describe, as if by default."""
    used = {document.provenance.origin for document in documents}
    unknown = {"arguments": {}, **asdict(chunking())}
    described = {name: part.model_dump() for name, part in description.origins.items()}
    return {
        name: Origin(**described.get(name, unknown), documents=0, passages=0)
        for name in sorted(used)
    }


def _calibration(description: form.Description) -> Calibration | None:
    """Read the calibration; None for one of another version of Atlas: `atlas calibrate` makes it
    anew."""
    try:
        return Calibration.model_validate(description.calibration)
    except ValidationError:
        return None


_ExportPart = TypeVar("_ExportPart", bound=BaseModel)


def export_collection(folder: Path, path: Path, progress: Progress) -> Manifest:
    """Write the live version of the collection in `folder` to `path`, and give its manifest.

    `path` becomes a folder, or a file if it ends in .zip, as the last step. Raises MissingStore,
    DamagedStore if what is exported is not as it was written, and SourceError.
    """
    manifest = Manifest.read(folder)
    with _open(folder, manifest) as live, new_export(path) as export:
        with export.file(form.README) as file:
            file.write(form.README_TEXT.encode())
        with export.file(form.SOURCES) as file:
            sources = _write_lines(file, _sources(live))
        _write_texts(export, live, progress)
        with export.file(form.VECTORS) as file:
            _write_vectors(file, live.embeddings)
        described = _describe(manifest, sources, export)
        with export.file(form.MANIFEST) as file:
            file.write(described.model_dump_json(indent=2).encode())
    return manifest


def export_to_chroma(folder: Path, path: Path, progress: Progress) -> Manifest:
    """Write the live version to a new folder `path` as one Chroma collection; give its manifest.

    Ids, vectors, texts and metadata are those that `Chroma` of LangChain reads: `corpus` to filter
    by, places as its loader of PDFs names them. Raises as `export_collection` does.
    """
    manifest = Manifest.read(folder)
    if path.suffix == form.ZIP:
        raise SourceError(f"{path}: Chroma opens a folder. Give a name that does not end in .zip.")
    with _open(folder, manifest) as live, new_export(path) as export:
        batches = _chroma_batches(live, manifest.passages, progress)
        write_collection(export.partial, manifest.collection, batches)
    return manifest


def _chroma_batches(live: Live, total: int, progress: Progress) -> Iterator[list[ChromaRecord]]:
    stored = map(live.records.stored_document, range(len(live.columns.ids)))
    pairs = ((document, passage) for document, passages in stored for passage in passages)
    for start in range(0, total, BATCH):
        vectors = live.embeddings.vectors[start : start + BATCH].astype(np.float32)
        yield [
            ChromaRecord(passage.id, passage.text, _chroma_metadata(document, passage), vector)
            for vector, (document, passage) in zip(vectors, pairs, strict=False)
        ]
        progress("Writing passages", start + len(vectors), total)


def _chroma_metadata(document: Document, passage: Passage) -> dict[str, Any]:
    """Return the document's metadata and the passage's place; what is unknown is left out."""
    place = {
        "corpus": document.corpus,
        "document_id": document.id,
        "title": document.title,
        "source": document.source,
        "page": passage.page - 1,
        "page_label": passage.printed_page or str(passage.page),
        "total_pages": len(document.pages),
        "start_index": passage.start,
        "section": passage.section,
        "speaker": passage.speaker,
        "locator": passage.locator,
    }
    known = {name: value for name, value in place.items() if value != ""}
    return plain_metadata(document.metadata) | known


@contextmanager
def _open(folder: Path, manifest: Manifest) -> Iterator[Live]:
    """Open the live version, which no build removes while it is open."""
    try:
        using = in_use(folder / manifest.version)
        with using:
            live = Live(folder, manifest)
            try:
                live.require_documents()
                yield live
            finally:
                live.close()
    except FileNotFoundError as error:
        raise DamagedStore(
            f"{error.filename} is missing. Run `atlas store repair {folder.name}`."
        ) from error


def _write_texts(export: NewExport, live: Live, progress: Progress) -> None:
    columns = live.columns
    count = len(columns.ids)
    tokens = live.embeddings.tokens
    with export.file(form.DOCUMENTS) as documents:
        for index in range(count):
            document, _ = live.records.stored_document(index)
            _write_line(documents, _write_document(document, columns.provenance(index)))
            progress("Writing documents", index + 1, count)
    # a .zip is written one file after the other, so that the documents are read twice
    with export.file(form.PASSAGES) as passages:
        for index in range(count):
            _, result = live.records.stored_document(index)
            _write_lines(passages, (_passage(each, int(tokens[each.row])) for each in result))
            progress("Writing passages", index + 1, count)


def _write_document(document: Document, provenance: Provenance) -> form.DocumentLine:
    return form.DocumentLine(
        id=document.id,
        corpus=document.corpus,
        text=document.text,
        title=document.title,
        is_titled=document.is_titled,
        url=str(document.metadata.get("url", "")),
        date=str(document.metadata.get("date", "")),
        metadata=document.metadata,
        source=document.source,
        origin=provenance.origin,
        key=provenance.key,
        stem=provenance.stem,
        pages=document.pages,
        printed_pages=document.printed_pages,
        segments=tuple(
            form.SegmentPart(start=s.start, section=s.section, speaker=s.speaker, locator=s.locator)
            for s in document.segments
        ),
    )


def _passage(passage: Passage, tokens: int) -> form.PassageLine:
    return form.PassageLine(
        document_id=passage.document_id,
        start=passage.start,
        end=passage.end,
        id=passage.id,
        page=passage.page,
        line=passage.line,
        section=passage.section,
        speaker=passage.speaker,
        locators=tuple(
            form.LocatedPart(start=each.start, locator=each.locator, section=each.section)
            for each in passage.locators
        ),
        printed_page=passage.printed_page,
        ocr_confidence=passage.ocr_confidence,
        tokens=tokens,
    )


def _sources(live: Live) -> Iterator[form.SourceLine]:
    for source in live.sources:
        fields = source._asdict() | {"fingerprint": source.fingerprint.hex()}
        del fields["content"]
        yield form.SourceLine(**fields)


def _write_vectors(file: Sink, embeddings: AnyEmbeddings) -> None:
    np.lib.format.write_array_header_1_0(
        file, {"descr": "<f4", "fortran_order": False, "shape": embeddings.vectors.shape}
    )
    for start in range(0, len(embeddings.vectors), form.BATCH):
        file.write(embeddings.vectors[start : start + form.BATCH].astype("<f4").tobytes())


def _describe(manifest: Manifest, sources: int, export: NewExport) -> form.Description:
    said = manifest.model_dump(mode="json")
    return form.Description(
        form="atlas-export",
        form_version=form.FORM_VERSION,
        collection=manifest.collection,
        corpora=tuple(_part(form.CorpusPart, corpus) for corpus in said["corpora"]),
        counts=form.LineCounts(
            documents=manifest.documents, passages=manifest.passages, sources=sources
        ),
        files=dict(export.files),
        embedding=_part(form.ModelPart, said["embedding"]),
        origins={name: _part(form.OriginPart, each) for name, each in said["origins"].items()},
        fields=said["fields"],
        calibration=said["calibration"],
        version=manifest.version,
        created=manifest.created,
        exported=moment(),
        exported_by=f"atlas {__version__}",
    )


def _part(kind: type[_ExportPart], said: Mapping[str, Any]) -> _ExportPart:
    """Take what the form keeps of a part of the manifest."""
    return kind.model_validate({name: said[name] for name in kind.model_fields})


def _write_lines(file: Sink, lines: Iterable[BaseModel]) -> int:
    count = 0
    for line in lines:
        _write_line(file, line)
        count += 1
    return count


def _write_line(file: Sink, line: BaseModel) -> None:
    file.write(line.model_dump_json().encode() + b"\n")
