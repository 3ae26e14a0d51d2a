"""Requests about the words of a collection, after the edge has checked them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from atlas_search.stores.filters import Condition
from atlas_search.words.query import Form, Node

Sort = Literal["document", "left", "right", "hit", "date", "-date", "corpus"]
"""Order of lines. `left` and `right` go by the words beside the hit, the nearest first; `document`
is the order of the collection, which settles all ties."""

YEAR, DECADE, CORPUS, ALL = "year", "decade", "corpus", "all"
"""What hits can be counted by, besides metadata fields; `all` is one count of everything."""


@dataclass(frozen=True)
class Point:
    """One point of a trend: the value that `by` has in its documents, None for those without.

    A corpus of None is every one.
    """

    by: str
    value: str | None
    corpus: str | None = None


@dataclass(frozen=True, kw_only=True)
class WordsScope:
    """The scope of a request, and the comparison of its words.

    `filters`, `require` and `exclude` leave the passages that a search would find, without
    exception. With `exactly`, capitals and accents count.
    """

    corpora: tuple[str, ...]
    every_corpus: bool
    form: Form = "surface"
    exactly: bool = False
    filters: Mapping[str, Condition] = field(default_factory=dict)
    require: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @property
    def corpus_filter(self) -> str:
        """The corpora as traces name them."""
        return "all" if self.every_corpus else ",".join(self.corpora)


@dataclass(frozen=True, kw_only=True)
class WordsRequest(WordsScope):
    """A query and its scope. Where passages are chosen, a hit must lie within one of them."""

    text: str
    query: Node


@dataclass(frozen=True)
class LinesRequest:
    """A page of a concordance: `limit` lines after `offset`, with `context` words a side.

    `sample` is the number of hits drawn by lot, None for all; the same `seed` draws the same.
    """

    limit: int
    offset: int
    context: int
    sort: Sort
    sample: int | None = None
    seed: int = 0
    point: Point | None = None


@dataclass(frozen=True)
class CountsRequest:
    """Counts `by` a year, decade, corpus, metadata field or `all`; also `by_corpus` if wanted."""

    by: str
    by_corpus: bool


Strength = Literal["log_likelihood", "log_dice"]
"""Order of collocates, the strongest first."""


@dataclass(frozen=True, kw_only=True)
class CollocatesRequest:
    """A request for collocates: words at most `left` before a hit or `right` after it.

    They stand near hits at least `min_count` times; without `function_words` those that the
    languages of the corpora list are left out.
    """

    left: int
    right: int
    sort: Strength
    min_count: int
    limit: int
    function_words: bool


Direction = Literal["more", "less", "both"]
"""Words that are more frequent than in the reference, less frequent, or either."""
Keyness = Literal["log_likelihood", "log_ratio"]
"""Order of keywords, those that differ most first."""


@dataclass(frozen=True, kw_only=True)
class KeywordsRequest:
    """A request for keywords, against the rest of the corpora `against` outside the scope.

    Where a word is more frequent it stands at least `min_count` times, in `min_documents`.
    """

    against: tuple[str, ...]
    direction: Direction
    sort: Keyness
    min_count: int
    min_documents: int
    limit: int
    function_words: bool
