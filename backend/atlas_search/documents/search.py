"""The form of passages, documents and search results, as the API sends and describes them."""

from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, Field

from atlas_search.core.domain import Highlight
from atlas_search.core.notebook import search_frame, search_html
from atlas_search.core.sent import Facts, Link, Sent
from atlas_search.search.counts import CountedValue
from atlas_search.search.evidence import Freshness, RetrievalConfidence
from atlas_search.search.result import CorpusCounts, Explained, RequiredUnmet
from atlas_search.search.scope import ShortLeg
from atlas_search.search.unknown import UnknownWord

if TYPE_CHECKING:
    from pandas import DataFrame


class SuccessorOut(Sent):
    """A document that took another's place; one that is not held has no id."""

    title: str
    document_id: str | None


class PassageOut(Sent):
    """A passage, with the score and signals that placed it."""

    passage_id: str
    document_id: str
    corpus: str
    title: str
    text: str
    start: int = Field(description="First character in the document's text")
    end: int = Field(description="Character after the last")
    locator: str | None = Field(
        None, description="How the source cites the smallest part that holds it: `s 10(1)`"
    )
    page: int = Field(description="Counted from 1")
    printed_page: str | None = Field(None, description="The number that stands on the page: `xii`")
    line: int
    section: str | None = Field(description="Path of headings where the passage begins")
    speaker: str | None = Field(description="Who speaks in it; several joined by `; `")
    date: str | None
    url: Link
    metadata: Facts
    successors: list[SuccessorOut] = Field([], description="What its `superseded_by` names")
    marker: str = Field(description="Citation token of the passage: `[id s10(1)]`, `[id p3]`")

    @property
    def id(self) -> str:
        """The passage's id, as `Passage` calls it."""
        return self.passage_id


class RankedPassageOut(PassageOut):
    """A passage in a result."""

    score: float
    signals: dict[str, float] = Field(description="Each in [0, 1]")
    valid: bool = Field(description="Whether it passed the evidence check")
    overlap: float = Field(description="Share of the question's words it holds")
    highlights: list[Highlight] = Field(description="Spans in `text` that speak most to it")
    duplicates: list[str] = Field(
        description="Ids of passages left out because they say nearly the same"
    )

    @property
    def ranked(self) -> Self:
        """Itself: in Python a result's check holds its rank, and that its passage."""
        return self

    @property
    def passage(self) -> Self:
        """Itself, likewise."""
        return self


class SearchedCorpusOut(BaseModel):
    """A corpus that was searched: how much of it could be found, of all that it holds."""

    id: str
    label: str
    documents: int
    passages: int
    all_documents: int
    all_passages: int


class DatesOut(BaseModel):
    """The time that the documents searched are of."""

    first: str | None = Field(description="The first day that a document states, ISO")
    last: str | None = Field(description="The last day that a document states, ISO")
    or_earlier: bool = Field(description="Whether a document says only before when it was")
    or_later: bool = Field(description="Whether a document says only since when it was")
    undated: int = Field(description="Documents without a date that can be read")


class ScopeOut(BaseModel):
    """The sources that were searched."""

    sentence: str = Field(description="All of it that a reader wants to know")
    narrowed: bool = Field(description="Whether the collection holds more than was searched")
    corpora: list[SearchedCorpusOut]
    all_corpora: int = Field(description="Corpora in the collection")
    documents: int
    passages: int
    all_documents: int = Field(description="Documents that the searched corpora hold")
    all_passages: int
    dates: DatesOut
    filters: dict[str, list[str] | dict[str, str]] = Field(
        description="By field: values of which one must match, or `from` and `to`"
    )
    required: list[str] = Field(description="Phrases that every passage searched holds")
    unmet: list[str] = Field(
        description="Phrases that were required too, but that too few passages hold"
    )
    excluded: list[str] = Field(description="Phrases that no passage searched holds")
    unknown_words: list[str] = Field(
        description="Words of the question that no searched corpus holds"
    )
    short_legs: list[ShortLeg]


class RetrievalOut(Sent):
    """The way in which the passages were found."""

    legs: list[str] = []
    corpora: list[str] = []
    depth: int = 0
    reranker: str = ""
    balance: str = ""
    sub_questions: list[str] = Field([], description="Parts of the question that were searched too")
    preferred: list[str] = Field([], description="Phrases in quotation marks: they rank higher")
    required: list[str] = Field([], description="Phrases that passages must hold")
    required_unmet: RequiredUnmet | None = Field(
        None, description="Where fewer passages hold what is required than were asked for"
    )
    excluded: list[str] = Field([], description="Phrases that no passage may hold")
    unknown_words: list[UnknownWord] = Field(
        [], description="Words of the question that no searched source holds"
    )
    searched_as: str | None = Field(
        None, description="The question with what was searched for instead of unknown words"
    )
    spellings: dict[str, list[str]] = Field(
        {}, description="Stems that counted as a word of the question though spelt otherwise"
    )
    per_corpus: dict[str, CorpusCounts] = {}
    confidence: RetrievalConfidence = Field(default_factory=RetrievalConfidence)
    freshness: Freshness = Field(default_factory=Freshness)
    notes: list[str] = Field([], description="The warnings that nothing else here says")
    warnings: list[str] = []


class SearchOut(Sent):
    """Ranked passages without an answer."""

    question: str
    target: str
    trace_id: str = Field("", description="Empty for who may not see traces")
    passages: list[RankedPassageOut]
    scope: ScopeOut
    retrieval: RetrievalOut
    facets: dict[str, list[CountedValue]] | None = Field(
        description="Values of the candidates' documents, most frequent first; with `facets` only"
    )
    candidates: list[Explained] | None = Field(
        description="Every candidate, best first; with `explain` only"
    )
    timings_ms: dict[str, float]

    @property
    def per_corpus(self) -> dict[str, CorpusCounts]:
        """Passages of each corpus at each stage."""
        return self.retrieval.per_corpus

    @property
    def confidence(self) -> RetrievalConfidence:
        """The evidence that the collection holds."""
        return self.retrieval.confidence

    def to_frame(self) -> "DataFrame":
        """A pandas table: a row for each passage, a column for each value and signal."""
        return search_frame(self.to_dict())

    def _repr_html_(self) -> str:
        return search_html(self.to_dict())


class SegmentOut(BaseModel):
    """From the character `start` to the next segment: a section, or one speech."""

    start: int
    section: str | None = Field(description="Headings that it stands under, joined by ` > `")
    speaker: str | None
    locator: str | None


class DocumentOut(Sent):
    """A document with its whole text.

    `pages` are the characters at which its pages begin, `printed_pages` the numbers on them, one
    for each or none at all.
    """

    document_id: str
    corpus: str
    title: str
    text: str
    metadata: Facts
    source: str
    pages: list[int]
    printed_pages: list[str]
    segments: list[SegmentOut]
    passages: list[PassageOut]

    @property
    def id(self) -> str:
        """The document's id, as `Document` calls it."""
        return self.document_id
