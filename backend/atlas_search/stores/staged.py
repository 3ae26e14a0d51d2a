"""Documents of a source that have been read, cut and analysed.

They lie apart from the staging area: a process that reads needs nothing of NumPy.
"""

import hashlib
from dataclasses import dataclass

from atlas_search.core.domain import Document
from atlas_search.stores.record_writer import PassageRow, Provenance


@dataclass(frozen=True, slots=True)
class StagedPassage:
    """A passage that has been cut and analysed: `embedded` is the text its vector is made of,
    `digest` that of this text; `words` and `parts` are those of its own text."""

    row: PassageRow
    embedded: str
    digest: bytes
    words: tuple[str, ...]
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StagedDocument:
    """A document that has been read; its id is given when all documents are known."""

    document: Document
    provenance: Provenance
    passages: tuple[StagedPassage, ...]


@dataclass(frozen=True, slots=True)
class KeptDocument:
    """A record that says what the live version has of it: neither cut nor analysed again.

    `digest` is that of its document, `characters` are those of its text and metadata.
    """

    key: str
    digest: bytes
    characters: int


def text_digest(text: str) -> bytes:
    """SHA-256 of the text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
