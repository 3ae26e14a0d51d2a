"""Results of words: the one form for Python, the API, its description, and the commands."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from atlas_search.core.notebook import frame
from atlas_search.core.wire import Link, Sent
from atlas_search.words.request import CORPUS

if TYPE_CHECKING:
    from pandas import DataFrame


class WordsResult(Sent, frozen=True):
    """The result of a query of words: its rows, and the counts over all of them."""

    trace_id: str = Field("", description="Empty for who may not see traces")

    def rows(self) -> list[dict[str, Any]]:
        """Return a flat row for each line, cell or word."""
        return [row.model_dump(mode="json") for row in self._rows()]

    def to_frame(self) -> "DataFrame":
        """Return a pandas table of the rows. Raises ConfigurationError without pandas."""
        return frame(self.rows())

    def _rows(self) -> Sequence[BaseModel]:
        raise NotImplementedError


class QueryResult(WordsResult, frozen=True):
    """The result of a query, and how it was read."""

    query: str
    read_as: dict[str, str] = Field(
        description="Parts of the query that are not read as typed, such as `C++` as `C`"
    )


class Line(Sent, frozen=True):
    """A hit in its context; `left`, `hit` and `right` follow each other without a gap."""

    corpus: str
    document_id: str
    passage_id: str = Field(description="A passage that shows it")
    title: str
    date: str | None
    start: int = Field(description="First character of the hit in the document's text")
    end: int = Field(description="Character after its last")
    left: str
    hit: str
    right: str
    page: int = Field(description="Of the passage, counted from 1")
    locator: str | None
    section: str | None
    speaker: str | None
    url: Link


class Concordance(QueryResult):
    """A page of lines, and counts of all hits."""

    hits: int = Field(description="All there are, each place once")
    per_million: float | None = Field(description="Hits in a million words; null without a word")
    words: int = Field(description="Words that were looked through, each once")
    documents: int = Field(description="Documents with a hit")
    passages: int = Field(description="Passages that hold one whole")
    per_corpus: dict[str, int] = Field(description="Hits in each corpus")
    listed: int = Field(description="Hits that are listed: all, or a random sample")
    offset: int
    lines: list[Line]

    def _rows(self) -> Sequence[BaseModel]:
        return self.lines


class Cell(Sent, frozen=True):
    """The hits in the documents with one value."""

    value: str | None = Field(
        description="null: documents without one, or with a date of several years"
    )
    corpus: str | None = Field(description="null: every corpus together")
    hits: int | None = Field(description="null where there is no word to count in")
    per_million: float | None
    words: int = Field(description="Words of these documents that were looked through")
    documents: int = Field(description="Documents with a hit")
    of_documents: int
    passages: int = Field(description="Passages that hold a hit whole")
    of_passages: int
    filters: dict[str, list[str]] | None = Field(
        description="Finds the same documents in a search, beside the request's own filters; null "
        "if no filter does. `point` of a concordance finds them always"
    )


class WordCounts(QueryResult):
    """Hits counted by a value."""

    by: str
    total: Cell = Field(description="Every document once")
    cells: list[Cell] = Field(
        description="Years and decades in order, also those without text; else most hits first. A "
        "document with several values is in several cells"
    )
    cells_left_out: int = Field(description="Of the values with the fewest hits")

    def rows(self) -> list[dict[str, Any]]:
        """Return a flat row for each cell, with its value under the name of what was counted by."""
        rows = [cell.model_dump(mode="json", exclude={"filters"}) for cell in self.cells]
        # a metadata field may be called as a figure is
        column = "value" if self.by in Cell.model_fields else self.by
        if self.by == CORPUS:
            return [{name: row[name] for name in row if name != "value"} for row in rows]
        return [{column: row.pop("value")} | row for row in rows]


class Collocate(Sent, frozen=True):
    """A word that stands near hits more often than elsewhere."""

    word: str = Field(
        description="As words are compared: in small letters without accents, as it "
        "is written (`case_sensitive`), or its stem"
    )
    near: int = Field(description="Its places near a hit, each once")
    frequency: int = Field(description="All of its places")
    log_likelihood: float = Field(description="G² of Dunning (1993)")
    log_dice: float = Field(description="Of Rychlý (2008)")
    query: str | None = Field(
        description="The places near a hit, for a concordance with the same fields; null if it "
        "would be too long"
    )


class Collocates(QueryResult):
    """The words near the hits of a query, the strongest first."""

    hits: int
    words: int = Field(description="Words that were looked through, each once")
    words_near: int = Field(description="Those near a hit")
    collocates: list[Collocate]
    left_out: int = Field(description="Collocates beyond `limit`")

    def _rows(self) -> Sequence[BaseModel]:
        return self.collocates


class Keyword(Sent, frozen=True):
    """A word in what is looked through, and in the reference."""

    word: str = Field(description="As a collocate has it")
    frequency: int
    per_million: float
    documents: int = Field(description="Documents that hold it")
    reference_frequency: int
    reference_per_million: float
    reference_documents: int
    log_likelihood: float = Field(description="Of Rayson and Garside (2000)")
    log_ratio: float = Field(
        description="Of Hardie (2014): 1 is twice as frequent, -1 half; a frequency of 0 is 0.5"
    )
    query: str = Field(description="Its places, for a concordance with the same fields")


class Keywords(WordsResult):
    """Words that set what is looked through apart, those that differ most first."""

    words: int = Field(description="Words that were looked through, each once")
    documents: int
    reference_words: int = Field(description="Words of the reference")
    reference_documents: int
    keywords: list[Keyword]
    left_out: int = Field(description="Keywords beyond `limit`")

    def _rows(self) -> Sequence[BaseModel]:
        return self.keywords


class Frequency(Sent, frozen=True):
    """A word in what is looked through."""

    word: str = Field(description="As a collocate has it")
    frequency: int
    per_million: float
    documents: int = Field(description="Documents that hold it")
    query: str = Field(description="Its places, for a concordance with the same fields")


class Frequencies(WordsResult):
    """The words of what is looked through, the most frequent first."""

    words: int = Field(description="Words that were looked through, each once")
    types: int = Field(description="Different words among them")
    documents: int
    frequencies: list[Frequency]
    left_out: int = Field(description="Words beyond `limit`")

    def _rows(self) -> Sequence[BaseModel]:
        return self.frequencies
