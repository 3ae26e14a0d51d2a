"""Places in documents: which holds which, and how many characters they share."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Protocol

from atlas_search.evaluation.labels.label import Label, Span


class Extent(Protocol):
    """Characters of a document's text from `start` to before `end`."""

    @property
    def document_id(self) -> str:
        """Of which document."""

    @property
    def start(self) -> int:
        """The first character."""

    @property
    def end(self) -> int:
        """The character after the last."""


class InPassage(Extent, Protocol):
    """A passage, or a place in one."""

    @property
    def passage_id(self) -> str:
        """Of which passage."""


Intervals = Mapping[str, tuple[tuple[int, int], ...]]
"""Characters by document: apart from each other, ascending."""


def gold_places(label: Label) -> frozenset[str | Span]:
    """The passages and spans that answer."""
    return frozenset((*label.gold_passage_ids, *label.gold_spans))


def held_places(found: InPassage, label: Label) -> frozenset[str | Span]:
    """The gold places that a passage or a citation holds: itself by its id, and spans."""
    spans = (span for span in label.gold_spans if holds(found, span))
    return frozenset((*({found.passage_id} & label.gold_passage_ids), *spans))


def gold_of(label: Label) -> frozenset[str | Span]:
    """The gold places; the gold documents where no place is known."""
    return gold_places(label) or frozenset(label.relevance)


def held_gold(found: Iterable[InPassage], label: Label) -> list[frozenset[str | Span]]:
    """What each of some passages or citations holds of `gold_of`."""
    if gold_places(label):
        return [held_places(one, label) for one in found]
    return [frozenset({one.document_id} & label.relevance.keys()) for one in found]


def holds(place: Extent, span: Extent) -> bool:
    """Whether they share at least half of the shorter one."""
    if place.document_id != span.document_id:
        return False
    shared = min(place.end, span.end) - max(place.start, span.start)
    shorter = min(place.end - place.start, span.end - span.start)
    return shared > 0 and 2 * shared >= shorter


def union(places: Iterable[Extent]) -> Intervals:
    """All characters of the places, each once."""
    by_document: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for place in sorted(places, key=lambda one: (one.document_id, one.start, one.end)):
        merged = by_document[place.document_id]
        if merged and place.start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], place.end))
        elif place.start < place.end:
            merged.append((place.start, place.end))
    return {document: tuple(found) for document, found in by_document.items() if found}


def size(places: Intervals) -> int:
    """How many characters."""
    return sum(end - start for found in places.values() for start, end in found)


def shared_size(first: Intervals, second: Intervals) -> int:
    """How many characters are in both."""
    return sum(
        max(0, min(end, other_end) - max(start, other_start))
        for document in first.keys() & second.keys()
        for start, end in first[document]
        for other_start, other_end in second[document]
    )
