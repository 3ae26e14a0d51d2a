"""What is asked of a search, after the edge has checked it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from atlas_search.stores.filters import Condition


@dataclass(frozen=True)
class SearchRequest:
    """A question to some corpora.

    `every_corpus` says that no corpus was chosen, which decides the retrieval depth. `limit` is
    the number of passages wanted. A source older than `freshness_days` before `today` is stale;
    0 means never. With `exact` every vector is compared instead of asking the index;
    with `fuzzy` words that no source holds count as those that are spelt nearly so. `require` and
    `exclude` are phrases that every passage must hold, or none may. Of one document at most
    `max_per_document` passages are kept (see `balance.choose`); None for any number.
    """

    question: str
    corpora: tuple[str, ...]
    every_corpus: bool
    limit: int
    today: date
    filters: Mapping[str, Condition] = field(default_factory=dict)
    freshness_days: int = 0
    exact: bool = False
    fuzzy: bool = False
    require: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_per_document: int | None = None

    @property
    def corpus_filter(self) -> str:
        """The corpora as traces name them."""
        return "all" if self.every_corpus else ",".join(self.corpora)
