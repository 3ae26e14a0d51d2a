"""What is quoted beside a quote: the other side of a contradiction, and what must be read first."""

from collections.abc import Sequence
from dataclasses import dataclass

from atlas_search.answer.quotes.quotable import Quote, quote_at
from atlas_search.core.domain import MARKER_LIKE, CheckedPassage
from atlas_search.language.text import TextSpan


@dataclass(frozen=True, slots=True)
class Opposed:
    """Two places that contradict each other, each a document's id, start and end."""

    first: tuple[str, int, int]
    second: tuple[str, int, int]


def with_other_sides(
    chosen: Sequence[Quote],
    passages: Sequence[CheckedPassage],
    opposed: Sequence[Opposed],
    limit: int,
) -> list[Quote]:
    """The chosen ones within the limit, each followed by what contradicts it in the passages.

    One whose other side finds no room is left out, unless it is the first.
    """
    said: list[Quote] = []
    for quote in chosen:
        if any(quote.within(other.place) for other in said):
            continue
        against = _against(quote, passages, opposed)
        told = [q for q in against if not any(q.place == o.place for o in said)]
        if not said or len(said) + 1 + len(told) <= limit:
            said += [quote, *told]
    return said[:limit]


def with_what_is_before(chosen: Sequence[Quote], most: int) -> list[Quote]:
    """Each quote that cannot be understood alone follows the one it leans on, if all that is
    chosen has room beside it."""
    said: list[Quote] = []
    for number, quote in enumerate(chosen):
        before, room = quote.before, most - len(said) - len(chosen[number:])
        told = before and any(before.within(other.place) for other in (*said, *chosen))
        if before and not told and room > 0:
            said.append(before)
        said.append(quote)
    return said[:most]


def _against(
    quote: Quote, passages: Sequence[CheckedPassage], opposed: Sequence[Opposed]
) -> list[Quote]:
    """What other sources say against a quote, in the order of `opposed`."""
    places = [
        other
        for pair in opposed
        for one, other in ((pair.first, pair.second), (pair.second, pair.first))
        if quote.within(one)
    ]
    return [found for place in places for found in _standing_at(place, passages)[:1]]


def _standing_at(place: tuple[str, int, int], passages: Sequence[CheckedPassage]) -> list[Quote]:
    """The text of a place, once for each passage that holds all of it."""
    document, start, end = place
    found = []
    for rank, item in enumerate(passages):
        passage = item.passage
        if passage.document_id == document and passage.start <= start and end <= passage.end:
            quote = quote_at(passage, TextSpan(start - passage.start, end - passage.start), rank)
            if not MARKER_LIKE.search(quote.text):
                found.append(quote)
    return found
