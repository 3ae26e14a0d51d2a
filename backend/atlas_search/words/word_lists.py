"""Collocates and keywords, and how they are handed out."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from atlas_search.core.notebook import frame

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Collocate:
    """A word that stands near hits more often than elsewhere.

    `near` of its `frequency` places are near a hit. `query` finds these places, with everything
    else as it was asked; None where it would be too long.
    """

    word: str
    near: int
    frequency: int
    log_likelihood: float
    log_dice: float
    query: str | None


@dataclass(frozen=True, kw_only=True)
class Collocates:
    """The collocates of a query, the strongest first.

    `hits` is how many there are, `words` how many were looked through, and `words_near` how many
    of them are near a hit. `left_out` are collocates beyond the limit.
    """

    text: str
    hits: int
    words: int
    words_near: int
    collocates: tuple[Collocate, ...]
    left_out: int
    trace_id: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as POST /api/collocates sends them."""
        return {
            "query": self.text,
            "trace_id": self.trace_id,
            "hits": self.hits,
            "words": self.words,
            "words_near": self.words_near,
            "collocates": self.rows(),
            "left_out": self.left_out,
        }

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each."""
        return [asdict(collocate) for collocate in self.collocates]

    def to_frame(self) -> "DataFrame":
        """A pandas table: a row for each. Raises ConfigurationError without pandas."""
        return frame(self.rows())


@dataclass(frozen=True)
class Keyword:
    """A word in what is looked through, and in the reference it is set against.

    `documents` hold it. `log_ratio` is above 0 where it is more frequent than in the reference.
    `query` finds its places in what is looked through.
    """

    word: str
    frequency: int
    per_million: float
    documents: int
    reference_frequency: int
    reference_per_million: float
    reference_documents: int
    log_likelihood: float
    log_ratio: float
    query: str


@dataclass(frozen=True, kw_only=True)
class Keywords:
    """Words that set what is looked through apart, those that differ most first.

    `left_out` are keywords beyond the limit.
    """

    words: int
    documents: int
    reference_words: int
    reference_documents: int
    keywords: tuple[Keyword, ...]
    left_out: int
    trace_id: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as POST /api/keywords sends them."""
        return {
            "trace_id": self.trace_id,
            "words": self.words,
            "documents": self.documents,
            "reference_words": self.reference_words,
            "reference_documents": self.reference_documents,
            "keywords": self.rows(),
            "left_out": self.left_out,
        }

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each."""
        return [asdict(keyword) for keyword in self.keywords]

    def to_frame(self) -> "DataFrame":
        """A pandas table: a row for each. Raises ConfigurationError without pandas."""
        return frame(self.rows())
