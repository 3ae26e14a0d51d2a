"""Keyword in context: which lines, in which order, and what stands in them."""

from collections.abc import Iterator, Sequence
from zlib import crc32

import numpy as np

from atlas_search.core.domain import Passage
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.words import WordTable
from atlas_search.words.counts import of_point
from atlas_search.words.hits import Hits, Key, lots, page
from atlas_search.words.request import ConcordanceRequest, Sort
from atlas_search.words.results import Concordance, Line
from atlas_search.words.run import Reach, WordsRun

SORTED_BY = 5
"""Words of the context by which lines are sorted."""
LONGEST = 1000
"""Characters of a hit, and of either side, that are shown: some texts have no blanks."""


def concordance(run: WordsRun, request: ConcordanceRequest) -> Concordance:
    """Count all hits, and show a page of them."""
    reach, hits = run.reach, run.hits
    if request.point:
        reach = reach.within(of_point(run.store, request.point))
        hits = reach.keep(hits)
    run.stop.check()
    listed = _sample(run, hits, request)
    chosen = page(
        len(listed.starts), _keys(run, listed, request.sort), request.offset, request.limit
    )
    run.stop.check()
    documents = np.diff(np.searchsorted(hits.starts, run.table.ends))
    words = int(reach.words_of.sum())
    return Concordance(
        query=run.request.text,
        read_as=run.read_as,
        hits=len(hits.starts),
        per_million=len(hits.starts) * 1_000_000 / words if words else None,
        words=words,
        documents=int(np.count_nonzero(documents)),
        passages=len(reach.passages_with(hits)),
        per_corpus=_per_corpus(run, documents),
        listed=len(listed.starts),
        offset=request.offset,
        lines=list(_lines(run, reach, listed, chosen, request.context)),
    )


def _per_corpus(run: WordsRun, hits_of: IntArray) -> dict[str, int]:
    holding = np.flatnonzero(hits_of)
    owners = run.store.corpus_of_documents(holding)
    count = len(run.store.corpora)
    sums = np.bincount(owners, weights=hits_of[holding], minlength=count).astype(np.int64)
    counts = {
        corpus.id: hits for corpus, hits in zip(run.store.corpora, sums.tolist(), strict=True)
    }
    return {id_: counts[id_] for id_ in run.request.corpora}


def _sample(run: WordsRun, hits: Hits, request: ConcordanceRequest) -> Hits:
    """A random sample, as large as is wanted; a smaller sample is part of a larger one."""
    if request.sample is None or request.sample >= len(hits.starts):
        return hits
    # hits that begin at one place are told apart by their lengths
    numbers = (_in_corpus(run, hits) << 8) ^ (hits.ends - hits.starts)
    draws = lots(numbers, request.seed)
    order = np.lexsort((hits.ends, hits.starts, draws))
    return hits.where(np.sort(order[: request.sample]))


def _in_corpus(run: WordsRun, hits: Hits) -> IntArray:
    """A number for the place of each hit that does not depend on what other corpora there are."""
    owners = run.store.corpus_of_documents(run.table.documents_of(hits.starts))
    numbers = hits.starts.copy()
    for number, corpus in enumerate(run.store.corpora):
        own = owners == number
        if own.any():
            first = run.table.ends[run.store.documents_of([corpus.id])[0]]
            numbers[own] = (numbers[own] - first) ^ (crc32(corpus.id.encode()) << 24)
    return numbers


def _keys(run: WordsRun, hits: Hits, sort: Sort) -> Sequence[Key]:
    table, steps = run.table, range(SORTED_BY)
    if sort == "document":
        return ()
    if sort == "hit":
        return [_word_key(table, hits.starts, step, hits) for step in steps]
    documents = table.documents_of(hits.starts)
    if sort in ("date", "-date", "corpus"):
        return _document_keys(run, documents, sort)
    bounds = Hits(table.ends[documents], table.ends[documents + 1])
    if sort == "left":
        return [_word_key(table, hits.starts, -1 - step, bounds) for step in steps]
    return [_word_key(table, hits.ends, step, bounds) for step in steps]


def _word_key(table: WordTable, places: IntArray, step: int, bounds: Hits) -> Key:
    """By the words `step` from `places`; before all others where that is outside the `bounds`."""

    def key(items: IntArray) -> IntArray:
        at = places[items] + step
        inside = (at >= bounds.starts[items]) & (at < bounds.ends[items])
        return np.where(inside, table.folded_of[table.tokens[np.where(inside, at, 0)]], -1)

    return key


def _document_keys(run: WordsRun, documents: IntArray, sort: Sort) -> Sequence[Key]:
    first = run.store.days.first
    days = first.astype("datetime64[D]").astype(np.int64)
    order = np.where(np.isnat(first), np.iinfo(np.int64).max, -days if sort == "-date" else days)
    by_date = order[documents]
    if sort != "corpus":
        return [lambda items: by_date[items]]
    owners = run.store.corpus_of_documents(documents)
    return [lambda items: owners[items], lambda items: by_date[items]]


def _lines(
    run: WordsRun, reach: Reach, hits: Hits, chosen: IntArray, context: int
) -> Iterator[Line]:
    ascending = np.sort(chosen)
    lines = hits.where(ascending)
    documents = run.table.documents_of(lines.starts)
    passages = run.store.passages(reach.openers(lines).tolist())
    for at in np.searchsorted(ascending, chosen).tolist():
        place = slice(int(lines.starts[at]), int(lines.ends[at]))
        yield _line(run, int(documents[at]), place, passages[at], context)


def _line(run: WordsRun, document: int, place: slice, passage: Passage, context: int) -> Line:
    table = run.table
    first = max(int(table.ends[document]), place.start - context)
    last = min(int(table.ends[document + 1]), place.stop + context) - 1
    start, end = int(table.starts[place.start]), _end(table, place.stop - 1)
    left, right = max(int(table.starts[first]), start - LONGEST), _end(table, last)
    right, cut = min(right, end + LONGEST), min(end, start + LONGEST)
    before, hit, after = run.store.texts(
        [(document, left, start), (document, start, cut), (document, end, right)]
    )
    return Line(
        corpus=passage.corpus,
        document_id=passage.document_id,
        passage_id=passage.id,
        title=passage.title,
        date=passage.date or None,
        start=start,
        end=end,
        left=before,
        hit=hit,
        right=after,
        page=passage.page,
        locator=passage.locator_at(start) or None,
        section=passage.section_at(start) or None,
        speaker=passage.speaker or None,
        url=passage.url or None,
    )


def _end(table: WordTable, place: int) -> int:
    return int(table.starts[place]) + int(table.lengths[place])
