"""The documents of a coming version in order: runs of those that stay, and each other by itself."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from atlas_search.build.document_ids import (
    FoundDocument,
    Kept,
    Placed,
    place,
    plain_id,
    require_apart,
)
from atlas_search.build.live_version import Live


def place_beside(
    live: Live, stay: NDArray[np.bool_], found: Iterable[FoundDocument]
) -> list[Kept | Placed]:
    """All documents by corpus and id: those of the live version that `stay`, and others.

    One that stays is placed by itself if it gets another id, for that depends on all documents.
    """
    others, columns, stay = list(found), live.columns, stay.copy()
    plain = list(map(plain_id, columns.corpora, columns.stems))
    touched = {plain_id(each.corpus, each.provenance.stem) for each in others}
    touched.update(plain[index] for index in np.flatnonzero(~stay).tolist())
    again = [index for index in np.flatnonzero(stay).tolist() if plain[index] in touched]
    alone = []
    for each in place([*others, *map(live.found, again)]):
        index = each.found.number
        if each.found.kept and stay[index]:
            if columns.ids[index] == each.id:
                continue
            stay[index] = False
        alone.append(each)
    return list(_in_order(live, stay, alone))


def _in_order(
    live: Live, stay: NDArray[np.bool_], alone: Sequence[Placed]
) -> Iterator[Kept | Placed]:
    """Runs of documents that stay, and where they belong among them those that stand `alone`."""
    keys = list(zip(live.columns.corpora, live.columns.ids, strict=True)) if alone else []
    places = [bisect_left(keys, (each.found.corpus, each.id)) for each in alone]
    for each, at in zip(alone, places, strict=True):
        if at < len(keys) and stay[at] and live.columns.ids[at] == each.id:
            require_apart([(each.id, live.found(at)), (each.id, each.found)])
    turns = np.flatnonzero(stay[1:] != stay[:-1]) + 1
    ends = np.cumsum([corpus.documents for corpus in live.manifest.corpora])
    edges = np.unique(np.concatenate([[0], turns, ends, places])).tolist()
    waiting = 0
    for start, end in pairwise(map(int, edges)):
        while waiting < len(alone) and places[waiting] == start:
            yield alone[waiting]
            waiting += 1
        if stay[start]:
            yield live.kept(range(start, end))
    yield from alone[waiting:]
