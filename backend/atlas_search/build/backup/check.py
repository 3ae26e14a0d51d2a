"""An export read whole before anything is written: refused with the file and the line at fault."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from atlas_search.build.backup import form
from atlas_search.build.backup.container import WHOLE, Export
from atlas_search.build.document_ids import FoundDocument, place
from atlas_search.core.errors import SourceError
from atlas_search.core.ids import check_id
from atlas_search.language.languages import LANGUAGES
from atlas_search.stores.record_writer import Provenance

CHUNK = 2**16  # bytes read at once
BATCH = 4096  # vectors read at once
LARGEST_MANIFEST = 2**26  # bytes
SAME = 1e-3  # most by which the length of a vector may differ from 1

Progress = Callable[[str, int, int], None]
_Line = TypeVar("_Line", bound=BaseModel)


@dataclass(frozen=True)
class Entry:
    """A document of an export with its passages in order; `first_row` is that of the first."""

    document: form.DocumentLine
    passages: tuple[form.PassageLine, ...]
    first_row: int


def describe(export: Export) -> form.Description:
    """What an export says of itself. Raises SourceError, for another form too."""
    with export.open(form.MANIFEST) as file:
        content = file.read(LARGEST_MANIFEST)
    where = f"{export.path}: {form.MANIFEST}"
    description = _parse(form.Description, content, where)
    if description.form_version != form.FORM_VERSION:
        raise SourceError(
            f"{where} has form version {description.form_version}; this Atlas reads "
            f"{form.FORM_VERSION}. Import it with the version of Atlas that wrote it "
            f"({description.exported_by or 'unknown'}) or a later one."
        )
    for name in (*form.NEEDED, *([form.VECTORS] if description.embedding else ())):
        _require(name in description.files, f"{where} names no {name} in `files`")
    return description


def check_export(export: Export, description: form.Description, progress: Progress) -> None:
    """Raise SourceError unless every file is as it was written and all of it fits together."""
    for done, (name, digest) in enumerate(sorted(description.files.items())):
        progress("Checking files", done, len(description.files))
        _check_file(export, name, digest)
    progress("Checking files", len(description.files), len(description.files))
    _check_corpora(export, description)
    _check_texts(export, description, progress)
    _check_sources(export, description)
    for _ in read_vectors(export, description):
        pass


def read_entries(export: Export) -> Iterator[Entry]:
    """The documents in the order of the export. Raises SourceError for a line of another form."""
    with export.open(form.DOCUMENTS) as documents, export.open(form.PASSAGES) as passages:
        lines = read_lines(export, passages, form.PASSAGES, form.PassageLine)
        row, coming = 0, next(lines, None)
        for document in read_lines(export, documents, form.DOCUMENTS, form.DocumentLine):
            own = []
            while coming and coming.document_id == document.id:
                own.append(coming)
                coming = next(lines, None)
            yield Entry(document, tuple(own), row)
            row += len(own)
        if coming:
            raise SourceError(
                f"{export.path}: {form.PASSAGES}:{row + 1} is of {coming.document_id!r}, which is "
                f"not the document in its turn. Passages stand in the order of {form.DOCUMENTS}. "
                f"{WHOLE}"
            )


def read_sources(export: Export, description: form.Description) -> Iterator[form.SourceLine]:
    """The source files, if the export has them."""
    if form.SOURCES in description.files:
        with export.open(form.SOURCES) as file:
            yield from read_lines(export, file, form.SOURCES, form.SourceLine)


def read_lines(export: Export, file: IO[bytes], name: str, kind: type[_Line]) -> Iterator[_Line]:
    """Each line of a file as what it is. Raises SourceError with its number."""
    for number, line in enumerate(file, start=1):
        yield _parse(kind, line, f"{export.path}: {name}:{number}")


def read_vectors(export: Export, description: form.Description) -> Iterator[NDArray[np.float32]]:
    """The vectors in batches of rows, if the export has them. Raises SourceError."""
    model = description.embedding
    if model is None:
        return
    where = f"{export.path}: {form.VECTORS}"
    shape = (description.counts.passages, model.dimension)
    with export.open(form.VECTORS) as file:
        try:
            _require(np.lib.format.read_magic(file) == (1, 0), f"{where} is not NumPy's format 1.0")
            found = np.lib.format.read_array_header_1_0(file)
        except ValueError as error:
            raise SourceError(f"{where} is no array ({error}). {WHOLE}") from error
        _require(
            found == (shape, False, np.dtype("<f4")),
            f"{where} holds {found}, not float32 in rows with the shape {shape}",
        )
        for start in range(0, shape[0], BATCH):
            rows = min(BATCH, shape[0] - start)
            content = file.read(rows * shape[1] * 4)
            _require(len(content) == rows * shape[1] * 4, f"{where} ends too early")
            batch = np.frombuffer(content, dtype="<f4").reshape(rows, shape[1])
            lengths = np.linalg.norm(batch, axis=1)
            _require(bool(np.all(np.abs(lengths - 1) < SAME)), f"{where} has no unit vectors")
            yield batch


def found_document(
    line: form.DocumentLine, digest: bytes, number: int, language: str
) -> FoundDocument:
    """A document of an export as a build finds one."""
    stem = line.stem or line.id.removeprefix(f"{line.corpus}.")
    provenance = Provenance(line.origin, line.key, stem, digest)
    source = line.source or line.id
    return FoundDocument(line.corpus, source, provenance, False, number, language)


def _check_file(export: Export, name: str, expected: form.FileDigest) -> None:
    _require("/" not in name and "\\" not in name, f"{export.path}: {name!r} is no name of a file")
    digest, size = hashlib.sha256(), 0
    with export.open(name) as file:
        while size <= expected.bytes and (content := file.read(CHUNK)):
            digest.update(content)
            size += len(content)
    same = size == expected.bytes and digest.hexdigest() == expected.sha256
    _require(same, f"{export.path}: {name} is not as it was written")


def _check_corpora(export: Export, description: form.Description) -> None:
    for corpus in description.corpora:
        check_id(corpus.id, f"{export.path}: {form.MANIFEST}")
        _require(
            corpus.language in LANGUAGES,
            f"{export.path}: {form.MANIFEST}: the corpus {corpus.id} has the language "
            f"{corpus.language!r}, which is none of {', '.join(LANGUAGES)}",
        )


def _check_texts(export: Export, description: form.Description, progress: Progress) -> None:
    corpora = {corpus.id for corpus in description.corpora}
    where, passages_at = (f"{export.path}: {name}" for name in form.NEEDED)
    found: list[FoundDocument] = []
    identities: set[tuple[str, str, str]] = set()
    ids: list[str] = []
    passages: set[str] = set()
    rows = 0
    for number, entry in enumerate(read_entries(export), start=1):
        line = entry.document
        _require(line.corpus in corpora, f"{where}:{number}: no corpus {line.corpus!r} is named")
        _check_document(line, f"{where}:{number}")
        each = found_document(line, b"", number, "")
        _require(
            each.identity not in identities, f"{where}:{number}: its source and key occur twice"
        )
        identities.add(each.identity)
        found.append(each)
        ids.append(line.id)
        for row, passage in enumerate(entry.passages, start=entry.first_row + 1):
            id_ = passage.id or f"{line.id}:{passage.start}-{passage.end}"
            whole = passage.start < passage.end <= len(line.text)
            _require(whole, f"{passages_at}:{row}: it is not within its document")
            _require(id_ not in passages, f"{passages_at}:{row}: the id {id_!r} occurs twice")
            passages.add(id_)
        rows += len(entry.passages)
        progress("Checking documents", number, description.counts.documents)
    counts = (description.counts.documents, description.counts.passages)
    _require(
        (len(found), rows) == counts,
        f"{export.path} holds {len(found)} documents and {rows} passages, not {counts[0]} and "
        f"{counts[1]} as {form.MANIFEST} says",
    )
    _check_ids(found, ids, where)


def _check_document(line: form.DocumentLine, where: str) -> None:
    starts = [segment.start for segment in line.segments]
    _require(starts == sorted(starts), f"{where}: its segments are not in order")
    _require(
        bool(line.pages) and list(line.pages) == sorted(line.pages) and line.pages[0] >= 0,
        f"{where}: its pages are not in order",
    )
    _require(
        len(line.printed_pages) in (0, len(line.pages)),
        f"{where}: it has {len(line.pages)} pages and {len(line.printed_pages)} printed numbers",
    )
    _require(bool(line.text.strip()), f"{where}: it holds no text")
    for name in line.metadata:
        plain = "_".join(name.lower().split())
        _require(name == plain != "", f"{where}: the metadata field {name!r} would be {plain!r}")


def _check_ids(found: list[FoundDocument], ids: list[str], where: str) -> None:
    """An id is made of corpus and stem: another would change with the next build."""
    for placed in place(found):
        stated = ids[placed.found.number - 1]
        _require(
            placed.id == stated,
            f"{where}:{placed.found.number}: the id {stated!r} would be {placed.id!r}: it is "
            "`<corpus>.<stem>`, and no other document has it",
        )


def _check_sources(export: Export, description: form.Description) -> None:
    names = [(line.origin, line.name) for line in read_sources(export, description)]
    where = f"{export.path}: {form.SOURCES}"
    _require(len(set(names)) == len(names), f"{where} names a source twice")
    _require(len(names) == description.counts.sources, f"{where} has {len(names)} lines")


def _parse(kind: type[_Line], content: bytes, where: str) -> _Line:
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place_ = ".".join(map(str, first["loc"]))
        said = f"{place_}: {first['msg']}" if place_ else first["msg"]
        raise SourceError(f"{where}: {said}. {WHOLE}") from error


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise SourceError(f"{problem}. {WHOLE}")
