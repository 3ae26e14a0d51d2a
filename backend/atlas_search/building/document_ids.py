"""All documents of a collection in their order: those kept from the live version, and new ones."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from atlas_search.core.errors import SourceError
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.stores.record_files import DocumentColumns
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
        """Origin, source and key, which make it the same document in another version."""
        return self.provenance.origin, self.source, self.provenance.key


@dataclass(frozen=True, slots=True)
class PlacedDocument:
    """A document of the coming version with its id."""

    id: str
    found: FoundDocument


@dataclass(frozen=True, slots=True)
class KeptDocuments:
    """Documents of one corpus that follow each other in the live version as in the coming one.

    They and their passages, the `rows`, are taken over as they stand there, with their words.
    `columns` are those of all documents of the live version: of tens of thousands that stay there
    is nothing else in memory.
    """

    corpus: str
    language: str
    documents: range
    rows: range
    columns: DocumentColumns

    @property
    def ids(self) -> Sequence[str]:
        return self.columns.ids[self.documents.start : self.documents.stop]

    @property
    def digests(self) -> Sequence[bytes]:
        return self.columns.digests[self.documents.start : self.documents.stop]

    @property
    def sources(self) -> Sequence[str]:
        return self.columns.sources[self.documents.start : self.documents.stop]

    def of_origins(self) -> Iterator[tuple[str, Sequence[bool]]]:
        """Return every origin of its documents, and which of them, in order, are of it."""
        origins = self.columns.origins[self.documents.start : self.documents.stop]
        for origin in sorted(set(origins)):
            yield origin, [own == origin for own in origins]


@dataclass(frozen=True)
class Changes:
    """Documents by what a build did to them."""

    added: int
    changed: int
    unchanged: int
    removed: int

    def __str__(self) -> str:
        return (
            f"{self.added} added, {self.changed} changed, {self.unchanged} unchanged, "
            f"{self.removed} removed"
        )


def place(found: Iterable[FoundDocument]) -> list[PlacedDocument]:
    """Give documents their ids, by corpus and id: `<corpus>.<stem>`.

    Documents whose ids would be equal all get a digest of where they come from, so that an id
    never depends on what is read first.
    """
    documents = list(found)
    taken = Counter(plain_id(each.corpus, each.provenance.stem) for each in documents)
    ids = [
        id_ if taken[id_] == 1 else f"{id_}-{_digest(document)}"
        for document in documents
        if (id_ := plain_id(document.corpus, document.provenance.stem))
    ]
    require_apart(zip(ids, documents, strict=True))
    pairs = sorted(zip(ids, documents, strict=True), key=lambda pair: (pair[1].corpus, pair[0]))
    return [PlacedDocument(id_, document) for id_, document in pairs]


def require_apart(named: Iterable[tuple[str, FoundDocument]]) -> None:
    """Raise SourceError if two documents have one id: a stem may end as a digest does."""
    sources: dict[str, str] = {}
    for id_, document in named:
        if id_ in sources:
            raise SourceError(
                f"{sources[id_]} and {document.source} both give the document {id_}: rename one "
                "of them."
            )
        sources[id_] = document.source


def changes(
    before: DocumentColumns | None, now: Iterable[KeptDocuments | PlacedDocument]
) -> Changes:
    """Compare the documents of the coming version with those `before`."""
    others = set(range(len(before.ids))) if before else set[int]()
    kept, new = 0, list[FoundDocument]()
    for part in now:
        if isinstance(part, KeptDocuments):
            others.difference_update(part.documents)
            kept += len(part.documents)
        elif part.found.kept:
            others.discard(part.found.number)
            kept += 1
        else:
            new.append(part.found)
    replaced = {before.identity(index): before.digests[index] for index in others} if before else {}
    known = [each for each in new if each.identity in replaced]
    same = sum(replaced[each.identity] == each.provenance.digest for each in known)
    return Changes(
        added=len(new) - len(known),
        changed=len(known) - same,
        unchanged=kept + same,
        removed=len(replaced) - len(known),
    )


def content_digest(
    documents: Iterable[KeptDocuments | PlacedDocument], settings: Iterable[str]
) -> str:
    """Return a digest that is equal for equal documents and settings: it decides whether to build.

    Each of the `settings` is JSON.
    """
    digest = hashlib.sha256(f"[{', '.join(settings)}]".encode())
    for part in documents:
        if isinstance(part, KeptDocuments):
            pairs = zip(part.ids, part.digests, strict=True)
            digest.update(b"".join(id_.encode() + b"\0" + own for id_, own in pairs))
        else:
            digest.update(part.id.encode() + b"\0" + part.found.provenance.digest)
    return digest.hexdigest()


def plain_id(corpus: str, stem: str) -> str:
    """Return the id of a document of whose id there is no other."""
    return f"{corpus}.{stem}"


def _digest(document: FoundDocument) -> str:
    return hashlib.sha256("\0".join(document.identity).encode()).hexdigest()[:8]
