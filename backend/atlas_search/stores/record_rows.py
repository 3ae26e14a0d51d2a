"""What records tell beside documents and passages: rows of lists and of counts."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from atlas_search.core.domain import Metadata
from atlas_search.stores.record_writer import Provenance


class ValueCount(NamedTuple):
    """How many documents have a value of a field."""

    field: str
    value: str
    documents: int


class DocumentColumns(NamedTuple):
    """What makes each document of a version the one it is, and what is counted of it: by index.

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
        """What makes a document the same in another version: origin, source and key."""
        return self.origins[index], self.sources[index], self.keys[index]

    def provenance(self, index: int) -> Provenance:
        """Where a document comes from."""
        return Provenance(
            self.origins[index], self.keys[index], self.stems[index], self.digests[index]
        )


class DocumentOrigin(NamedTuple):
    """The corpus of a document, the source file and its kind, and how many others that gave.

    `content` is the SHA-256 of that file as it was read; empty if it is not known.
    """

    corpus: str
    source: str
    origin: str
    others: int
    content: bytes


class ListedDocument(NamedTuple):
    """A document without its text; `days` are the first and last of its date, empty if undated."""

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
"""Of listed documents; `-date` is the newest first. Undated ones come last, ties go by id."""


class ReadSource(NamedTuple):
    """A source file as the build read it: the documents it gave, and what was left out of it.

    `remarks` are pairs of the key of a record, empty for the whole file, and what is told of it.
    """

    name: str
    origin: str
    bytes: int
    documents: int
    remarks: tuple[tuple[str, str], ...]


class ReadSources(NamedTuple):
    """How many source files were read, and some of those that gave no document or have remarks.

    `refused` gave none; `listed` is how many are refused or have remarks.
    """

    files: int
    refused: int
    listed: int
    sources: tuple[ReadSource, ...]


class OriginCounts(NamedTuple):
    """How much came from one kind of source."""

    documents: int
    passages: int
