"""Where the page shows a passage, of whichever collection it is."""

from typing import NamedTuple
from urllib.parse import quote


class Base(NamedTuple):
    """The address of a server, and the collection that it shows unasked; empty if nobody knows."""

    url: str
    default: str = ""

    def of(self, collection: str) -> str:
        """What permalinks into a collection begin with."""
        if not self.default or collection in ("", self.default):
            return self.url
        return f"{self.url}/?collection={quote(collection, safe='')}"


def permalink(base: str, passage_id: str) -> str:
    """Where a passage is shown; `base` is what `Base.of` gives."""
    return f"{base}{'&' if '?' in base else '/?'}passage={quote(passage_id, safe='')}"
