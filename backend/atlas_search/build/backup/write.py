"""A collection into an export, document by document. The collection may be served meanwhile."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel

from atlas_search.build.backup import form
from atlas_search.build.backup.container import NewExport, Sink, new_export
from atlas_search.build.live_version import Live
from atlas_search.core.domain import Document, Passage
from atlas_search.core.errors import DamagedStore
from atlas_search.core.ids import __version__, moment
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.record_writer import Provenance
from atlas_search.stores.vectors import AnyEmbeddings
from atlas_search.stores.versions import in_use

BATCH = 4096  # vectors written at once

Progress = Callable[[str, int, int], None]
_Part = TypeVar("_Part", bound=BaseModel)


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


@contextmanager
def _open(folder: Path, manifest: Manifest) -> Iterator[Live]:
    """The live version, which no build removes while it is open."""
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
            _write_line(documents, _document(document, columns.provenance(index)))
            progress("Writing documents", index + 1, count)
    # a .zip is written one file after the other, so that the documents are read twice
    with export.file(form.PASSAGES) as passages:
        for index in range(count):
            _, found = live.records.stored_document(index)
            _write_lines(passages, (_passage(each, int(tokens[each.row])) for each in found))
            progress("Writing passages", index + 1, count)


def _document(document: Document, provenance: Provenance) -> form.DocumentLine:
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
            form.LocatedPart(start=found.start, locator=found.locator, section=found.section)
            for found in passage.locators
        ),
        printed_page=passage.printed_page,
        tokens=tokens,
    )


def _sources(live: Live) -> Iterator[form.SourceLine]:
    for source in live.sources:
        yield form.SourceLine(
            origin=source.origin,
            name=source.name,
            fingerprint=source.fingerprint.hex(),
            remarks=source.remarks,
            bytes=source.bytes,
            seconds=source.seconds,
        )


def _write_vectors(file: Sink, embeddings: AnyEmbeddings) -> None:
    np.lib.format.write_array_header_1_0(
        file,
        {"descr": "<f4", "fortran_order": False, "shape": embeddings.vectors.shape},
    )
    for start in range(0, len(embeddings.vectors), BATCH):
        file.write(embeddings.vectors[start : start + BATCH].astype("<f4").tobytes())


def _describe(manifest: Manifest, sources: int, export: NewExport) -> form.Description:
    said = manifest.model_dump(mode="json")
    return form.Description(
        form="atlas-export",
        form_version=form.FORM_VERSION,
        collection=manifest.collection,
        corpora=tuple(_part(form.CorpusPart, corpus) for corpus in said["corpora"]),
        counts=form.Counts(
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


def _part(kind: type[_Part], said: Mapping[str, Any]) -> _Part:
    """What the form keeps of a part of the manifest."""
    return kind.model_validate({name: said[name] for name in kind.model_fields})


def _write_lines(file: Sink, lines: Iterable[BaseModel]) -> int:
    count = 0
    for line in lines:
        _write_line(file, line)
        count += 1
    return count


def _write_line(file: Sink, line: BaseModel) -> None:
    file.write(line.model_dump_json().encode() + b"\n")
