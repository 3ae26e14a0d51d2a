"""A request for words on its way: the one object that all stages share."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from atlas_search.core.stop import Stop
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.stores.store import Store
from atlas_search.stores.words import WordTable
from atlas_search.words.hits import Hits, find_hits, merge
from atlas_search.words.reach import Reach, reach_of
from atlas_search.words.request import Where, WordsRequest
from atlas_search.words.slots import Comparison


@dataclass(frozen=True)
class ReachRun:
    """What is looked through, of what. For one request; every stage checks `stop` first."""

    store: Store
    tracer: Tracer
    request: Where
    stop: Stop = field(default_factory=Stop)

    @property
    def table(self) -> WordTable:
        """The words of all documents."""
        return self.store.words

    @cached_property
    def by_language(self) -> dict[str, list[int]]:
        """The indices of the chosen corpora, by their language."""
        found: dict[str, list[int]] = {}
        for number, corpus in enumerate(self.store.corpora):
            if corpus.id in self.request.corpora:
                found.setdefault(corpus.language, []).append(number)
        return found

    @property
    def languages(self) -> list[str]:
        """Of the chosen corpora."""
        return list(self.by_language)

    @cached_property
    def reach(self) -> Reach:
        """What is counted."""
        return reach_of(self.store, self.request, self.by_language, self.stop)


@dataclass(frozen=True)
class WordsRun(ReachRun):
    """What is asked, of what."""

    request: WordsRequest

    @cached_property
    def hits(self) -> Hits:
        """All hits that count."""
        return self.reach.keep(self.found)

    @cached_property
    def found(self) -> Hits:
        """All hits in the texts, read in each language in the corpora of that language."""
        found = [self._hits_in(language) for language in self.by_language]
        return found[0] if len(found) == 1 else merge(found)

    def _hits_in(self, language: str) -> Hits:
        request = self.request
        how = Comparison(language, request.form, request.exactly)
        found = find_hits(request.query, self.table, how, self.stop)
        if len(self.by_language) == 1:
            return found
        own = np.isin(
            self.store.corpus_of_documents(np.arange(self.table.documents)),
            self.by_language[language],
        )
        return found.where(own[self.table.documents_of(found.starts)])
