"""Choosing the passages to keep: some from every corpus, not too many of one kind, none twice."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from atlas_search.core.targets import Target
from atlas_search.language.text import content_terms
from atlas_search.search.query import Query


@dataclass(frozen=True)
class Pool:
    """Candidates, best first; every sequence has a value for each of them.

    Passages of one `group` say nearly the same. `types` are the content types of their documents.
    `parts` are positions for each part of a question that asks for several things: those that
    speak to it, best first.
    """

    corpora: Sequence[int]
    documents: Sequence[int]
    groups: Sequence[int]
    types: Sequence[str]
    parts: Sequence[Sequence[int]]


_Cap = Callable[[Hashable], float]
"""How many of one corpus, document, group or type may be kept."""


def choose(
    pool: Pool, corpus_count: int, limit: int, type_caps: Mapping[str, int], target: Target
) -> list[int]:
    """Positions to keep, ascending.

    Each part of the question is first promised one place, but never more than half of them
    together; then each corpus 0 (`rank`), 1 (`floor`) or limit // corpora (`quota`) places for
    its best passages; the other places, and those a corpus cannot fill, go by rank. A document
    gets at most `target.max_passages_per_document` and a content type its cap, unless places
    would stay empty. Of a group one passage is kept in any case.
    """
    promised = {"rank": 0, "floor": 1, "quota": limit // max(corpus_count, 1)}[target.balance]
    once: dict[str, _Cap] = {"groups": lambda _: 1}
    spread = once | {"documents": lambda _: target.max_passages_per_document}
    varied = spread | {"types": lambda kind: type_caps.get(str(kind), inf)}
    kept: list[int] = []
    everyone = range(len(pool.corpora))
    for best in pool.parts[: limit // 2]:
        if not set(best[:1]) & set(kept):
            _take(pool, best, kept, len(kept) + 1, varied)
    if promised:
        _take(pool, everyone, kept, limit, varied | {"corpora": lambda _: promised})
    for caps in (varied, spread, once):
        _take(pool, everyone, kept, limit, caps)
    return sorted(kept)


def type_caps(query: Query, target: Target) -> dict[str, int]:
    """The caps on content types for a question; none if it names an exception or a capped type."""
    caps = {
        kind: int(count)
        for kind, _, count in (
            pair.rpartition(":") for pair in target.content_type_caps.split(",") if pair
        )
    }
    lifted = content_terms(f"{target.content_type_cap_exceptions} {' '.join(caps)}")
    # both are English, whatever the corpora are
    return {} if lifted & set(query.in_language("en").terms) else caps


def _take(
    pool: Pool, positions: Iterable[int], kept: list[int], limit: int, caps: Mapping[str, _Cap]
) -> None:
    """Keep the first that are not kept yet and break no cap, until there are `limit`."""
    values = {name: getattr(pool, name) for name in caps}
    counts = {name: Counter(of[position] for position in kept) for name, of in values.items()}
    seen = set(kept)
    for position in positions:
        if len(kept) == limit:
            return
        own = [(name, of[position]) for name, of in values.items()]
        if position not in seen and all(counts[n][value] < caps[n](value) for n, value in own):
            kept.append(position)
            for name, value in own:
                counts[name][value] += 1
