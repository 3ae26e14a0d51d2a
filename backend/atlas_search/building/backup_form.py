"""An export read whole before anything is written: refused with the file and the line at fault."""

import hashlib
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from atlas_search.building.document_ids import FoundDocument, place
from atlas_search.core.errors import SourceError
from atlas_search.core.ids import check_id
from atlas_search.language.languages import LANGUAGES
from atlas_search.readers.archive import MAX_RATIO, SMALL
from atlas_search.readers.metadata import MAX_NUMBER
from atlas_search.readers.tables import LAST_PAGE
from atlas_search.stores.manifest import bring_to_disk
from atlas_search.stores.record_writer import Provenance
from atlas_search.stores.verify import SAME

FORM_VERSION = 1

MANIFEST, README = "manifest.json", "README.txt"
DOCUMENTS, PASSAGES, SOURCES = "documents.jsonl", "passages.jsonl", "sources.jsonl"
VECTORS = "vectors.npy"
NEEDED = (DOCUMENTS, PASSAGES)

DEFAULT_ORIGIN = "import"
"""The kind of source of documents that do not name one."""

README_TEXT = f"""This is an export of a collection of Atlas, form version {FORM_VERSION}.

{MANIFEST}    what is here: corpora, model, counts, and the SHA-256 of every other file
{DOCUMENTS}  one JSON object a line: a document with its whole text
{PASSAGES}   one JSON object a line: a passage as a span of its document's text,
                 in the order of the documents
{VECTORS}      the unit vectors of the passages in NumPy's format, float32, row by row
{SOURCES}    one JSON object a line: a source file as it was read

All text is UTF-8. Offsets count Unicode characters from 0; an end is exclusive.
`atlas store import` reads it; docs/backup.md of Atlas describes every field.
"""

LARGEST_NUMBER = 2**31 - 1

Metadata = Mapping[str, str | int | float | tuple[str, ...]]


class _FormPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SegmentPart(_FormPart):
    """A stretch of a document up to the next one."""

    start: int = Field(ge=0, description="Its first character in the text")
    section: str = Field("", description="Path of headings, with ` > ` between them")
    speaker: str = Field("", description="Who speaks")
    locator: str = Field("", description="How the source cites the place")


class LocatedPart(_FormPart):
    """Source's own name for a place, from a character of a passage on."""

    start: int = Field(ge=0, description="Character of the passage's text")
    locator: str = Field(description="How the source cites the place from there on; may be empty")
    section: str | None = Field(
        None, description="Path of headings from there on, if the passage begins in another"
    )


class DocumentLine(_FormPart):
    """A line of documents.jsonl."""

    id: str = Field(min_length=1, description="`<corpus>.<stem>`")
    corpus: str = Field(description="Id of its corpus")
    text: str = Field(min_length=1, description="The whole text")
    title: str = Field("", description="Its title; the beginning of the text if empty")
    is_titled: bool = Field(True, description="Whether the title is more than the text's beginning")
    url: str = Field("", description="As in `metadata`")
    date: str = Field("", description="As in `metadata`")
    metadata: Metadata = Field(
        default_factory=dict, description="Texts, numbers, or lists of texts, by name"
    )
    source: str = Field("", description="The source file; the id if empty")
    origin: str = Field(DEFAULT_ORIGIN, description="The kind of source")
    key: str = Field("", description="The record within the source file")
    stem: str = Field("", description="What the id is made of; the id without its corpus if empty")
    pages: tuple[int, ...] = Field((0,), description="Characters at which its pages begin")
    printed_pages: tuple[str, ...] = Field(
        (), description="The numbers that stand on the pages: one for each page, or none"
    )
    segments: tuple[SegmentPart, ...] = Field((), description="Sections and speeches, in order")


class PassageLine(_FormPart):
    """A line of passages.jsonl. What is left out of its place follows from its document."""

    document_id: str = Field(description="Id of its document")
    start: int = Field(ge=0, description="Its first character in the document's text")
    end: int = Field(ge=1, description="The character after its last")
    id: str = Field("", description="`<document id>:<start>-<end>`, which it is if empty")
    page: int | None = Field(None, ge=1, description="The page it begins on, from 1")
    line: int | None = Field(None, ge=1, description="The line it begins on, from 1")
    section: str | None = Field(None, description="Path of headings where it begins")
    speaker: str | None = Field(None, description="Who speaks in it")
    locators: tuple[LocatedPart, ...] | None = Field(
        None, description="How the source cites its parts"
    )
    printed_page: str | None = Field(None, description="The number that stands on the page")
    ocr_confidence: float | None = Field(
        None, description="Mean confidence with which its words were recognised, from 0 to 1"
    )
    tokens: int | None = Field(
        None,
        ge=0,
        le=LARGEST_NUMBER,
        description="Its length for the embedding model; counted if left out",
    )


class SourceLine(_FormPart):
    """A line of sources.jsonl: what lets a later build read only what changed."""

    origin: str = Field(description="The kind of source")
    name: str = Field(description="The file, as documents name it in `source`")
    fingerprint: str = Field(
        pattern="^([0-9a-f]{2})*$", description="Hexadecimal; equal as long as nothing changes"
    )
    remarks: tuple[tuple[str, str], ...] = Field(
        (), description="Pairs of a record and what was left out of it or repaired"
    )
    bytes: int = Field(0, ge=0, le=LARGEST_NUMBER**2, description="Size of the file")
    seconds: float = Field(0.0, ge=0, description="What reading it took")


class CorpusPart(_FormPart):
    """A corpus."""

    id: str = Field(description="Letters, digits, `_` and `-`")
    label: str = Field("", description="As readers see it; made of the id if empty")
    date: str = Field("", description="Of documents that state none")
    description: str = Field("", description="What it holds, in a sentence or two")
    language: str = Field("en", description="The language its words are analysed in")
    documents: int | None = Field(None, ge=0, description="How many it has")
    passages: int | None = Field(None, ge=0, description="How many it has")


class ModelPart(_FormPart):
    """The embedding model that made the vectors."""

    name: str = Field(description="EMBEDDING_MODEL")
    fingerprint: str = Field(description="Equal for models whose vectors can be compared")
    dimension: int = Field(ge=1, le=2**16, description="Length of a vector")
    provider: str = Field("", description="EMBEDDING_PROVIDER")
    digest: str = Field("", description="SHA-256 of its weights")
    pooling: str = Field("", description="POOLING")
    max_tokens: int = Field(0, ge=0, description="What it reads of a text; 0 unknown")
    passage_prefix: str = Field("", description="EMBEDDING_PASSAGE_PREFIX")
    query_prefix: str = Field("", description="EMBEDDING_QUERY_PREFIX")


class OriginPart(_FormPart):
    """Cuts of the documents of one kind of source."""

    arguments: Mapping[str, Any] = Field(
        default_factory=dict, description="Those of `atlas create`"
    )
    splitter: str = Field(description="As `atlas create` takes it")
    size: int = Field(description="Length of a passage")
    overlap: int = Field(description="What two passages share")
    unit: str = Field(description="`characters` or `tokens`")
    across_pages: bool = Field(description="Whether a passage may go on on the next page")
    across_sections: bool = Field(description="Likewise sections")


class LineCounts(_FormPart):
    """The lines of each file."""

    documents: int = Field(ge=1, description="Lines of documents.jsonl")
    passages: int = Field(ge=1, description="Lines of passages.jsonl, and rows of vectors.npy")
    sources: int = Field(0, ge=0, description="Lines of sources.jsonl")


class FileDigest(_FormPart):
    """A file as it was written."""

    bytes: int = Field(ge=0, description="Its size")
    sha256: str = Field(pattern="^[0-9a-f]{64}$", description="Its SHA-256, hexadecimal")


class Description(_FormPart):
    """manifest.json."""

    form: Literal["atlas-export"] = Field(description="`atlas-export`")
    form_version: int = Field(description="The version of this form")
    collection: str = Field(description="Name of the collection")
    corpora: tuple[CorpusPart, ...] = Field(min_length=1, description="Its corpora")
    counts: LineCounts = Field(description="Lines of each file")
    files: Mapping[str, FileDigest] = Field(description="Size and digest of every other file")
    embedding: ModelPart | None = Field(None, description="What made `vectors.npy`")
    origins: Mapping[str, OriginPart] = Field(
        default_factory=dict, description="How the documents of each origin were cut"
    )
    fields: Mapping[str, Any] = Field(
        default_factory=dict, description="Metadata fields and their frequent values; not read"
    )
    calibration: Mapping[str, Any] | None = Field(None, description="What `atlas calibrate` found")
    version: str = Field("", description="The version of the collection; not read")
    created: str = Field("", description="When that was built; not read")
    exported: str = Field("", description="When the export was made; not read")
    exported_by: str = Field("", description="The program that made it; not read")


ZIP = ".zip"


class Sink(Protocol):
    """Target of bytes."""

    def write(self, content: bytes, /) -> object:
        """Add some bytes."""


class NewExport:
    """An export that is being written. `files` are those that are finished."""

    def __init__(self, partial: Path, archive: zipfile.ZipFile | None):
        self.partial = partial
        self._archive = archive
        self.files: dict[str, FileDigest] = {}

    @contextmanager
    def file(self, name: str) -> Iterator[Sink]:
        """Open a new file until the block ends."""
        with self._open(name) as stream:
            counting = _Counting(stream)
            yield counting
        self.files[name] = FileDigest(bytes=counting.bytes, sha256=counting.digest.hexdigest())

    def _open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        if self._archive:
            return self._archive.open(name, "w", force_zip64=True)
        return (self.partial / name).open("wb")


class _Counting:
    """Stream that notes how many bytes pass, and their digest."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        self.bytes = 0
        self.digest = hashlib.sha256()

    def write(self, content: bytes, /) -> None:
        self._stream.write(content)
        self.bytes += len(content)
        self.digest.update(content)


@contextmanager
def new_export(path: Path) -> Iterator[NewExport]:
    """Open a folder, or a file if `path` ends in .zip, which is there once the block has ended.

    Raises SourceError if something is there already, or if it cannot be written.
    """
    if path.exists():
        raise SourceError(f"{path} is there already. Give another name, or remove it.")
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(partial)  # what a killed export left
        try:
            yield from _new(path, partial)
            # before it bears its name: a backup must outlast a power failure
            bring_to_disk(partial, *partial.rglob("*"))
            partial.rename(path)
        finally:
            _remove(partial)
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error.strerror or error}.") from error


def _new(path: Path, partial: Path) -> Iterator[NewExport]:
    if path.suffix == ZIP:
        with zipfile.ZipFile(partial, "x", zipfile.ZIP_DEFLATED) as archive:
            yield NewExport(partial, archive)
    else:
        partial.mkdir()
        yield NewExport(partial, None)


class Export:
    """An export to be read. Whatever is wrong with its files is a SourceError.

    `characters` are those that a document may have, those of its passages counted once more.
    """

    def __init__(self, path: Path, archive: zipfile.ZipFile | None, characters: int):
        self.path = path
        self.characters = characters
        self._archive = archive

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open one of its files, from its beginning."""
        try:
            with self._archive.open(name) if self._archive else (self.path / name).open("rb") as f:
                yield f
        except (KeyError, FileNotFoundError) as error:
            raise SourceError(f"{self.path}: {name} is missing. {WHOLE}") from error
        except (
            OSError,
            EOFError,
            zipfile.BadZipFile,
            zlib.error,
            NotImplementedError,  # a compression that Python does not know
            RuntimeError,  # encrypted
        ) as error:
            raise SourceError(f"{self.path}: {name} cannot be read ({error}). {WHOLE}") from error


WHOLE = "Nothing was imported; give an export that is whole."


@contextmanager
def open_export(path: Path, characters: int) -> Iterator[Export]:
    """Open the export at `path`. Raises SourceError if there is none."""
    if path.is_dir():
        yield Export(path, None, characters)
        return
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise SourceError(f"There is no export at {path}.") from None
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:  # the last: of no version
        raise SourceError(
            f"{path} is no export: neither a folder nor a whole .zip ({error}). {WHOLE}"
        ) from error
    with archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
        _require(
            unpacked <= max(SMALL, path.stat().st_size * MAX_RATIO),
            f"{path} would unpack to {unpacked:,} bytes, more than {MAX_RATIO} times its size",
        )
        yield Export(path, archive, characters)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


CHUNK = 2**16  # bytes read at once
BATCH = 4096  # vectors read or written at once
LARGEST_MANIFEST = 2**26  # bytes
MOST_BESIDE = 6_000_000
"""Bytes of a document and its passages beside their texts: numbers, names and brackets. Each takes
up to a hundred in memory, and 80,000 passages have so many."""

Progress = Callable[[str, int, int], None]
_Line = TypeVar("_Line", bound=BaseModel)


@dataclass(frozen=True)
class ExportedDocument:
    """A document of an export with its passages in order; `first_row` is that of the first."""

    document: DocumentLine
    passages: tuple[PassageLine, ...]
    first_row: int


def describe(export: Export) -> Description:
    """Read what an export says of itself. Raises SourceError, for another form too."""
    with export.open(MANIFEST) as file:
        content = file.read(LARGEST_MANIFEST)
    where = f"{export.path}: {MANIFEST}"
    description = _parse(Description, content, where)
    if description.form_version != FORM_VERSION:
        raise SourceError(
            f"{where} has form version {description.form_version}; this Atlas reads "
            f"{FORM_VERSION}. Import it with the version of Atlas that wrote it "
            f"({description.exported_by or 'unknown'}) or a later one."
        )
    for name in (*NEEDED, *([VECTORS] if description.embedding else ())):
        _require(name in description.files, f"{where} names no {name} in `files`")
    return description


def check_export(export: Export, description: Description, progress: Progress) -> None:
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


def read_entries(export: Export) -> Iterator[ExportedDocument]:
    """Read the documents in the order of the export. Raises SourceError for another form."""
    with export.open(DOCUMENTS) as documents, export.open(PASSAGES) as passages:
        lines = read_lines(export, passages, PASSAGES, PassageLine)
        row, (coming, more) = 0, next(lines, (None, 0))
        entries = read_lines(export, documents, DOCUMENTS, DocumentLine)
        for number, (document, beside) in enumerate(entries, start=1):
            own: list[PassageLine] = []
            characters = len(document.text)
            # of which passages have as much in a build
            _require_size(export, f"{export.path}: {DOCUMENTS}:{number}", 2 * characters, beside)
            while coming and coming.document_id == document.id:
                own.append(coming)
                characters += coming.end - coming.start
                beside += more
                where = f"{export.path}: {PASSAGES}:{row + len(own)}"
                _require_size(export, where, characters, beside)
                coming, more = next(lines, (None, 0))
            yield ExportedDocument(document, tuple(own), row)
            row += len(own)
        if coming:
            raise SourceError(
                f"{export.path}: {PASSAGES}:{row + 1} is of {coming.document_id!r}, which is "
                f"not the document in its turn. Passages stand in the order of {DOCUMENTS}. "
                f"{WHOLE}"
            )


def read_sources(export: Export, description: Description) -> Iterator[SourceLine]:
    """Read the source files, if the export has them."""
    if SOURCES in description.files:
        with export.open(SOURCES) as file:
            yield from (line for line, _ in read_lines(export, file, SOURCES, SourceLine))


_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


def read_lines(
    export: Export, file: IO[bytes], name: str, kind: type[_Line]
) -> Iterator[tuple[_Line, int]]:
    """Read each line of a file as what it is, with its bytes beside texts.

    Raises SourceError with its number.
    """
    lines = iter(partial(file.readline, export.characters + 1), b"")
    for number, line in enumerate(lines, start=1):
        where = f"{export.path}: {name}:{number}"
        beside = len(line) - sum(text.end() - text.start() for text in _TEXT.finditer(line))
        _require_size(export, where, len(line), beside)
        yield _parse(kind, line, where), beside


def _require_size(export: Export, where: str, characters: int, beside: int) -> None:
    _require(
        characters <= export.characters,
        f"{where}: it takes its document beyond {export.characters:,} characters. If nothing is "
        "wrong with it, raise FILE_CHARACTERS",
    )
    _require(
        beside <= MOST_BESIDE,
        f"{where}: it takes its document beyond {MOST_BESIDE:,} bytes beside texts: too many "
        "passages, pages, segments or values",
    )


def read_vectors(export: Export, description: Description) -> Iterator[NDArray[np.float32]]:
    """Read the vectors in batches of rows, if the export has them. Raises SourceError."""
    model = description.embedding
    if model is None:
        return
    where = f"{export.path}: {VECTORS}"
    shape = (description.counts.passages, model.dimension)
    with export.open(VECTORS) as file:
        try:
            _require(np.lib.format.read_magic(file) == (1, 0), f"{where} is not NumPy's format 1.0")
            found = np.lib.format.read_array_header_1_0(file)
        except ValueError as error:
            raise SourceError(f"{where} is no array ({error}). {WHOLE}") from error
        _require(
            found == (shape, False, np.dtype("<f4")),
            f"{where} holds {found}, not float32 in rows with the shape {shape}",
        )
        at_once = max(1, BATCH * 1024 // shape[1])
        for start in range(0, shape[0], at_once):
            rows = min(at_once, shape[0] - start)
            content = file.read(rows * shape[1] * 4)
            _require(len(content) == rows * shape[1] * 4, f"{where} ends too early")
            batch = np.frombuffer(content, dtype="<f4").reshape(rows, shape[1])
            lengths = np.linalg.norm(batch, axis=1)
            _require(bool(np.all(np.abs(lengths - 1) < SAME)), f"{where} has no unit vectors")
            yield batch


def found_document(line: DocumentLine, digest: bytes, number: int, language: str) -> FoundDocument:
    """Return a document of an export as a build finds one."""
    stem = line.stem or line.id.removeprefix(f"{line.corpus}.")
    provenance = Provenance(line.origin, line.key, stem, digest)
    source = line.source or line.id
    return FoundDocument(line.corpus, source, provenance, False, number, language)


def _check_file(export: Export, name: str, expected: FileDigest) -> None:
    _require("/" not in name and "\\" not in name, f"{export.path}: {name!r} is no name of a file")
    digest, size = hashlib.sha256(), 0
    with export.open(name) as file:
        while size <= expected.bytes and (content := file.read(CHUNK)):
            digest.update(content)
            size += len(content)
    same = size == expected.bytes and digest.hexdigest() == expected.sha256
    _require(same, f"{export.path}: {name} is not as it was written")


def _check_corpora(export: Export, description: Description) -> None:
    for corpus in description.corpora:
        check_id(corpus.id, f"{export.path}: {MANIFEST}")
        _require(
            corpus.language in LANGUAGES,
            f"{export.path}: {MANIFEST}: the corpus {corpus.id} has the language "
            f"{corpus.language!r}, which is none of {', '.join(LANGUAGES)}",
        )


def _check_texts(export: Export, description: Description, progress: Progress) -> None:
    corpora = {corpus.id for corpus in description.corpora}
    where, passages_at = (f"{export.path}: {name}" for name in NEEDED)
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
            most = {"page": max(len(line.pages), LAST_PAGE), "line": len(line.text)}
            for place_, last in most.items():
                number_ = getattr(passage, place_) or 1
                _require(number_ <= last, f"{passages_at}:{row}: there is no {place_} {number_}")
            _require(id_ not in passages, f"{passages_at}:{row}: the id {id_!r} occurs twice")
            passages.add(id_)
        rows += len(entry.passages)
        progress("Checking documents", number, description.counts.documents)
    counts = (description.counts.documents, description.counts.passages)
    _require(
        (len(found), rows) == counts,
        f"{export.path} holds {len(found)} documents and {rows} passages, not {counts[0]} and "
        f"{counts[1]} as {MANIFEST} says",
    )
    _check_ids(found, ids, where)


def _check_document(line: DocumentLine, where: str) -> None:
    starts = [0, *(segment.start for segment in line.segments), len(line.text)]
    _require(starts == sorted(starts), f"{where}: its segments are not in order")
    pages = [0, *line.pages, len(line.text)]
    _require(len(pages) > 2 and pages == sorted(pages), f"{where}: its pages are not in order")
    _require(
        re.fullmatch(r"[\w.-]+", line.id) is not None,
        f"{where}: the id {line.id!r} holds other than letters, digits, `_`, `-` and `.`",
    )
    _require(
        len(line.printed_pages) in (0, len(line.pages)),
        f"{where}: it has {len(line.pages)} pages and {len(line.printed_pages)} printed numbers",
    )
    _require(bool(line.text.strip()), f"{where}: it holds no text")
    for name, value in line.metadata.items():
        _require(
            not isinstance(value, int | float) or abs(value) < MAX_NUMBER,
            f"{where}: the number of the metadata field {name!r} is not below {MAX_NUMBER:.0e}: "
            "write it as a text",
        )
        plain = "_".join(name.lower().split())
        _require(name == plain != "", f"{where}: the metadata field {name!r} would be {plain!r}")


def _check_ids(found: list[FoundDocument], ids: list[str], where: str) -> None:
    """Raise SourceError for an id that is not made of corpus and stem: another would change with
    the next build."""
    for placed in place(found):
        stated = ids[placed.found.number - 1]
        _require(
            placed.id == stated,
            f"{where}:{placed.found.number}: the id {stated!r} would be {placed.id!r}: it is "
            "`<corpus>.<stem>`, and no other document has it",
        )


def _check_sources(export: Export, description: Description) -> None:
    names = [(line.origin, line.name) for line in read_sources(export, description)]
    where = f"{export.path}: {SOURCES}"
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
