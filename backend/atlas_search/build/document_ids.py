"""All documents of a collection in their order: those kept from the live version, and new ones."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.stores.record_writer import Provenance


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document of the coming version before it has an id.

    `number` is its index in the live version if `kept`, else its number in the staging area.
    `language` is that of its corpus.
    """

    corpus: str
    source: str
    provenance: Provenance
    kept: bool
    number: int
    language: str = DEFAULT_LANGUAGE

    @property
    def identity(self) -> tuple[str, str, str]:
        """What makes it the same document in another version."""
        return self.provenance.origin, self.source, self.provenance.key


@dataclass(frozen=True, slots=True)
class Placed:
    """A document of the coming version with its id."""

    id: str
    found: FoundDocument


@dataclass(frozen=True)
class Changes:
    """Documents by what a build did to them."""

    added: int
    changed: int
    unchanged: int
    removed: int

    def __str__(self) -> str:  # noqa: D105
        return (
            f"{self.added} added, {self.changed} changed, {self.unchanged} unchanged, "
            f"{self.removed} removed"
        )


def place(found: Iterable[FoundDocument]) -> list[Placed]:
    """Documents with their ids, by corpus and id: `<corpus>.<stem>`.

    Documents whose ids would be equal all get a digest of where they come from, so that an id
    never depends on what is read first.
    """
    documents = list(found)
    taken = Counter(_plain_id(document) for document in documents)
    ids = [
        id_ if taken[id_] == 1 else f"{id_}-{_digest(document)}"
        for document in documents
        if (id_ := _plain_id(document))
    ]
    pairs = sorted(zip(ids, documents, strict=True), key=lambda pair: (pair[1].corpus, pair[0]))
    return [Placed(id_, document) for id_, document in pairs]


def changes(before: Mapping[tuple[str, str, str], bytes], now: Sequence[Placed]) -> Changes:
    """Compare documents with those `before`, digests by identity."""
    digests = [(p.found.identity, p.found.provenance.digest) for p in now]
    same = sum(before.get(identity) == digest for identity, digest in digests)
    known = sum(identity in before for identity, _ in digests)
    return Changes(
        added=len(digests) - known,
        changed=known - same,
        unchanged=same,
        removed=len(before) - known,
    )


def content_digest(documents: Sequence[Placed], *settings: object) -> str:
    """Equal for equal documents and settings: what decides whether to build at all."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for document in documents:
        digest.update(document.id.encode() + b"\0" + document.found.provenance.digest)
    return digest.hexdigest()


def _plain_id(document: FoundDocument) -> str:
    return f"{document.corpus}.{document.provenance.stem}"


def _digest(document: FoundDocument) -> str:
    return hashlib.sha256("\0".join(document.identity).encode()).hexdigest()[:8]
