"""Choosing the passages to keep: some from every corpus, not too many of one kind, none twice."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from atlas_search.core.targets import Target
from atlas_search.language.text import content_terms
from atlas_search.search.query import Query
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.terms import FloatArray


@dataclass(frozen=True)
class Pool:
    """Candidates, best first; every sequence has a value for each of them.

    `scores` do not rise. Passages of one `group` say nearly the same. `types` are the content types
    of their documents. `parts` are positions for each part of a question that asks for several
    things: those that speak to it, best first. The first `ahead` go before all others.
    """

    scores: FloatArray
    corpora: Sequence[int]
    documents: IntArray
    groups: Sequence[int]
    types: Sequence[str]
    parts: Sequence[Sequence[int]]
    ahead: int = 0


_Cap = Callable[[Hashable], float]
"""How many of one corpus, group or type may be kept."""

OVER_CAP = 0.8
"""What the score of a passage over its document's cap counts for.

A cap is for variety among equals: for another document a fifth of the score may be given up, and no
more. So a long statute that alone speaks to a question keeps its places from what does not."""


def choose(
    pool: Pool,
    corpus_count: int,
    limit: int,
    type_caps: Mapping[str, int],
    target: Target,
    max_per_document: int | None,
) -> list[int]:
    """Positions to keep, ascending.

    Those `ahead` come first. Each part of the question is then promised one place, but never more
    than half of them together; then each corpus 0 (`rank`), 1 (`floor`) or limit // corpora
    (`quota`) places for its best passages; the other places, and those a corpus cannot fill, go by
    rank. Beyond the first `max_per_document` of a document, a passage stands behind those of other
    documents with at least OVER_CAP of its score, and before all others. A content type gets its
    cap, unless places would stay empty. Of a group one passage is kept in any case.
    """
    promised = {"rank": 0, "floor": 1, "quota": limit // max(corpus_count, 1)}[target.balance]
    once: dict[str, _Cap] = {"groups": lambda _: 1}
    varied = once | {"types": lambda kind: type_caps.get(str(kind), inf)}
    over = _over_cap(pool, max_per_document)
    # scores do not rise: without a cap the positions are in order as they are
    order = range(len(pool.scores)) if max_per_document is None else _cap_order(pool.scores, over)
    kept: list[int] = []
    _take(pool, range(pool.ahead), kept, limit, once)
    for best in pool.parts[: limit // 2]:
        if not set(best[:1]) & set(kept):
            _take(pool, best, kept, min(len(kept) + 1, limit), varied)
    if promised:
        within = (position for position in order if not over[position])
        _take(pool, within, kept, limit, varied | {"corpora": lambda _: promised})
    for caps in (varied, once):
        _take(pool, order, kept, limit, caps)
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


def _over_cap(pool: Pool, cap: int | None) -> list[bool]:
    """Whether `cap` better passages of its document go before each; one of a group counts."""
    documents = pool.documents
    if cap is None or not len(documents):
        return [False] * len(documents)
    groups = np.asarray(pool.groups)
    new = np.zeros(len(documents), dtype=np.int64)
    new[np.unique(documents * (groups.max() + 1) + groups, return_index=True)[1]] = 1
    # the groups of each document so far: those of the documents before it are taken off again
    order = np.argsort(documents, kind="stable")
    counted = np.cumsum(new[order])
    begins = np.flatnonzero(np.diff(documents[order], prepend=-1))
    sizes = np.diff(np.append(begins, len(documents)))
    so_far = np.empty(len(documents), dtype=np.int64)
    so_far[order] = counted - np.repeat(counted[begins] - 1, sizes)
    over: list[bool] = (so_far > cap).tolist()
    return over


def _cap_order(scores: FloatArray, over: Sequence[bool]) -> list[int]:
    """All positions, those over their cap where OVER_CAP of their score puts them, after equals."""
    worth = np.round(scores * np.where(over, OVER_CAP, 1.0), 9)
    order: list[int] = np.lexsort((np.asarray(over), -worth)).tolist()
    return order


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
