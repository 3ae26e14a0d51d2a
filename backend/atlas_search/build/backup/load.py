"""An export into a collection: through the same steps as a build, live as the last of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from atlas_search.build.backup import form
from atlas_search.build.backup.check import (
    Entry,
    Progress,
    check_export,
    describe,
    found_document,
    read_entries,
    read_sources,
    read_vectors,
)
from atlas_search.build.backup.container import Export, open_export
from atlas_search.build.chunking import chunking, positions
from atlas_search.build.corpora import label_of
from atlas_search.build.document_ids import FoundDocument, place
from atlas_search.build.prepare import document_digest
from atlas_search.build.reading import Plan
from atlas_search.build.version import Contents, Site, write_version
from atlas_search.core.domain import Document, Located, Segment, embedded_text, passage_id
from atlas_search.core.errors import DamagedStore, MissingStore, SourceError
from atlas_search.language.text import TextSpan, words
from atlas_search.providers.embedding import Embedder
from atlas_search.readers.titles import title_from
from atlas_search.stores.manifest import FILE_NAME, Calibration, Manifest, Origin
from atlas_search.stores.record_writer import PassageRow, SourceRow
from atlas_search.stores.staging import StagedDocument, StagedPassage, Staging, text_digest
from atlas_search.stores.versions import (
    STAGING,
    go_live,
    lock,
    new_name,
    remove_old,
    removed_unless_live,
    versions,
)


@dataclass(frozen=True)
class Imported:
    """What an import did: `embedded` texts had no vector of the model in use.

    `model` made the vectors of the export; `is_same_model` if they were taken over.
    """

    manifest: Manifest
    embedded: int
    model: str
    is_same_model: bool


def collection_of(path: Path) -> str:
    """The name of the collection that an export holds. Raises SourceError."""
    with open_export(path) as export:
        return describe(export).collection


def import_collection(
    path: Path, folder: Path, embedder: Embedder, progress: Progress, *, replace: bool = False
) -> Imported:
    """Make the export at `path` the live version of the collection in `folder`.

    Vectors of the same model are taken over; else all passages are embedded. With `replace` the
    version that was live stays to go back to. Raises SourceError, before anything is written, for
    an export that is not whole, or if there is a collection and it is not to be replaced.
    """
    _require_free(folder, replace=replace)
    with open_export(path) as export:
        description = describe(export)
        check_export(export, description, progress)
        with lock(folder):
            _require_free(folder, replace=replace)
            return _load(export, description, folder, embedder, progress)


def _load(
    export: Export,
    description: form.Description,
    folder: Path,
    embedder: Embedder,
    progress: Progress,
) -> Imported:
    model = description.embedding
    is_same = model is not None and model.fingerprint == embedder.fingerprint
    with _staging(folder) as staging:
        documents = _stage(export, description, staging, embedder, progress, with_vectors=is_same)
        contents = Contents(
            folder.name,
            Plan(place(documents), _source_rows(export, description), 0),
            {c.id: c.label for c in description.corpora if c.label not in ("", label_of(c.id))},
            _origins(description, documents),
            _calibration(description) if is_same else None,
        )
        site = Site(folder, None, staging, embedder, progress, fresh=True)
        manifest, embedded = write_version(site, contents)
    before = _to_go_back_to(folder)
    with removed_unless_live(folder, manifest.version):
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
    """The version that is live; all there are, if the manifest does not say which."""
    try:
        return {Manifest.read(folder).version}
    except (MissingStore, DamagedStore):
        return {found.version for found in versions(folder)}


@contextmanager
def _staging(folder: Path) -> Iterator[Staging]:
    """A staging area of its own, since that of the folder may hold the work of a build.

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
    vectors = _Rows(read_vectors(export, description)) if with_vectors else None
    found = []
    for done, entry in enumerate(read_entries(export), start=1):
        language = languages[entry.document.corpus]
        staged = _document(entry, language)
        number = staging.add_document(staged)
        digest = staged.provenance.digest
        found.append(found_document(entry.document, digest, number, language))
        if vectors and staged.passages:
            staging.add_vectors(
                embedder.fingerprint,
                [passage.digest for passage in staged.passages],
                _token_counts(entry, staged, embedder),
                vectors.take(len(staged.passages)),
            )
        progress("Reading documents", done, description.counts.documents)
    return found


class _Rows:
    """Vectors in any number of rows at once."""

    def __init__(self, batches: Iterator[NDArray[np.float32]]):
        self._rows = (row for batch in batches for row in batch)

    def take(self, count: int) -> NDArray[np.float32]:
        """The next rows."""
        return np.stack(list(islice(self._rows, count)))


def _token_counts(entry: Entry, staged: StagedDocument, embedder: Embedder) -> Sequence[int]:
    stated = [line.tokens for line in entry.passages if line.tokens is not None]
    if len(stated) == len(staged.passages):
        return stated
    return embedder.count_tokens([passage.embedded for passage in staged.passages])


def _document(entry: Entry, language: str) -> StagedDocument:
    line = entry.document
    document = Document(
        id="",
        corpus=line.corpus,
        title=line.title or title_from(line.text),
        text=line.text,
        metadata=_metadata(line),
        source=line.source or line.id,
        pages=line.pages,
        segments=tuple(Segment(s.start, s.section, s.speaker, s.locator) for s in line.segments),
        printed_pages=line.printed_pages,
        is_titled=line.is_titled and bool(line.title),
    )
    found = found_document(line, document_digest(document), 0, language)
    passages = _passages(entry, document, language)
    return StagedDocument(document, found.provenance, tuple(passages))


def _metadata(line: form.DocumentLine) -> form.Metadata:
    beside = {"url": line.url, "date": line.date}
    missing = {name: value for name, value in beside.items() if value and name not in line.metadata}
    return dict(line.metadata) | missing


def _passages(entry: Entry, document: Document, language: str) -> Iterator[StagedPassage]:
    rows = _rows(entry, document)
    for row in rows:
        text = document.text[row.span.start : row.span.end]
        found = words(text, language)
        # as when it was built: what came with an id came with the vector of its text alone
        embedded = (
            text
            if row.id
            else embedded_text(document.context_title, row.section, row.speaker, text)
        )
        yield StagedPassage(
            row,
            embedded,
            text_digest(embedded),
            tuple(word.term for word in found),
            tuple(part for word in found for part in word.parts),
        )


def _rows(entry: Entry, document: Document) -> Iterator[PassageRow]:
    """The passages as they are stored; what a line does not say of its place is found here."""
    spans = [TextSpan(line.start, line.end) for line in entry.passages]
    order = sorted(range(len(spans)), key=lambda at: spans[at].start)
    places = dict(zip(order, positions(document, [spans[at] for at in order]), strict=True))
    for at, line in enumerate(entry.passages):
        made = passage_id(entry.document.id, line.start, line.end)
        found = places[at]
        yield PassageRow(
            id="" if line.id in ("", made) else line.id,
            span=spans[at],
            page=found.page if line.page is None else line.page,
            line=found.line if line.line is None else line.line,
            section=found.section if line.section is None else line.section,
            speaker=found.speaker if line.speaker is None else line.speaker,
            locators=found.locators
            if line.locators is None
            else tuple(Located(part.start, part.locator, part.section) for part in line.locators),
            printed_page=found.printed_page if line.printed_page is None else line.printed_page,
        )


def _source_rows(export: Export, description: form.Description) -> list[SourceRow]:
    rows = [
        SourceRow(
            name=line.name,
            origin=line.origin,
            fingerprint=bytes.fromhex(line.fingerprint),
            content=b"",
            remarks=line.remarks,
            bytes=line.bytes,
            seconds=line.seconds,
        )
        for line in read_sources(export, description)
    ]
    return sorted(rows, key=lambda row: (row.origin, row.name))


def _origins(
    description: form.Description, documents: Sequence[FoundDocument]
) -> dict[str, Origin]:
    """How each origin was cut; of one that the export does not describe, as if by default."""
    used = {document.provenance.origin for document in documents}
    unknown = {"arguments": {}, **asdict(chunking())}
    described = {name: part.model_dump() for name, part in description.origins.items()}
    return {
        name: Origin(**described.get(name, unknown), documents=0, passages=0)
        for name in sorted(used)
    }


def _calibration(description: form.Description) -> Calibration | None:
    """None for one of another version of Atlas: `atlas calibrate` makes it anew."""
    try:
        return Calibration.model_validate(description.calibration)
    except ValidationError:
        return None
