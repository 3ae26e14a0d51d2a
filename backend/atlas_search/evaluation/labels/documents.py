"""The documents that labels are about, and what else people may call them."""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, NamedTuple, Protocol, get_args

from atlas_search.atlas import Atlas
from atlas_search.building.prepare import slug

Way = Literal["id", "id without corpus", "record id", "file name", "title"]
"""How a document was recognised, the surest first."""

_AROUND = ".,;:!?()[]{}<>'\"`"  # what may stand around an id in a text


class NamedDocument(NamedTuple):
    """A document with what it may be called by; `record_id` is empty if its source gave none."""

    id: str
    corpus: str
    title: str
    source: str
    record_id: str = ""


class Collection(Protocol):
    """What labels need to know of a collection, in this process or on a server."""

    @property
    def corpora(self) -> Iterable[str]:
        """Ids of its corpora."""

    def documents(self) -> Iterable[NamedDocument]:
        """Every document, once."""

    def holds_passage(self, passage_id: str) -> bool:
        """Whether there is a passage with this id."""

    def text_of(self, document_id: str) -> str:
        """The whole text of a document that it holds."""


@dataclass(frozen=True)
class OpenCollection:
    """A collection that is open in this process."""

    atlas: Atlas

    @property
    def corpora(self) -> list[str]:
        """See Collection."""
        return [corpus.id for corpus in self.atlas.corpora]

    def documents(self) -> Iterator[NamedDocument]:
        """See Collection."""
        store = self.atlas.services.store
        every = store.documents_of(self.corpora)
        for found in store.list_documents(every, "id", len(every), 0):
            record = str(found.metadata.get("record_id", ""))
            yield NamedDocument(found.id, found.corpus, found.title, found.source, record)

    def holds_passage(self, passage_id: str) -> bool:
        """See Collection."""
        return bool(self.atlas.services.store.corpus_holding_passage(passage_id))

    def text_of(self, document_id: str) -> str:
        """See Collection."""
        return self.atlas.document(document_id).text


class Match(NamedTuple):
    """A document that was recognised, and how."""

    id: str
    way: Way


class DocumentNames:
    """All names of the documents of a collection. A name counts that only one of them has."""

    def __init__(self, documents: Iterable[NamedDocument]):
        self._named: dict[Way, dict[str, set[str]]] = {way: {} for way in get_args(Way)}
        for document in documents:
            for way, name in _names(document):
                self._named[way].setdefault(name, set()).add(document.id)

    def match(self, name: str) -> Match | None:
        """The document that is called `name`, in the surest way that any is."""
        for way, named in self._named.items():
            for spelling in _spellings(way, name):
                if len(ids := named.get(spelling, ())) == 1:
                    return Match(min(ids), way)
        return None

    def has_id(self, id_: str) -> bool:
        """Whether a document has this very id."""
        return id_ in self._named["id"]

    def ids_in(self, text: str) -> frozenset[str]:
        """The documents whose very ids are words of a text."""
        return frozenset(w for word in text.split() if self.has_id(w := word.strip(_AROUND)))

    def count(self, name: str) -> int:
        """How many documents are called so in one way."""
        counts = (
            len(named.get(spelling, ()))
            for way, named in self._named.items()
            for spelling in _spellings(way, name)
        )
        return max(counts, default=0)


def _names(document: NamedDocument) -> Iterator[tuple[Way, str]]:
    yield "id", document.id
    yield "id without corpus", document.id.removeprefix(f"{document.corpus}.")
    if document.record_id:
        yield "record id", document.record_id
    path = PurePosixPath(document.source)
    for name in {*_tails(path), *_tails(path.with_suffix(""))}:
        yield "file name", name
    if document.title.strip():
        yield "title", _folded(document.title)


def _spellings(way: Way, name: str) -> tuple[str, ...]:
    if way == "title":
        return (_folded(name),)
    if way == "id without corpus":
        return name, slug(name)
    if way == "file name":  # in a label it may stand in other folders
        return tuple(_tails(PurePosixPath(name.replace("\\", "/"))))
    return (name,)


def _tails(path: PurePosixPath) -> Iterator[str]:
    """A path with fewer and fewer of its folders."""
    return ("/".join(path.parts[start:]) for start in range(len(path.parts)))


def _folded(title: str) -> str:
    return " ".join(unicodedata.normalize("NFC", title).casefold().split())
