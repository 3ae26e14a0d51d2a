"""What a search looked through, and what it left out."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from atlas_search.core.domain import Leg
from atlas_search.search.conditions import written
from atlas_search.search.extent.corpora import CorpusExtent
from atlas_search.search.extent.dates import Dates, joint_dates
from atlas_search.search.extent.sentence import sentence
from atlas_search.stores.filters import Condition

Reason = Literal["corpus", "narrowed", "words", "index"]
"""Why a leg gave no more: the corpus has no more passages, or what was asked for leaves no more; no
other passage has a word of the question; or the index found no more, though there are some."""


@dataclass(frozen=True)
class ShortLeg:
    """A leg that gave fewer candidates of a corpus than it was asked for."""

    corpus: str
    leg: Leg
    found: int
    asked: int
    reason: Reason


@dataclass(frozen=True, kw_only=True)
class Extent:
    """The scope of a search: the corpora searched, in order, and what of them could be found.

    The collection has `all_corpora`. `required` and `excluded` are the phrases that narrowed it;
    what is `unmet` was required too, but did not narrow it, for too few passages hold it.
    `unknown_words` are words of the question that no searched corpus holds.
    """

    corpora: tuple[CorpusExtent, ...]
    all_corpora: int
    filters: Mapping[str, Condition]
    required: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    unknown_words: tuple[str, ...] = ()
    short_legs: tuple[ShortLeg, ...] = ()

    @property
    def documents(self) -> int:
        """How many documents were searched."""
        return sum(corpus.documents for corpus in self.corpora)

    @property
    def passages(self) -> int:
        """How many passages were searched."""
        return sum(corpus.passages for corpus in self.corpora)

    @property
    def all_documents(self) -> int:
        """How many documents the searched corpora hold."""
        return sum(corpus.all_documents for corpus in self.corpora)

    @property
    def all_passages(self) -> int:
        """How many passages the searched corpora hold."""
        return sum(corpus.all_passages for corpus in self.corpora)

    @property
    def dates(self) -> Dates:
        """The time that the documents searched are of."""
        return joint_dates(corpus.dates for corpus in self.corpora)

    @property
    def narrowed(self) -> bool:
        """Whether the collection holds more than was searched."""
        return len(self.corpora) < self.all_corpora or any(c.narrowed for c in self.corpora)

    @property
    def sentence(self) -> str:
        """All of it that a person wants to know."""
        return sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, and the sentence that says them."""
        return {
            "sentence": self.sentence,
            "narrowed": self.narrowed,
            "corpora": [corpus.to_dict() for corpus in self.corpora],
            "all_corpora": self.all_corpora,
            "documents": self.documents,
            "passages": self.passages,
            "all_documents": self.all_documents,
            "all_passages": self.all_passages,
            "dates": self.dates.to_dict(),
            "filters": {field: written(of) for field, of in self.filters.items()},
            "required": [*self.required],
            "unmet": [*self.unmet],
            "excluded": [*self.excluded],
            "unknown_words": [*self.unknown_words],
            "short_legs": [asdict(leg) for leg in self.short_legs],
        }


def joint(extents: Sequence[Extent], unknown_words: Sequence[str]) -> Extent:
    """The extent of searches of one question in a corpus each, at least one, as if they were one.

    A phrase that did not narrow all of them is `unmet`.
    """
    unmet = dict.fromkeys(phrase for each in extents for phrase in each.unmet)
    return replace(
        extents[0],
        corpora=tuple(corpus for each in extents for corpus in each.corpora),
        required=tuple(phrase for phrase in extents[0].required if phrase not in unmet),
        unmet=tuple(unmet),
        unknown_words=tuple(unknown_words),
        short_legs=tuple(leg for each in extents for leg in each.short_legs),
    )
