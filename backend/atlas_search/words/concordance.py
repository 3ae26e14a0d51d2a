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


def concordance(run: WordsRun, asked: ConcordanceRequest) -> Concordance:
    """Count all hits, and show a page of them."""
    reach, hits = run.reach, run.hits
    if asked.point:
        reach = reach.within(of_point(run.store, asked.point))
        hits = reach.keep(hits)
    run.stop.check()
    listed = _sample(run, hits, asked)
    chosen = page(len(listed.starts), _keys(run, listed, asked.sort), asked.offset, asked.limit)
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
        offset=asked.offset,
        lines=list(_lines(run, reach, listed, chosen, asked.context)),
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


def _sample(run: WordsRun, hits: Hits, asked: ConcordanceRequest) -> Hits:
    """A random sample, as large as is wanted; a smaller sample is part of a larger one."""
    if asked.sample is None or asked.sample >= len(hits.starts):
        return hits
    # hits that begin at one place are told apart by their lengths
    numbers = (_in_corpus(run, hits) << 8) ^ (hits.ends - hits.starts)
    draws = lots(numbers, asked.seed)
    order = np.lexsort((hits.ends, hits.starts, draws))
    return hits.where(np.sort(order[: asked.sample]))


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
    table = run.table
    if sort == "document":
        return ()
    if sort in ("date", "-date", "corpus"):
        return _document_keys(run, table.documents_of(hits.starts), sort)
    steps = range(SORTED_BY)
    documents = table.documents_of(hits.starts)
    if sort == "left":
        return [_word_key(table, documents, hits.starts, -1 - step) for step in steps]
    if sort == "right":
        return [_word_key(table, documents, hits.ends, step) for step in steps]
    return [_hit_key(table, hits, step) for step in steps]


def _word_key(table: WordTable, documents: IntArray, places: IntArray, step: int) -> Key:
    """By the words `step` from `places`; before all others where a document has none."""

    def key(items: IntArray) -> IntArray:
        at, document = places[items] + step, documents[items]
        inside = (at >= table.ends[document]) & (at < table.ends[document + 1])
        return np.where(inside, table.folded_of[table.tokens[np.where(inside, at, 0)]], -1)

    return key


def _hit_key(table: WordTable, hits: Hits, step: int) -> Key:
    """By a word of the hit itself, a shorter one before a longer one that begins like it."""

    def key(items: IntArray) -> IntArray:
        at = hits.starts[items] + step
        inside = at < hits.ends[items]
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
        document = int(documents[at])
        place = slice(int(lines.starts[at]), int(lines.ends[at]))
        yield _line(run, document, passages[at], _bounds(run.table, document, place, context))


def _bounds(
    table: WordTable, document: int, place: slice, context: int
) -> tuple[int, int, int, int]:
    """The characters at which a line begins, its hit begins and ends, and the line ends."""
    low = max(int(table.ends[document]), place.start - context)
    high = min(int(table.ends[document + 1]), place.stop + context)
    begins = int(table.starts[low]), int(table.starts[place.start])
    return (*begins, _end(table, place.stop - 1), _end(table, high - 1))


def _line(
    run: WordsRun, document: int, passage: Passage, bounds: tuple[int, int, int, int]
) -> Line:
    left, start, end, right = bounds
    left, right = max(left, start - LONGEST), min(right, end + LONGEST)
    cut = min(end, start + LONGEST)
    texts = run.store.texts(
        [(document, left, start), (document, start, cut), (document, end, right)]
    )
    before, hit, after = texts
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
