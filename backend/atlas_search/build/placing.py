"""The documents of a coming version in order: runs of those that stay, and each other by itself."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from atlas_search.build.document_ids import (
    FoundDocument,
    Kept,
    Placed,
    place,
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
    touched = {(each.corpus, each.provenance.stem) for each in others}
    gone = np.flatnonzero(~stay).tolist()
    touched.update((columns.corpora[index], columns.stems[index]) for index in gone)
    stems = {stem for _, stem in touched}
    again = [
        index
        for index in [index for index, stem in enumerate(columns.stems) if stem in stems]
        if stay[index] and (columns.corpora[index], columns.stems[index]) in touched
    ]
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
    ids, of_corpora = live.columns.ids, live.documents_by_corpus
    places = [_place(ids, of_corpora, each) for each in alone]
    for each, at in zip(alone, places, strict=True):
        if at < len(ids) and stay[at] and ids[at] == each.id:
            require_apart([(each.id, live.found(at)), (each.id, each.found)])
    turns = np.flatnonzero(stay[1:] != stay[:-1]) + 1
    ends = [documents.stop for documents in of_corpora.values()]
    edges = np.unique(np.concatenate([[0], turns, ends, places])).tolist()
    waiting = 0
    for start, end in pairwise(map(int, edges)):
        while waiting < len(alone) and places[waiting] == start:
            yield alone[waiting]
            waiting += 1
        if stay[start]:
            yield live.kept(range(start, end))
    yield from alone[waiting:]


def _place(ids: Sequence[str], of_corpora: Mapping[str, range], document: Placed) -> int:
    """Where a document belongs among those of the live version, by corpus and id."""
    corpus = document.found.corpus
    if corpus in of_corpora:
        return bisect_left(ids, document.id, of_corpora[corpus].start, of_corpora[corpus].stop)
    return sum(len(documents) for id_, documents in of_corpora.items() if id_ < corpus)
