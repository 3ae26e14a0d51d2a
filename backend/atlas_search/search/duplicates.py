"""Passages that say nearly the same: reprints, repeated speeches, overlapping pieces."""

import numpy as np

from atlas_search.stores.arrays import IntArray
from atlas_search.stores.terms import TokenTable

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
    """How many distinct runs each pair of passages shares (n, n), and how many each has (n)."""
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
