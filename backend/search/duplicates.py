"""Passages that say nearly the same: reprints, repeated speeches, overlapping pieces."""

import numpy as np

from backend.stores.tokens import IntArray, TokenTable

SHINGLE = 4  # words; fewer are shared by chance, more are broken by every misprint
_PRIME = np.uint64(0x9E3779B97F4A7C15)


def groups(rows: IntArray, table: TokenTable, share: float) -> list[int]:
    """For each of `rows`, best first, the position of the first that says nearly the same.

    Two passages do if at least `share` of the shorter one's runs of SHINGLE stems stand in the
    other (containment, Broder 1997). A passage that has no such run is like no other.
    """
    shared, sizes = _overlaps(rows, table)
    smaller = np.minimum(sizes[:, None], sizes[None, :])
    alike = (shared >= share * smaller) & (smaller > 0)
    first: list[int] = []
    for position in range(len(rows)):
        before = np.flatnonzero(alike[position, :position])
        # like a passage that stands for others, or for none yet
        heads = [at for at in before.tolist() if first[at] == at]
        first.append(heads[0] if heads else position)
    return first


def _overlaps(rows: IntArray, table: TokenTable) -> tuple[IntArray, IntArray]:
    """How many distinct runs each pair of passages shares (n, n), and how many each has (n)."""
    words = table.words.take(rows)
    count = max(len(words.value) - SHINGLE + 1, 0)
    hashes = np.zeros(count, dtype=np.uint64)
    for offset in range(SHINGLE):
        # unsigned products wrap round, which is what mixes the bits
        hashes = (hashes + words.value[offset : offset + count].astype(np.uint64) + 1) * _PRIME
        hashes ^= hashes >> np.uint64(29)
    whole = words.row[:count] == words.row[SHINGLE - 1 :][:count]
    row, hashes = words.row[:count][whole], hashes[whole]
    _, run = np.unique(hashes, return_inverse=True)
    pairs = np.unique(row * (run.max(initial=0) + 1) + run)
    row, run = pairs // (run.max(initial=0) + 1), pairs % (run.max(initial=0) + 1)
    sizes = np.bincount(row, minlength=len(rows))
    # a run that one passage alone has is shared with nobody
    common = np.flatnonzero(np.bincount(run) > 1)
    column = np.searchsorted(common, run)
    among = (column < len(common)) & np.isin(run, common)
    present = np.zeros((len(rows), len(common)), dtype=np.float32)
    present[row[among], column[among]] = 1.0
    return (present @ present.T).astype(np.int64), sizes
