"""What is quoted beside a quote: the other side of a contradiction, and what must be read first."""

from collections.abc import Sequence

from atlas_search.answer.quotes.quotable import Quote, quote_at
from atlas_search.core.domain import MARKER_LIKE, CheckedPassage, Citation
from atlas_search.language.text import TextSpan

Opposed = tuple[Citation, Citation]
"""Two places that contradict each other."""


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
        if any(quote.overlaps(other) for other in said):
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
        told = before and any(before.overlaps(other) for other in (*said, *chosen))
        if before and not told and room > 0:
            said.append(before)
        said.append(quote)
    return said[:most]


def _against(
    quote: Quote, passages: Sequence[CheckedPassage], opposed: Sequence[Opposed]
) -> list[Quote]:
    """What other sources say against a quote, in the order of `opposed`."""
    ranks = {item.passage.id: rank for rank, item in enumerate(passages)}
    found = []
    for pair in opposed:
        for one, other in (pair, pair[::-1]):
            passage = other.passage
            if quote.overlaps(one) and passage.id in ranks:
                span = TextSpan(other.start - passage.start, other.end - passage.start)
                found.append(quote_at(passage, span, ranks[passage.id]))
    return [other for other in found if not MARKER_LIKE.search(other.text)]
