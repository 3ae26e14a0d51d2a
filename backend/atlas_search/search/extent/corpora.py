"""How much of each corpus can be found: all of it, or what a search was narrowed to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from atlas_search.search.extent.dates import Dates, dates_of
from atlas_search.stores.store import Scope, Store


@dataclass(frozen=True)
class CorpusExtent:
    """What was searched of one corpus, of all that it holds; `dates` are those of the searched."""

    id: str
    label: str
    documents: int
    passages: int
    all_documents: int
    all_passages: int
    dates: Dates

    @property
    def narrowed(self) -> bool:
        """Whether some of its passages could not be found."""
        return self.passages < self.all_passages

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "id": self.id,
            "label": self.label,
            "documents": self.documents,
            "passages": self.passages,
            "all_documents": self.all_documents,
            "all_passages": self.all_passages,
        }


def corpus_extents(store: Store, scope: Scope | None = None) -> Mapping[str, CorpusExtent]:
    """Every corpus by its id, with what a scope leaves of it; all of it without one."""
    within = scope or store.scope({})
    documents = within.documents
    passages = np.bincount(store.corpus_of(within.rows), minlength=len(store.corpora))
    owners = store.corpus_of_documents(documents)
    found = {}
    for number, corpus in enumerate(store.corpora):
        own = documents[owners == number]
        found[corpus.id] = CorpusExtent(
            id=corpus.id,
            label=corpus.label,
            documents=len(own),
            passages=int(passages[number]),
            all_documents=corpus.documents,
            all_passages=corpus.passages,
            dates=dates_of(store.days, own),
        )
    return found
