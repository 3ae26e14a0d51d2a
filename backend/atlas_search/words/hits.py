"""Places at which the words of a query stand, as arrays."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.stop import Stop
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.words import WordTable
from atlas_search.words.query import AnyWord, Near, Node, WordMatching, Words, forms_of, slots

BoolArray = NDArray[np.bool_]
STEPS = 20  # words on a side up to which nearness is looked for step by step


class Hits(NamedTuple):
    """Spans of words in a `WordTable`: from the place `starts[i]` to `ends[i]`, excluded.

    Each once, ordered by start and end; spans may overlap.
    """

    starts: IntArray
    ends: IntArray

    def where(self, kept: BoolArray | IntArray) -> "Hits":
        """Some of them, in order."""
        return Hits(self.starts[kept], self.ends[kept])


def near_places(table: WordTable, hits: Hits, left: int, right: int) -> BoolArray:
    """Mark the places of the table that are near a hit of the same document.

    At most `left` words before it, or `right` after it: those of `NEAR/right,left` from there.
    """
    is_near = np.zeros(len(table.tokens), dtype=bool)
    documents = table.documents_of(hits.starts)
    first, last = table.ends[documents], table.ends[documents + 1]
    for step in range(1, left + 1):
        places = hits.starts - step
        is_near[places[places >= first]] = True
    for step in range(right):
        places = hits.ends + step
        is_near[places[places < last]] = True
    return is_near


def find_hits(node: Node, table: WordTable, how: WordMatching, stop: Stop) -> Hits:
    """All hits of a query in all documents, whatever their language."""
    stop.check()
    if isinstance(node, Words):
        return _find_words(node, table, how)
    if isinstance(node, Near):
        left = find_hits(node.left, table, how, stop)
        frequent = _frequent_word(node, table, how, len(left.starts))
        if frequent is not None:
            return left.where(_is_beside(table, left, frequent, node.before, node.after))
        right = find_hits(node.right, table, how, stop)
        return left.where(_is_near(table, left, right, node.before, node.after))
    return merge([find_hits(part, table, how, stop) for part in node.parts])


def _frequent_word(node: Near, table: WordTable, how: WordMatching, hits: int) -> BoolArray | None:
    """Mark the forms of the right side if it is one word, more frequent than `hits`, at most STEPS
    away; else return None."""
    right = node.right
    words = slots(right.text, how.language) if isinstance(right, Words) else []
    if len(words) != 1 or isinstance(words[0], AnyWord) or max(node.before, node.after) > STEPS:
        return None
    forms = forms_of(words[0], table, how)
    if table.counts(forms) <= hits:
        return None
    is_form = np.zeros(len(table.forms), dtype=bool)
    is_form[forms] = True
    return is_form


def _is_beside(
    table: WordTable, hits: Hits, is_wanted: BoolArray, most_before: int, most_after: int
) -> BoolArray:
    """Mark the hits near a word whose form is marked in `is_wanted`.

    The words beside each hit are read, because listing all places of a frequent word takes longer.
    """
    documents = table.documents_of(hits.starts)
    first, last = table.ends[documents], table.ends[documents + 1]
    is_beside = np.zeros(len(hits.starts), dtype=bool)
    remaining = np.arange(len(is_beside))  # nothing beside these yet
    for step in sorted({*range(most_after), *range(-most_before, 0)}, key=abs):
        places = (hits.starts if step < 0 else hits.ends)[remaining] + step
        inside = (places >= first[remaining]) & (places < last[remaining])
        is_beside[remaining] = inside & is_wanted[table.tokens[np.where(inside, places, 0)]]
        remaining = remaining[~is_beside[remaining]]
    return is_beside


def merge(parts: Sequence[Hits]) -> Hits:
    """All hits of several queries, each span once."""
    starts = np.concatenate([hits.starts for hits in parts])
    ends = np.concatenate([hits.ends for hits in parts])
    order = np.lexsort((ends, starts))
    starts, ends = starts[order], ends[order]
    is_new = np.ones(len(starts), dtype=bool)
    is_new[1:] = (np.diff(starts) > 0) | (np.diff(ends) > 0)
    return Hits(starts[is_new], ends[is_new])


def _find_words(node: Words, table: WordTable, how: WordMatching) -> Hits:
    words = slots(node.text, how.language)
    forms = {
        at: forms_of(slot, table, how)
        for at, slot in enumerate(words)
        if not isinstance(slot, AnyWord)
    }
    if not forms:  # a language that takes words apart at apostrophes may leave only `*`
        return Hits(_NONE, _NONE)
    # from the rarest word on there is least to compare
    rarest = min(forms, key=lambda at: table.counts(forms[at]))
    starts = table.places_of(forms.pop(rarest)) - rarest
    starts = starts[(starts >= 0) & (starts + len(words) <= len(table.tokens))]
    for at, numbers in forms.items():
        is_wanted = np.zeros(len(table.forms), dtype=bool)
        is_wanted[numbers] = True
        starts = starts[is_wanted[table.tokens[starts + at]]]
    for at, slot in enumerate(words):
        if not isinstance(slot, AnyWord) and slot.joined:
            before = starts + at - 1
            behind = table.starts[before] + table.lengths[before]
            starts = starts[table.starts[starts + at] == behind]
    ends = starts + len(words)
    if len(words) > 1:
        within = ends <= table.ends[table.documents_of(starts) + 1]
        starts, ends = starts[within], ends[within]
    return Hits(starts, ends)


def _is_near(
    table: WordTable, left: Hits, right: Hits, most_before: int, most_after: int
) -> BoolArray:
    """Mark the hits of `left` with a hit of `right` near, in the same document."""
    if not len(right.starts):
        return np.zeros(len(left.starts), dtype=bool)
    if max(most_before, most_after) <= STEPS:
        return _is_some_steps_near(table, left, right, most_before, most_after)
    documents = table.documents_of(left.starts)
    last = len(right.starts) - 1
    at = np.searchsorted(right.starts, left.ends)
    after = right.starts[np.minimum(at, last)]
    follows = (at <= last) & (after - left.ends < most_after) & (after < table.ends[documents + 1])
    ends = np.sort(right.ends, kind="stable")  # they are nearly sorted, which it makes use of
    at = np.searchsorted(ends, left.starts, side="right") - 1
    before = ends[np.maximum(at, 0)]
    precedes = (at >= 0) & (left.starts - before < most_before) & (before > table.ends[documents])
    result: BoolArray = follows | precedes
    return result


def _is_some_steps_near(
    table: WordTable, left: Hits, right: Hits, most_before: int, most_after: int
) -> BoolArray:
    """Do as `_is_near` step by step, which for a few is quicker than to search millions of hits."""
    documents = table.documents_of(left.starts)
    first, last = table.ends[documents], table.ends[documents + 1]
    result = np.zeros(len(left.starts), dtype=bool)
    marked = np.zeros(len(table.tokens) + 1, dtype=bool)
    marked[right.starts] = True
    for step in range(most_after):
        places = left.ends + step
        result |= (places < last) & marked[np.minimum(places, len(table.tokens))]
    marked[right.starts] = False
    marked[right.ends] = True
    for step in range(most_before):
        places = left.starts - step
        result |= (places > first) & marked[np.maximum(places, 0)]
    return result


_NONE = np.empty(0, dtype=np.int64)


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
    ordered: IntArray = items[np.lexsort([items, *(key(items) for key in reversed(keys))])]
    return ordered


def lots(places: IntArray, seed: int) -> IntArray:
    """A number drawn for each place, the same for the same seed wherever and whenever it is drawn.

    SplitMix64 of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
    """
    with np.errstate(over="ignore"):
        mixed = (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed += np.uint64(seed) * np.uint64(0xD1B54A32D192ED03)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: IntArray = mixed ^ (mixed >> np.uint64(31))
    return result
