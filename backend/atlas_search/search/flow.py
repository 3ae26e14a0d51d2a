"""Search, stage by stage, and the summary beside its passages: counts, confidence, freshness,
warnings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from atlas_search.core.domain import CheckedPassage, Leg, RankedPassage
from atlas_search.search.candidates import Candidates, Legs
from atlas_search.search.evidence import check, confidence, freshness
from atlas_search.search.find import find_candidates
from atlas_search.search.ranking import EVIDENCE_WEIGHTS, Ranking, fuse, rerank
from atlas_search.search.rerankers import read_again
from atlas_search.search.result import CorpusCounts, RequiredUnmet, WholeResult
from atlas_search.search.run import SearchRun
from atlas_search.search.scope import CorpusExtent, Extent, Reason, ShortLeg, corpus_extents
from atlas_search.search.select import select


def search(run: SearchRun) -> WholeResult:
    """Find, measure, rank and choose the passages that speak to the question.

    Raises Cancelled soon after the run is stopped.
    """
    with run.tracer.hold(), run.stage("search") as stage:
        candidates = find_candidates(run)
        ranking = _rank(run, candidates)
        ranked = select(run, candidates, ranking)
        checked = _check(run, ranked)
        result = stage.done(summary(run, candidates, ranking, checked))
        return replace(result, trace_id=stage.trace_id)


def _rank(run: SearchRun, candidates: Candidates) -> Ranking:
    run.stop.check()
    with run.stage("rerank") as stage:
        first = ranking = rerank(candidates, run.target)
        if model := run.second_stage:
            ranking = read_again(model, run.query.text, first, run.texts, run.target, run.stop)
        run.clock.lap("rank")
        return stage.done(ranking, first, candidates)


def _check(run: SearchRun, ranked: Sequence[RankedPassage]) -> list[CheckedPassage]:
    run.stop.check()
    tokens, weights = run.store.tokens, run.term_weights
    checked = [check(run.query, passage, tokens, weights, run.target) for passage in ranked]
    run.clock.lap("select")
    return checked


def extent_of(run: SearchRun, hits: Mapping[str, Legs]) -> Extent:
    """Return the extent of `run`, with the legs that drew fewer candidates than asked for."""
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
            leg for corpus, legs in hits.items() for leg in _short_legs(legs, of[corpus], run.depth)
        ),
    )


def _short_legs(legs: Legs, of: CorpusExtent, depth: int) -> Iterator[ShortLeg]:
    for leg, hits in legs.items():
        count = len(hits.rows)
        if count < depth:
            yield ShortLeg(of.id, leg, count, depth, _reason(leg, count, of))


def _reason(leg: Leg, count: int, of: CorpusExtent) -> Reason:
    if count < of.passages:
        return "index" if leg == "dense" else "words"
    return "narrowed" if of.narrowed else "corpus"


_REASONS: Mapping[Reason, str] = {
    "corpus": "it holds no more",
    "narrowed": "what was asked for leaves no more",
    "index": "the index found no more",
}


def summary(
    run: SearchRun, candidates: Candidates, ranking: Ranking, checked: Sequence[CheckedPassage]
) -> WholeResult:
    """The result of a search."""
    support = float(fuse(candidates.table, EVIDENCE_WEIGHTS).max(initial=0.0))
    scope = extent_of(run, candidates.hits)
    notes = (*filter(None, [ranking.note]), *_about_languages(run), *_about_candidates(scope))
    return WholeResult(
        question=run.request.question,
        query=run.query,
        vector=candidates.cosines.vector,
        passages=tuple(checked),
        per_corpus=_counts(run, candidates, checked),
        confidence=confidence(checked, support),
        freshness=freshness(checked, run.request.freshness_days, run.request.today),
        depth=run.depth,
        legs=tuple(dict.fromkeys(leg for legs in candidates.hits.values() for leg in legs)),
        target=run.target,
        candidates=candidates,
        ranking=ranking,
        term_weights=run.term_weights,
        unknown_words=run.unknown_words,
        required_unmet=_unmet(run, checked),
        sub_questions={part.question: part.vector for part in candidates.parts},
        scope=scope,
        notes=notes,
        warnings=(*_about_words(run), *_about_required(run), *notes),
        timings_ms=run.clock.laps,
    )


def _counts(
    run: SearchRun, candidates: Candidates, checked: Sequence[CheckedPassage]
) -> dict[str, CorpusCounts]:
    corpora = run.store.corpora
    counts = np.bincount(run.store.corpus_of(candidates.table.rows), minlength=len(corpora))
    count_of = {corpus.id: int(count) for corpus, count in zip(corpora, counts, strict=True)}
    return {
        corpus: CorpusCounts(
            candidates=count_of[corpus],
            **{"dense": 0, "lexical": 0} | {leg: len(hits.rows) for leg, hits in legs.items()},
            kept=sum(item.passage.corpus == corpus for item in checked),
        )
        for corpus, legs in candidates.hits.items()
    }


def _unmet(run: SearchRun, checked: Sequence[CheckedPassage]) -> RequiredUnmet | None:
    if not run.too_few:
        return None
    rows = set(run.required.rows.tolist())
    return RequiredUnmet(
        tuple(phrase.text for phrase in run.query.required),
        len(rows),
        tuple(item.passage.id for item in checked if item.passage.row in rows),
    )


def _about_words(run: SearchRun) -> Iterator[str]:
    for unknown in run.unknown_words:
        message = f'No source holds "{unknown.word}"'
        if unknown.searched_as:
            yield f'{message}; "{unknown.searched_as}" was searched for instead.'
        elif unknown.suggestions:
            alike = ", ".join(f'"{other}"' for other in unknown.suggestions)
            yield f"{message}; spelt nearly so: {alike}."
        else:
            yield f"{message}."


def _about_required(run: SearchRun) -> Iterator[str]:
    if not run.too_few:
        return
    phrases = " and ".join(f'"{phrase.text}"' for phrase in run.query.required)
    corpora = "" if run.request.every_corpus else f" of {', '.join(run.request.corpora)}"
    count = len(run.required.rows)
    holders = (
        f"{count or 'No'} passage{corpora} holds"
        if count < 2
        else f"{count} passages{corpora} hold"
    )
    others = "passages found without it" if count == 0 else "others follow, found without it"
    yield f"{holders} {phrases}, of {run.request.limit} asked for; {others}."


def _about_languages(run: SearchRun) -> Iterator[str]:
    others = run.store.manifest.in_other_languages
    if asked := [corpus.id for corpus in others if corpus.id in run.request.corpora]:
        yield f"{', '.join(asked)}: found by words; the embedding model knows English alone."


def _about_candidates(scope: Extent) -> Iterator[str]:
    """Of the dense leg alone: few passages hold the words of most questions."""
    for leg in scope.short_legs:
        if leg.leg == "dense":
            count = f"{leg.found} of {leg.asked} candidates asked for"
            yield f"{leg.corpus}: {count}; {_REASONS[leg.reason]}."
