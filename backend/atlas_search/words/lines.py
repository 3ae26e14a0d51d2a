"""A concordance: every hit in a line of its own, and how it is handed out."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from atlas_search.core.notebook import frame

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Line:
    """A hit in its context: `hit` is what stands at the characters `start` to `end` of a document.

    `left` and `right` follow directly; what is longer than `concordance.LONGEST` is cut short.
    `passage_id` is that of a passage which shows it. `locator`, `page` and what follows are the
    place of that passage, empty where the source does not say.
    """

    corpus: str
    document_id: str
    passage_id: str
    title: str
    date: str
    start: int
    end: int
    left: str
    hit: str
    right: str
    page: int
    locator: str
    section: str
    speaker: str
    url: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None where the source does not say."""
        empty = ("date", "locator", "section", "speaker", "url")
        return asdict(self) | {name: getattr(self, name) or None for name in empty}


@dataclass(frozen=True, kw_only=True)
class Concordance:
    """Some lines of all hits, and counts of all of them.

    `hits` is how many there are, in `documents` and `passages`; `words` are those looked through.
    `listed` of them are listed: all, or those drawn by lot; `lines` are some of these, from
    `offset` on.
    """

    text: str
    hits: int
    words: int
    documents: int
    passages: int
    per_corpus: Mapping[str, int]
    listed: int
    offset: int
    lines: tuple[Line, ...]
    trace_id: str = ""

    @property
    def per_million(self) -> float | None:
        """Hits in a million words; None without a word."""
        return self.hits * 1_000_000 / self.words if self.words else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as POST /api/concordance sends them."""
        return {
            "query": self.text,
            "trace_id": self.trace_id,
            "hits": self.hits,
            "per_million": self.per_million,
            "words": self.words,
            "documents": self.documents,
            "passages": self.passages,
            "per_corpus": dict(self.per_corpus),
            "listed": self.listed,
            "offset": self.offset,
            "lines": [line.to_dict() for line in self.lines],
        }

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each line."""
        return [line.to_dict() for line in self.lines]

    def to_frame(self) -> "DataFrame":
        """A pandas table: a row for each line. Raises ConfigurationError without pandas."""
        return frame(self.rows())
