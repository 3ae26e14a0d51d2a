"""What each file of an export holds. Kept apart from the store's own form, which may change."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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

Metadata = Mapping[str, str | int | float | tuple[str, ...]]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SegmentPart(_Part):
    """A stretch of a document up to the next one."""

    start: int = Field(ge=0, description="Its first character in the text")
    section: str = Field("", description="Path of headings, with ` > ` between them")
    speaker: str = Field("", description="Who speaks")
    locator: str = Field("", description="How the source cites the place")


class LocatedPart(_Part):
    """From a character of a passage on, the source's own name for the place."""

    start: int = Field(ge=0, description="Character of the passage's text")
    locator: str = Field(description="How the source cites the place from there on; may be empty")
    section: str | None = Field(
        None, description="Path of headings from there on, if the passage begins in another"
    )


class DocumentLine(_Part):
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


class PassageLine(_Part):
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
    tokens: int | None = Field(
        None, ge=0, description="Its length for the embedding model; counted if left out"
    )


class SourceLine(_Part):
    """A line of sources.jsonl: what lets a later build read only what changed."""

    origin: str = Field(description="The kind of source")
    name: str = Field(description="The file, as documents name it in `source`")
    fingerprint: str = Field(
        pattern="^([0-9a-f]{2})*$", description="Hexadecimal; equal as long as nothing changes"
    )
    remarks: tuple[tuple[str, str], ...] = Field(
        (), description="Pairs of a record and what was left out of it or repaired"
    )
    bytes: int = Field(0, ge=0, description="Size of the file")
    seconds: float = Field(0.0, ge=0, description="What reading it took")


class CorpusPart(_Part):
    """A corpus."""

    id: str = Field(description="Letters, digits, `_` and `-`")
    label: str = Field("", description="As readers see it; made of the id if empty")
    language: str = Field("en", description="The language its words are analysed in")
    documents: int | None = Field(None, ge=0, description="How many it has")
    passages: int | None = Field(None, ge=0, description="How many it has")


class ModelPart(_Part):
    """The embedding model that made the vectors."""

    name: str = Field(description="EMBEDDING_MODEL")
    fingerprint: str = Field(description="Equal for models whose vectors can be compared")
    dimension: int = Field(ge=1, description="Length of a vector")
    provider: str = Field("", description="EMBEDDING_PROVIDER")
    digest: str = Field("", description="SHA-256 of its weights")
    pooling: str = Field("", description="POOLING")
    max_tokens: int = Field(0, ge=0, description="What it reads of a text; 0 unknown")
    passage_prefix: str = Field("", description="EMBEDDING_PASSAGE_PREFIX")
    query_prefix: str = Field("", description="EMBEDDING_QUERY_PREFIX")


class OriginPart(_Part):
    """How the documents of one kind of source were cut."""

    arguments: Mapping[str, Any] = Field(
        default_factory=dict, description="Those of `atlas create`"
    )
    splitter: str = Field(description="As `atlas create` takes it")
    size: int = Field(description="Length of a passage")
    overlap: int = Field(description="What two passages share")
    unit: str = Field(description="`characters` or `tokens`")
    across_pages: bool = Field(description="Whether a passage may go on on the next page")
    across_sections: bool = Field(description="Likewise sections")


class Counts(_Part):
    """The lines of each file."""

    documents: int = Field(ge=1, description="Lines of documents.jsonl")
    passages: int = Field(ge=1, description="Lines of passages.jsonl, and rows of vectors.npy")
    sources: int = Field(0, ge=0, description="Lines of sources.jsonl")


class FileDigest(_Part):
    """A file as it was written."""

    bytes: int = Field(ge=0, description="Its size")
    sha256: str = Field(pattern="^[0-9a-f]{64}$", description="Its SHA-256, hexadecimal")


class Description(_Part):
    """manifest.json."""

    form: Literal["atlas-export"] = Field(description="`atlas-export`")
    form_version: int = Field(description="The version of this form")
    collection: str = Field(description="Name of the collection")
    corpora: tuple[CorpusPart, ...] = Field(min_length=1, description="Its corpora")
    counts: Counts = Field(description="Lines of each file")
    files: Mapping[str, FileDigest] = Field(description="Size and digest of every other file")
    embedding: ModelPart | None = Field(None, description="What made `vectors.npy`")
    origins: Mapping[str, OriginPart] = Field(
        default_factory=dict, description="How the documents of each origin were cut"
    )
    fields: Mapping[str, Any] = Field(
        default_factory=dict, description="Metadata fields and their frequent values; not read"
    )
    answer_likelihood: float | None = Field(
        None, ge=0, le=1, description="Written by earlier versions; not read"
    )
    calibration: Mapping[str, Any] | None = Field(None, description="What `atlas calibrate` found")
    version: str = Field("", description="The version of the collection; not read")
    created: str = Field("", description="When that was built; not read")
    exported: str = Field("", description="When the export was made; not read")
    exported_by: str = Field("", description="The program that made it; not read")
