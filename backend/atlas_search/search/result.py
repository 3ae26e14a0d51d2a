"""The result of a search: its passages with their scores, and the figures beside them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from atlas_search.core.domain import CheckedPassage, Citation, Leg
from atlas_search.core.notebook import search_frame, search_html
from atlas_search.core.stop import Stop
from atlas_search.core.targets import Target
from atlas_search.core.wire import RankedPassageOut, Sent, sent
from atlas_search.search.candidates import Candidates
from atlas_search.search.counts import CountedValue, Facets
from atlas_search.search.evidence import Freshness, RetrievalConfidence
from atlas_search.search.query import Query
from atlas_search.search.ranking import Ranking
from atlas_search.search.scope import Extent, ScopeOut
from atlas_search.search.unknown import UnknownWord
from atlas_search.stores.store import Store

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class LegPlace:
    """The rank of a candidate in a leg, among those of its corpus, from 1, and the leg's score."""

    rank: int
    score: float


@dataclass(frozen=True)
class Explained:
    """A candidate, kept or not: who found it, and why it is where it is."""

    passage_id: str
    corpus: str
    rank: Annotated[int, Field(description="Place among all candidates, from 1")]
    score: float
    legs: Mapping[str, LegPlace]
    signals: Mapping[str, float]


def explain_all(
    store: Store, candidates: Candidates, ranking: Ranking, stop: Stop
) -> list[Explained]:
    """All candidates, best first. Raises Cancelled."""
    rows: list[int] = ranking.rows.tolist()
    legs: dict[int, dict[str, LegPlace]] = {row: {} for row in rows}
    for of_corpus in candidates.hits.values():
        stop.check()
        for leg, hits in of_corpus.items():
            for place, (row, score) in enumerate(zip(*hits, strict=True), start=1):
                legs[int(row)][leg] = LegPlace(place, round(float(score), 6))
    names = [corpus.id for corpus in store.corpora]
    corpora: Sequence[int] = store.corpus_of(ranking.rows).tolist()
    return [
        Explained(
            passage_id=id_,
            corpus=names[corpora[place]],
            rank=place + 1,
            score=round(float(ranking.scores[place]), 6),
            legs=legs[rows[place]],
            signals=ranking.signals(place),
        )
        for place, id_ in enumerate(store.passage_ids(rows))
    ]


@sent
@dataclass(frozen=True)
class CorpusCounts:
    """Passages of one corpus at each stage.

    Those of a leg are for the whole question; the parts of one that asks for several things add
    candidates of their own.
    """

    candidates: int
    dense: int
    lexical: int
    kept: int
    sparse: Annotated[int | None, Field(description="With a SPARSE_MODEL")] = None
    cited: int = 0


@dataclass(frozen=True)
class RequiredUnmet:
    """Required phrases that too few passages hold."""

    phrases: tuple[str, ...]
    passages: Annotated[int, Field(description="How many passages hold them all")]
    kept: Annotated[
        tuple[str, ...], Field(description="Ids of those given; all others were found without")
    ]


@dataclass(frozen=True, kw_only=True, repr=False)
class SearchResult:
    """The kept passages, best first, with what is known about them.

    `question` is as it was asked, `query` as it was searched: without the words of `unknown_words`
    that another word was looked for instead. `required_unmet` is there if what is required was.
    `vector` is the question's, of unit length; `term_weights` are the idf of its terms,
    `sub_questions` its parts that were searched too, each with its vector. `scope` is what was
    looked through; `notes` are the warnings that nothing else says. Timings are in milliseconds by
    stage. `facets` and `explained` (every candidate) are there if they were asked for.
    """

    question: str
    query: Query
    vector: NDArray[np.float32]
    passages: tuple[CheckedPassage, ...]
    per_corpus: Mapping[str, CorpusCounts]
    confidence: RetrievalConfidence
    freshness: Freshness
    depth: int
    legs: tuple[Leg, ...]
    target: Target
    term_weights: Mapping[str, float]
    unknown_words: tuple[UnknownWord, ...]
    sub_questions: Mapping[str, NDArray[np.float32]]
    scope: Extent
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    timings_ms: Mapping[str, float]
    required_unmet: RequiredUnmet | None = None
    target_name: str = ""
    trace_id: str = ""
    facets: Facets | None = None
    explained: Sequence[Explained] | None = None

    def __repr__(self) -> str:  # noqa: D105
        return f"<{type(self).__name__}: {len(self.passages)} passages for {self.question!r}>"

    @property
    def valid(self) -> tuple[CheckedPassage, ...]:
        """The passages that passed the evidence check, best first."""
        return tuple(item for item in self.passages if item.valid)

    @property
    def searched_as(self) -> str:
        """The question with what was looked for instead of unknown words; empty if as asked."""
        return "" if self.query.question == self.question else self.query.question

    def form(self) -> "SearchOut":
        """Its form, as POST /api/search sends it."""
        return SearchOut.model_validate(
            {
                "question": self.question,
                "target": self.target_name,
                "trace_id": self.trace_id,
                "passages": [item.form() for item in self.passages],
                "scope": self.scope,
                "retrieval": self.retrieval(),
                "facets": self.facets,
                "candidates": self.explained,
                "timings_ms": self.timings_ms,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as POST /api/search sends them."""
        return self.form().to_dict()

    def retrieval(self, citations: Sequence[Citation] = ()) -> "RetrievalOut":
        """Describe how the passages were retrieved, and how many of each corpus were cited."""
        cited = Counter(
            {citation.passage.id: citation.passage.corpus for citation in citations}.values()
        )
        return RetrievalOut(
            legs=[*self.legs],
            corpora=[*self.per_corpus],
            depth=self.depth,
            reranker=self.target.reranker,
            balance=self.target.balance,
            sub_questions=[*self.sub_questions],
            preferred=[phrase.text for phrase in self.query.preferred],
            required=[phrase.text for phrase in self.query.required],
            required_unmet=self.required_unmet,
            excluded=[phrase.text for phrase in self.query.excluded],
            unknown_words=[*self.unknown_words],
            searched_as=self.searched_as or None,
            spellings={term: [*others] for term, others in self.query.spellings.items()},
            per_corpus={
                corpus: replace(counts, cited=cited[corpus])
                for corpus, counts in self.per_corpus.items()
            },
            confidence=self.confidence,
            freshness=self.freshness,
            notes=[*self.notes],
            warnings=[*self.warnings],
        )

    def to_frame(self) -> "DataFrame":
        """A pandas table: a row for each passage, a column for each value and signal."""
        return search_frame(self.to_dict())

    def _repr_html_(self) -> str:
        return search_html(self.to_dict())


@dataclass(frozen=True, kw_only=True, repr=False)
class WholeResult(SearchResult):
    """With all `candidates` and their `ranking`, before the choice: most of the memory."""

    candidates: Candidates
    ranking: Ranking

    def kept_only(self) -> SearchResult:
        """Return the result without the candidates that were not kept."""
        return SearchResult(**{f.name: getattr(self, f.name) for f in fields(SearchResult)})


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
