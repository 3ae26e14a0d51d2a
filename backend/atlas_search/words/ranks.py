"""A page of a sorted list without sorting the list."""

from collections.abc import Callable, Sequence

import numpy as np

from atlas_search.stores.arrays import IntArray

Key = Callable[[IntArray], IntArray]
"""The values of some items, by their index: the lower comes first."""

SMALL = 2000  # items that are sorted sooner than parted


def page(count: int, keys: Sequence[Key], offset: int, limit: int) -> IntArray:
    """The items, of `count`, at the ranks from `offset` on by all keys; ties go by index."""
    end = min(offset + limit, count)
    return _part(np.arange(count), keys, offset, end) if offset < end else np.arange(0)


def _part(items: IntArray, keys: Sequence[Key], start: int, end: int) -> IntArray:
    """Ranks `start` to `end` of `items`, which are in order of their index."""
    if not keys:
        return items[start:end]
    if len(items) <= SMALL:
        return _sort(items, keys)[start:end]
    values = keys[0](items)
    parted = np.partition(values, (start, end - 1))
    low, high = parted[start], parted[end - 1]
    below = int(np.count_nonzero(values < low))
    first = items[values == low]
    if low == high:
        return _part(first, keys[1:], start - below, end - below)
    between = items[(values > low) & (values < high)]
    last_from = int(np.count_nonzero(values < high))
    return np.concatenate(
        [
            _part(first, keys[1:], start - below, len(first)),
            _sort(between, keys),
            _part(items[values == high], keys[1:], 0, end - last_from),
        ]
    )


def _sort(items: IntArray, keys: Sequence[Key]) -> IntArray:
    found: IntArray = items[np.lexsort([items, *(key(items) for key in reversed(keys))])]
    return found


def lots(places: IntArray, seed: int) -> IntArray:
    """A number drawn for each place, the same for the same seed wherever and whenever it is drawn.

    SplitMix64 of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
    """
    with np.errstate(over="ignore"):
        mixed = (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed += np.uint64(seed) * np.uint64(0xD1B54A32D192ED03)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: IntArray = mixed ^ (mixed >> np.uint64(31))
    return found
