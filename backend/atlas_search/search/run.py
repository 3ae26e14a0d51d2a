"""A question on its way through the search: the one object that all stages share."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from atlas_search.core.domain import Passage
from atlas_search.core.stop import Stop
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.core.telemetry.tracer import Stage, Tracer
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.sparse import TermModel
from atlas_search.search.query import Phrase, Query, parse_query
from atlas_search.search.request import SearchPlan
from atlas_search.search.rerankers import SecondStage, Stages
from atlas_search.search.scope import CorpusExtent, corpus_extents
from atlas_search.search.signals import weigh
from atlas_search.search.trace import STAGES
from atlas_search.search.unknown import (
    MOST_LOOKED_UP,
    Spellings,
    UnknownWord,
    reworded,
    unknown_words,
)
from atlas_search.stores.arrays import IntArray, sorted_unique
from atlas_search.stores.store import Phrases, Scope, Store, by_language, scope_of, scope_of_rows
from atlas_search.stores.term_weights import TermTable
from atlas_search.stores.vectors import FloatArray


class Clock:
    """Milliseconds by stage, from one `lap` to the next."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """End a stage; one that comes again, for another part of a question, adds to its time."""
        now = time.perf_counter()
        self.laps[stage] = round(self.laps.get(stage, 0.0) + (now - self._last) * 1000, 3)
        self._last = now

    @contextmanager
    def measure(self, step: str) -> Iterator[None]:
        """Add the time of a block to that of a step within a stage; the stage goes on."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            took = (time.perf_counter() - begun) * 1000
            self.laps[step] = round(self.laps.get(step, 0.0) + took, 3)


@dataclass(frozen=True)
class TermLeg:
    """A SPARSE_MODEL, and its weights of the passages of the store."""

    model: TermModel
    table: TermTable

    def scores(self, question: str) -> FloatArray:
        """Return how well each passage of the store goes with a question, in [0, 1]."""
        return self.table.scores(*self.model.question(question))


@dataclass(frozen=True)
class Searcher:
    """Safe to use from several threads."""

    store: Store
    embedder: Embedder
    executor: Executor
    tracer: Tracer
    stages: Stages
    metrics: Metrics = field(default_factory=Metrics)
    terms: TermLeg | None = None

    @cached_property
    def mean_length(self) -> float:
        """Mean number of words in the store's passages."""
        return self.store.tokens.mean_length()

    @cached_property
    def whole(self) -> Mapping[str, CorpusExtent]:
        """The extent of each corpus, for a search without conditions."""
        return corpus_extents(self.store)

    @cached_property
    def spellings(self) -> Spellings:
        """The words of the store by their spelling."""
        return Spellings(self.store.tokens)


@dataclass(frozen=True)
class SearchRun:
    """One search: the request, the store and the target.

    Immutable but for `clock` and two caches by row: `seen` (passages read so far) and `shown`
    (passages that spans print besides; None until they are read). The name of the target is for a
    search without an answer: the root of an answer has it.

    Every stage checks `stop` before it begins, and long ones while they work.
    """

    searcher: Searcher
    request: SearchPlan
    target: Target
    target_name: str = ""
    clock: Clock = field(default_factory=Clock)
    stop: Stop = field(default_factory=Stop)
    seen: dict[int, Passage] = field(default_factory=dict, repr=False)
    shown: dict[int, Passage | None] = field(default_factory=dict, repr=False)

    @property
    def store(self) -> Store:
        """The store that is searched."""
        return self.searcher.store

    @property
    def tracer(self) -> Tracer:
        """Opens the spans."""
        return self.searcher.tracer

    def stage(self, name: str, *given: object, of: str = "") -> AbstractContextManager[Stage]:
        """Run one of STAGES, for the corpus `of` where each has its own."""
        return self.tracer.stage(STAGES, self, name, *given, of=of)

    @property
    def second_stage(self) -> SecondStage | None:
        """The model that reads the best candidates again; None if the target has none."""
        return self.searcher.stages.get((self.target.reranker, self.target.rerank_model))

    @property
    def depth(self) -> int:
        """Number of candidates that each leg draws from each corpus."""
        if self.request.every_corpus:
            return self.target.large_retrieval_size_all_corpus
        return self.target.large_retrieval_size_single_corpus

    @cached_property
    def by_language(self) -> dict[str, list[int]]:
        """The indices of the corpora that are searched, by their language."""
        return by_language(self.store, self.request.corpora)

    @cached_property
    def corpus_numbers(self) -> list[int]:
        """The indices of the corpora that are searched."""
        return [number for numbers in self.by_language.values() for number in numbers]

    @cached_property
    def query(self) -> Query:
        """The whole question as it is read, with replacements of unknown words."""
        question = reworded(self.request.question, self.unknown_words)
        return self._as_asked if question == self.request.question else self.read(question)

    @cached_property
    def unknown_words(self) -> tuple[UnknownWord, ...]:
        """The words of the question that no searched source holds."""
        return unknown_words(
            self._as_asked,
            self.by_language,
            self.store,
            self.searcher.spellings,
            self.stop,
            replace=not self.request.fuzzy,
        )

    @cached_property
    def _as_asked(self) -> Query:
        return self.read(self.request.question)

    def read(self, question: str) -> Query:
        """Read a question in every language of the corpora, in English first if it is one of them.

        A fuzzy request adds other spellings of its words.
        """
        codes = sorted(self.by_language, key=lambda code: (code != "en", code))
        first, *others = (self._read(question, code) for code in codes)
        if not others:
            return first
        return replace(first, readings={query.language: query for query in others})

    @cached_property
    def scope(self) -> Scope | None:
        """The passages the request allows; None if it allows all and need not compare every one.

        Required phrases count only if enough passages hold them.
        """
        request, query = self.request, self.query
        if query.required and not self.too_few:
            return self.required
        if not (request.filters or query.excluded or request.exact):
            return None
        return self._holding(lambda _: ())

    @cached_property
    def required(self) -> Scope:
        """The allowed passages that hold every required phrase; all if there is none."""
        return self._holding(lambda query: query.required)

    @property
    def too_few(self) -> bool:
        """True if fewer passages than the limit hold every required phrase."""
        return bool(self.query.required) and len(self.required.rows) < self.request.limit

    @cached_property
    def preferred(self) -> Scope | None:
        """The allowed passages that hold a preferred phrase; None if there is no such phrase."""
        count = len(self.query.preferred)
        if not count:
            return None
        each = [
            self._holding(lambda query, at=at: query.preferred[at : at + 1])  # type: ignore[misc]
            for at in range(count)
        ]
        rows = sorted_unique(np.concatenate([scope.rows for scope in each]))
        if self.scope is not None:
            rows = np.intersect1d(rows, self.scope.rows, assume_unique=True)
        return scope_of_rows(self.store, rows)

    @cached_property
    def term_weights(self) -> dict[str, float]:
        """The weights of the question's terms as read in each language of the chosen corpora."""
        weights: dict[str, float] = {}
        for language in self.by_language:
            read = self.query.in_language(language)
            idf = weigh(read, self.store.tokens, self.corpus_numbers).idf.tolist()
            weights |= dict(zip(read.terms, idf, strict=True))
        return weights

    def passages(self, rows: IntArray) -> list[Passage]:
        """Return the passages of these rows, in order."""
        order: list[int] = rows.tolist()
        if new := [row for row in order if row not in self.seen]:
            self.seen.update(zip(new, self.store.passages(new), strict=True))
        return [self.seen[row] for row in order]

    def texts(self, rows: IntArray) -> list[str]:
        """Return the texts for a second stage: title, sections and speaker above each passage.

        Without their titles the acts of a collection of statutes look alike.
        """
        return [passage.embedded for passage in self.passages(rows)]

    def _holding(self, phrases: Callable[[Query], Sequence[Phrase]]) -> Scope:
        """Find the passages that the request allows and that hold all these phrases."""

        def phrases_in(language: str) -> Sequence[Phrases]:
            read = self.query.in_language(language)
            return [[p.stems for p in of] for of in (phrases(read), read.excluded)]

        filters = self.request.filters
        return scope_of(self.store, self.request.corpora, filters, phrases_in, self.stop)

    def _read(self, question: str, language: str) -> Query:
        query = parse_query(question, language)
        query = query.narrowed(self.request.require, self.request.exclude)
        if not self.request.fuzzy:
            return query
        return replace(query, spellings={**query.spellings, **self._spellings(query.terms)})

    def _spellings(self, terms: Sequence[str]) -> dict[str, tuple[str, ...]]:
        unknown = [term for term in terms if term not in self.store.tokens.vocabulary]
        spellings: dict[str, tuple[str, ...]] = {}
        for term in unknown[:MOST_LOOKED_UP]:
            self.stop.check()
            if others := self.searcher.spellings.of(term):
                spellings[term] = others
        return spellings
