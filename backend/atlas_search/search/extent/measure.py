"""The scope of a search that has found its candidates."""

from collections.abc import Iterator, Sequence

from atlas_search.core.domain import Leg
from atlas_search.search.candidates import CorpusHits
from atlas_search.search.extent.corpora import CorpusExtent, corpus_extents
from atlas_search.search.extent.extent import Extent, Reason, ShortLeg
from atlas_search.search.run import SearchRun


def extent_of(run: SearchRun, hits: Sequence[CorpusHits]) -> Extent:
    """What `run` looked through, and where its legs found fewer candidates than asked for."""
    of = run.searcher.whole if run.scope is None else corpus_extents(run.store, run.scope)
    query = run.query
    required = tuple(phrase.text for phrase in query.required)
    return Extent(
        corpora=tuple(of[corpus] for corpus in run.request.corpora),
        all_corpora=len(run.store.corpora),
        filters=run.request.filters,
        required=() if run.too_few else required,
        unmet=required if run.too_few else (),
        excluded=tuple(phrase.text for phrase in query.excluded),
        unknown_words=tuple(unknown.word for unknown in run.unknown_words),
        short_legs=tuple(
            leg for each in hits for leg in _short_legs(each, of[each.corpus], run.depth)
        ),
    )


def _short_legs(hits: CorpusHits, of: CorpusExtent, asked: int) -> Iterator[ShortLeg]:
    for leg, hit in hits.legs.items():
        found = len(hit.rows)
        if found >= asked:
            continue
        yield ShortLeg(hits.corpus, leg, found, asked, _reason(leg, found, of))


def _reason(leg: Leg, found: int, of: CorpusExtent) -> Reason:
    if found < of.passages:
        return "index" if leg == "dense" else "words"
    return "narrowed" if of.narrowed else "corpus"
