"""From a ranking to the passages that are kept."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.domain import RankedPassage
from atlas_search.core.targets import Target
from atlas_search.language.text import content_terms
from atlas_search.search.candidates import Candidates
from atlas_search.search.query import Query
from atlas_search.search.ranking import Ranking
from atlas_search.search.request import SearchPlan
from atlas_search.search.run import SearchRun
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.store import Store
from atlas_search.stores.terms import FloatArray, TokenTable


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

SOFT_CAP = 5
"""Passages of one document in an answer, unless somebody asks for a number."""
OVER_CAP = 0.8
"""What the score of a passage over its document's soft cap counts for.

A soft cap is for variety among equals: for another document a fifth of the score may be given up,
and no more. So a long statute that alone speaks to a question keeps its places."""


def choose(
    pool: Pool, request: SearchPlan, type_caps: Mapping[str, int], target: Target
) -> list[int]:
    """Positions to keep, ascending.

    Those `ahead` come first. Each part of the question is then promised one place, but never more
    than half of them together; then each corpus 0 (`rank`), 1 (`floor`) or limit // corpora
    (`quota`) places for its best passages; the other places, and those a corpus cannot fill, go by
    rank. Beyond `max_per_document` none of a document is kept; with a `soft_cap` such a passage
    stands behind those of other documents with at least OVER_CAP of its score, and before all
    others. A content type gets its cap, unless places would stay empty. Of a group one passage is
    kept in any case.
    """
    limit, soft_cap, cap = request.limit, request.soft_cap, request.max_per_document
    quota = limit // max(len(request.corpora), 1)
    promised = {"rank": 0, "floor": 1, "quota": quota}[target.balance]
    most = inf if cap is None or soft_cap else cap
    once: dict[str, _Cap] = {"groups": lambda _: 1, "documents": lambda _: most}
    varied = once | {"types": lambda kind: type_caps.get(str(kind), inf)}
    over = _over_cap(pool, cap if soft_cap else None)
    # scores do not rise: without such a cap the positions are in order as they are
    order = _cap_order(pool.scores, over) if soft_cap else range(len(pool.scores))
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
    """Mark the passages behind `cap` better ones of their document; a group counts as one."""
    documents = pool.documents
    if cap is None or not len(documents):
        return [False] * len(documents)
    groups = np.asarray(pool.groups)
    new = np.zeros(len(documents), dtype=np.int64)
    new[np.unique(documents * (groups.max() + 1) + groups, return_index=True)[1]] = 1
    # the groups of each document so far: those of the documents before it are taken off again
    order = np.argsort(documents, kind="stable")
    so_far_sorted = np.cumsum(new[order])
    begins = np.flatnonzero(np.diff(documents[order], prepend=-1))
    sizes = np.diff(np.append(begins, len(documents)))
    so_far = np.empty(len(documents), dtype=np.int64)
    so_far[order] = so_far_sorted - np.repeat(so_far_sorted[begins] - 1, sizes)
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


SHINGLE = 4  # words; fewer are shared by chance, more are broken by every misprint
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_FIRST_BITS = 16
_OTHER_BITS = np.uint64(64 - _FIRST_BITS)


def groups(rows: IntArray, table: TokenTable, share: float) -> list[int]:
    """For each of `rows`, best first, the position of the first that says nearly the same.

    Two passages do if at least `share` of the shorter one's runs of SHINGLE stems stand in the
    other (containment, Broder 1997). A passage that has no such run is like no other.
    """
    shared, sizes = _overlaps(rows, table)
    smaller = np.minimum(sizes[:, None], sizes[None, :])
    alike = np.tril((shared >= share * smaller) & (smaller > 0), -1)
    first = list(range(len(rows)))
    for position in np.flatnonzero(alike.any(axis=1)).tolist():
        before = np.flatnonzero(alike[position])
        # like a passage that stands for others, or for none yet
        heads = [at for at in before.tolist() if first[at] == at]
        first[position] = heads[0] if heads else position
    return first


def _overlaps(rows: IntArray, table: TokenTable) -> tuple[IntArray, IntArray]:
    """Count the distinct runs that each pair of passages shares (n, n) and that each has (n)."""
    row = np.repeat(np.arange(len(rows)), table.words.lengths(rows))
    words = table.words.joined(rows).astype(np.uint64) + np.uint64(1)
    count = max(len(words) - SHINGLE + 1, 0)
    hashes = np.zeros(count, dtype=np.uint64)
    for offset in range(SHINGLE):
        # unsigned products wrap round, which is what mixes the bits
        hashes += words[offset : offset + count]
        hashes *= _PRIME
        hashes ^= hashes >> np.uint64(29)
    whole = row[:count] == row[SHINGLE - 1 :][:count]
    row, hashes = row[:count][whole], hashes[whole]
    # nearly all runs stand once: only those that share their first bits with another are sorted
    bits = (hashes >> _OTHER_BITS).astype(np.int64)
    alone = np.bincount(bits)[bits] == 1
    sizes = np.bincount(row[alone], minlength=len(rows))
    row, hashes = row[~alone], hashes[~alone]
    order = np.argsort(hashes, kind="stable")  # by run, then by row
    row, run = row[order], hashes[order]
    again = (run[1:] == run[:-1]) & (row[1:] == row[:-1])
    first = np.flatnonzero(np.concatenate(([True], ~again))[: len(row)])
    row, run = row[first], run[first]
    sizes += np.bincount(row, minlength=len(rows))
    shared = np.zeros((len(rows), len(rows)), dtype=np.int64)
    # the passages with one run stand together now: pair each with the next, the one after ...
    for step in range(1, len(rows)):
        same = np.flatnonzero(run[step:] == run[:-step])
        if not len(same):
            break
        np.add.at(shared, (row[same], row[same + step]), 1)
    return shared + shared.T, sizes


def mmr_order(
    scores: FloatArray, vectors: NDArray[np.float32], share: float, limit: int
) -> IntArray:
    """Positions in a new order: first `limit` chosen one by one, then the others as they were.

    Each is the one with the largest share * score - (1 - share) * (largest cosine with those
    chosen before); Carbonell and Goldstein 1998. `scores` descend and `vectors` (n, d) have unit
    length; of equals the better ranked one is taken.
    """
    likeness = np.zeros(len(scores))
    is_left = np.ones(len(scores), dtype=bool)
    chosen: list[int] = []
    for _ in range(min(limit, len(scores))):
        value = np.where(is_left, share * scores - (1 - share) * likeness, -np.inf)
        best = int(np.argmax(np.round(value, 9)))
        chosen.append(best)
        is_left[best] = False
        cosine = np.einsum("nd,d->n", vectors, vectors[best], dtype=np.float64)
        likeness = np.maximum(likeness, cosine)
    return np.concatenate([np.array(chosen, dtype=np.int64), np.flatnonzero(is_left)])


def select(run: SearchRun, candidates: Candidates, ranking: Ranking) -> list[RankedPassage]:
    """The passages to keep, best first, each with the ids of others that say the same."""
    run.stop.check()
    with run.stage("balance") as stage:
        store, request, target = run.store, run.request, run.target
        ranking = _required_first(run, _vary(run, ranking))
        best = ranking.rows[: _candidates_to_compare(request)]
        heads = groups(best, store.tokens, target.near_duplicate)
        pool = _pool(run, candidates, ranking, heads)
        chosen = choose(pool, request, type_caps(candidates.query, target), target)
        passages = [
            RankedPassage(
                passage,
                round(float(ranking.scores[position]), 6),
                ranking.signals(position),
                _duplicates(store, ranking, heads, position),
            )
            for passage, position in zip(run.passages(ranking.rows[chosen]), chosen, strict=True)
        ]
        return stage.done(passages)


def _vary(run: SearchRun, ranking: Ranking) -> Ranking:
    """The ranking, its best candidates in the order that the target's diversity wants."""
    request, target = run.request, run.target
    if target.diversity == "none":
        return ranking
    best = ranking.rows[: _candidates_to_compare(request)]
    merit = ranking.scores[: len(best)]
    if ranking.relevance:
        merit = np.array([ranking.relevance.get(int(p), 0.0) for p in ranking.order[: len(best)]])
    places = mmr_order(merit, run.store.vectors(best), target.mmr_share, request.limit)
    return ranking.in_order(np.concatenate([places, np.arange(len(best), len(ranking.order))]))


def _required_first(run: SearchRun, ranking: Ranking) -> Ranking:
    """The ranking; if too few hold what is required, they first and then what others are found."""
    if not run.too_few:
        return ranking
    return ranking.in_order(np.argsort(~np.isin(ranking.rows, run.required.rows), kind="stable"))


def _pool(run: SearchRun, candidates: Candidates, ranking: Ranking, heads: Sequence[int]) -> Pool:
    store = run.store
    rows = ranking.rows
    place = np.empty(len(rows), dtype=np.int64)
    place[ranking.order] = np.arange(len(rows))
    return Pool(
        # of another order than by score, each counts as the least before it
        scores=np.minimum.accumulate(ranking.scores),
        corpora=store.corpus_of(rows).tolist(),
        documents=store.tokens.document_of[rows],
        groups=[*heads, *range(len(heads), len(rows))],
        types=store.content_types(rows) if run.target.content_type_caps else [""] * len(rows),
        parts=[
            place[np.searchsorted(candidates.table.rows, part.rows)].tolist()
            for part in candidates.parts
        ],
        ahead=int(np.isin(rows, run.required.rows).sum()) if run.too_few else 0,
    )


def _candidates_to_compare(request: SearchPlan) -> int:
    """Return the number of best candidates that are compared with each other."""
    return max(50, 5 * request.limit)


def _duplicates(store: Store, ranking: Ranking, heads: Sequence[int], own: int) -> tuple[str, ...]:
    """Ids of the candidates whose text is nearly that of the one at position `own`."""
    if own >= len(heads):
        return ()
    same = [at for at, head in enumerate(heads) if head == heads[own] and at != own]
    return tuple(store.passage_ids(ranking.rows[same].tolist())) if same else ()
