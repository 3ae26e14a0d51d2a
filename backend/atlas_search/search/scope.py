"""The extent of a search: what was searched of the collection, and what was left out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from atlas_search.core.domain import Leg
from atlas_search.core.stop import Stop
from atlas_search.core.wire import Sent, Stated
from atlas_search.language.dates import OPEN_END, OPEN_START, iso_day, year_name
from atlas_search.search.query import phrases
from atlas_search.search.request import ScopePlan, written
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.filters import Condition, DocumentDays
from atlas_search.stores.store import Phrases, Scope, Store, scope_of

_START, _END = np.datetime64(iso_day(OPEN_START)), np.datetime64(OPEN_END)


@dataclass(frozen=True)
class Dates:
    """The first and last day that documents state (ISO), empty if none states one.

    A date that is open at one end (`since 1901`) counts with the other, and `or_earlier` or
    `or_later` says that there is one. `undated` documents have no date that can be read.
    """

    first: str = ""
    last: str = ""
    or_earlier: bool = False
    or_later: bool = False
    undated: int = 0


def dates_of(days: DocumentDays, documents: IntArray) -> Dates:
    """The dates of some documents, by their indices."""
    first, last = days.first[documents], days.last[documents]
    dated = ~np.isnat(first)
    first, last = first[dated], last[dated]
    undated = len(documents) - len(first)
    earlier, later = first == _START, last == _END
    stated = np.concatenate([first[~earlier], last[~later]])
    if not len(stated):
        return Dates(undated=undated)
    return Dates(
        _iso(stated.min()), _iso(stated.max()), bool(earlier.any()), bool(later.any()), undated
    )


def _iso(day: np.datetime64) -> str:
    """Four digits of a year before our era, where numpy writes three: `-0499-01-01`."""
    text = str(day)
    return f"-{text[1:].zfill(10)}" if text.startswith("-") else text


def joint_dates(of: Iterable[Dates]) -> Dates:
    """The dates of all together."""
    every = list(of)
    return Dates(
        min((dates.first for dates in every if dates.first), default="", key=np.datetime64),
        max((dates.last for dates in every if dates.last), default="", key=np.datetime64),
        any(dates.or_earlier for dates in every),
        any(dates.or_later for dates in every),
        sum(dates.undated for dates in every),
    )


@dataclass(frozen=True)
class CorpusExtent:
    """The searched part of one corpus, with its totals. `dates` are of the searched part."""

    id: str
    label: str
    documents: int
    passages: int
    all_documents: int
    all_passages: int
    dates: Dates

    @property
    def narrowed(self) -> bool:
        """True if some passages of the corpus were not searched."""
        return self.passages < self.all_passages


def plan_scope(store: Store, plan: ScopePlan, stop: Stop) -> Scope:
    """Return the passages that a plan leaves. Raises Cancelled soon after the `stop`."""
    if not (plan.filters or plan.require or plan.exclude):
        documents = store.documents_of(plan.corpora)
        return Scope(np.flatnonzero(np.isin(store.tokens.document_of, documents)), documents)

    def phrases_in(language: str) -> Sequence[Phrases]:
        return [
            [phrase.stems for phrase in phrases(texts, language)]
            for texts in (plan.require, plan.exclude)
        ]

    return scope_of(store, plan.corpora, plan.filters, phrases_in, stop)


def corpus_extents(store: Store, scope: Scope | None = None) -> Mapping[str, CorpusExtent]:
    """Every corpus by its id, with what a scope leaves of it; all of it without one."""
    within = scope or store.scope({})
    documents = within.documents
    passages = np.bincount(store.corpus_of(within.rows), minlength=len(store.corpora))
    owners = store.corpus_of_documents(documents)
    extents = {}
    for number, corpus in enumerate(store.corpora):
        own = documents[owners == number]
        extents[corpus.id] = CorpusExtent(
            id=corpus.id,
            label=corpus.label,
            documents=len(own),
            passages=int(passages[number]),
            all_documents=corpus.documents,
            all_passages=corpus.passages,
            dates=dates_of(store.days, own),
        )
    return extents


MOST_NAMED = 5  # corpora, or values of a filter; more of them would bury the rest


def _searched_share(extent: "Extent") -> str:
    corpora = _share(len(extent.corpora), extent.all_corpora, "corpus", "corpora")
    labels = _some([corpus.label for corpus in extent.corpora], ", ", " and ")
    parts = [
        _share(extent.documents, extent.all_documents, "document", "documents"),
        _share(extent.passages, extent.all_passages, "passage", "passages"),
        *_dates(extent.dates, extent.documents),
    ]
    return f"Searched {corpora} ({labels}): {', '.join(parts)}"


def _share(part: int, whole: int, one: str, several: str) -> str:
    """`12 documents`, or `12 of 1,204 documents`."""
    total = f"{whole:,} {one if whole == 1 else several}"
    return total if part == whole else f"{part:,} of {total}"


def _dates(dates: Dates, documents: int) -> Iterator[str]:
    if dates.first:
        undated = f" ({dates.undated:,} undated)" if dates.undated else ""
        yield f"{_span(dates)}{undated}"
    elif documents:
        yield "undated"


def _span(dates: Dates) -> str:
    first, last = dates.first, dates.last
    if first.endswith("-01-01") and last.endswith("-12-31"):  # whole years
        first, last = (year_name(int(day[:-6])) for day in (first, last))
    earlier, later = " or earlier" * dates.or_earlier, " or later" * dates.or_later
    if first == last and not (earlier and later):
        return f"{first}{earlier}{later}"
    return f"{first}{earlier} to {last}{later}"


def _clauses(extent: "Extent") -> Iterator[str]:
    """Name what narrowed the search, and what it missed: unknown words, candidates of an index."""
    if extent.filters:
        conditions = (_condition(field, of) for field, of in extent.filters.items())
        yield f"filters: {', '.join(conditions)}"
    if extent.required:
        yield f"only passages that hold {_quoted(extent.required, 'and')}"
    if extent.unmet:
        yield f"also passages without {_quoted(extent.unmet, 'or')}"
    if extent.excluded:
        yield f"no passages that hold {_quoted(extent.excluded, 'or')}"
    if extent.unknown_words:
        yield f"no source{_of_these(extent)} holds {_quoted(extent.unknown_words, 'or')}"
    labels = {corpus.id: corpus.label for corpus in extent.corpora}
    for leg in extent.short_legs:
        if leg.reason == "index":
            yield f"the index found {leg.found} of {leg.asked} candidates of {labels[leg.corpus]}"


def _condition(field: str, condition: Condition) -> str:
    values = written(condition)
    if isinstance(values, dict):
        return f"{field} {' '.join(f'{end} {value}' for end, value in values.items())}"
    return f"{field} = {_some([f'“{value}”' for value in values], ' or ', ' or ')}"


def _of_these(extent: "Extent") -> str:
    """Other corpora may hold a word, but nothing outside a filter that the corpora do not."""
    if len(extent.corpora) == extent.all_corpora:
        return ""
    return " of this corpus" if len(extent.corpora) == 1 else " of these corpora"


def _quoted(phrases: Sequence[str], joint: str) -> str:
    return f" {joint} ".join(f"“{phrase}”" for phrase in phrases)


def _some(names: Sequence[str], between: str, last: str) -> str:
    """The names, or the first of them and how many more there are."""
    if len(names) <= MOST_NAMED:
        return between.join(names)
    return f"{between.join(names[:MOST_NAMED])}{last}{len(names) - MOST_NAMED} more"


Reason = Literal["corpus", "narrowed", "words", "index"]


@dataclass(frozen=True)
class ShortLeg:
    """A leg that gave fewer candidates of a corpus than it was asked for."""

    corpus: str
    leg: Leg
    found: int
    asked: int
    reason: Annotated[
        Reason,
        Field(
            description="The corpus holds no more; what was asked for leaves no more; no other "
            "passage has a word of the question; the index found no more, though there are some"
        ),
    ]


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
        """Number of documents searched."""
        return sum(corpus.documents for corpus in self.corpora)

    @property
    def passages(self) -> int:
        """Number of passages searched."""
        return sum(corpus.passages for corpus in self.corpora)

    @property
    def all_documents(self) -> int:
        """Number of documents in the searched corpora."""
        return sum(corpus.all_documents for corpus in self.corpora)

    @property
    def all_passages(self) -> int:
        """Number of passages in the searched corpora."""
        return sum(corpus.all_passages for corpus in self.corpora)

    @property
    def dates(self) -> Dates:
        """The time that the documents searched are of."""
        return joint_dates(corpus.dates for corpus in self.corpora)

    @property
    def narrowed(self) -> bool:
        """True if the collection holds more than was searched."""
        return len(self.corpora) < self.all_corpora or any(c.narrowed for c in self.corpora)

    @property
    def sentence(self) -> str:
        """All that was searched, out of how much, and what narrowed it.

        `Searched 1 of 3 corpora (Debates): 12 of 1,204 documents, 96 of 18,332 passages, 1901 to
        2019; filters: speaker = “A B”; no source of this corpus holds “blockchian”.`
        """
        return f"{'; '.join([_searched_share(self), *_clauses(self)])}."


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


class SearchedCorpusOut(Sent):
    """A corpus that was searched: how much of it could be found, of all that it holds."""

    id: str
    label: str
    documents: int
    passages: int
    all_documents: int
    all_passages: int


class DatesOut(Sent):
    """The time that the documents searched are of."""

    first: Stated = Field(description="The first day that a document states, ISO")
    last: Stated = Field(description="The last day that a document states, ISO")
    or_earlier: bool = Field(description="Whether a document says only before when it was")
    or_later: bool = Field(description="Whether a document says only since when it was")
    undated: int = Field(description="Documents without a date that can be read")


def _written_filters(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Filters as they can be asked for, if they are not yet."""
    return {f: of if isinstance(of, list | dict) else written(of) for f, of in filters.items()}


class ScopeOut(Sent):
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
    filters: Annotated[dict[str, list[str] | dict[str, str]], BeforeValidator(_written_filters)] = (
        Field(description="By field: values of which one must match, or `from` and `to`")
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
