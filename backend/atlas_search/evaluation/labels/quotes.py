"""Places of quoted texts in the gold documents of their labels."""

import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from atlas_search.evaluation.labels.label import Label, Span
from atlas_search.evaluation.labels.read import ReadLabel

_TEXTS = 64  # of documents at hand: labels of one document mostly follow each other
_SHOWN = 40  # characters of a quote


@dataclass(frozen=True)
class Placed:
    """Labels with the places of their quotes among the gold ones.

    Of the quotes `found`, some are `repeated`: they stand at several places, and the first counts.
    `missing` names those that stand in no gold document; `unplaced` labels have no gold document to
    look into.
    """

    labels: tuple[Label, ...]
    found: int
    repeated: int
    missing: tuple[str, ...]
    unplaced: int


def place_quotes(
    read: Iterable[ReadLabel], known: Container[str], text_of: Callable[[str], str]
) -> Placed:
    """Look for the quotes of answerable labels in their gold documents, as far as they are known.

    `text_of` gives the text of a document of `known`.
    """
    text_of = lru_cache(_TEXTS)(text_of)
    labels, repeated, unplaced = [], 0, 0
    found: list[Span] = []
    missing: list[str] = []
    for one in read:
        gold = sorted(name for name in one.label.gold_names if name in known)
        quotes = one.quotes if one.label.answerable else ()
        unplaced += bool(quotes and not gold)
        places: list[Span] = []
        for quote in quotes if gold else ():
            all_ = [place for id_ in gold for place in places_of(quote, id_, text_of(id_))]
            places += all_[:1]
            repeated += len(all_) > 1
            missing += [] if all_ else [f"{one.label.id} ({_short(quote)})"]
        found += places
        spans = tuple(dict.fromkeys((*one.label.gold_spans, *places)))
        labels.append(replace(one.label, gold_spans=spans))
    return Placed(tuple(labels), len(found), repeated, tuple(missing), unplaced)


def places_of(quote: str, document_id: str, text: str) -> Iterator[Span]:
    """Every place of a text that reads as the quote does, but for its blanks and line ends."""
    if pattern := r"\s+".join(map(re.escape, quote.split())):
        for found in re.finditer(pattern, text):
            yield Span(document_id, *found.span())


def _short(quote: str) -> str:
    text = " ".join(quote.split())
    return f"{text[:_SHOWN]}…" if len(text) > _SHOWN else text
