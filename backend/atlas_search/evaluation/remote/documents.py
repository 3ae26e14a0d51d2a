"""The documents of a server, as labels know them."""

from collections.abc import Iterator
from dataclasses import dataclass

from atlas_search.core.errors import NotFound
from atlas_search.evaluation.labels.documents import NamedDocument
from atlas_search.evaluation.remote.server import RemoteServer

AT_ONCE = 200
"""Documents of one page: no more are given."""


@dataclass(frozen=True)
class ServedDocuments:
    """See `Collection`: that of a server."""

    server: RemoteServer

    @property
    def corpora(self) -> list[str]:
        """See Collection."""
        return [corpus["id"] for corpus in self.server.get("corpora")["corpora"]]

    def documents(self) -> Iterator[NamedDocument]:
        """See Collection."""
        offset: int | None = 0
        while offset is not None:
            page = self.server.get("documents", limit=AT_ONCE, offset=offset)
            for found in page["documents"]:
                record = str(found["metadata"].get("record_id", ""))
                yield NamedDocument(
                    found["document_id"], found["corpus"], found["title"], found["source"], record
                )
            offset = page["next_offset"]

    def holds_passage(self, passage_id: str) -> bool:
        """See Collection."""
        try:
            self.server.get("passages", passage_id)
        except NotFound:
            return False
        return True

    def text_of(self, document_id: str) -> str:
        """See Collection."""
        return str(self.server.get("documents", document_id)["text"])
